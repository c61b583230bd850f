// How many times a warp's access goes through shared memory, and how many sectors of global memory
// it touches.
//
// Shared memory has 32 banks of 4 bytes: in one pass (a wavefront) each hands out one word, to as
// many lanes as want it. Lanes that want 8 bytes are served half a warp at a time, 16 bytes a
// quarter (CUDA C++ Programming Guide, "Shared Memory"; measured by many, e.g. Mei and Chu,
// "Dissecting GPU Memory Hierarchy through Microbenchmarking", 2017).
#pragma once

#include <array>
#include <cstdint>

namespace tilescope::sim {

// Lanes of `mask` each access `bytes` bytes at their `addresses`.
std::uint32_t wavefronts(const std::uint64_t* addresses, std::uint32_t mask, std::uint32_t bytes);
// With the same bytes side by side.
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

}  // namespace tilescope::sim
