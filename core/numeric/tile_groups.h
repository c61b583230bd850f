// D += A * B of elements of 4 bits with scale factors for blocks of 16 or 32 of them, as a tensor
// core of Blackwell adds (tcgen05.mma of .kind::mxf4 and .kind::mxf4nvf4, one instruction):
//
//   1. the products of 16 neighbours along K, a group, are summed exactly, and multiplied by the
//      significands of both scale factors;
//   2. the exponents of a group's scale factors, added, are its exponent; the accumulator has its
//      own (-126 where it is zero or subnormal);
//   3. groups and accumulator are aligned to the largest of these exponents and truncated, towards
//      zero, below 2^(largest - 35);
//   4. their sum is truncated to 24 bits. A zero is +0, and a NaN the canonical one.
//
// Source: MMA-Sim, which its authors compared with chips bit by bit (arXiv 2511.10909,
// github.com/microsoft/MMA-Sim, nv_fused_dot_add_with_block_scale). No chip was asked by us. Not
// known: K 96, whose six groups are taken likewise, and an infinite accumulator, which stays.
//
// Law: the same bits whatever the processor's vector instructions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/numeric/tile_product.h"

namespace tilescope {

// What multiplies the elements of a block: a power of two (of which 0xff is NaN), or an e4m3 whose
// sign does not count.
enum class ScaleFormat : std::uint8_t { ue8m0, ue4m3 };
double decode(ScaleFormat format, std::uint8_t pattern);  // its value, or NaN

// An operand: rows of k elements of 4 bits, two in a byte, the first in the lower half; and row
// after row a scale factor for each `block` of them.
struct ScaledOperand {
  const std::byte *elements = nullptr, *scales = nullptr;
  bool negate = false;
};

class TileGroups {
 public:
  static constexpr int group = 16;
  // k: a multiple of 32; block: 16 or 32. Fused sums are chains of fmaf over scaled elements.
  TileGroups(ScaleFormat format, int k, int block,
             TileProduct::Sums sums = TileProduct::Sums::exact,
             TileVectors vectors = best_vectors());
  // Fused sums want scale factors that f32 has enough exponents for.
  static bool fuses(ScaleFormat format, const std::byte* scales, std::size_t count);

  void take_a(const ScaledOperand& a, int m);
  void take_b(const ScaledOperand& b, int n);  // n: a multiple of 8
  // Adds the products of rows [row, row + rows) of A with all columns of B to f32 patterns: element
  // (i, j) is in cells[i * stride + j].
  void add(int row, int rows, std::uint32_t* cells, int stride) const;

 private:
  struct Factors {  // of groups: significands, and exponents, or scale_nan
    std::vector<float> significand;
    std::vector<std::int32_t> exponent;
  };
  void take_scales(const std::byte* scales, int rows, Factors& out) const;

  bool fused() const { return sums_ == TileProduct::Sums::fused; }

  ScaleFormat format_;
  TileProduct::Sums sums_;
  int k_ = 0, block_ = 0, n_ = 0;
  TileVectors vectors_;
  AlignedArray<float> a_, b_;
  Factors a_factors_;                       // [row][group]
  AlignedArray<float> b_scales_;            // [unit of 32 columns][group][32]
  AlignedArray<std::int32_t> b_exponents_;  // likewise
};

}  // namespace tilescope
