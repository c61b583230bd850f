// Products in tiles: the same bits for every set of vector instructions and wherever D is, and
// those of the rule (exact) or of a chain of fmaf (fused).
#include "core/numeric/tile_product.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <random>
#include <vector>

namespace tilescope {
namespace {

using Patterns = std::vector<std::uint32_t>;
using Draw = std::function<std::uint32_t(FloatFormat)>;

constexpr int pitch_more = 5;  // rows of D are further apart than they are long

struct Case {
  FloatFormat a{}, b{};
  int m = 16, n = 8, k = 16;
  bool negate_a = false, negate_b = false;
  StepRule rule;
  Patterns left, right, sums;  // rows of A, rows of B, D

  Case(FloatFormat a_format, FloatFormat b_format, int rows, int columns, int deep,
       const StepRule& by, const Draw& draw)
      : a(a_format), b(b_format), m(rows), n(columns), k(deep), rule(by) {
    for (int i = 0; i < m * k; ++i) left.push_back(draw(a));
    for (int i = 0; i < n * k; ++i) right.push_back(draw(b));
    for (int i = 0; i < m * n; ++i) sums.push_back(draw(format_f32));
  }
};

std::vector<std::byte> bytes_of(FloatFormat format, const Patterns& patterns) {
  const std::size_t width = format.bits() <= 8 ? 1 : format.bits() <= 16 ? 2 : 4;
  std::vector<std::byte> out(patterns.size() * width);
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    // The low bits of tf32's word do not count.
    const std::uint32_t bits = width == 4 ? patterns[i] << 13 | (i * 37 & 0x1fff) : patterns[i];
    std::memcpy(&out[i * width], &bits, width);
  }
  return out;
}

Patterns negated(FloatFormat format, bool negate, Patterns patterns) {
  for (std::uint32_t& p : patterns) p ^= negate ? format.sign_bit() : 0;
  return patterns;
}

Patterns in_rows(const Case& c, TileProduct::Sums sums, TileVectors vectors) {
  const auto a = bytes_of(c.a, c.left), b = bytes_of(c.b, c.right);
  TileProduct product(sums, TileProduct::Where::rows, c.k, vectors);
  product.take_a({c.a, a.data(), c.negate_a}, c.m);
  product.take_b({c.b, b.data(), c.negate_b}, c.n);
  const int pitch = c.n + pitch_more;
  Patterns d(static_cast<std::size_t>(c.m * pitch), 0xabcdef);
  for (int i = 0; i < c.m; ++i) std::copy_n(&c.sums[i * c.n], c.n, &d[i * pitch]);
  const int half = c.m / 2;
  product.add(0, half, c.rule, {d.data(), pitch, nullptr});
  product.add(half, c.m - half, c.rule, {d.data() + half * pitch, pitch, nullptr});
  Patterns out;
  for (int i = 0; i < c.m; ++i) {
    out.insert(out.end(), &d[i * pitch], &d[i * pitch] + c.n);
    for (int j = c.n; j < pitch; ++j) EXPECT_EQ(d[i * pitch + j], 0xabcdefu);
  }
  return out;
}

// Where element (i, j) is in the registers of its warp (PTX ISA, figure 149).
std::size_t place(const Case& c, int i, int j) {
  const int warp = i / 16, lane = i % 8 * 4 + j % 8 / 2;
  const int reg = j / 8 * 4 + i % 16 / 8 * 2 + j % 2;
  return static_cast<std::size_t>((warp * (c.n / 2) + reg) * 32 + lane);
}

Patterns in_registers(const Case& c, TileProduct::Sums sums, TileVectors vectors) {
  const auto a = bytes_of(c.a, c.left), b = bytes_of(c.b, c.right);
  TileProduct product(sums, TileProduct::Where::registers, c.k, vectors);
  product.take_a({c.a, a.data(), c.negate_a}, c.m);
  product.take_b({c.b, b.data(), c.negate_b}, c.n);
  Patterns d(c.sums.size());
  std::vector<std::uint32_t*> registers;
  for (std::size_t at = 0; at < d.size(); at += 32) registers.push_back(&d[at]);
  for (int i = 0; i < c.m; ++i) {
    for (int j = 0; j < c.n; ++j) d[place(c, i, j)] = c.sums[i * c.n + j];
  }
  product.add(0, c.m, c.rule, {nullptr, 0, registers.data()});
  Patterns out(d.size());
  for (int i = 0; i < c.m; ++i) {
    for (int j = 0; j < c.n; ++j) out[i * c.n + j] = d[place(c, i, j)];
  }
  return out;
}

Patterns by_rule(const Case& c) {
  const Patterns a = negated(c.a, c.negate_a, c.left), b = negated(c.b, c.negate_b, c.right);
  Patterns columns(b.size());
  for (int j = 0; j < c.n; ++j) {
    for (int p = 0; p < c.k; ++p) columns[p * c.n + j] = b[j * c.k + p];
  }
  std::vector<std::int32_t> as(a.size()), ae(a.size()), bs(b.size()), be(b.size());
  take_apart(c.a, a.data(), static_cast<int>(a.size()), as.data(), ae.data());
  take_apart(c.b, columns.data(), static_cast<int>(b.size()), bs.data(), be.data());
  Patterns out = c.sums;
  multiply_add_plain(c.rule, {c.m, c.n, c.k}, c.a, {as.data(), ae.data()}, c.b,
                     {bs.data(), be.data()}, out.data());
  return out;
}

Patterns by_chain(const Case& c) {
  const Patterns a = negated(c.a, c.negate_a, c.left), b = negated(c.b, c.negate_b, c.right);
  Patterns out = c.sums;
  for (int i = 0; i < c.m; ++i) {
    for (int j = 0; j < c.n; ++j) {
      auto sum = std::bit_cast<float>(out[i * c.n + j]);
      for (int p = 0; p < c.k; ++p) {
        sum = std::fmaf(static_cast<float>(decode(c.a, a[i * c.k + p])),
                        static_cast<float>(decode(c.b, b[j * c.k + p])), sum);
      }
      out[i * c.n + j] = std::bit_cast<std::uint32_t>(sum);
    }
  }
  return out;
}

std::vector<TileVectors> sets() {
  std::vector<TileVectors> out;
  for (TileVectors v : {TileVectors::base, TileVectors::avx2, TileVectors::avx512}) {
    if (v <= best_vectors()) out.push_back(v);
  }
  return out;
}

// Of NaNs one is as good as another.
Patterns same_nan(Patterns patterns) {
  for (std::uint32_t& p : patterns) {
    if (format_f32.is_nan(p)) p = format_f32.canonical_nan();
  }
  return patterns;
}

void hold(const Case& c) {
  ASSERT_TRUE(TileProduct::does(c.rule, c.a, c.b));
  const Patterns exact = by_rule(c), fused = same_nan(by_chain(c));
  for (TileVectors v : sets()) {
    SCOPED_TRACE(testing::Message()
                 << c.m << " x " << c.n << " x " << c.k << ", mantissas of " << c.a.mantissa_bits
                 << " and " << c.b.mantissa_bits << " bits, vectors " << static_cast<int>(v));
    ASSERT_EQ(in_rows(c, TileProduct::Sums::exact, v), exact);
    ASSERT_EQ(same_nan(in_rows(c, TileProduct::Sums::fused, v)), fused);
    if (c.m % 16) continue;
    ASSERT_EQ(in_registers(c, TileProduct::Sums::exact, v), exact);
    ASSERT_EQ(same_nan(in_registers(c, TileProduct::Sums::fused, v)), fused);
  }
}

std::vector<Case> cases(const Draw& draw) {
  constexpr TensorChip hopper = TensorChip::hopper, blackwell = TensorChip::blackwell;
  std::vector<Case> out;
  const auto add = [&](FloatFormat a, FloatFormat b, int m, int n, int k, StepRule rule) {
    out.emplace_back(a, b, m, n, k, rule, draw);
  };
  add(format_f16, format_f16, 64, 56, 16, step_rule(hopper, format_f16, 16));
  add(format_f16, format_f16, 16, 8, 32, step_rule(hopper, format_f16, 16));
  add(format_f16, format_f16, 7, 40, 16, step_rule(hopper, format_f16, 16));
  add(format_bf16, format_bf16, 32, 96, 16, step_rule(hopper, format_bf16, 16));
  add(format_tf32, format_tf32, 16, 24, 8, step_rule(hopper, format_tf32, 8));
  add(format_e4m3, format_e5m2, 16, 32, 32, step_rule(hopper, format_e4m3, 32));
  add(format_e5m2, format_e4m3, 16, 32, 32, step_rule(blackwell, format_e5m2, 32));
  for (FloatFormat narrow : {format_e2m3, format_e3m2, format_e2m1}) {
    StepRule rule = step_rule(blackwell, narrow, 32);
    rule.block = 32;
    add(narrow, format_e4m3, 16, 16, 32, rule);
  }
  return out;
}

void hold_all(const Draw& draw, int times) {
  for (int t = 0; t < times; ++t) {
    for (Case& c : cases(draw)) {
      c.negate_a = t % 3 == 1;
      c.negate_b = t % 2 == 1;
      hold(c);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(TileProduct, OfNumbersAroundOne) {
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  hold_all([&](FloatFormat f) { return encode(f, normal(random)); }, 4);
}

TEST(TileProduct, OfAnyPatterns) {
  std::mt19937 random(2);
  hold_all([&](FloatFormat f) { return static_cast<std::uint32_t>(random()) >> (32 - f.bits()); },
           4);
}

// Hardly any infinities and NaN, exponents from one end to the other.
TEST(TileProduct, OfAnyExponents) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> exponent(-1, 1), size(-2, 2);
  hold_all(
      [&](FloatFormat f) {
        const double e = exponent(random) * (1 << (f.exponent_bits - 1)) * 0.6;
        return encode(f, std::ldexp(size(random), static_cast<int>(e)));
      },
      8);
}

// Sums as large as they come, which want every bit that there is, and sums of nothing.
TEST(TileProduct, OfLargestSignificandsAndZeros) {
  std::mt19937 random(4);
  const auto draw = [&](FloatFormat f, unsigned signs, unsigned zeros) {
    const std::uint32_t sign = random() % 16 < signs ? f.sign_bit() : 0;
    if (random() % 16 < zeros) return sign;
    const auto near_two = static_cast<std::uint32_t>(encode(f, 1.0)) |
                          ((1u << f.mantissa_bits) - 1 - (random() % 4 == 0));
    return sign | near_two;
  };
  for (const unsigned signs : {0u, 1u, 16u}) {
    for (const unsigned zeros : {0u, 1u, 15u, 16u}) {
      hold_all([&](FloatFormat f) { return draw(f, signs, zeros); }, 1);
    }
  }
}

TEST(TileProduct, OfTheLeastNumbers) {
  std::mt19937 random(5);
  hold_all(
      [&](FloatFormat f) {
        const std::uint32_t sign = random() % 2 ? f.sign_bit() : 0;
        const std::uint32_t size = random() % (3u << f.mantissa_bits);
        return random() % 4 == 0 ? sign : sign | size;
      },
      4);
}

// An accumulator from -2^130 to 2^-150 beside products of ordinary size.
TEST(TileProduct, WithAnySum) {
  std::mt19937 random(6);
  std::normal_distribution<double> normal;
  hold_all(
      [&](FloatFormat f) {
        if (f.mantissa_bits == 23) return static_cast<std::uint32_t>(random());
        return encode(f, random() % 3 ? normal(random) : 0.0);
      },
      4);
}

}  // namespace
}  // namespace tilescope
