// What is asked and said of an operation in flight, by flights.cpp and collisions.cpp.
#pragma once

#include <string>

#include "core/sim/async/operation.h"
#include "core/sim/checks/evidence.h"

namespace tilescope::sim {

struct Block;

// Does something keep it from its next moment: one before it in its pipe, or its guard?
bool held_up(const Block& block, const AsyncOperation& operation);

// Does this copy only read the block's shared memory, for global memory?
bool is_store(const AsyncOperation& operation);

std::string range_text(const Range& range);  // "bytes 0 to 15 of shared memory"

// The mbarrier that one waits at for an operation in flight, and one that was complete without it.
void add_mbarrier(Evidence& evidence, const Block& block, const AsyncOperation& operation);

}  // namespace tilescope::sim
