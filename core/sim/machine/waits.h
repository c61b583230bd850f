// What a split waits for, in words (core/sim/checks/deadlock.cpp).
#pragma once

#include <string>

#include "core/sim/machine/code.h"

namespace tilescope::sim {

// The instruction at which a waiting split is. One that has arrived at a barrier is behind it
// already.
std::uint32_t waiting_at(const Split& split);

// What follows the name of that instruction: " 0: 32 of 64 threads are there", ", for phase 3 of
// the mbarrier at byte 16 of shared memory (full): phase 3 lacks 1 of 1 arrivals". Empty where the
// split waits for nothing.
std::string wait_text(const Model& machine, const Block& block, const Warp& warp,
                      const Split& split, bool with_story = true);

}  // namespace tilescope::sim
