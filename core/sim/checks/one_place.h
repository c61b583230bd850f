// Lanes of one access that lie at the same place.
#pragma once

#include <array>
#include <cstdint>

#include "core/sim/machine/code.h"

namespace tilescope::sim {

// f(first, lane) for each lane of `mask` that begins where `first`, the lowest one there, does:
// until it answers false. Each lane accesses `bytes` bytes, at a multiple of as many.
template <class F>
void each_at_one_place(Mask mask, const std::uint64_t* offsets, std::uint32_t bytes, F f) {
  constexpr std::uint32_t slots = 64, nobody = 32;
  std::array<std::uint8_t, slots> in_slot;
  in_slot.fill(nobody);
  for (Mask rest = mask; rest; rest &= rest - 1) {
    const auto lane = static_cast<std::uint32_t>(__builtin_ctz(rest));
    auto slot = static_cast<std::uint32_t>(offsets[lane] / bytes) % slots;
    while (in_slot[slot] != nobody && offsets[in_slot[slot]] != offsets[lane])
      slot = (slot + 1) % slots;
    if (in_slot[slot] == nobody) {
      in_slot[slot] = static_cast<std::uint8_t>(lane);
    } else if (!f(std::uint32_t{in_slot[slot]}, lane)) {
      return;
    }
  }
}

}  // namespace tilescope::sim
