// The banks of shared memory: how often a warp's access goes through them.
//
// There are 32 banks of 4 bytes. An access of up to 4 bytes a lane is served at once, of 8 bytes in
// two phases of 16 lanes, of 16 bytes in four phases of 8 lanes, of 32 bytes in eight of 4. In each
// phase a bank gives one word of 4 bytes a wavefront, to every lane that asks for that word. So a
// phase takes as many wavefronts as the busiest bank has distinct words. Sources: CUDA C++
// Programming Guide, "Shared Memory" of compute capability 5.x and later; phases of wide accesses
// as the vendor's profiler counts them (32 lanes of 16 contiguous bytes: 4 wavefronts, no excess).
//
// Layouts are asked about in core/layout/access.h; a running kernel's clock (core/sim/time) asks
// here by addresses, millions of times.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace tilescope {

inline constexpr int lanes_of_warp = 32;
inline constexpr int banks = 32;
inline constexpr int bank_bytes = 4;

// Phases of an access in which each lane moves `bytes` bytes, and the lanes of one.
constexpr int phases_of(std::int64_t bytes) {
  return bytes <= 4 ? 1 : bytes <= 8 ? 2 : bytes <= 16 ? 4 : 8;
}
constexpr int lanes_in_phase(std::int64_t bytes) {
  return lanes_of_warp / phases_of(bytes);
}
// Words that one lane asks for.
constexpr std::int64_t words_of(std::int64_t bytes) {
  return (bytes + bank_bytes - 1) / bank_bytes;
}

// The distinct words that the lanes of one phase have asked for so far: at most 32, since a phase
// moves 128 bytes.
class BankWords {
 public:
  struct Given {
    int bank = 0;
    std::uint32_t wavefront = 0;  // the k-th distinct word of a bank comes in wavefront k
    bool first = false;           // nobody had asked for it before
  };
  Given ask(std::uint64_t word) {
    const auto bank = static_cast<std::size_t>(word % banks);
    const auto begin = words_[bank].begin(), end = begin + count_[bank];
    const auto found = std::find(begin, end, word);
    const auto wavefront = static_cast<std::uint32_t>(found - begin);
    if (found != end) return {static_cast<int>(bank), wavefront, false};
    *found = word;
    ++count_[bank];
    return {static_cast<int>(bank), wavefront, true};
  }

 private:
  std::array<std::array<std::uint64_t, lanes_of_warp>, banks> words_;  // of each bank
  std::array<std::uint8_t, banks> count_{};
};

// How often lanes of `mask` that each access `bytes` bytes at their `addresses` go through.
std::uint32_t wavefronts(const std::uint64_t* addresses, std::uint32_t mask, std::uint32_t bytes);

}  // namespace tilescope
