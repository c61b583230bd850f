// The tile that every step of Hopper's ladder works on: what of A and B is in shared memory, and
// what of D a thread has in its registers, as core's layouts. Each consumer, a warpgroup, has 64
// rows of A and D; B is for all of them.
//
//   A (m,64)  B (n,64)   Sw<3,3,3> o ((8,m/8),(64,1)):((64,512),(1,0))   shared memory, elements
//   D (64,64), a box     the same                                        on its way back
//   D (64,n)             (4,8,4):(2@1,1@0,16@0)     thread    -> row and column
//                        (2,2,n/8):(1@1,8@0,8@1)    register  -> and so much further
//                                                   (PTX ISA 9.7.15.5.1)
//
// The atom (8,64):(64,1) is 8 rows of 128 bytes, whose 16-byte pieces the swizzle exchanges by the
// row's number: the 128-byte swizzle of TMA and of wgmma.mma_async, which are the same.
#pragma once

#include "core/layout/algebra.h"
#include "kernels/device/coordinates.h"
#include "kernels/device/descriptors.h"
#include "kernels/device/memory.h"
#include "kernels/device/offsets.h"
#include "kernels/device/wgmma.h"
#include "kernels/device/wgmma_sums.h"

namespace tilescope::device {

template <class Element_, int consumers_, int n_>
struct WgmmaTile {
  using Element = Element_;
  static_assert(sizeof(Element) == 2, "an atom's row of 64 elements is to be 128 bytes");
  static constexpr int consumers = consumers_;
  static constexpr int rows = 64;  // of a consumer
  static constexpr int m = consumers * rows, n = n_, k = 64;
  static constexpr int threads = 128;  // of a consumer

  static constexpr Layout atom =
      must(composition(Swizzle{3, 3, 3}, must(make_layout_right(make_tuple_of(8, k)))));
  static constexpr Layout a = must(tile_to_shape(atom, make_tuple_of(m, k)));
  static constexpr Layout b = must(tile_to_shape(atom, make_tuple_of(n, k)));
  static constexpr int box = 64;  // columns of D that go back together: a row of the atom
  static constexpr Layout d = must(tile_to_shape(atom, make_tuple_of(rows, box)));

  static constexpr Layout of_thread = WgmmaSums<n>::of_thread;
  static constexpr Layout of_register = WgmmaSums<n>::of_register;
  static constexpr int registers = n / 2;  // of D, in each thread

  static constexpr int a_bytes = m * k * static_cast<int>(sizeof(Element));
  static constexpr int b_bytes = n * k * static_cast<int>(sizeof(Element));
};

// A consumer's 64 rows of A's tile: 8 atoms.
template <class Tile>
__device__ inline const typename Tile::Element* rows_of(const typename Tile::Element* a,
                                                        int consumer) {
  return a + consumer * Tile::rows * Tile::k;
}

// sum (64,n) += a (64,64) * b (n,64)^T, or = where it does not accumulate: a product for each 16
// elements of K, all of them one group. The next 16 are 32 bytes further along the atom's row,
// where the descriptor starts two units of 16 bytes later: the hardware swizzles the address that
// it comes to (9.7.15.5.1). Whoever reads the sum waits first.
template <class Tile>
__device__ inline void multiply_tile(float (&sum)[Tile::registers], const typename Tile::Element* a,
                                     const typename Tile::Element* b, bool accumulate) {
  using Element = typename Tile::Element;
  const std::uint64_t from_a = wgmma_descriptor<Tile::a, Element>() | descriptor_address(a);
  const std::uint64_t from_b = wgmma_descriptor<Tile::b, Element>() | descriptor_address(b);
  wgmma::fence();
#pragma unroll
  for (int k = 0; k < Tile::k; k += 16) {
    constexpr int unit = 16 / sizeof(Element);
    wgmma::multiply<Element, Element, Tile::n>(
        sum, from_a + offset_of<Tile::a, Tile::m>(0, k) / unit,
        from_b + offset_of<Tile::b, Tile::n>(0, k) / unit, accumulate || k > 0);
  }
  wgmma::commit();
}

}  // namespace tilescope::device
