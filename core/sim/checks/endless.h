// Launches that never end (endless.cpp says how they are found).
#pragma once

#include <cstdint>

#include "core/sim/machine/code.h"

namespace tilescope::sim {

// A turn of this warp is over, and it waits for nothing.
void look_for_endless_loop(Model& machine, Block& block, Warp& warp);
// From now on a store that writes what was there changes nothing.
void compare_stores(Model& machine);
// How often anything changed that a warp of this block could see.
std::uint64_t changes_for(const Model& machine, const Block& block);

}  // namespace tilescope::sim
