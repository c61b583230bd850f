// Why nobody goes on: what is waited for, what in the program could have brought it, and why that
// did not come (core/run/deadlock_cause.h).
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <vector>

#include "core/run/deadlock_cause.h"
#include "core/sim/machine/code.h"

namespace tilescope::sim {

// Lanes of a warp that wait: which split of which warp of which block.
struct WaitingSplit {
  const Block* block = nullptr;
  const Warp* warp = nullptr;
  const Split* split = nullptr;
};

// `waiting`: all who wait in the cluster of `last`, who explains most first. `helpful`: offsets of
// mbarriers that, were they complete, would let others go on.
std::shared_ptr<const DeadlockCause> cause_of(Model& machine, const Block& last,
                                              const std::vector<WaitingSplit>& waiting,
                                              const std::set<std::uint32_t>& helpful);

}  // namespace tilescope::sim
