#include "viz/scene/fault_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "core/sim/async/mbarrier.h"
#include "core/sim/stepping/find_block.h"
#include "viz/scene/barrier_card.h"

namespace tilescope {
namespace {

using Of = Evidence::Place::Of;

struct Kind {
  std::string_view name;
  std::string_view title;
  // Where the places of a report do not say it.
  std::optional<ViewName> view = {};
  // Where somebody waited, but not for this: that wait says more than what they meet in.
  bool by_wait = false;
};

constexpr std::array kKinds = {
    // Who waits for whom.
    Kind{"deadlock", "Nobody can go on", ViewName::barriers},
    Kind{"divergent_barrier", "Lanes of one warp wait at different places", ViewName::barriers},
    Kind{"barrier_mismatch", "A barrier is asked for different numbers of threads",
         ViewName::barriers},
    Kind{"waiter_left_behind", "A waiting thread was left behind by a later phase"},
    Kind{"too_many_arrivals", "More arrive than the phase waits for"},
    Kind{"tx_count_out_of_range", "More bytes than an mbarrier can count"},
    Kind{"bad_arrival_count", "A number of arrivals that an mbarrier cannot have"},
    Kind{"bad_parity", "A parity that is neither 0 nor 1", ViewName::barriers},
    Kind{"mbarrier_overwritten", "Data was written over an mbarrier"},
    Kind{"mbarrier_not_initialised", "There is no mbarrier"},
    Kind{"mbarrier_not_visible", "An mbarrier is used before it can be seen"},
    Kind{"mbarrier_initialised_twice", "An mbarrier is initialised again"},
    Kind{"mbarrier_in_use", "An mbarrier is taken away while it is waited for"},
    Kind{"completed_by_no_complete", "A phase is completed by who must not"},
    // Shared memory.
    Kind{"operand_overwritten", "Two use the same bytes, and one is still in flight"},
    Kind{"copy_not_awaited", "A copy that nobody has waited for"},
    Kind{"shared_race", "Nothing says who is first"},
    Kind{"missing_proxy_fence", "The async proxy was not told of these bytes"},
    Kind{"exit_in_flight", "The threads have gone, and an operation still uses their memory"},
    // TMEM.
    Kind{"tmem_in_use", "Cells of TMEM that another still uses", {}, true},
    Kind{"tmem_race", "Nothing says who is first in these cells"},
    Kind{"tcgen05_fence", "A fence is missing between two uses of TMEM"},
    Kind{"tmem_order", "Nothing keeps these two in order"},
    Kind{"mma_order", "Nothing keeps these two products in order", ViewName::tmem},
    Kind{"mma_columns", "A shape that CuTe refuses"},
    Kind{"tmem_not_awaited", "TMEM is given back while a load may still read it"},
    Kind{"tmem_out_of_allocation", "Cells that the block has not allocated", ViewName::tmem},
    Kind{"tmem_not_deallocated", "Columns that nobody has given back"},
    Kind{"tmem_lane_quarter", "Lanes that are another warp's"},
    Kind{"tmem_address_bits", "An address that names lanes of another warp"},
    Kind{"tmem_growth", "A larger allocation behind a smaller one", ViewName::tmem},
    Kind{"tmem_pair", "The two blocks of a pair allocate differently", ViewName::tmem},
    Kind{"tmem_pair_order", "Nothing orders the allocations of a pair", ViewName::tmem},
    Kind{"tmem_after_relinquish", "An allocation behind the end of allocations"},
    Kind{"tmem_columns", "A number of columns that cannot be allocated"},
    Kind{"bad_descriptor", "A descriptor that says nothing valid"},
    // Global memory, and the result.
    Kind{"unordered_copies", "Two copies in flight use the same elements", ViewName::matrices},
    Kind{"undefined_output", "An undefined value in the result", ViewName::matrices},
    Kind{"tile_not_computed", "A tile that no block computes", ViewName::matrices},
    Kind{"tile_computed_twice", "A tile that two blocks compute", ViewName::matrices},
    Kind{"unwritten", "Elements that nobody has written", ViewName::matrices},
    // An instruction alone.
    Kind{"peer_exited", "The block that is reached has exited", ViewName::source},
    Kind{"peer_not_started", "The block that is reached has not begun", ViewName::source},
    Kind{"bad_mask", "A mask that names blocks that there are not"},
};

const Kind* kind_of(const Report& report) {
  const auto found = std::find_if(kKinds.begin(), kKinds.end(),
                                  [&](const Kind& each) { return each.name == report.kind; });
  return found == kKinds.end() ? nullptr : &*found;
}

// The mbarrier that a warp waits at.
std::optional<std::uint32_t> waits_at(const sim::Machine& machine, const RunSpot& spot) {
  for (const sim::Block& block : machine.blocks()) {
    if (block.number != spot.block || spot.warp >= block.warps.size()) continue;
    for (const sim::Split& split : block.warps[spot.warp].splits) {
      if (split.wait == sim::Wait::mbarrier) return split.mbarrier;
    }
  }
  return {};
}

// The buffer that a place of global memory lies in, and its element there.
struct GlobalElement {
  std::size_t buffer = 0;
  std::int64_t row = 0, column = 0;
};
std::optional<GlobalElement> element_at(const Evidence::Place& place, const sim::Machine& machine) {
  for (std::size_t i = 0; place.of == Of::global && i < machine.shells().size(); ++i) {
    const sim::Region& region = machine.buffer(i);
    if (place.begin < region.base() || place.begin - region.base() >= region.size()) continue;
    const Buffer& shell = machine.shells()[i];
    const auto width = std::max<std::uint64_t>(1, bytes_of(shell.dtype));
    const auto flat = static_cast<std::int64_t>((place.begin - region.base()) / width);
    const std::int64_t length =
        shell.shape.empty() ? 1 : std::max<std::int64_t>(1, shell.shape.back());
    return GlobalElement{i, flat / length, flat % length};
  }
  return {};
}

std::uint64_t block_number(const Site& site, const Dim3& grid) {
  return site.block.x +
         std::uint64_t{grid.x} * (site.block.y + std::uint64_t{grid.y} * site.block.z);
}

// Who is looked at: the one that it was told at, where the place is of its block; else somebody who
// has a part in it there.
void look_at_who(RunSpot& spot, const Report& report, const Dim3& grid) {
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
  const Kind* kind = kind_of(report);
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

std::string_view title_of(const Report& report) {
  const Kind* kind = kind_of(report);
  return kind ? kind->title : "An instruction that cannot be done";
}

std::string place_words(const Evidence::Place& place, const sim::Machine& machine) {
  const auto of_block = [&](const std::string& what) {
    const bool alone = machine.launch().grid.count() == 1;
    return alone ? what : fmt::format("{}, block {}", what, place.block);
  };
  switch (place.of) {
    case Of::shared:
      return of_block(
          place.end - place.begin == 1
              ? fmt::format("byte {} of shared memory", place.begin)
              : fmt::format("bytes {} to {} of shared memory", place.begin, place.end - 1));
    case Of::tensor:
      return of_block(sim::cells_text({place.lane, place.lanes, place.column, place.columns}));
    case Of::mbarrier:
      return of_block(
          readable(sim::mbarrier_name(machine, static_cast<std::uint32_t>(place.begin))));
    case Of::barrier:
      return of_block(fmt::format("barrier {}", place.begin));
    case Of::global: {
      const auto at = element_at(place, machine);
      if (!at) return "";
      return fmt::format("{} [{}, {}]", machine.shells()[at->buffer].name, at->row, at->column);
    }
    case Of::nothing:
      break;
  }
  return "";
}

void show_report(Choices& choices, const Report& report, std::size_t number) {
  choices.view = view_of_report(report);
  if (!choices.live) return;
  const sim::Machine& machine = choices.live->stepper.machine();
  const Evidence& evidence = report.evidence;
  if (is_gone(machine, evidence.place)) choices.view = ViewName::source;
  RunSpot& spot = choices.spot;
  spot = {};
  look_at_who(spot, report, machine.launch().grid);
  spot.report = static_cast<std::uint32_t>(number);
  spot.barrier = evidence.mbarrier;
  if (evidence.place.of == Of::mbarrier) {
    spot.barrier = static_cast<std::uint32_t>(evidence.place.begin);
  }
  if (!spot.barrier && choices.view == ViewName::barriers) spot.barrier = waits_at(machine, spot);
  if (evidence.place.of == Of::shared) spot.byte = static_cast<std::uint32_t>(evidence.place.begin);
  if (evidence.place.of == Of::tensor && evidence.place.lane < 128 && evidence.place.column < 512) {
    spot.cell = RunSpot::Cell{evidence.place.lane, evidence.place.column};
  }
  const Site& site = report.site;
  if (site.caller_line) {
    spot.line = RunSpot::SourceLine{site.caller, site.caller_line};
  } else if (site.source_line) {
    spot.line = RunSpot::SourceLine{site.source, site.source_line};
  } else if (site.ptx_line) {
    spot.line = RunSpot::SourceLine{"", site.ptx_line};
  }
  const auto element = element_at(evidence.place, machine);
  if (element && is_output(machine.shells()[element->buffer])) {
    choices.element = Element{element->row, element->column};
  }
}

void show_fault(Choices& choices) {
  if (!choices.result || choices.result->reports.empty()) return;
  show_report(choices, choices.result->reports.back(), choices.result->reports.size() - 1);
}

std::string command_of_message(const Session& session) {
  const Choices& choices = session.choices;
  if (!choices.live) return "";
  const std::vector<Report>& reports =
      choices.result ? choices.result->reports : choices.live->stepper.known_reports();
  for (std::size_t i = reports.size(); i-- > 0;) {
    const bool told = session.message.text.find(reports[i].sentence) != std::string::npos;
    if (told) return fmt::format("go report {}", i);
  }
  return "";
}

}  // namespace tilescope
