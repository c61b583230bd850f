// Launches that never end (endless.cpp says how they are found).
#pragma once

#include <cstdint>

#include "core/sim/machine/code.h"

namespace tilescope::sim {

// A turn of this warp is over.
void look_for_endless_loop(Model& machine, Block& block, Warp& warp);
// The same of one that may be a short turn: not each time. Of a warp that waits this looks where it
// does at a barrier of the CTA, as it does in each round of a loop with a barrier.
void look_for_endless_loop_at_times(Model& machine, Block& block, Warp& warp);
// Whether this block comes no further by itself: each of its warps waits or repeats itself, and
// nothing is in flight. Then only others can help it, and the rest of its turn would be in vain.
bool goes_round(const Model& machine, const Block& block);
// From now on a store that writes what was there changes nothing.
void compare_stores(Model& machine);
// How often anything changed that a warp of this block could see. That all have come to a barrier
// says nothing new to who comes there in each round.
std::uint64_t changes_for(const Model& machine, const Block& block);

}  // namespace tilescope::sim
