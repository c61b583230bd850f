// The tile of two blocks that compute as one (PTX ISA 9.7.16.5, .cta_group::2), as core's layouts.
// Of the cluster's 256 x 256 sums each block has half of the rows; of the operands it holds half of
// A's rows and half of B's, and the tensor cores of both read both halves of B.
//
//                block 0              block 1
//   A (256,64)   rows 0-127           rows 128-255        shared memory
//   B (256,64)   rows 0-127           rows 128-255        shared memory
//   D (256,256)  rows 0-127, all      rows 128-255, all   TMEM: lane m % 128, column n (layout A)
//
// Sizes and layouts below are those of one block.
#pragma once

#include "kernels/device/cluster.h"
#include "kernels/device/descriptors.h"
#include "kernels/device/gemm_tile.h"
#include "kernels/device/offsets.h"
#include "kernels/device/tcgen05_pair.h"

namespace tilescope::device {

template <class Element_>
struct PairTile {
  using Element = Element_;
  static constexpr int m = 128, n = 256, k = 64;
  static constexpr int b_rows = n / 2;
  static constexpr int threads = 128;  // a warp for each 32 lanes of TMEM

  static constexpr Layout atom = GemmTile<Element>::atom;
  static constexpr Layout a = must(tile_to_shape(atom, make_tuple_of(m, k)));
  static constexpr Layout b = must(tile_to_shape(atom, make_tuple_of(b_rows, k)));
  static constexpr Layout d = must(tile_to_shape(atom, make_tuple_of(m, n)));
  static constexpr int box = 64;  // columns that one TMA copy of a tile brings: a row of the atom

  static constexpr Layout accumulator =
      must(make_layout(make_tuple_of(m, n), make_tuple_of(1 << 16, 1)));
  static constexpr int columns = n;  // of TMEM, in both blocks

  static constexpr int a_bytes = m * k * static_cast<int>(sizeof(Element));
  static constexpr int b_bytes = b_rows * k * static_cast<int>(sizeof(Element));
};

// accumulator (256,256) += a (256,64) * b (256,64)^T, or = where it does not accumulate. One thread
// of one block, for both: a and b are its own halves, and the other block has its halves at the
// same places. The next 16 elements of K are 32 bytes further along the atom's row.
template <class Tile>
__device__ inline void multiply_pair(std::uint32_t accumulator, const typename Tile::Element* a,
                                     const typename Tile::Element* b, bool accumulate) {
  using Element = typename Tile::Element;
  constexpr std::uint32_t instruction =
      tcgen05::pair::instruction_descriptor<Element, 2 * Tile::m, Tile::n>();
  const std::uint64_t from_a =
      shared_descriptor<Tile::a, Element>() | (shared_address(a) & own_bytes) >> 4;
  const std::uint64_t from_b =
      shared_descriptor<Tile::b, Element>() | (shared_address(b) & own_bytes) >> 4;
#pragma unroll
  for (int k = 0; k < Tile::k; k += 16) {
    constexpr int unit = 16 / sizeof(Element);
    tcgen05::pair::multiply(accumulator, from_a + offset_of<Tile::a, Tile::m>(0, k) / unit,
                            from_b + offset_of<Tile::b, Tile::b_rows>(0, k) / unit, instruction,
                            accumulate || k > 0);
  }
}

}  // namespace tilescope::device
