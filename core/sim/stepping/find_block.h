// A resident block of a machine by its number in the grid; null where it has not begun, or has made
// room for another.
#pragma once

#include <algorithm>

#include "core/sim/machine/machine.h"

namespace tilescope::sim {

inline const Block* find_block(const Machine& machine, std::uint64_t number) {
  const auto& all = machine.blocks();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Block& b) {
    return b.number == number && !b.warps.empty();
  });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace tilescope::sim
