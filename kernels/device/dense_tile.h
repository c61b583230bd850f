// The tiles of dense_gemm: any of Hopper's operand types, K- or MN-major. TMA fills them and the
// tensor core reads them, so that all a thread needs of an operand's is its descriptor; a box of C,
// which threads fill, is one of core's layouts.
//
// A row of a tile is 128 bytes, whatever the type: k elements of K, or 64 of M or N.
//
//   K-major    (rows,k)    Sw<3,_,3> o ((8,rows/8),(k,1)): atoms of 8 rows follow one another
//   MN-major   (rows,64)   Sw<3,3,3> o ((64,rows/64),(8,8)):((1,4096),(64,512)): atoms of 8 columns
//                          follow one another, then the next 64 rows
//
// Both have 8192 bytes for 64 rows. The 128-byte swizzle is that of TMA's boxes and of wgmma's
// descriptors (PTX ISA 9.7.15.5.1).
#pragma once

#include "core/layout/algebra.h"
#include "kernels/device/memory.h"
#include "kernels/device/offsets.h"
#include "kernels/device/wgmma.h"

namespace tilescope::device {

using wgmma::Major;

// Of one operand: `rows` of M or N.
template <class Element_, int rows_, Major major_>
struct OperandTile {
  using Element = Element_;
  static constexpr int rows = rows_;
  static constexpr Major major = major_;
  static constexpr int size = static_cast<int>(sizeof(Element));
  static constexpr int k = 128 / size;
  static constexpr int bytes = rows * 128;
  static_assert(major == Major::k || size == 2, "MN-major operands are of 16 bits");
  static_assert(major == Major::k ? rows % 8 == 0 : rows % 64 == 0, "whole atoms");
  static constexpr int row_bytes_of_64 = 8192;

  // Without its address: the swizzle; from 8 rows (or 8 columns of K) to the next 8; MN-major from
  // 64 rows to the next 64.
  static constexpr std::uint64_t descriptor =
      std::uint64_t{1} << 62 | std::uint64_t{1024 >> 4} << 32 |
      (major == Major::k ? 0 : std::uint64_t{row_bytes_of_64 >> 4} << 16);
  // From a product to the next, 32 bytes of K further: along the row, or 16 rows of 128 bytes.
  static constexpr int step = (major == Major::k ? 32 : 16 * 128) >> 4;
};

// A box of C on its way back: 64 rows of `columns`, 128 bytes, or 64 of a narrower tile. What is
// left of a tile's columns beside whole boxes goes back without one.
template <class Element_, int n>
struct BoxTile {
  using Element = Element_;
  static constexpr int size = static_cast<int>(sizeof(Element)), rows = 64;
  static constexpr int most = 128 / size;
  static constexpr int columns = n >= most ? most : n >= most / 2 ? most / 2 : most / 4;
  static_assert(n >= columns && n % 16 == 0);
  static constexpr int row_bytes = columns * size;
  static constexpr int swizzle_bits = row_bytes == 128 ? 3 : row_bytes == 64 ? 2 : 1;
  static constexpr int swizzle_base = size == 1 ? 4 : size == 2 ? 3 : 2;  // 16 bytes
  static constexpr Layout layout =
      must(composition(Swizzle{swizzle_bits, swizzle_base, 3},
                       must(make_layout_right(make_tuple_of(rows, columns)))));
};

}  // namespace tilescope::device
