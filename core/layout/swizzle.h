// Swizzle<B,M,S>: exchange bits of an offset by XOR.
//
//     bit   ...  M+S+B-1 .. M+S  ...  M+B-1 .. M   M-1 .. 0
//                [   source  ]        [ target ]   [ kept  ]
//
//     target ^= source                   e.g. Sw<3,3,3>: bits 3..5 ^= bits 6..8
//
// M bits are kept (what moves together, such as one 16-byte access), B bits change, S is how far
// above them the bits stand that they are XORed with (S < 0: below). A swizzle is its own inverse.
// Source: CuTe, include/cute/swizzle.hpp; for TMA and MMA the PTX ISA's swizzling modes.
#pragma once

#include <cstdint>

#include "core/layout/refusal.h"

namespace tilescope {

struct Swizzle {
  std::int8_t bits = 0;   // B; 0 is the identity
  std::int8_t base = 0;   // M
  std::int8_t shift = 0;  // S, |S| >= B

  constexpr bool identity() const { return bits == 0; }

  constexpr std::int64_t operator()(std::int64_t offset) const {
    if (identity()) return offset;
    const std::uint64_t field = (std::uint64_t{1} << bits) - 1;
    const std::uint64_t x = static_cast<std::uint64_t>(offset);
    const std::uint64_t moved =
        shift >= 0 ? (x & (field << (base + shift))) >> shift : (x & (field << base)) << -shift;
    return static_cast<std::int64_t>(x ^ moved);
  }

  friend constexpr bool operator==(Swizzle, Swizzle) = default;
};

constexpr Result<Swizzle> make_swizzle(std::int64_t bits, std::int64_t base, std::int64_t shift) {
  const std::int64_t far = shift < 0 ? -shift : shift;
  const bool in_range = bits >= 0 && bits <= 30 && base >= 0 && base <= 30 && far <= 30;
  if (!in_range || far < bits) {
    return Refusal{Refusal::Rule::swizzle_bits, -1, 0, bits, shift};
  }
  return Swizzle{static_cast<std::int8_t>(bits), static_cast<std::int8_t>(base),
                 static_cast<std::int8_t>(shift)};
}

}  // namespace tilescope
