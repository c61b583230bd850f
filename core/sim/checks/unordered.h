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

// ---- an access of a warp, for whoever tells of it ----
// How it meets what `conflict` has; `verb`: "reads".
Evidence evidence_of(const Core& x, const Accessed& memory, int lane, std::string_view name,
                     std::string_view verb, std::uint64_t begin, std::uint64_t end,
                     const Conflict& conflict);
Shadow::Touch touch_of(Core& x, const MemoryAccess& access);
// It is noted, and what it is unordered with is told.
void look_at_region(Core& x, Region& region, const MemoryAccess& access);
// Does a lane of a store leave what is there?
bool stores_the_same(const Accessed& memory, const MemoryAccess& access, std::uint32_t lane);

}  // namespace tilescope::sim
