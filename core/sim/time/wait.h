// What a warp that is at an instruction waits for, as records say it.
#pragma once

#include <algorithm>
#include <vector>

#include "core/record/event.h"
#include "core/sim/machine/state.h"

namespace tilescope::sim {

Stall stall_of(Wait wait);

// How much a wait is one for the warp's own lanes: those that are at a barrier of all threads
// are there for theirs, too. -1: it is none.
int for_siblings(Wait wait);

// Which of a warp's splits says what the warp does: one that is ready, else one that waits for what
// its other lanes have no part in, where there is one. Of a warp with one lane in the pipeline,
// while 31 are at the barrier of the cluster, that is the lane at its mbarrier. Null: it has none.
template <class Split>
const Split* speaking_split(const std::vector<Split>& splits) {
  const auto found = std::min_element(
      splits.begin(), splits.end(),
      [](const Split& a, const Split& b) { return for_siblings(a.wait) < for_siblings(b.wait); });
  return found == splits.end() ? nullptr : &*found;
}

}  // namespace tilescope::sim
