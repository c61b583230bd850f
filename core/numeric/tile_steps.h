// What core/numeric/tile_product.h is made of, compiled once for each set of vector instructions.
#pragma once

#include <bit>

#include "core/numeric/tile_product.h"

namespace tilescope {

// Numbers are kept in units of 32: 32 columns at one k, or eight rows four times each.
constexpr int tile_lanes = 32;

// Of an exponent that a normal f32 has; of others something.
inline float power_of_two(int exponent) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(exponent + 127) << 23);
}

// Exponents of what has none, as 16 bits: their sums with others stay apart from sums of ordinary
// ones.
constexpr std::int16_t tile_zero = -4096, tile_special = 8192;
// B's exponents have f32's bias: a product's, the sum of A's and B's, then has it too.
constexpr int tile_bias = 127;

// The operands of a product, as the loops take them; exponents only where the sum is exact.
//
//   D in rows        A [m][k], B [unit of 32 columns][k][32]; A's exponents are there twice each
//   D in registers   A [m / 8][k][8 rows, each four times], B as above, but the columns of each
//                    eight in the order 0 2 4 6 1 3 5 7
struct TilePanels {
  const float *a_values = nullptr, *b_values = nullptr;
  const std::int16_t *a_exponents = nullptr, *b_exponents = nullptr;
  int m = 0, n = 0, k = 0;
  FloatFormat a_format{}, b_format{};
  bool registers = false;  // where D is
  // Exponents by which A's rows and B's columns are scaled, the latter of whole units; or null.
  const std::int16_t *a_scales = nullptr, *b_scales = nullptr;
};

// One step of one element, whatever its terms: `block` products of a's and b's numbers, which are
// `a_stride` and `b_stride` apart, times 2^up, added to the pattern `c`.
std::uint32_t single_step(const StepRule& rule, const TilePanels& panels, const float* a,
                          int a_stride, const float* b, int b_stride, std::uint32_t c, int up = 0);

// Elements with scale factors for groups of 16 (core/numeric/tile_groups.h): A [m][k] and B [unit
// of 32 columns][k][32]; their scale factors [m][group] and [unit][group][32].
struct GroupPanels {
  const float *a = nullptr, *b = nullptr;
  const float *a_scales = nullptr, *b_scales = nullptr;  // significands
  const std::int32_t *a_exponents = nullptr, *b_exponents = nullptr;
  int m = 0, n = 0, k = 0;
  bool unit_scales = false;  // all significands are 1
};

#define TILESCOPE_TILE_STEPS                                                                    \
  void pack_rows(const TileOperand& a, int m, int k, float* out);                               \
  void pack_registers(const TileOperand& a, int m, int k, float* out);                          \
  void pack_columns(const TileOperand& b, int n, int k, bool registers, float* out);            \
  void find_exponents(FloatFormat format, const float* values, int count, int bias, bool twice, \
                      std::int16_t* out);                                                       \
  void add_fused(const TilePanels& panels, const TileSums& d);                                  \
  void add_exact(const StepRule& rule, const TilePanels& panels, const TileSums& d);            \
  void add_groups(const GroupPanels& panels, std::uint32_t* cells, int stride);
namespace base {
TILESCOPE_TILE_STEPS
}
namespace avx2 {
TILESCOPE_TILE_STEPS
}
namespace avx512 {
TILESCOPE_TILE_STEPS
}
#undef TILESCOPE_TILE_STEPS

}  // namespace tilescope
