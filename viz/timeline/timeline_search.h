// Finding events by words.
//
//     wait                     kinds: run, wait, operation, arrival, phase, report (fault, hazard)
//     tma, copies out, tensor  units, by their names or what engineers call them
//     copies, barriers, tmem   several kinds of units; `wait barrier`: waits for any of them
//     warp 4, write back       a warp of a block, or a role: its waits and stretches
//     mbarrier 98304, full[0]  a barrier: waits for it, arrivals, phases
//     line 100, v7.cu:100      a line of the source: the operations that it issues, the waits at
//                              it, and the runs that are known to have gone through it
//     block 3                  of that block
//     tcgen05.mma              any other text: instructions that have it
//
// Words join: `wait full[0] block 0` are the waits of block 0 for full[0].
#pragma once

#include <string>
#include <string_view>

#include "core/error.h"
#include "viz/timeline/timeline_view.h"

namespace tilescope {

// Refused: words that no event of this record answers to.
Outcome<sim::EventFilter> search_of(const TimelineView& view, std::string_view text);

// The hit after (before) an event; from a time where there is none. Of those that begin together
// the one with the next number. no_event: there is none.
sim::EventId next_hit(const TimelineView& view, const sim::EventFilter& filter, sim::EventId from,
                      double at);
sim::EventId previous_hit(const TimelineView& view, const sim::EventFilter& filter,
                          sim::EventId from, double at);
// How many are in a range: "12", "1000 or more".
constexpr std::size_t most_hits = 1000;
std::size_t hits_in(const TimelineView& view, const sim::EventFilter& filter, CycleRange range);

}  // namespace tilescope
