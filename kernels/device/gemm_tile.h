// The tile that every step of the ladder works on: what of A, B and D is in shared memory and in
// TMEM, as core's layouts.
//
//   A (128,64)  B (128,64)   Sw<3,3,3> o ((8,16),(64,1)):((64,512),(1,0))    shared memory,
//   elements D (128,128)              Sw<3,3,3> o ((8,16),(64,2)):((64,512),(1,8192)) accumulator
//   (128,128)    (128,128):(65536,1)                             TMEM addresses
//
// The atom (8,64):(64,1) is 8 rows of 128 bytes. Its swizzle exchanges the 16-byte pieces of a row
// by the row's number, so that neither reading a column nor a row of pieces meets a bank twice: the
// 128-byte swizzle of TMA and of tcgen05.mma (PTX ISA 9.7.16.10.6), which are the same.
#pragma once

#include "core/layout/algebra.h"

namespace tilescope::device {

template <class Element_>
struct GemmTile {
  using Element = Element_;
  static_assert(sizeof(Element) == 2, "an atom's row of 64 elements is to be 128 bytes");
  static constexpr int m = 128, n = 128, k = 64;
  static constexpr int threads = 128;  // a warp for each 32 lanes of TMEM

  static constexpr Layout atom =
      must(composition(Swizzle{3, 3, 3}, must(make_layout_right(make_tuple_of(8, k)))));
  static constexpr Layout a = must(tile_to_shape(atom, make_tuple_of(m, k)));
  static constexpr Layout b = must(tile_to_shape(atom, make_tuple_of(n, k)));
  static constexpr Layout d = must(tile_to_shape(atom, make_tuple_of(m, n)));
  static constexpr int box = 64;  // columns that one TMA copy of a tile brings: a row of the atom

  // Lane in the upper half of an address, column in the lower (9.7.16.1): row m is in lane m.
  static constexpr Layout accumulator =
      must(make_layout(make_tuple_of(m, n), make_tuple_of(1 << 16, 1)));
  static constexpr int columns = n;  // of TMEM: 32 bits each

  static constexpr int a_bytes = m * k * static_cast<int>(sizeof(Element));
  static constexpr int b_bytes = n * k * static_cast<int>(sizeof(Element));
};

}  // namespace tilescope::device
