// What a product is told of its matrices, made from their layouts at compile time: tcgen05.mma, and
// below wgmma.
//
//   shared-memory descriptor, 64 bits (PTX ISA 9.7.16.4.1)     instruction descriptor, 32 bits (.2)
//      0-13  address >> 4                                          4-5  type of D: 1 f32
//     16-29  leading stride >> 4: not used by swizzled K-major     7-9  type of A: 0 f16, 1 bf16
//     32-45  stride from 8 rows to the next 8, >> 4              10-12  type of B
//     46-48  1                                                   17-22  N >> 3
//     61-63  swizzle: 2 128 bytes, 4 64, 6 32                    24-28  M >> 4
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <type_traits>

#include "core/layout/algebra.h"

namespace tilescope::device {

// Of an operand with K contiguous: Sw<B,4,3> (on bytes) o ((8,rows/8),(columns,...)), where the 8
// rows of an atom follow one another. The address is added by the thread that knows it. So for
// wgmma, whose swizzle is in bits 62 and 63 (1, 2, 3), which says the same (PTX ISA 9.7.15.5.1);
template <const Layout& L, class Element>
constexpr std::uint64_t wgmma_descriptor() {
  constexpr auto leaf = [](int i) { return L.modes.leaf[i]; };
  constexpr std::int64_t bytes = sizeof(Element), row = leaf(0).stride.value * bytes;
  static_assert(leaf(0).shape.value == 8 && leaf(2).stride.value == 1, "8 rows, K contiguous");
  static_assert(row == 16 << L.swizzle.bits, "a row of the atom is as wide as the swizzle");
  static_assert((std::int64_t{1} << L.swizzle.base) * bytes == 16 && L.swizzle.shift == 3,
                "pieces of 16 bytes, by the number of the row");
  constexpr std::uint64_t swizzle = L.swizzle.bits == 3 ? 2 : L.swizzle.bits == 2 ? 4 : 6;
  constexpr std::uint64_t stride = static_cast<std::uint64_t>(leaf(1).stride.value * bytes);
  static_assert(stride % 16 == 0 && stride >> 4 < 1 << 14, "what the field can say");
  return (stride >> 4) << 32 | swizzle << 61;
}
// and so for tcgen05.mma.
template <const Layout& L, class Element>
constexpr std::uint64_t shared_descriptor() {
  return wgmma_descriptor<L, Element>() | std::uint64_t{1} << 46;
}

// D in f32 += A * B, both of `Element`, both with K contiguous.
template <class Element, int m, int n>
constexpr std::uint32_t instruction_descriptor() {
  static_assert(m == 64 || m == 128, "one CTA multiplies 64 or 128 rows (PTX ISA, table 39)");
  static_assert(n % 8 == 0 && n >= 8 && n <= 256, "and 8 to 256 columns");
  constexpr std::uint32_t type = std::is_same_v<Element, __half> ? 0 : 1;
  static_assert(type == 0 || std::is_same_v<Element, __nv_bfloat16>);
  return 1u << 4 | type << 7 | type << 10 | (n >> 3) << 17 | (m >> 4) << 24;
}

}  // namespace tilescope::device
