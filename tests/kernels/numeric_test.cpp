// The element types, bit for bit: every pattern of every narrow float against a definition written
// another way, rounding at every midpoint, and distances in units in the last place.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "core/numeric/dtype.h"
#include "core/numeric/number_text.h"
#include "core/numeric/random.h"
#include "core/numeric/small_float.h"

namespace tilescope {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

struct Narrow {
  DType type;
  int bits, exponent_bits, mantissa_bits;
  double largest, smallest;  // finite, positive
};

const Narrow narrow_types[] = {
    {DType::f16, 16, 5, 10, 65504.0, std::ldexp(1.0, -24)},
    {DType::bf16, 16, 8, 7, std::ldexp(255.0, 120), std::ldexp(1.0, -133)},
    {DType::e4m3, 8, 4, 3, 448.0, std::ldexp(1.0, -9)},
    {DType::e5m2, 8, 5, 2, 57344.0, std::ldexp(1.0, -16)},
};

double load_pattern(DType type, std::uint64_t pattern) {
  std::byte memory[8];
  std::memcpy(memory, &pattern, sizeof pattern);
  return load_element(type, memory);
}

std::uint64_t stored(DType type, double value) {
  std::byte memory[8] = {};
  store_element(type, memory, value);
  std::uint64_t pattern;
  std::memcpy(&pattern, memory, sizeof pattern);
  return pattern;
}

// The value of a pattern by the textbook: no bit tricks, and no knowledge of the code under test.
double textbook_value(const Narrow& t, unsigned pattern) {
  const int bias = (1 << (t.exponent_bits - 1)) - 1;
  const double sign = (pattern >> (t.bits - 1)) ? -1 : 1;
  const int mantissa = static_cast<int>(pattern) & ((1 << t.mantissa_bits) - 1);
  const int exponent =
      (static_cast<int>(pattern) >> t.mantissa_bits) & ((1 << t.exponent_bits) - 1);
  const bool top = exponent == (1 << t.exponent_bits) - 1;
  const double fraction = std::ldexp(mantissa, -t.mantissa_bits);
  if (t.type == DType::e4m3) {
    if (top && mantissa == 7) return nan;
  } else if (top) {
    return mantissa ? nan : sign * inf;
  }
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias);
  return sign * std::ldexp(1 + fraction, exponent - bias);
}

TEST(Numeric, EveryPatternHasItsTextbookValue) {
  for (const Narrow& t : narrow_types) {
    for (unsigned pattern = 0; pattern < (1u << t.bits); ++pattern) {
      const double want = textbook_value(t, pattern), got = load_pattern(t.type, pattern);
      if (std::isnan(want)) {
        ASSERT_TRUE(std::isnan(got)) << name_of(t.type) << " " << pattern;
      } else {
        ASSERT_EQ(got, want) << name_of(t.type) << " " << pattern;
        ASSERT_EQ(std::signbit(got), std::signbit(want)) << name_of(t.type) << " " << pattern;
      }
    }
  }
}

TEST(Numeric, StoringWhatWasLoadedGivesThePatternBack) {
  for (const Narrow& t : narrow_types) {
    for (unsigned pattern = 0; pattern < (1u << t.bits); ++pattern) {
      const double value = load_pattern(t.type, pattern);
      if (std::isnan(value)) continue;
      ASSERT_EQ(stored(t.type, value), pattern) << name_of(t.type);
    }
  }
}

TEST(Numeric, BetweenNeighboursTheNearestWinsAndATieGoesToTheEvenPattern) {
  for (const Narrow& t : narrow_types) {
    const unsigned sign = 1u << (t.bits - 1);
    for (unsigned pattern = 0; load_pattern(t.type, pattern) < t.largest; ++pattern) {
      const double low = load_pattern(t.type, pattern), high = load_pattern(t.type, pattern + 1);
      const double middle = low + (high - low) / 2;  // exact: one bit more than the format
      const unsigned even = pattern & 1 ? pattern + 1 : pattern;
      ASSERT_EQ(stored(t.type, middle), even) << name_of(t.type) << " " << middle;
      ASSERT_EQ(stored(t.type, std::nextafter(middle, 0)), pattern) << name_of(t.type);
      ASSERT_EQ(stored(t.type, std::nextafter(middle, inf)), pattern + 1) << name_of(t.type);
      ASSERT_EQ(stored(t.type, -middle), sign | even) << name_of(t.type);
    }
  }
}

TEST(Numeric, OverflowIsInfinityWhereThereIsOneAndElseNan) {
  EXPECT_EQ(stored(DType::f16, 65519.99), 0x7bffu);
  EXPECT_EQ(stored(DType::f16, 65520.0), 0x7c00u);
  EXPECT_EQ(stored(DType::f16, -1e300), 0xfc00u);
  EXPECT_EQ(stored(DType::bf16, inf), 0x7f80u);
  EXPECT_EQ(stored(DType::e5m2, 61440.0), 0x7cu);
  EXPECT_EQ(stored(DType::e5m2, 61439.0), 0x7bu);
  EXPECT_EQ(stored(DType::e4m3, 464.0), 0x7eu);
  EXPECT_EQ(stored(DType::e4m3, 464.1), 0x7fu);
  EXPECT_EQ(stored(DType::e4m3, -inf), 0xffu);
  EXPECT_EQ(stored(DType::f32, 1e39), 0x7f800000u);
}

TEST(Numeric, ANanIsStoredAsTheChipsCanonicalOne) {
  EXPECT_EQ(stored(DType::f16, nan), 0x7fffu);
  EXPECT_EQ(stored(DType::bf16, -nan), 0x7fffu);
  EXPECT_EQ(stored(DType::f32, nan), 0x7fffffffu);
  EXPECT_EQ(stored(DType::e4m3, nan), 0x7fu);
  EXPECT_EQ(stored(DType::e5m2, nan), 0x7fu);
}

TEST(Numeric, LessThanHalfTheSmallestValueIsZeroOfItsSign) {
  for (const Narrow& t : narrow_types) {
    EXPECT_EQ(stored(t.type, t.smallest), 1u) << name_of(t.type);
    EXPECT_EQ(stored(t.type, t.smallest / 2), 0u) << name_of(t.type);
    EXPECT_EQ(stored(t.type, t.smallest * 0.51), 1u) << name_of(t.type);
    EXPECT_EQ(stored(t.type, -t.smallest / 4), 1u << (t.bits - 1)) << name_of(t.type);
    EXPECT_EQ(stored(t.type, 5e-324), 0u) << name_of(t.type);
  }
}

TEST(Numeric, F32RoundsAsTheLanguageDoes) {
  for (std::uint64_t block = 0; block < 20000; ++block) {
    for (const double z : normals(3, 0, block)) {
      for (const double value : {z, std::ldexp(z, -140), std::ldexp(z, 126)}) {
        std::uint32_t want;
        const float rounded = static_cast<float>(value);
        std::memcpy(&want, &rounded, sizeof want);
        ASSERT_EQ(stored(DType::f32, value), want) << value;
      }
    }
  }
}

TEST(Numeric, TheFormatsWorkAtCompileTime) {
  constexpr auto half = encode(format_f16, 1.0);
  constexpr double kept = decode(format_tf32, encode(format_tf32, 1.0 + 1.0 / 1024));
  constexpr auto dropped = encode(format_tf32, 1.0 + 1.0 / 2048);
  EXPECT_EQ(half, 0x3c00u);
  EXPECT_EQ(kept, 1.0 + 1.0 / 1024);
  EXPECT_EQ(dropped, encode(format_tf32, 1.0));
}

TEST(Numeric, IntegersTruncateAndWrap) {
  EXPECT_EQ(stored(DType::u8, 255.9), 255u);
  EXPECT_EQ(stored(DType::u8, 256.0), 0u);
  EXPECT_EQ(stored(DType::u8, -1.0), 255u);
  EXPECT_EQ(stored(DType::i8, -128.9), 128u);
  EXPECT_EQ(load_pattern(DType::i8, 128), -128.0);
  EXPECT_EQ(stored(DType::i16, 32768.0), 0x8000u);
  EXPECT_EQ(stored(DType::u32, 4294967296.0 + 7), 7u);
  EXPECT_EQ(stored(DType::i64, -9223372036854775808.0), std::uint64_t{1} << 63);
  EXPECT_EQ(stored(DType::u64, 18446744073709551616.0 + 4096), 4096u);
  EXPECT_EQ(stored(DType::i32, nan), 0u);
  EXPECT_EQ(stored(DType::i32, inf), 0u);
}

TEST(Numeric, NamesAreTheLaunchFilesAndInverse) {
  for (const char* name : {"f16", "bf16", "f32", "f64", "e4m3", "e5m2", "u8", "i8", "u16", "i16",
                           "u32", "i32", "u64", "i64"}) {
    const std::optional<DType> type = dtype_named(name);
    ASSERT_TRUE(type) << name;
    EXPECT_EQ(name_of(*type), name);
  }
  EXPECT_FALSE(dtype_named("float32"));
  EXPECT_FALSE(dtype_named(""));
}

// ---- ulp_distance ----

std::uint64_t ulps(DType type, std::uint64_t a, std::uint64_t b) {
  std::byte x[8], y[8];
  std::memcpy(x, &a, 8);
  std::memcpy(y, &b, 8);
  return ulp_distance(type, x, y);
}

TEST(Ulp, CountsTheValuesBetween) {
  // Walk every finite e5m2 value upwards; the distance from the lowest grows by one a value, and
  // -0 and +0 are one value.
  std::uint64_t expected = 0;
  double last = -57344;
  for (int step = 0; step < 256; ++step) {
    const unsigned pattern =
        step < 128 ? 255u - static_cast<unsigned>(step) : static_cast<unsigned>(step) - 128u;
    const double value = load_pattern(DType::e5m2, pattern);
    if (std::isnan(value) || std::isinf(value)) continue;
    if (value != last) ++expected;
    last = value;
    ASSERT_EQ(ulps(DType::e5m2, 0xfb, pattern), expected) << value;
    ASSERT_EQ(ulps(DType::e5m2, pattern, 0xfb), expected) << value;
  }
  EXPECT_EQ(last, 57344);
}

TEST(Ulp, SpecialValues) {
  const std::uint64_t never = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(ulps(DType::f32, 0x00000000, 0x80000000), 0u);
  EXPECT_EQ(ulps(DType::f32, 0x00000001, 0x80000001), 2u);
  EXPECT_EQ(ulps(DType::f32, 0x7f800000, 0x7f7fffff), 1u);
  EXPECT_EQ(ulps(DType::f32, 0x7fc00000, 0xffc00001), 0u);
  EXPECT_EQ(ulps(DType::f32, 0x7fc00000, 0x3f800000), never);
  EXPECT_EQ(ulps(DType::f64, 0x3ff0000000000000, 0x3ff0000000000003), 3u);
  EXPECT_EQ(ulps(DType::e4m3, 0x7f, 0xff), 0u);
}

TEST(Ulp, IntegersAreTheirDifference) {
  EXPECT_EQ(ulps(DType::i8, 0x80, 0x7f), 255u);
  EXPECT_EQ(ulps(DType::u8, 0x80, 0x7f), 1u);
  EXPECT_EQ(ulps(DType::i64, std::uint64_t{1} << 63, ~(std::uint64_t{1} << 63)),
            std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(ulps(DType::u64, std::uint64_t{1} << 60, (std::uint64_t{1} << 60) + 1), 1u);
}

// ---- text ----

TEST(NumberText, IsShortAndComesBack) {
  const auto text = [](DType type, double value) {
    std::byte memory[8];
    store_element(type, memory, value);
    return element_text(type, memory);
  };
  EXPECT_EQ(text(DType::f32, 0.1), "0.1");
  EXPECT_EQ(text(DType::f64, 0.1), "0.1");
  EXPECT_EQ(text(DType::f32, -0.0), "-0");
  EXPECT_EQ(text(DType::f16, 65504), "65504");
  EXPECT_EQ(text(DType::f16, -inf), "-inf");
  EXPECT_EQ(text(DType::e4m3, nan), "nan");
  EXPECT_EQ(text(DType::i8, -7), "-7");
  const std::uint64_t big = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(element_text(DType::u64, reinterpret_cast<const std::byte*>(&big)),
            "18446744073709551615");
  EXPECT_EQ(element_text(DType::i64, reinterpret_cast<const std::byte*>(&big)), "-1");
  for (std::uint64_t block = 0; block < 1000; ++block) {
    for (const double z : normals(5, 0, block)) {
      const float value = static_cast<float>(z);
      EXPECT_EQ(std::stof(text(DType::f32, value)), value);
      EXPECT_EQ(std::stod(text(DType::f64, z)), z);
    }
  }
}

// ---- random ----

TEST(Random, PhiloxGivesItsPublishedVectors) {
  using Words = std::array<std::uint32_t, 4>;
  const std::uint32_t ones = 0xffffffff;
  EXPECT_EQ(philox4x32_10({0, 0, 0, 0}, {0, 0}),
            (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32_10({ones, ones, ones, ones}, {ones, ones}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(
      philox4x32_10({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
      (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Random, NormalsAreBoxMullersOfTheWords) {
  const double pi = std::acos(-1.0);
  for (std::uint32_t block = 0; block < 50000; ++block) {
    const auto words = philox4x32_10({block, 0, 9, 0}, {7, 0});
    const auto z = normals(7, 9, block);
    for (std::size_t pair = 0; pair < 4; pair += 2) {
      const double radius = std::sqrt(-2 * std::log((words[pair] + 0.5) / 4294967296.0));
      const double angle = 2 * pi * ((words[pair + 1] + 0.5) / 4294967296.0);
      ASSERT_NEAR(z[pair], radius * std::cos(angle), 1e-14);
      ASSERT_NEAR(z[pair + 1], radius * std::sin(angle), 1e-14);
    }
  }
}

TEST(Random, MomentsAreThoseOfANormal) {
  double sum = 0, squares = 0, fourth = 0;
  const int blocks = 250000;
  for (std::uint64_t block = 0; block < blocks; ++block) {
    for (const double z : normals(0, 0, block)) sum += z, squares += z * z, fourth += z * z * z * z;
  }
  const double n = 4.0 * blocks;  // a million: standard errors 0.001, 0.0014, 0.01
  EXPECT_NEAR(sum / n, 0, 0.005);
  EXPECT_NEAR(squares / n, 1, 0.007);
  EXPECT_NEAR(fourth / n, 3, 0.05);
}

TEST(Random, APrefixIsAPrefixAndStreamsDiffer) {
  const auto ten = random_elements(DType::f32, 7, 0, 10),
             three = random_elements(DType::f32, 7, 0, 3);
  EXPECT_TRUE(std::equal(three.begin(), three.end(), ten.begin()));
  EXPECT_NE(random_elements(DType::f32, 7, 1, 10), ten);
  EXPECT_NE(random_elements(DType::f32, 8, 0, 10), ten);
  EXPECT_TRUE(random_elements(DType::f32, 7, 0, 0).empty());
}

TEST(Random, IntegersAreSmallAndFillTheirRange) {
  for (const DType type : {DType::i8, DType::u8, DType::i32, DType::u64}) {
    const auto bytes = random_elements(type, 0, 0, 4096);
    double low = 0, high = 0;
    for (std::size_t at = 0; at < bytes.size(); at += bytes_of(type)) {
      const double value = load_element(type, bytes.data() + at);
      low = std::min(low, value), high = std::max(high, value);
    }
    EXPECT_LE(high, 55) << name_of(type);
    EXPECT_GE(high, 16) << name_of(type);
    if (is_signed_integer(type))
      EXPECT_LE(low, -16) << name_of(type);
    else
      EXPECT_EQ(low, 0) << name_of(type);
  }
}

}  // namespace
}  // namespace tilescope
