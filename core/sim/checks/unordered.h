// How an access that is unordered with an earlier one is told: a hazard, or a note where chips keep
// the order and nothing is lost.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/sim/checks/conflict.h"

namespace tilescope::sim {

// What lane `lane` of the current warp does by `name`, at bytes [begin, end) of the memory.
void tell_unordered(Core& x, const Accessed& memory, int lane, std::string_view name,
                    Shadow::Kind kind, std::uint64_t begin, std::uint64_t end,
                    const Conflict& conflict);

}  // namespace tilescope::sim
