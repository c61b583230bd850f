// Products with scale factors of blocks: the rules of tile_product.h and tile_groups.h, written out
// for one element in doubles, bit for bit and for every set of vector instructions.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "core/numeric/tile_groups.h"
#include "core/numeric/tile_product.h"

namespace tilescope {
namespace {

using u32 = std::uint32_t;

std::vector<TileVectors> vector_sets() {
  std::vector<TileVectors> out;
  for (TileVectors v : {TileVectors::base, TileVectors::avx2, TileVectors::avx512}) {
    if (v <= best_vectors()) out.push_back(v);
  }
  return out;
}

// A term: value = significand * 2^exponent.
struct Term {
  double significand = 0;
  int exponent = 0;
};

// Aligned to the largest exponent, truncated, added, truncated to 24 bits; of f32 what is below the
// normal numbers has fewer.
u32 sum_of(const std::vector<Term>& terms, int fraction, int lowest) {
  int top = lowest;
  for (const Term& t : terms) top = std::max(top, t.exponent);
  double sum = 0;
  for (const Term& t : terms) {
    sum += std::trunc(std::ldexp(t.significand, fraction + t.exponent - top));
  }
  if (sum == 0) return 0;
  const int lead = std::max(std::ilogb(sum) + top - fraction, -126);  // of the result
  const double kept = std::trunc(std::ldexp(sum, 23 - lead + top - fraction));
  return std::bit_cast<u32>(static_cast<float>(std::ldexp(kept, lead - 23)) + 0.0f);
}

// An f32 taken apart: a zero has no exponent that counts.
Term term_of(u32 pattern, int of_zero) {
  const double value = std::bit_cast<float>(pattern);
  if (value == 0) return {0, of_zero};
  const int exponent = std::max(std::ilogb(value), -126);
  return {std::ldexp(value, -exponent), exponent};
}

Term term_of(FloatFormat format, u32 pattern) {
  const double value = decode(format, pattern);
  if (value == 0) return {0, -4096};
  const int exponent = std::max(std::ilogb(value), 1 - format.bias());
  return {std::ldexp(value, -exponent), exponent};
}

constexpr u32 nan_pattern = 0x7fffffff;

u32 random_sum(std::mt19937& random) {
  const u32 field = random() % 8 == 0 ? 0 : 80 + random() % 100;
  return random() % 9 == 0 ? 0 : (random() & 0x807fffffu) | field << 23;
}

// --- mxf8f6f4 ---------------------------------------------------------------------------------

u32 scaled_element(FloatFormat a, FloatFormat b, const std::byte* left, const std::byte* right,
                   int up, u32 old) {
  std::vector<Term> terms = {term_of(old, -4096)};
  for (int k = 0; k < 32; ++k) {
    const Term x = term_of(a, static_cast<u32>(left[k])),
               y = term_of(b, static_cast<u32>(right[k]));
    const double product = x.significand * y.significand;
    terms.push_back({product, product == 0 ? -4096 : x.exponent + y.exponent + up});
  }
  return sum_of(terms, 25, -133);
}

// `spread`: how far from 0 exponents of scale factors are.
void expect_scaled(FloatFormat a, FloatFormat b, int n, int spread) {
  constexpr int m = 16, k = 32;
  std::mt19937 random(static_cast<u32>(a.mantissa_bits * 1000 + b.mantissa_bits * 100 + spread));
  const auto finite = [&](FloatFormat f) {
    u32 v = 0;
    do v = random() & (2 * f.sign_bit() - 1);
    while ((v & (f.sign_bit() - 1)) >= f.beyond());
    return static_cast<std::byte>(random() % 7 ? v : 0);
  };
  std::vector<std::byte> left, right;
  for (int i = 0; i < m * k; ++i) left.push_back(finite(a));
  for (int i = 0; i < n * k; ++i) right.push_back(finite(b));
  std::vector<std::int16_t> up_a, up_b;
  const auto draw = [&] {
    return static_cast<std::int16_t>(static_cast<int>(random() % (2 * spread + 1)) - spread);
  };
  for (int i = 0; i < m; ++i) up_a.push_back(draw());
  for (int j = 0; j < n; ++j) up_b.push_back(draw());
  up_a[3] = scale_nan;
  std::vector<u32> old;
  for (int i = 0; i < m * n; ++i) old.push_back(random_sum(random));
  StepRule rule = step_rule(TensorChip::blackwell, format_e4m3, k);
  for (const TileVectors vectors : vector_sets()) {
    TileProduct product(TileProduct::Sums::exact, TileProduct::Where::rows, k, vectors);
    product.take_a({a, left.data(), false}, m);
    product.take_b({b, right.data(), false}, n);
    std::vector<u32> d = old;
    product.add(0, 5, rule, {d.data(), n, nullptr}, {up_a.data(), up_b.data()});
    product.add(5, m - 5, rule, {d.data() + 5 * n, n, nullptr}, {up_a.data(), up_b.data()});
    for (int i = 0; i < m; ++i) {
      for (int j = 0; j < n; ++j) {
        const u32 want = i == 3 ? nan_pattern
                                : scaled_element(a, b, &left[i * k], &right[j * k],
                                                 up_a[i] + up_b[j], old[i * n + j]);
        ASSERT_EQ(d[i * n + j], want)
            << i << ' ' << j << " spread " << spread << " vectors " << static_cast<int>(vectors);
      }
    }
  }
}

TEST(TileScales, ProductsOfEightBitsAndFewer) {
  for (const FloatFormat a : {format_e4m3, format_e5m2, format_e2m3, format_e3m2, format_e2m1}) {
    for (const FloatFormat b : {format_e4m3, format_e5m2, format_e2m1}) {
      for (const int spread : {0, 6, 40, 127}) expect_scaled(a, b, 40, spread);
    }
  }
}

// --- mxf4, mxf4nvf4 ---------------------------------------------------------------------------

Term scale_of(ScaleFormat format, std::byte pattern) {
  if (format == ScaleFormat::ue8m0) return {1, static_cast<int>(pattern) - 127};
  const Term t = term_of(format_e4m3, static_cast<u32>(pattern) & 0x7f);
  return {t.significand, t.significand == 0 ? -126 : t.exponent};
}

bool is_nan(ScaleFormat format, std::byte pattern) {
  return format == ScaleFormat::ue8m0 ? pattern == std::byte{0xff}
                                      : (pattern & std::byte{0x7f}) == std::byte{0x7f};
}

double element_of(const std::byte* row, int k) {
  return decode(format_e2m1, static_cast<u32>(row[k / 2]) >> k % 2 * 4 & 15);
}

u32 grouped_element(ScaleFormat format, int k, int block, const std::byte* a, const std::byte* b,
                    const std::byte* a_scales, const std::byte* b_scales, u32 old) {
  std::vector<Term> terms = {term_of(old, -126)};
  for (int g = 0; g < k; g += 16) {
    double sum = 0;
    for (int p = g; p < g + 16; ++p) sum += element_of(a, p) * element_of(b, p);
    const std::byte left = a_scales[g / block], right = b_scales[g / block];
    if (is_nan(format, left) || is_nan(format, right)) return nan_pattern;
    const Term x = scale_of(format, left), y = scale_of(format, right);
    terms.push_back({sum * x.significand * y.significand, x.exponent + y.exponent});
  }
  return sum_of(terms, 35, -100000);
}

void expect_grouped(ScaleFormat format, int k, int block, int n, bool wild) {
  constexpr int m = 16;
  std::mt19937 random(static_cast<u32>(k * 100 + block + n + wild));
  std::vector<std::byte> left, right, a_scales, b_scales;
  const auto fill = [&](std::vector<std::byte>& to, int count, const auto& draw) {
    for (int i = 0; i < count; ++i) to.push_back(static_cast<std::byte>(draw()));
  };
  const auto any = [&] { return random() & 0xff; };
  const auto scale = [&] {
    return format == ScaleFormat::ue8m0 && !wild ? 120 + random() % 14 : random() & 0xff;
  };
  fill(left, m * k / 2, any);
  fill(right, n * k / 2, any);
  fill(a_scales, m * k / block, scale);
  fill(b_scales, n * k / block, scale);
  std::vector<u32> old;
  for (int i = 0; i < m * n; ++i) old.push_back(random_sum(random));
  for (const TileVectors vectors : vector_sets()) {
    TileGroups product(format, k, block, TileProduct::Sums::exact, vectors);
    product.take_a({left.data(), a_scales.data(), false}, m);
    product.take_b({right.data(), b_scales.data(), false}, n);
    std::vector<u32> d = old;
    product.add(0, 5, d.data(), n);
    product.add(5, m - 5, d.data() + 5 * n, n);
    for (int i = 0; i < m; ++i) {
      for (int j = 0; j < n; ++j) {
        const u32 want =
            grouped_element(format, k, block, &left[i * k / 2], &right[j * k / 2],
                            &a_scales[i * k / block], &b_scales[j * k / block], old[i * n + j]);
        ASSERT_EQ(d[i * n + j], want) << i << ' ' << j << " k " << k << " block " << block
                                      << " vectors " << static_cast<int>(vectors);
      }
    }
  }
}

TEST(TileScales, GroupsOfSixteen) {
  for (const bool wild : {false, true}) {
    for (const int n : {8, 40, 64}) {
      for (const int k : {64, 96}) {
        expect_grouped(ScaleFormat::ue8m0, k, 32, n, wild);
        expect_grouped(ScaleFormat::ue8m0, k, 16, n, wild);
        expect_grouped(ScaleFormat::ue4m3, k, 16, n, wild);
      }
    }
  }
}

TEST(TileScales, NegatedRows) {
  const std::vector<std::byte> ones(32, std::byte{0x22}), unit(2, std::byte{127});
  TileGroups product(ScaleFormat::ue8m0, 64, 32);
  std::vector<std::byte> columns(8 * 32, std::byte{0x22}), units(16, std::byte{127});
  product.take_a({ones.data(), unit.data(), true}, 1);
  product.take_b({columns.data(), units.data(), false}, 8);
  std::vector<u32> d(8, std::bit_cast<u32>(1.0f));
  product.add(0, 1, d.data(), 8);
  for (const u32 v : d) EXPECT_EQ(std::bit_cast<float>(v), -63.0f);
}

TEST(TileScales, AnAccumulatorThatIsNoNumberStaysSo) {
  const std::vector<std::byte> zeros(8 * 32), units(16, std::byte{0x38});
  TileGroups product(ScaleFormat::ue4m3, 64, 32);
  product.take_a({zeros.data(), units.data(), false}, 1);
  product.take_b({zeros.data(), units.data(), false}, 8);
  std::vector<u32> d = {0x7f800000, 0xff800000, 0x7fc00001, 0, 0, 0, 0, 0x80000000};
  product.add(0, 1, d.data(), 8);
  EXPECT_EQ(d, (std::vector<u32>{0x7f800000, 0xff800000, nan_pattern, 0, 0, 0, 0, 0}));
}

TEST(TileScales, ValuesOfScaleFactors) {
  EXPECT_EQ(decode(ScaleFormat::ue8m0, 127), 1);
  EXPECT_EQ(decode(ScaleFormat::ue8m0, 0), 0x1p-127);
  EXPECT_TRUE(std::isnan(decode(ScaleFormat::ue8m0, 255)));
  EXPECT_EQ(decode(ScaleFormat::ue4m3, 0x38), 1);
  EXPECT_EQ(decode(ScaleFormat::ue4m3, 0xb8), 1);  // its sign does not count
  EXPECT_EQ(decode(ScaleFormat::ue4m3, 0x01), 0x1p-9);
  EXPECT_EQ(decode(ScaleFormat::ue4m3, 0), 0);
  EXPECT_TRUE(std::isnan(decode(ScaleFormat::ue4m3, 0x7f)));
}

}  // namespace
}  // namespace tilescope
