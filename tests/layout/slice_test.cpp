// Slices of swizzled layouts: a swizzle is applied to a sum, so that the law is worth asking for.
#include <gtest/gtest.h>

#include "core/language/language.h"
#include "core/layout/text.h"
#include "generate.h"

namespace tilescope {
namespace {

std::int64_t at(const Layout& layout, std::int64_t index) {
  return crd2idx(Tuple(index), layout).value;
}

std::int64_t count(const Layout& layout) {
  return size(layout).value;
}

// Modes over single bits, in a random order: what shared memory is tiled with.
Layout of_bits(testing::Layouts& random, int bits) {
  int place[16] = {};
  for (int i = 0; i < bits; ++i) place[i] = i;
  for (int i = bits - 1; i > 0; --i) std::swap(place[i], place[random.number(0, i)]);
  Tree<Mode> first, second;
  const auto rows = random.number(1, bits - 1);
  for (int i = 0; i < bits; ++i) {
    (i < rows ? first : second).push(Mode{2, std::int64_t{1} << place[i]});
  }
  return make_layout_of(Layout(first), Layout(second));
}

Swizzle any_swizzle(testing::Layouts& random) {
  for (;;) {
    const Result<Swizzle> out =
        make_swizzle(random.number(1, 3), random.number(0, 4), random.number(-4, 4));
    if (out) return *out;
  }
}

struct Seen {
  int swizzled = 0, plain = 0, outside = 0;
};

// Every element of the part is the whole's element of that coordinate.
void expect_law(const Layout& whole, const Tuple& coordinate, int kept, Seen& seen) {
  const Result<Slice> part = slice(coordinate, whole);
  ASSERT_TRUE(part) << text(whole);
  const bool swizzled = !part->layout.swizzle.identity();
  ++(swizzled ? seen.swizzled : seen.plain);
  seen.outside += swizzled && !part->offset.zero();
  for (std::int64_t k = 0; k < count(part->layout); ++k) {
    Tuple full;
    for (int i = 0; i < whole.rank(); ++i) {
      full.push(i == kept ? Tuple(k) : coordinate.mode(i));
    }
    ASSERT_EQ(at(part->layout, k) + part->offset.offset().value, *crd2idx(full, whole))
        << text(whole) << " at " << text(coordinate) << " is " << text(*part);
  }
}

TEST(SwizzledSlices, HaveTheElementsOfTheWhole) {
  testing::Layouts random(31);
  Seen bits, any;
  for (int round = 0; round < 4000; ++round) {
    const bool of_powers = round % 2 == 0;
    const int most = 8;
    Layout whole = of_powers ? of_bits(random, static_cast<int>(random.number(2, most)))
                             : random.any(static_cast<int>(random.number(2, 5)));
    if (whole.rank() < 2) continue;
    whole.swizzle = any_swizzle(random);
    whole.offset = random.number(0, 2) > 0 ? 0 : random.number(0, 300);
    const int kept = static_cast<int>(random.number(0, whole.rank() - 1));
    Tuple coordinate;
    for (int i = 0; i < whole.rank(); ++i) {
      const std::int64_t extent = count(*get(whole, i));
      coordinate.push(i == kept ? Tuple(Int::all()) : Tuple(random.number(0, extent - 1)));
    }
    expect_law(whole, coordinate, kept, of_powers ? bits : any);
    if (HasFatalFailure()) return;
  }
  // All three kinds came up: still swizzled, plain, and swizzled behind an offset.
  EXPECT_GT(bits.plain, 300);
  EXPECT_GT(bits.swizzled, 300);
  EXPECT_GT(bits.outside, 100);
  EXPECT_GT(any.swizzled, 300);
}

// What an unknown coordinate leaves holds for every number that it may be.
TEST(SwizzledSlices, OfAnUnknownCoordinateHoldForEachNumber) {
  testing::Layouts random(32);
  int parted = 0;
  for (int round = 0; round < 400; ++round) {
    Layout whole = of_bits(random, static_cast<int>(random.number(2, 8)));
    whole.swizzle = any_swizzle(random);
    const Result<Slice> any = slice(make_tuple_of(Int::unknown(), Int::all()), whole);
    ASSERT_TRUE(any);
    parted += !any->layout.offset.zero() && !any->offset.zero();
    for (std::int64_t c = 0; c < count(*get(whole, 0)); ++c) {
      const Result<Slice> one = slice(make_tuple_of(c, Int::all()), whole);
      ASSERT_TRUE(one);
      const std::int64_t first = at(one->layout, 0) + one->offset.offset().value;
      // What divides both parts divides the first offset, which the swizzle moves from above.
      const std::int64_t divisor =
          detail::gcd(detail::gcd(any->layout.offset.value, any->offset.offset().value),
                      std::int64_t{1} << whole.swizzle.base);
      ASSERT_TRUE(divisor == 0 || first % divisor == 0) << text(whole) << " " << text(*any);
    }
  }
  EXPECT_GT(parted, 100);
}

std::string value_of(std::string_view expression) {
  const Evaluated result = evaluate(expression);
  const Value* value = std::get_if<Value>(&result);
  return value ? text(*value) : std::get<Problem>(result).sentence;
}

TEST(SwizzledSlices, GoOnBeingSlicedTiledAndPartitioned) {
  const std::string tile = "T = Sw<3,3,3> o 0 o (64,64):(64,1); ";
  // Row 9 is 576 = 512 + 64: the swizzle meets the 64, the 512 lies behind it.
  EXPECT_EQ(value_of(tile + "T(9,_)"), "((8,2,4)):((1,-8,16)) off 584");
  EXPECT_EQ(value_of(tile + "local_tile(T, <16,16>, (1,1))"),
            "Sw<3,3,3> o 16 o (16,16):(64,1) off 1024");
  EXPECT_EQ(value_of(tile + "local_tile(T, <16,16>, (1,1))(_,3)"),
            "((2,2,2,2)):((72,112,288,512)) off 1043");
  EXPECT_EQ(value_of(tile + "T(9,_)(1)"), value_of(tile + "T(9,1)"));
  EXPECT_EQ(value_of(tile + "zipped_divide(T(9,_), 16)"), "((8,2),4):((1,-8),16) off 584");
  EXPECT_EQ(value_of(tile + "U = smem<f16> o T; U(9,_)"), "smem<f16>+584 o ((8,2,4)):((1,-8,16))");
  EXPECT_EQ(value_of(tile + "local_partition(T, (8,8):(8,1), ?)"),
            "Sw<3,3,3> o ?{div=64} o (8,8):(512,8) off ?");
  EXPECT_EQ(value_of("slice_and_offset((1,5), " + std::string("Sw<3,3,3> o 7 o (8,64):(64,1))")),
            "():() off 68");
  EXPECT_EQ(value_of(tile + "slice_and_offset(577, T)"), "():() off 65");
  // A sum that carries from the kept bits into those of the swizzle stays inside.
  EXPECT_EQ(value_of("slice_and_offset((_,1), Sw<1,2,2> o 0 o (4,4):(3,1))"),
            "Sw<1,2,2> o 1 o (4):(3) off 0");
  EXPECT_EQ(value_of(tile + "vector(T(9,_), 16)"), "elements 8, bits 128, along 8:1");
  EXPECT_EQ(value_of(tile + "upcast(T(9,_), 8)"), "((1,2,4)):((1,-1,2)) off 73");
  // What only begins behind a swizzle's bits may be taken as beginning inside.
  EXPECT_EQ(value_of(tile + "upcast(local_tile(T, <16,16>, (1,1)), 8)"),
            "Sw<3,0,3> o 130 o (16,2):(8,1)");
}

}  // namespace
}  // namespace tilescope
