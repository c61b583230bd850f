// What single lanes of a warp are behind: lanes are threads, and what one of them tells or waits
// for is its own until they meet (PTX ISA 8.8, 8.9.5, 9.7.13.2).
#pragma once

#include "core/sim/checks/conflict.h"

namespace tilescope::sim {

// What an access, which is noted in a Shadow, has to do with single lanes.
class OfLanes {
 public:
  void find(const Core& x, const Shadow::Pass& pass, bool may_be_untold);
  bool any() const { return within_.other.lanes || untold_.lanes; }
  void tell(Core& x, const Accessed& memory, const MemoryAccess& access) const;

 private:
  Shadow::LaneRace within_;  // with another lane of its warp
  Shadow::LaneRace told_;    // with a lane of another warp, that another one of it told of
  Observer::Untold untold_;
};

// Before the access is noted: where some lanes alone have waited, does one that has not touch what
// only the wait orders? It is told.
void look_for_lanes_that_did_not_wait(Core& x, Shadow& shadow, const Accessed& memory,
                                      const MemoryAccess& access);
// Lanes of one store that store different values at one place.
void tell_one_place(Core& x, const Accessed& memory, const MemoryAccess& access);

}  // namespace tilescope::sim
