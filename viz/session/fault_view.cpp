#include "viz/session/fault_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "core/run/deadlock_cause.h"
#include "core/sim/async/mbarrier.h"
#include "core/sim/stepping/find_block.h"
#include "viz/machine/barrier_card.h"
#include "viz/machine/fault_scene.h"

namespace tilescope {
namespace {

using Of = Evidence::Place::Of;

// The mbarrier that a warp waits at.
std::optional<std::uint32_t> waits_at(const sim::Machine& machine, const RunCursor& spot) {
  for (const sim::Block& block : machine.blocks()) {
    if (block.number != spot.block || spot.warp >= block.warps.size()) continue;
    for (const sim::Split& split : block.warps[spot.warp].splits) {
      if (split.wait == sim::Wait::mbarrier) return split.mbarrier;
    }
  }
  return {};
}

std::uint64_t block_number(const Site& site, const Dim3& grid) {
  return site.block.x +
         std::uint64_t{grid.x} * (site.block.y + std::uint64_t{grid.y} * site.block.z);
}

// Who is looked at: the one that it was told at, where the place is of its block; else somebody who
// has a part in it there.
void look_at_who(RunCursor& spot, const Report& report, const Dim3& grid) {
  const Evidence::Place& place = report.evidence.place;
  const bool of_block = place.of != Of::nothing && place.of != Of::global;
  spot.block = block_number(report.site, grid);
  spot.warp = report.site.warp;
  spot.lane = report.site.lane;
  if (!of_block || place.block == spot.block) return;
  spot.block = place.block;
  for (const Evidence::Party& party : report.evidence.parties) {
    if (block_number(party.site, grid) != place.block) continue;
    spot.warp = party.site.warp;
    spot.lane = party.site.lane;
    return;
  }
}

// It was of a block that has left, and its memory with it: the line is what there is to see.
bool is_gone(const sim::Machine& machine, const Evidence::Place& place) {
  const bool of_block = place.of != Of::nothing && place.of != Of::global;
  return of_block && !sim::find_block(machine, place.block);
}

}  // namespace

ViewName view_of_report(const Report& report) {
  if (report.deadlock && !report.deadlock->barriers.empty()) return ViewName::why;
  const Finding* kind = finding_of(report);
  if (kind && kind->view) return *kind->view;
  if (kind && kind->by_wait && report.evidence.mbarrier) return ViewName::barriers;
  switch (report.evidence.place.of) {
    case Of::mbarrier:
    case Of::barrier:
      return ViewName::barriers;
    case Of::shared:
      return ViewName::memory;
    case Of::tensor:
      return ViewName::tmem;
    case Of::global:
      return ViewName::matrices;
    case Of::nothing:
      break;
  }
  return ViewName::source;
}

void show_report(ViewState& state, const Report& report, std::size_t number) {
  state.view = view_of_report(report);
  if (!state.live) return;
  const sim::Machine& machine = state.live->stepper.machine();
  const Evidence& evidence = report.evidence;
  if (is_gone(machine, evidence.place)) state.view = ViewName::source;
  RunCursor& spot = state.spot;
  spot = {};
  look_at_who(spot, report, machine.launch().grid);
  spot.report = static_cast<std::uint32_t>(number);
  spot.barrier = evidence.mbarrier;
  if (evidence.place.of == Of::mbarrier) {
    spot.barrier = static_cast<std::uint32_t>(evidence.place.begin);
  }
  if (!spot.barrier && report.kind == "deadlock") spot.barrier = waits_at(machine, spot);
  if (evidence.place.of == Of::shared) spot.byte = static_cast<std::uint32_t>(evidence.place.begin);
  if (evidence.place.of == Of::tensor && evidence.place.lane < 128 && evidence.place.column < 512) {
    spot.cell = RunCursor::Cell{evidence.place.lane, evidence.place.column};
  }
  const Site& site = report.site;
  if (site.caller_line) {
    spot.line = RunCursor::SourceLine{site.caller, site.caller_line};
  } else if (site.source_line) {
    spot.line = RunCursor::SourceLine{site.source, site.source_line};
  } else if (site.ptx_line) {
    spot.line = RunCursor::SourceLine{"", site.ptx_line};
  }
  const auto element = element_at(evidence.place, machine);
  if (element && is_output(machine.shells()[element->buffer])) {
    state.element = Element{element->row, element->column};
  }
}

void show_fault(ViewState& state) {
  if (!state.result || state.result->reports.empty()) return;
  show_report(state, state.result->reports.back(), state.result->reports.size() - 1);
}

std::string command_of_message(const Session& session) {
  const ViewState& state = session.state;
  if (!state.live) return "";
  const std::vector<Report>& reports =
      state.result ? state.result->reports : state.live->stepper.known_reports();
  for (std::size_t i = reports.size(); i-- > 0;) {
    const bool told = session.message.text.find(reports[i].sentence) != std::string::npos;
    if (told) return fmt::format("go report {}", i);
  }
  return "";
}

}  // namespace tilescope
