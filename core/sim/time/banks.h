// What a warp's access asks of shared memory's banks and of global memory's sectors. How often it
// goes through the banks is `wavefronts` of core/layout/banks.h, the rule that pictures count by
// too.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>

#include "core/layout/banks.h"

namespace tilescope::sim {

// How many lanes a mask has; most have all.
inline std::uint32_t count_lanes(std::uint32_t mask) {
  return mask == ~0u ? 32 : static_cast<std::uint32_t>(__builtin_popcount(mask));
}

// Wavefronts that lanes of `mask` would take whose `bytes` bytes lay side by side.
std::uint32_t ideal_wavefronts(std::uint32_t mask, std::uint32_t bytes);

// The most lanes of one bank, those that access the same word counted each.
std::uint32_t lanes_of_a_bank(const std::uint64_t* addresses, std::uint32_t mask);
// The most lanes of one word in this sector.
std::uint32_t lanes_of_a_word(const std::uint64_t* addresses, std::uint32_t mask,
                              std::uint64_t sector);

// The sectors of 32 bytes that lanes touch, by number (address / 32), ascending and each once.
struct Sectors {
  std::array<std::uint64_t, 128> number;
  std::uint32_t count = 0;
  std::uint32_t ideal = 0;      // as many as the bytes would fill, each counted once
  std::uint32_t lines() const;  // of 128 bytes, that these are of
};
void find_sectors(const std::uint64_t* addresses, std::uint32_t mask, std::uint32_t bytes,
                  Sectors& out);
// The parts of sectors that lanes leave as they were: of `out` (from find_sectors) those that are
// not written as a whole, a bit each.
std::bitset<128> partly_written(const std::uint64_t* addresses, std::uint32_t mask,
                                std::uint32_t bytes, const Sectors& out);

}  // namespace tilescope::sim
