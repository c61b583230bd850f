#include "core/numeric/tile_product.h"

#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "core/numeric/tensor_core_steps.h"
#include "core/numeric/tile_steps.h"

namespace tilescope {
namespace {

struct Steppers {
  decltype(&base::pack_rows) pack_rows;
  decltype(&base::pack_registers) pack_registers;
  decltype(&base::pack_columns) pack_columns;
  decltype(&base::find_exponents) find_exponents;
  decltype(&base::add_fused) add_fused;
  decltype(&base::add_exact) add_exact;
};

const Steppers& steppers(TileVectors vectors) {
  static constexpr Steppers base{base::pack_rows,      base::pack_registers, base::pack_columns,
                                 base::find_exponents, base::add_fused,      base::add_exact};
#ifdef TILESCOPE_NUMERIC_AVX2
  static constexpr Steppers avx2{avx2::pack_rows,      avx2::pack_registers, avx2::pack_columns,
                                 avx2::find_exponents, avx2::add_fused,      avx2::add_exact};
  static constexpr Steppers avx512{avx512::pack_rows,    avx512::pack_registers,
                                   avx512::pack_columns, avx512::find_exponents,
                                   avx512::add_fused,    avx512::add_exact};
  if (vectors == TileVectors::avx512) return avx512;
  if (vectors == TileVectors::avx2) return avx2;
#endif
  (void)vectors;
  return base;
}

int up_to(int count, int multiple) {
  return (count + multiple - 1) / multiple * multiple;
}

// As take_apart() does, of a number of this format: its exponent, and its significand as an
// integer.
void take_apart(FloatFormat format, float value, std::int32_t& significand,
                std::int32_t& exponent) {
  significand = 0;
  exponent = zero_exponent;
  if (!std::isfinite(value)) {
    exponent = special_exponent;
    if (std::isinf(value)) significand = value < 0 ? -1 : 1;
  } else if (value != 0) {
    exponent = std::max(std::ilogb(value), 1 - format.bias());
    significand = static_cast<std::int32_t>(std::ldexp(value, format.mantissa_bits - exponent));
  }
}

std::vector<float> scaled_rows(const TilePanels& p) {
  std::vector<float> out(p.a_values, p.a_values + p.m * p.k);
  for (int i = 0; i < p.m; ++i) {
    const float factor = power_of_two(p.a_scales[i]);
    for (int k = 0; k < p.k; ++k) out[i * p.k + k] *= factor;
  }
  return out;
}

std::vector<float> scaled_columns(const TilePanels& p) {
  const int columns = up_to(p.n, tile_lanes);
  std::vector<float> out(p.b_values, p.b_values + columns * p.k);
  std::array<float, tile_lanes> factors;
  for (int j = 0; j < columns; j += tile_lanes) {
    for (int c = 0; c < tile_lanes; ++c) factors[c] = power_of_two(p.b_scales[j + c]);
    float* unit = out.data() + j * p.k;
    for (int k = 0; k < p.k; ++k, unit += tile_lanes) {
      for (int c = 0; c < tile_lanes; ++c) unit[c] *= factors[c];
    }
  }
  return out;
}

}  // namespace

std::uint32_t single_step(const StepRule& rule, const TilePanels& panels, const float* a,
                          int a_stride, const float* b, int b_stride, std::uint32_t c, int up) {
  if (up >= scale_nan / 2) return format_f32.canonical_nan();
  constexpr int columns = 8, most = 64;  // all columns alike
  std::array<std::int32_t, most> significand, exponent;
  std::array<std::int32_t, most * columns> right, right_exponent;
  for (int p = 0; p < rule.block; ++p) {
    take_apart(panels.a_format, a[p * a_stride], significand[p], exponent[p]);
    std::int32_t s, e;
    take_apart(panels.b_format, b[p * b_stride], s, e);
    if (e > zero_exponent && e < least_special) e += up;
    std::fill_n(&right[p * columns], columns, s);
    std::fill_n(&right_exponent[p * columns], columns, e);
  }
  std::array<std::uint32_t, columns> sums;
  sums.fill(c);
  base::run_steps({rule,
                   {1, columns, rule.block},
                   panels.a_format.mantissa_bits + panels.b_format.mantissa_bits,
                   false,
                   {significand.data(), exponent.data()},
                   {right.data(), right_exponent.data()},
                   sums.data(),
                   columns});
  return sums[0];
}

TileVectors best_vectors() {
#ifdef TILESCOPE_NUMERIC_AVX2
  static const TileVectors best = [] {
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    return avx2 && avx512 ? TileVectors::avx512 : avx2 ? TileVectors::avx2 : TileVectors::base;
  }();
  return best;
#else
  return TileVectors::base;
#endif
}

TileProduct::TileProduct(Sums sums, Where where, int k, TileVectors vectors)
    : sums_(sums), where_(where), vectors_(vectors), k_(k) {}

void TileProduct::take_a(const TileOperand& a, int m) {
  const int count = m * k_ * (registers() ? tile_lanes / 8 : 1);
  a_format_ = a.format;
  a_ = AlignedArray<float>(static_cast<std::size_t>(count));
  const Steppers& s = steppers(vectors_);
  (registers() ? s.pack_registers : s.pack_rows)(a, m, k_, a_.data());
  if (!exact()) return;
  a_exponents_ =
      AlignedArray<std::int16_t>(static_cast<std::size_t>(count) * (registers() ? 1 : 2));
  s.find_exponents(a_format_, a_.data(), count, 0, !registers(), a_exponents_.data());
}

void TileProduct::take_b(const TileOperand& b, int n) {
  const int count = up_to(n, tile_lanes) * k_;
  b_format_ = b.format;
  n_ = n;
  b_ = AlignedArray<float>(static_cast<std::size_t>(count));
  const Steppers& s = steppers(vectors_);
  s.pack_columns(b, n, k_, registers(), b_.data());
  if (!exact()) return;
  b_exponents_ = AlignedArray<std::int16_t>(static_cast<std::size_t>(count));
  s.find_exponents(b_format_, b_.data(), count, tile_bias, false, b_exponents_.data());
}

void TileProduct::add(int row, int rows, const StepRule& rule, const TileSums& d) const {
  const int first = row * k_ * (registers() ? tile_lanes / 8 : 1);
  TilePanels panels{a_.data() + first, b_.data(), nullptr,    nullptr, rows, n_, k_,
                    a_format_,         b_format_, registers()};
  const Steppers& s = steppers(vectors_);
  if (!exact()) return s.add_fused(panels, d);
  panels.a_exponents = a_exponents_.data() + first * (registers() ? 1 : 2);
  panels.b_exponents = b_exponents_.data();
  s.add_exact(rule, panels, d);
}

void TileProduct::add(int row, int rows, const StepRule& rule, const TileSums& d,
                      const TileScales& scales) const {
  const int first = row * k_;
  TilePanels panels{a_.data() + first,
                    b_.data(),
                    exact() ? a_exponents_.data() + 2 * first : nullptr,
                    b_exponents_.data(),
                    rows,
                    n_,
                    k_,
                    a_format_,
                    b_format_,
                    false};
  std::vector<std::int16_t> columns(scales.b, scales.b + n_);
  columns.resize(static_cast<std::size_t>(up_to(n_, tile_lanes)));
  panels.a_scales = scales.a + row;
  panels.b_scales = columns.data();
  if (exact()) return steppers(vectors_).add_exact(rule, panels, d);
  const std::vector<float> a = scaled_rows(panels), b = scaled_columns(panels);
  panels.a_values = a.data();
  panels.b_values = b.data();
  steppers(vectors_).add_fused(panels, d);
}

// A product of two significands is below 4, or below 3.6 of formats with three bits of mantissa; a
// half of a step's and the accumulator come to less than 2^31 (tile_exact.cpp).
bool TileProduct::does(const StepRule& rule, FloatFormat a, FloatFormat b) {
  const bool few_bits = a.mantissa_bits <= 3 && b.mantissa_bits <= 3;
  return !rule.half_accumulator && rule.fraction <= 25 && rule.block <= (few_bits ? 32 : 16);
}

}  // namespace tilescope
