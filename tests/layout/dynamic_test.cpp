// Unknown numbers: an operation on `?` must hold for every number that the `?` may be.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "core/language/language.h"
#include "core/layout/text.h"
#include "tests/layout/generate.h"

namespace tilescope {
namespace {

using testing::Layouts;

std::string value_of(std::string_view expression) {
  const Evaluated result = evaluate(expression);
  if (const Problem* problem = std::get_if<Problem>(&result)) return "error: " + problem->sentence;
  return text(std::get<Value>(result));
}

// Whether `known` is one of the numbers that `n` may be.
bool may_be(const Int& n, const Int& known) {
  return n.known() ? n == known : n.axis == known.axis && known.value % n.value == 0;
}

// A layout with unknown leaves, and one of the layouts that it may be.
struct Pair {
  Layout unknown, known;
};

Pair some_unknown(Layouts& layouts, const Layout& known) {
  Pair out{known, known};
  const auto hide = [&](Int& n) {
    if (n.value == 0 || layouts.number(0, 2) != 0) return;
    const std::int64_t of = n.value;
    std::int64_t divisor = layouts.number(1, of);
    while (of % divisor != 0) divisor = layouts.number(1, of);
    n = Int::unknown(divisor);
  };
  for (int i = 0; i < known.leaves(); ++i) {
    hide(out.unknown.modes.leaf[i].shape);
    hide(out.unknown.modes.leaf[i].stride);
  }
  return out;
}

struct Tally {
  int answered = 0, same = 0, refused = 0;
};

// The answer for unknown numbers against that for known ones: where the known one is refused, the
// unknown one must be (it holds for all numbers). Where the structure is the same, leaf by leaf;
// it differs only where known numbers let modes merge, and then the sizes must still agree. (Not
// those of what ends behind a mode of L: one of a single element is passed over, where `?` is not.)
enum class Sizes { agree, may_differ };
void check(const Result<Layout>& unknown, const Result<Layout>& known, Tally& tally,
           const std::string& what, Sizes sizes = Sizes::agree) {
  if (!unknown) {
    ++tally.refused;
    ASSERT_FALSE(sentence(unknown.refusal).empty()) << what;
    return;
  }
  ASSERT_TRUE(known) << what << " = " << text(*unknown) << ", though: " << sentence(known.refusal);
  ++tally.answered;
  ASSERT_TRUE(sizes == Sizes::may_differ || may_be(*extent(*unknown), *extent(*known)))
      << what << " = " << text(*unknown) << " against " << text(*known);
  if (!unknown->modes.congruent(known->modes)) return;
  ++tally.same;
  for (int i = 0; i < known->leaves(); ++i) {
    const Mode &u = unknown->modes.leaf[i], &k = known->modes.leaf[i];
    // A mode of one element has any stride.
    ASSERT_TRUE(may_be(u.shape, k.shape) && (k.shape.is(1) || may_be(u.stride, k.stride)))
        << what << " = " << text(*unknown) << " against " << text(*known);
  }
}

constexpr int rounds = 3000;

using Operation = std::function<Result<Layout>(const Layout&)>;

Tally holds_for_all(std::uint64_t seed, const std::string& name, const Operation& operation) {
  Layouts layouts(seed);
  Tally tally;
  for (int round = 0; round < rounds; ++round) {
    // An unknown stride is none of 1 for downcast, as for CuTe: so let a single mode have stride 1.
    const bool compact = name == "downcast" || layouts.number(0, 1) == 0;
    const int leaves = static_cast<int>(layouts.number(1, 5));
    const Pair a = some_unknown(layouts, compact ? layouts.compact(leaves) : layouts.any(leaves));
    check(operation(a.unknown), operation(a.known), tally, name + " " + text(a.unknown),
          name == "left_inverse" || name == "complement" ? Sizes::may_differ : Sizes::agree);
  }
  return tally;
}

TEST(Dynamic, OperationsOnOneLayoutHoldForEveryNumber) {
  const std::pair<const char*, Operation> operations[] = {
      {"coalesce", [](const Layout& a) { return coalesce(a); }},
      {"flatten", [](const Layout& a) { return flatten(a); }},
      {"filter", [](const Layout& a) { return filter(a); }},
      {"make_layout", [](const Layout& a) { return make_layout(a.shape()); }},
      {"make_layout_right", [](const Layout& a) { return make_layout_right(a.shape()); }},
      {"upcast", [](const Layout& a) { return upcast(a, 2); }},
      {"downcast", [](const Layout& a) { return downcast(a, 4); }},
      {"complement", [](const Layout& a) { return complement(a, Tuple(96)); }},
      {"divide", [](const Layout& a) { return logical_divide(a, Layout(2, 1)); }},
      {"logical_product", [](const Layout& a) { return logical_product(a, Layout(3, 1)); }},
      {"blocked_product", [](const Layout& a) { return blocked_product(Layout(4, 1), a); }},
      {"left_inverse", [](const Layout& a) { return left_inverse(a); }},
      {"nullspace", [](const Layout& a) { return nullspace(a); }},
      {"make_layout_like", [](const Layout& a) { return make_layout_like(a); }},
  };
  std::uint64_t seed = 80;
  for (const auto& [name, operation] : operations) {
    const Tally tally = holds_for_all(seed++, name, operation);
    EXPECT_GT(tally.answered, rounds / 20) << name;
    EXPECT_GT(2 * tally.same, tally.answered) << name;  // most are compared leaf by leaf
  }
}

TEST(Dynamic, CompositionHoldsForEveryNumber) {
  Layouts layouts(95);
  Tally tally;
  for (int round = 0; round < 4 * rounds; ++round) {
    const Pair a = some_unknown(layouts, layouts.any(static_cast<int>(layouts.number(1, 3))));
    const Pair b = some_unknown(layouts, layouts.compact(static_cast<int>(layouts.number(1, 3))));
    const std::string what = text(a.unknown) + " o " + text(b.unknown);
    check(composition(a.unknown, b.unknown), composition(a.known, b.known), tally, what);
  }
  EXPECT_GT(tally.answered, 1000);
  EXPECT_GT(2 * tally.same, tally.answered);
  EXPECT_GT(tally.refused, 1000);
}

TEST(Dynamic, DividesByModeHoldForEveryNumber) {
  Layouts layouts(96);
  Tally tally;
  for (int round = 0; round < rounds; ++round) {
    const std::int64_t m = layouts.number(1, 5), n = layouts.number(1, 5);
    const Tuple shape = make_tuple_of(layouts.number(1, 30), layouts.number(1, 30));
    const Pair a = some_unknown(layouts, *make_layout_right(shape));
    const Tiler tiler(make_tuple_of(m, n));
    check(zipped_divide(a.unknown, tiler), zipped_divide(a.known, tiler), tally,
          text(a.unknown) + " by " + text(tiler));
  }
  EXPECT_EQ(tally.answered, rounds);  // the last tile is padded: nothing must divide
}

TEST(Dynamic, OffsetsAndSizesHoldForEveryNumber) {
  Layouts layouts(97);
  int places = 0;
  for (int round = 0; round < rounds; ++round) {
    const Pair a = some_unknown(layouts, layouts.any(static_cast<int>(layouts.number(1, 5))));
    const Place reach = *coshape(a.unknown);
    ASSERT_TRUE(may_be(reach.offset(), coshape(a.known)->offset())) << text(a.unknown);
    const std::int64_t index = layouts.number(0, *size(a.known) - 1);
    const Tuple coordinate = *idx2crd(index, a.known.shape());
    const Result<Place> place = place_of(coordinate, a.unknown);
    ASSERT_TRUE(place) << text(a.unknown) << " at " << text(coordinate);
    ASSERT_TRUE(may_be(place->offset(), Int(*crd2idx(coordinate, a.known))))
        << text(a.unknown) << " at " << text(coordinate) << " = " << text(*place);
    ++places;
  }
  EXPECT_EQ(places, rounds);
}

// One of the numbers that an unknown one may be: a multiple of its divisor.
Int a_number(Layouts& layouts, const Int& n) {
  return n.known() ? n : Int(n.value * layouts.number(0, 12));
}

TEST(Dynamic, UnknownCoordinatesHaveTheOffsetsOfEveryNumber) {
  Layouts layouts(98);
  int divided = 0;
  for (int round = 0; round < rounds; ++round) {
    const Pair a = some_unknown(layouts, layouts.any(static_cast<int>(layouts.number(1, 5))));
    const Int whole = Int::unknown(layouts.number(1, 12));
    const Result<Place> place = place_of(Tuple(whole), a.unknown);
    ASSERT_TRUE(place) << text(a.unknown) << " at " << text(whole);
    const Result<Tuple> digits = idx2crd(whole, a.unknown.shape());
    ASSERT_TRUE(digits) << text(a.unknown) << " at " << text(whole);
    divided += place->offset().value > 1;
    for (int k = 0; k < 8; ++k) {
      const Int index = a_number(layouts, whole);
      const Place known = *place_of(Tuple(index), a.known);
      ASSERT_TRUE(may_be(place->offset(), known.offset()))
          << text(a.unknown) << " at " << text(index) << " of " << text(whole);
      const Tuple coordinate = *idx2crd(index, a.known.shape());
      for (int i = 0; i < coordinate.leaves; ++i) {
        ASSERT_TRUE(may_be(digits->leaf[i], coordinate.leaf[i]))
            << text(*digits) << " is not " << text(coordinate);
      }
    }
  }
  EXPECT_GT(divided, 100);
}

TEST(Dynamic, SwizzledOffsetsHoldForEveryNumber) {
  Layouts layouts(99);
  for (int round = 0; round < rounds; ++round) {
    const std::int64_t bits = layouts.number(1, 3);
    const std::int64_t shift = (layouts.number(0, 1) == 0 ? -1 : 1) * (bits + layouts.number(0, 2));
    const Swizzle swizzle = *make_swizzle(bits, layouts.number(0, 3), shift);
    const Int unknown = Int::unknown(layouts.number(1, 4) << layouts.number(0, 9));
    const Int moved = detail::swizzled(swizzle, unknown);
    for (std::int64_t k = 0; k < 64; ++k) {
      const std::int64_t offset = unknown.value * k;
      ASSERT_EQ(swizzle(offset) % moved.value, 0)
          << text(swizzle) << " of " << text(unknown) << " is " << text(moved);
    }
  }
}

// Modes of several leaves, of which one before the last is unknown.
TEST(Dynamic, DividesOfNestedModesHoldForEveryNumber) {
  Layouts layouts(100);
  Tally tally;
  for (int round = 0; round < rounds; ++round) {
    const std::int64_t tile = layouts.number(1, 6), factor = layouts.number(1, 4);
    const Layout known = *make_layout(
        make_tuple_of(tile * factor, layouts.number(1, 5), layouts.number(1, 9)),
        make_tuple_of(layouts.number(1, 9), layouts.number(1, 99), layouts.number(1, 99)));
    const Pair a = some_unknown(layouts, known);
    const Layout tiler(tile, layouts.number(1, 2));
    check(logical_divide(a.unknown, tiler), logical_divide(a.known, tiler), tally,
          text(a.unknown) + " by " + text(tiler));
  }
  EXPECT_GT(tally.answered, 800);
}

// What the DSL prints (CUTLASS, media/docs/pythonDSL and its notebooks), and rules worked by hand.
TEST(Dynamic, DivisibilityThatFollowsIsPrinted) {
  const std::pair<const char*, const char*> expected[] = {
      {"(?{i64 div=16},?{i64}):(1,?{div=16})", "(?{div=16},?):(1,?{div=16})"},
      {"size((?{div=4},8):(1,?))", "?{div=32}"},
      {"cosize((?{div=16},8):(1,?{div=16}))", "?{div=16}"},
      {"make_layout((?{div=16},8))", "(?{div=16},8):(1,?{div=16})"},
      {"make_ordered_layout((8,?{div=2},16,?{div=2}), (1,2,3,0))",
       "(8,?{div=2},16,?{div=2}):(?{div=2},?{div=16},?{div=32},1)"},
      {"coalesce((2,(1,6)):(1,(?,2)))", "12:1"},
      {"coalesce((4,?):(1,4))", "?{div=4}:1"},
      {"coalesce((?,?):(1,?))", "(?,?):(1,?)"},
      {"composition((6,2):(?,2), (4,3):(3,1))", "((2,2),3):((?{div=3},2),?)"},
      {"zipped_divide((?,?):(1,?), <128,64>)", "((128,64),(?,?)):((1,?),(128,?{div=64}))"},
      {"zipped_divide(64:1, ?)", "(?,?):(1,?)"},
      {"zipped_divide(make_identity_layout((?,?)), <128,64>)",
       "((128,64),(?,?)):((1@0,1@1),(128@0,64@1))"},
      {"A = (?,?):(?,1); T = zipped_divide(A, (128,64)); T((_,_),(1,?))",
       "(128,64):(?,1) off ?{div=64}"},
      {"tile_to_shape((8,64):(64,1), (?{div=8},?{div=64}))",
       "((8,?),(64,?)):((64,512),(1,?{div=512}))"},
      {"right_inverse((?,8):(8,1))", "(8,?):(?,1)"},
      {"upcast((?{div=8},?):(1,?{div=8}), 4)", "(?{div=2},?):(1,?{div=2})"},
      {"max_common_vector((8,?):(1,8), (8,?):(1,8))", "?{div=8}"},
      {"idx2crd(5, (?{div=8},4))", "(5,0)"},
      {"idx2crd(?{div=8}, (4,8))", "(0,?{div=2})"},
      {"crd2idx(?, (4,8):(2,16))", "?{div=2}"},
      {"crd2idx(?{div=8}, (3,5):(1,3))", "?{div=8}"},
      {"partition_C(make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN), ?, make_identity_layout((16,8)))",
       "((2,2),1,1):((1@1,8@0),0,0) off (?,?{div=2})"},
      {"L = (4,8):(2,16); L(?{div=8})", "?{div=32}"},
      {"L = (4,8):(2,16); L(?,3)", "?{div=2}"},
      {"L = Sw<3,3,3> o 0 o (8,64):(64,1); L(_,?{div=16})",
       "Sw<3,3,3> o ?{div=16} o (8):(64) off 0"},
      // the DSL's slice of an elementwise kernel, and its partition by thread (?)
      {"slice_and_offset(((_,_),?), ((16,128),(?,?)):((?,1),(?{div=16},128)))",
       "(16,128):(?,1) off ?{div=16}"},
      {"T = make_tiled_copy(UniversalCopy<f32,f32>, (4,32):(32,1), (4,4):(4,1)); "
       "partition_S(T, ?, (16,128):(?,1))",
       "((1,(4,4)),1,1):((0,(1,?)),0,0) off ?{div=4}"},
      {"logical_divide((?{div=8},?):(1,?), 8:1)", "(8,(?,?)):(1,(8,?))"},
      {"zipped_divide((?,(?{div=8},?)):(1,(?,?{div=4})), <3,8>)",
       "((3,8),(?,(?,?))):((1,?),(3,(?{div=8},?{div=4})))"},
      {"Sw<3,3,3> o ?{div=64} o (8,64):(64,1)", "Sw<3,3,3> o ?{div=64} o (8,64):(64,1)"},
  };
  for (const auto& [expression, value] : expected)
    EXPECT_EQ(value_of(expression), value) << expression;
}

TEST(Dynamic, ARefusalSaysWhichDivisorWouldBeEnough) {
  const std::pair<const char*, const char*> expected[] = {
      {"composition((?{div=64},8):(1,?), 128:1)", "?{div=64} in mode 0 may be any multiple of 64"},
      {"composition((?{div=64},8):(1,?), 128:1)", "?{div=128} would be enough"},
      {"composition((4,8):(8,1), ?:1)", "in mode 0 of the second operand"},
      {"composition((4,8):(8,1), ?:1)", "?{div=4} would be enough"},
      {"composition((4,8):(8,1), (2,2):(1,?))", "in mode 1 of the second operand"},
      {"upcast((?,?):(1,?), 4)", "?{div=4} would be enough"},
      {"tile_to_shape((8,64):(64,1), (?,64))", "?{div=8} would be enough"},
      {"complement((4,8):(1,?), 64)", "in the order of their strides"},
      {"right_inverse((4,8):(?,1))", "in the order of their strides"},
      {"injective((?):(1))", "needs a known number"},
      {"coordinates(?, (4,8):(1,4))", "needs a known number"},
  };
  for (const auto& [expression, part] : expected) {
    EXPECT_NE(value_of(expression).find(part), std::string::npos)
        << expression << " says: " << value_of(expression);
  }
}

}  // namespace
}  // namespace tilescope
