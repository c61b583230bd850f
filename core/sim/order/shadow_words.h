// What the files of Shadow share.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace tilescope::sim {

// Of [begin, end) the part in 4-byte word `word`, a bit a byte.
inline std::uint32_t part_of(std::uint64_t word, std::uint64_t begin, std::uint64_t end) {
  const std::uint64_t from = std::max(begin, word * 4), to = std::min(end, word * 4 + 4);
  return ((1u << (to - from)) - 1) << (from - word * 4);
}

// When a word that has so many is looked through again.
inline std::uint32_t thin_next(std::size_t count, std::uint32_t more) {
  return static_cast<std::uint32_t>(count) + std::max(more, static_cast<std::uint32_t>(count));
}

}  // namespace tilescope::sim
