#include "viz/timeline/write_time.h"

#include <fmt/format.h>

#include <algorithm>

#include "viz/scene/number_words.h"
#include "viz/timeline/timeline_words.h"

namespace tilescope {
namespace {

using sim::Cycle;
using sim::EventKind;

// Times that the instruction was executed, or carried out by a unit.
struct Stretch {
  Cycle from = sim::never_ends, to = 0;
  std::size_t times = 0;
};

// Of events of a kind; nobody needs more than a few to know that there are many.
Stretch stretch_of(const TimelineView& view, sim::EventFilter filter, EventKind kind) {
  constexpr std::size_t most = 1000;  // a pointer's move is not to wait for this
  filter.kinds = sim::bit(kind);
  Stretch out;
  Cycle at = 0;
  for (sim::EventId id = view.timeline().next(filter, at); id != sim::no_event && out.times < most;
       id = view.timeline().next(filter, at)) {
    const sim::Event event = view.record().events[id];
    out.from = std::min(out.from, event.begin);
    out.to = std::max(out.to, event.end == sim::never_ends ? view.record().end : event.end);
    ++out.times;
    at = event.begin + 1;
  }
  return out.times < most ? out : Stretch{};
}

std::optional<sim::TrackId> track_of_warp(const sim::Record& record, std::uint64_t block,
                                          std::uint32_t warp) {
  for (sim::TrackId id = 0; id < record.tracks.size(); ++id) {
    const sim::Track& track = record.tracks[id];
    if (track.unit == sim::Unit::warp && track.block == block && track.index == warp) return id;
  }
  return {};
}

}  // namespace

Lines write_time(const TimelineView& view, const Site& writer) {
  const sim::Record& record = view.record();
  sim::EventFilter filter;
  for (std::uint32_t pc = 0; pc < record.lines.size(); ++pc) {
    if (writer.ptx_line && record.lines[pc].ptx_line == writer.ptx_line) filter.pcs.push_back(pc);
  }
  if (filter.pcs.empty()) return {};
  const Dim3& grid = record.launch.grid;
  filter.block = writer.block.x +
                 std::uint64_t{grid.x} * (writer.block.y + std::uint64_t{grid.y} * writer.block.z);
  // What a unit carried out was written by it, not while the warp went on.
  Stretch found = stretch_of(view, filter, EventKind::operation);
  if (found.times == 0) {
    filter.track = track_of_warp(record, *filter.block, writer.warp);
    if (!filter.track) return {};
    // An access has its own time; a run is a stretch of instructions, and has them by their places
    // in the program, whether it came by there or not.
    for (const sim::WarpAccess& access : record.accesses) {
      if (access.track != *filter.track ||
          std::find(filter.pcs.begin(), filter.pcs.end(), access.pc) == filter.pcs.end()) {
        continue;
      }
      found.from = std::min(found.from, access.begin);
      found.to = std::max(found.to, access.end);
      ++found.times;
    }
    if (found.times == 0) found = stretch_of(view, filter, EventKind::run);
  }
  if (found.times == 0) return {};
  const auto from = static_cast<double>(found.from), to = static_cast<double>(found.to);
  std::string text = fmt::format("{} to {}", grouped(found.from), grouped(found.to));
  if (const std::string seconds = seconds_text(view, to); !seconds.empty()) {
    text += fmt::format(" ({} to {})", seconds_text(view, from), seconds);
  }
  if (found.times > 1) text += ", at one of several times";
  return {{view.known_time() ? "written in cycles" : "written in instructions", text}};
}

}  // namespace tilescope
