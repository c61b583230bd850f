// A resident block of a machine by its number in the grid; null where it has not begun, or has made
// room for another.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/sim/machine/machine.h"
#include "core/sim/machine/state.h"

namespace tilescope::sim {

inline const Block* find_block(const std::vector<Block>& resident, std::uint64_t number) {
  const auto found = std::find_if(resident.begin(), resident.end(), [&](const Block& b) {
    return b.number == number && !b.warps.empty();
  });
  return found == resident.end() ? nullptr : &*found;
}

inline const Block* find_block(const Machine& machine, std::uint64_t number) {
  return find_block(machine.blocks(), number);
}

}  // namespace tilescope::sim
