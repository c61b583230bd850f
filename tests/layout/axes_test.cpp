// Strides on axes: what a layout answers is a place, a sum over axes.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/language/language.h"
#include "core/layout/analysis.h"
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

TEST(Axes, AnIdentityLayoutAnswersItsOwnCoordinate) {
  Layouts layouts(71);
  for (int round = 0; round < 1000; ++round) {
    const Tuple shape = layouts.shape(static_cast<int>(layouts.number(1, 6)));
    const Result<Layout> identity = make_identity_layout(shape);
    ASSERT_TRUE(identity);
    if (shape.scalar()) continue;  // a number is its own offset, on no axis
    for (std::int64_t i = 0; i < *size(*identity); ++i) {
      const Result<Place> place = place_of(Tuple(i), *identity);
      ASSERT_TRUE(place);
      const Result<Tuple> coordinate = coordinate_of(*place);
      ASSERT_TRUE(coordinate) << text(*identity) << " at " << i;
      ASSERT_EQ(*coordinate, *idx2crd(i, shape)) << text(*identity) << " at " << i;
    }
  }
}

// The value on each axis is the value of the layout that has only the strides of that axis.
TEST(Axes, APlaceIsTheSumOnEachAxis) {
  Layouts layouts(72);
  const Axis axes[] = {{}, {1}, {2}, {(1 << 8) | 3}, {*axis_named("TLane")}, {*axis_named("TCol")}};
  for (int round = 0; round < 1000; ++round) {
    Layout a = layouts.any(static_cast<int>(layouts.number(1, 6)));
    for (int i = 0; i < a.modes.leaves; ++i)
      a.modes.leaf[i].stride.axis = axes[layouts.number(0, 5)];
    const std::int64_t index = layouts.number(0, *size(a) - 1);
    const Place place = *place_of(Tuple(index), a);
    for (const Axis axis : axes) {
      Layout alone = a;
      for (int i = 0; i < a.modes.leaves; ++i) {
        Int& stride = alone.modes.leaf[i].stride;
        stride = stride.axis == axis ? stride.value : 0;
      }
      ASSERT_EQ(place.on(axis).value, alone(index)) << text(a) << " at " << index;
    }
  }
}

TEST(Axes, ASliceAndItsOffsetAreTheLayout) {
  Layouts layouts(73);
  for (int round = 0; round < 1000; ++round) {
    const Layout a = *make_identity_layout(layouts.shape(static_cast<int>(layouts.number(2, 6))));
    if (a.rank() < 2) continue;
    Tuple kept, whole;
    for (int i = 0; i < a.rank(); ++i) {
      const Tuple at(layouts.number(0, *size(*get(a, i)) - 1));
      kept.push(i == 0 ? Tuple(Int::all()) : at);
      whole.push(at);
    }
    const Slice part = *slice(kept, a);
    Place sum = part.offset;
    ASSERT_FALSE(sum.add(*place_of(whole.mode(0), part.layout)));
    ASSERT_EQ(sum, *place_of(whole, a)) << text(a) << " at " << text(whole);
  }
}

// With A the identity, R(c) == A(B(c)) says that composing with offsets is composing with B.
TEST(Axes, AnIdentityLayoutThroughAnOperationSaysWhereEachElementCameFrom) {
  Layouts layouts(74);
  int answered = 0;
  for (int round = 0; round < 2000; ++round) {
    const Layout a = layouts.compact(static_cast<int>(layouts.number(2, 4)));
    if (a.modes.scalar()) continue;
    const Tiler tiler(Layout(layouts.number(1, 6), layouts.number(1, 3)));
    const Result<Layout> divided = logical_divide(a, tiler);
    const Result<Layout> from = logical_divide(*make_identity_layout(a.shape()), tiler);
    if (!divided || !from) continue;
    ++answered;
    ASSERT_EQ(size(*divided).value, size(*from).value);
    const Result<Layout> through = composition(a, *from);
    ASSERT_TRUE(through) << text(a) << " o " << text(*from) << ": " << sentence(through.refusal);
    for (std::int64_t i = 0; i < *size(*from); ++i) {
      const Place place = *place_of(Tuple(i), *from);
      if (place.plain()) continue;  // a single number
      const Result<std::int64_t> offset = crd2idx(*coordinate_of(place), a);
      // A place has no modes behind its last axis; those coordinates are 0.
      if (!offset) continue;
      ASSERT_EQ((*divided)(i), *offset) << text(a) << " by " << text(tiler) << " at " << i;
      ASSERT_EQ((*through)(i), *offset) << text(a) << " o " << text(*from) << " at " << i;
    }
  }
  EXPECT_GT(answered, 300);
}

TEST(Axes, OffsetsAndCoordinatesDoNotMix) {
  EXPECT_EQ(value_of("composition((4,5):(5,1), (2,5):(2@0,1@1))"), "(2,5):(10,1)");
  EXPECT_EQ(value_of("composition(((4,2),5):((1,20),4), (2,5):(1@1@0,1@1))"), "(2,5):(20,4)");
  for (const auto& [expression, part] :
       {std::pair{"composition((4,5):(5,1), (2,2):(1@0,1))", "1@0 in mode 0 of the second"},
        std::pair{"composition((4,5):(5,1), (2,2):(1@0,1@TLane))", "the axis @TLane is none"},
        std::pair{"composition((4,5):(5,1), (2,2):(1@0,1@2))", "There is no mode 2"},
        std::pair{"composition(((4,2),5):((1,20),4), (2,2):(1@0,1@1@0))", "1@0 in mode 0"},
        std::pair{"Sw<1,0,1> o (4,5):(1@0,1@1)", "a place on the axis @0 is none"},
        std::pair{"logical_product((4,5):(1@0,1@1), 2:1)", "the axis @0 is none"},
        std::pair{"upcast((4,5):(1@TLane,1), 2)", "the axis @TLane is none"}}) {
    EXPECT_NE(value_of(expression).find(part), std::string::npos)
        << expression << " says: " << value_of(expression);
  }
}

TEST(Axes, PlacesArePrintedInOneForm) {
  const std::pair<const char*, const char*> expected[] = {
      {"A = (4,5):(1@0,1@1); A(3,2)", "(3,2)"},
      {"A = ((4,2),5):((1@0@0,1@1@0),1@1); A((1,0),2)", "((1,0),2)"},
      {"A = 4:1@3; A(2)", "(0,0,0,2)"},
      {"A = (128,64):(1@TLane,1@TCol); A(3,0)", "3@TLane+0@TCol"},
      {"A = (128,64):(1@tid_in_wg,1); A(3,4)", "3@tid_in_wg+4"},
      {"A = (128,64):(1@tid_in_wg,1); A(3,_)", "(64):(1) off 3@tid_in_wg"},
      {"A = (4,5):(1@0,1@1); A(1,_)", "(5):(1@1) off (1,0)"},
      {"3@TLane+4@TCol+2@TLane", "5@TLane+4@TCol"},
      {"3@TLane+-4@TCol", "3@TLane-4@TCol"},
      {"3@0+2@1", "(3,2)"},
      {"3@0+5", "3@0+5"},
      {"1@0+1@0@0", "1@0+1@0@0"},
      {"A = (4,5):(1@0,1@1); A(3,2) + A(0,1)", "(3,3)"},
      {"A = (((4,(2,2)),3),5):(((1@0@0@0,(1@0@1@0@0,1@1@1@0@0)),1@1@0),1@1); A(17)",
       "(((1,(0,0)),1),0)"},
      {"3+4", "7"}};
  for (const auto& [expression, value] : expected) EXPECT_EQ(value_of(expression), value);
}

// What is said of a layout on axes, against its places counted one by one.
TEST(Axes, PropertiesAreThoseOfItsPlaces) {
  Layouts layouts(75);
  const Axis axes[] = {{}, {1}, {2}, {*axis_named("TLane")}};
  int injective_ones = 0, compact_ones = 0;
  for (int round = 0; round < 500; ++round) {
    Layout a = round % 2 == 0 ? layouts.any(static_cast<int>(layouts.number(1, 3)))
                              : layouts.compact(static_cast<int>(layouts.number(1, 3)));
    for (int i = 0; i < a.leaves(); ++i) {
      Int& stride = a.modes.leaf[i].stride;
      if (stride.value != 0) stride.axis = axes[layouts.number(0, 3)];
    }
    std::vector<Place> distinct;
    bool apart = true;
    for (std::int64_t i = 0; i < *size(a); ++i) {
      const Place place = *place_of(Tuple(i), a);
      const bool seen = std::find(distinct.begin(), distinct.end(), place) != distinct.end();
      apart = apart && !seen;
      if (!seen) distinct.push_back(place);
    }
    std::int64_t box = 1;
    const Place sizes = *coshape(a);
    for (int k = 0; k < sizes.parts; ++k) box *= sizes.part[k].value;
    const bool all = static_cast<std::int64_t>(distinct.size()) == box;
    ASSERT_EQ(injective(a)->value, apart) << text(a);
    ASSERT_EQ(surjective(a)->value, all) << text(a);
    ASSERT_EQ(compact(a)->value, apart && all) << text(a);
    ASSERT_EQ(broadcast(a)->offsets, static_cast<std::int64_t>(distinct.size())) << text(a);
    injective_ones += apart;
    compact_ones += apart && all;
  }
  EXPECT_GT(injective_ones, 100);
  EXPECT_GT(compact_ones, 50);
}

TEST(Axes, PlacesAreListedAndFound) {
  EXPECT_EQ(value_of("indices((2,2):(1@0,1@1))"), "(0,0) (1,0) (0,1) (1,1)");
  EXPECT_EQ(value_of("indices((2,2):(1@TLane,1))"), "0@TLane 1@TLane 0@TLane+1 1@TLane+1");
  EXPECT_EQ(value_of("coordinates((3,2), (4,(2,5)):(1@0,(0,1@1)))"), "(3,(0,2)) (3,(1,2))");
  EXPECT_EQ(value_of("coordinates(1@TLane+1, (2,2):(1@TLane,1))"), "(1,1)");
  EXPECT_EQ(value_of("coordinates(5@TLane, (2,2):(1@TLane,1))"), "none");
  EXPECT_EQ(value_of("contiguous((4,5):(1@0,1@1))").substr(0, 6), "error:");
}

TEST(Axes, CosizeIsOneMoreThanTheLargestOnEachAxis) {
  EXPECT_EQ(value_of("cosize((4,5):(1@0,1@1))"), "(4,5)");
  EXPECT_EQ(value_of("cosize((4,(2,5)):(2@0,(1@0,1@1)))"), "(8,5)");
  EXPECT_EQ(value_of("cosize((32,4):(1@TLane,1))"), "32@TLane+4");
  EXPECT_EQ(value_of("size((4,5):(1@0,1@1))"), "20");
}

}  // namespace
}  // namespace tilescope
