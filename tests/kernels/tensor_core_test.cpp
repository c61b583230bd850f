// The tensor cores' sums: against bits that real chips gave, against the rule written down plainly,
// and at the values that no rule of sums covers.
#include "core/numeric/tensor_core.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace tilescope {
namespace {

using Patterns = std::vector<std::uint32_t>;

struct Taken {
  std::vector<std::int32_t> significand, exponent;
  Taken(FloatFormat format, const Patterns& p) : significand(p.size()), exponent(p.size()) {
    take_apart(format, p.data(), static_cast<int>(p.size()), significand.data(), exponent.data());
  }
  Factors factors() const { return {significand.data(), exponent.data()}; }
};

using MultiplyAdd = void (*)(const StepRule&, ProductShape, FloatFormat, Factors, FloatFormat,
                             Factors, std::uint32_t*);
constexpr MultiplyAdd ways[] = {multiply_add, multiply_add_plain};

Patterns multiplied(MultiplyAdd how, const StepRule& rule, ProductShape shape, FloatFormat format,
                    const Patterns& a, const Patterns& b, Patterns c) {
  how(rule, shape, format, Taken(format, a).factors(), format, Taken(format, b).factors(),
      c.data());
  return c;
}

// a . b + c in the first of eight columns.
std::uint32_t dot(MultiplyAdd how, const StepRule& rule, FloatFormat format, const Patterns& a,
                  const Patterns& b, std::uint32_t c) {
  Patterns columns(a.size() * 8), sums(8);
  for (std::size_t k = 0; k < b.size(); ++k) columns[k * 8] = b[k];
  sums[0] = c;
  const ProductShape shape{1, 8, static_cast<int>(a.size())};
  return multiplied(how, rule, shape, format, a, columns, sums)[0];
}

float as_float(std::uint32_t bits) {
  return std::bit_cast<float>(bits);
}
std::uint32_t as_bits(float f) {
  return std::bit_cast<std::uint32_t>(f);
}

Patterns parse(FloatFormat format, const std::string& text) {
  Patterns out;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const auto bits = static_cast<std::uint32_t>(std::stoul(word, nullptr, 16));
    out.push_back(encode(format, static_cast<double>(as_float(bits))));
  }
  return out;
}

// --- measured bits
// ----------------------------------------------------------------------------------

struct Chip {
  const char* name;
  FloatFormat format;
  StepRule rule;
  bool without_c = false;     // c plays no part in d
  bool c_afterwards = false;  // c is added to the sum as f32
};

std::vector<Chip> chips() {
  const TensorChip h200 = TensorChip::hopper, b200 = TensorChip::blackwell;
  return {{"h200_fp16", format_f16, step_rule(h200, format_f16, 16)},
          {"b200_fp16", format_f16, step_rule(b200, format_f16, 16)},
          {"h200_bf16", format_bf16, step_rule(h200, format_bf16, 16)},
          {"b200_bf16", format_bf16, step_rule(b200, format_bf16, 16)},
          {"h200_tf32", format_tf32, step_rule(h200, format_tf32, 4)},
          {"b200_tf32", format_tf32, step_rule(b200, format_tf32, 4)},
          {"h200_e4m3", format_e4m3, step_rule(h200, format_e4m3, 32), true},
          {"h200_e5m2", format_e5m2, step_rule(h200, format_e5m2, 32), true},
          {"b200_e4m3", format_e4m3, step_rule(b200, format_e4m3, 32), true, true},
          {"b200_e5m2", format_e5m2, step_rule(b200, format_e5m2, 32), true, true}};
}

TEST(TensorCore, GivesTheBitsOfRealChips) {
  std::ifstream file(TILESCOPE_TESTS_DIR "/tensor_core_bits.tsv");
  int rows = 0;
  for (std::string line; std::getline(file, line);) {
    if (line[0] == '#') continue;
    std::istringstream fields(line);
    std::string name, a, b, c, d;
    for (std::string* field : {&name, &a, &b, &c, &d}) std::getline(fields, *field, '\t');
    for (const Chip& chip : chips()) {
      if (name != chip.name) continue;
      ++rows;
      const auto accumulator = static_cast<std::uint32_t>(std::stoul(c, nullptr, 16));
      for (MultiplyAdd how : ways) {
        std::uint32_t sum = dot(how, chip.rule, chip.format, parse(chip.format, a),
                                parse(chip.format, b), chip.without_c ? 0 : accumulator);
        if (chip.c_afterwards) sum = as_bits(as_float(sum) + as_float(accumulator));
        ASSERT_EQ(sum, std::stoul(d, nullptr, 16)) << line;
      }
    }
  }
  EXPECT_EQ(rows, 200);
}

// --- the rule, written down plainly
// ------------------------------------------------------------------

StepRule rule(int block, int fraction, int significant) {
  StepRule out;
  out.block = block;
  out.fraction = fraction;
  out.significant = significant;
  return out;
}

// floor(log2) as the rule takes it: of a product, the sum of its factors'.
int exponent_of(FloatFormat format, std::uint32_t pattern) {
  const int field =
      static_cast<int>(pattern >> format.mantissa_bits) & ((1 << format.exponent_bits) - 1);
  return (field ? field : 1) - format.bias();
}

// The largest multiple of 2^unit not above |value|, with its sign.
double cut(double value, int unit) {
  return std::ldexp(std::trunc(std::ldexp(value, -unit)), unit);
}

std::uint32_t plain_step(const StepRule& r, FloatFormat format, const Patterns& a,
                         const Patterns& b, std::uint32_t c) {
  int largest = r.lowest;
  const auto see = [&](double value, int exponent) {
    if (value != 0 && exponent > largest) largest = exponent;
  };
  std::vector<double> terms{static_cast<double>(as_float(c))};
  see(terms[0], exponent_of(format_f32, c));
  for (std::size_t k = 0; k < a.size(); ++k) {
    terms.push_back(decode(format, a[k]) * decode(format, b[k]));  // exact in double
    see(terms.back(), exponent_of(format, a[k]) + exponent_of(format, b[k]));
  }
  double sum = 0;  // of at most 33 numbers of 27 bits on one grid: exact
  for (double t : terms) sum += cut(t, largest - r.fraction);
  if (sum == 0) return 0;
  const int first = std::ilogb(sum);
  sum = cut(sum, std::max(first - r.significant + 1, -149));
  return as_bits(static_cast<float>(sum));
}

std::uint32_t random_word(std::uint64_t& state) {
  state = state * 6364136223846793005ull + 1442695040888963407ull;
  return static_cast<std::uint32_t>(state >> 32);
}

// A finite number of the format, with an exponent that is `spread` around 1.
std::uint32_t random_number(FloatFormat format, int spread, std::uint64_t& state) {
  const std::uint32_t bits = random_word(state);
  const int exponent = format.bias() + static_cast<int>(bits >> 16) % (2 * spread + 1) - spread;
  const std::uint32_t mantissa = bits & ((1u << format.mantissa_bits) - 1);
  return (bits & 0x8000 ? format.sign_bit() : 0) |
         static_cast<std::uint32_t>(exponent) << format.mantissa_bits | mantissa;
}

TEST(TensorCore, FollowsTheRuleOnWideRanges) {
  std::uint64_t state = 7;
  const struct {
    FloatFormat format;
    StepRule rule;
    int spread;
  } cases[] = {{format_f16, rule(16, 25, 24), 12},  {format_f16, rule(8, 25, 24), 3},
               {format_bf16, rule(16, 25, 24), 20}, {format_bf16, rule(8, 25, 24), 60},
               {format_tf32, rule(4, 25, 24), 70},  {format_e4m3, rule(32, 13, 14), 5},
               {format_e5m2, rule(32, 13, 14), 13}, {format_e5m2, rule(32, 25, 24), 13}};
  for (const auto& each : cases) {
    for (int trial = 0; trial < 2000; ++trial) {
      Patterns a, b;
      for (int k = 0; k < each.rule.block; ++k) {
        a.push_back(random_number(each.format, each.spread, state));
        b.push_back(random_number(each.format, each.spread, state));
        if (trial % 4 == 1 && k % 3) a.back() &= each.format.sign_bit();  // zeros
      }
      const std::uint32_t c =
          trial % 8 ? random_number(format_f32, std::min(2 * each.spread, 120), state) : 0;
      const std::uint32_t expected = plain_step(each.rule, each.format, a, b, c);
      for (MultiplyAdd how : ways) ASSERT_EQ(dot(how, each.rule, each.format, a, b, c), expected);
    }
  }
}

TEST(TensorCore, ChainsBlocksThroughTheAccumulator) {
  std::uint64_t state = 11;
  const StepRule r = rule(16, 25, 24);
  const ProductShape shape{3, 16, 48};
  Patterns a, b, c;
  for (int i = 0; i < shape.m * shape.k; ++i) a.push_back(random_number(format_f16, 6, state));
  for (int i = 0; i < shape.n * shape.k; ++i) b.push_back(random_number(format_f16, 6, state));
  for (int i = 0; i < shape.m * shape.n; ++i) c.push_back(random_number(format_f32, 6, state));
  for (MultiplyAdd how : ways) {
    const Patterns d = multiplied(how, r, shape, format_f16, a, b, c);
    for (int i = 0; i < shape.m; ++i) {
      for (int j = 0; j < shape.n; ++j) {
        auto sum = c[static_cast<std::size_t>(i * shape.n + j)];
        for (int first = 0; first < shape.k; first += r.block) {
          Patterns left, right;
          for (int k = first; k < first + r.block; ++k) {
            left.push_back(a[static_cast<std::size_t>(i * shape.k + k)]);
            right.push_back(b[static_cast<std::size_t>(k * shape.n + j)]);
          }
          sum = plain_step(r, format_f16, left, right, sum);
        }
        ASSERT_EQ(d[static_cast<std::size_t>(i * shape.n + j)], sum) << i << "," << j;
      }
    }
  }
}

// --- infinities and NaN
// ------------------------------------------------------------------------------

TEST(TensorCore, InfinitiesAndNaNGoAsInAnySum) {
  const StepRule r = rule(16, 25, 24);
  const std::uint32_t one = 0x3c00, zero = 0, infinity = 0x7c00, minus = 0x8000, nan = 0x7e01;
  const auto sum = [&](std::uint32_t a0, std::uint32_t b0, std::uint32_t a1, std::uint32_t b1,
                       std::uint32_t c) {
    Patterns a(16, one), b(16, one);
    a[3] = a0, b[3] = b0, a[9] = a1, b[9] = b1;
    const std::uint32_t d = dot(multiply_add, r, format_f16, a, b, c);
    EXPECT_EQ(dot(multiply_add_plain, r, format_f16, a, b, c), d);
    return d;
  };
  EXPECT_EQ(sum(infinity, one, one, one, 0), 0x7f800000u);
  EXPECT_EQ(sum(infinity, one | minus, one, one, 0), 0xff800000u);
  EXPECT_EQ(sum(infinity, one, infinity | minus, one, 0), 0x7fffffffu);
  EXPECT_EQ(sum(infinity, zero, one, one, 0), 0x7fffffffu);
  EXPECT_EQ(sum(nan, one, one, one, 0), 0x7fffffffu);
  EXPECT_EQ(sum(one, nan | minus, infinity, one, 0), 0x7fffffffu);
  EXPECT_EQ(sum(one, one, one, one, 0xff800000u), 0xff800000u);
  EXPECT_EQ(sum(infinity, one, one, one, 0xff800000u), 0x7fffffffu);
  EXPECT_EQ(sum(one, one, one, one, 0x7f800001u), 0x7fffffffu);
}

TEST(TensorCore, OfFourAndSixBitsAllOnesIsTheLargestNumber) {
  for (FloatFormat format : {format_e2m3, format_e3m2, format_e2m1}) {
    const std::uint32_t most = format.sign_bit() - 1;
    const double value = decode(format, most);
    StepRule rule;
    rule.block = 4;
    for (MultiplyAdd way : ways) {
      const std::uint32_t d =
          dot(way, rule, format, {most, 0, most | format.sign_bit(), 0}, {most, 0, 0, 0}, 0);
      EXPECT_EQ(static_cast<double>(as_float(d)), value * value);
    }
  }
}

TEST(TensorCore, ASumThatIsCutToNothingIsPlusZero) {
  StepRule r = rule(8, 25, 24);
  const Patterns tiny(8, 0x0080), minus_tiny(8, 0x8080);  // bf16: 2^-126
  for (MultiplyAdd how : ways) {
    EXPECT_EQ(dot(how, r, format_bf16, tiny, minus_tiny, 0), 0u);
    EXPECT_EQ(dot(how, r, format_bf16, tiny, minus_tiny, 0x80000000), 0u);
  }
  r.half_accumulator = true;
  const Patterns least(8, 0x0001), minus_least(8, 0x8001);  // f16: 2^-24
  for (MultiplyAdd how : ways) {
    EXPECT_EQ(dot(how, r, format_f16, least, minus_least, 0x8000), 0u);
    EXPECT_EQ(dot(how, r, format_f16, least, minus_least, 0x8001), 0x8001u);
  }
}

TEST(TensorCore, ANeighboursNaNStaysInItsColumnAndRow) {
  const StepRule r = rule(8, 25, 24);
  Patterns a(2 * 8, 0x3c00), b(8 * 8, 0x3c00), c(2 * 8, 0);
  a[0] = 0x7c00;  // row 0
  b[5] = 0x7e00;  // column 5
  const Patterns d = multiplied(multiply_add, r, {2, 8, 8}, format_f16, a, b, c);
  for (std::size_t i = 0; i < 2; ++i) {
    for (std::size_t j = 0; j < 8; ++j) {
      const std::uint32_t expected = j == 5 ? 0x7fffffff : i == 0 ? 0x7f800000 : as_bits(8);
      EXPECT_EQ(d[i * 8 + j], expected) << i << "," << j;
    }
  }
}

}  // namespace
}  // namespace tilescope
