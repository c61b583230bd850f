#include "tests/sim/record/random_record.h"

#include <random>
#include <vector>

namespace tilescope::sim {

Record random_record(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::uint64_t n) { return random() % n; };
  Record record;
  record.launch.grid = {4, 2, 1};
  record.launch.cluster = Dim3{2, 1, 1};
  record.lines.resize(40);
  for (std::uint32_t pc = 0; pc < 40; ++pc) record.lines[pc].line = 1 + pc / 3;
  constexpr Unit units[] = {Unit::warp, Unit::warp, Unit::tensor, Unit::mbarrier, Unit::copy_in};
  for (std::uint32_t t = 0; t < random_record_tracks; ++t) {
    record.tracks.push_back({below(8), units[t % 5], t, static_cast<std::uint32_t>(below(3))});
  }
  std::vector<Cycle> warps(random_record_tracks);
  const std::size_t count = below(3000);
  const Cycle longest = 1 + below(300);
  for (std::size_t i = 0; i < count; ++i) {
    Event event;
    event.track = static_cast<TrackId>(below(random_record_tracks));
    const Unit unit = record.tracks[event.track].unit;
    event.begin = below(20'000);
    event.end = event.begin + (below(4) ? below(longest) : 0);
    event.pc = static_cast<std::uint32_t>(below(40));
    event.until = event.pc;
    event.amount = 1 + below(9);
    if (unit == Unit::warp) {
      event.kind = below(2) ? EventKind::wait : EventKind::run;
      const Cycle length = 1 + below(longest);
      event.begin = warps[event.track] + below(3) * below(longest);
      event.end = warps[event.track] = event.begin + length;
      if (event.kind == EventKind::wait) {
        event.stall = static_cast<Stall>(1 + below(15));
      } else {
        event.until = event.pc + static_cast<std::uint32_t>(below(12));
      }
      if (below(50) == 0) {
        event.kind = EventKind::report;
        event.end = event.begin;
      }
    } else if (unit == Unit::mbarrier) {
      event.kind = below(3) ? EventKind::phase : EventKind::arrival;
    } else {
      event.kind = EventKind::operation;
    }
    if (below(40) == 0) {
      event.kind = EventKind::folded;
      event.stall = Stall::none;
      event.until = 3;
      event.phase = event.pc = 2;
    }
    if (event.kind != EventKind::folded && below(3) == 0) {
      event.object = static_cast<std::uint32_t>(8 * below(40));
    }
    if (below(200) == 0 && unit == Unit::mbarrier) event.end = never_ends;
    event.issue = event.begin;
    if (i && below(2)) event.cause = static_cast<EventId>(below(i));
    record.events.push_back(event);
  }
  return record;
}

}  // namespace tilescope::sim
