// A tile's product: one thread, one tcgen05.mma for each 16 elements of K.
#pragma once

#include "kernels/device/descriptors.h"
#include "kernels/device/gemm_tile.h"
#include "kernels/device/offsets.h"
#include "kernels/device/tcgen05.h"

namespace tilescope::device {

// accumulator (128,128) += a (128,64) * b (128,64)^T, or = where it does not accumulate. The next
// 16 elements of K are further along the atom's row: 32 bytes, where the descriptor starts two
// units of 16 bytes later. The hardware swizzles the address that it comes to (PTX
// ISA 9.7.16.10.6).
template <class Tile>
__device__ inline void multiply_tile(std::uint32_t accumulator, const typename Tile::Element* a,
                                     const typename Tile::Element* b, bool accumulate) {
  using Element = typename Tile::Element;
  constexpr std::uint32_t instruction = instruction_descriptor<Element, Tile::m, Tile::n>();
  const std::uint64_t from_a = shared_descriptor<Tile::a, Element>() | shared_address(a) >> 4;
  const std::uint64_t from_b = shared_descriptor<Tile::b, Element>() | shared_address(b) >> 4;
#pragma unroll
  for (int k = 0; k < Tile::k; k += 16) {
    constexpr int unit = 16 / sizeof(Element);
    tcgen05::multiply(accumulator, from_a + offset_of<Tile::a, Tile::m>(0, k) / unit,
                      from_b + offset_of<Tile::b, Tile::n>(0, k) / unit, instruction,
                      accumulate || k > 0);
  }
}

}  // namespace tilescope::device
