// Cells that show places instead of offsets: coordinates, replicas, unknown numbers.
#include <gtest/gtest.h>

#include "tests/viz/layout_of.h"
#include "viz/layout/layout_scene.h"

namespace tilescope {
namespace {

std::vector<std::string> label(const LayoutView& view, const Cell& cell) {
  return view.label(cell, {}, view.label_forms({}).front());
}

// PTX ISA, mma.m16n8k16: c0..c3 of thread 5 are (1,2), (1,3), (9,2), (9,3); the next atom along M
// is 32 rows on, along N 16 columns.
TEST(CoordinateTensors, APartitionShowsItsCoordinates) {
  const LayoutView view = view_of(
      "partition_C(make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN, (2,2)), 5,"
      "make_identity_layout((64,32)))");
  ASSERT_EQ(view.panels().size(), 2u);
  EXPECT_EQ(label(view, {1, 0, 0, 0}), std::vector<std::string>{"(1,2)"});
  EXPECT_EQ(label(view, {1, 0, 3, 1}), std::vector<std::string>{"(41,3)"});
  EXPECT_EQ(label(view, {1, 1, 2, 0}), std::vector<std::string>{"(9,18)"});
  EXPECT_EQ(label(view, {0, 0, 9, 18}), std::vector<std::string>{"(9,18)"});
  EXPECT_TRUE(view.taken({0, 0, 9, 18}));
  EXPECT_FALSE(view.taken({0, 0, 9, 20}));
  EXPECT_EQ(view.panels()[0].formula, "(64,32):(1@0,1@1)");
  EXPECT_EQ(view.legend({}, light_theme()).title, "axis 0");
}

// What a predicate is made of: beyond the whole nothing is.
TEST(CoordinateTensors, APartialTileHasOnlyWhatIsThere) {
  const LayoutView view = view_of("local_tile(make_identity_tensor((10,6)), <4,4>, (2,1))");
  ASSERT_EQ(view.panels().size(), 2u);
  EXPECT_EQ(label(view, {1, 0, 1, 1}), std::vector<std::string>{"(9,5)"});
  EXPECT_FALSE(view.inside({1, 0, 2, 0}));
  EXPECT_TRUE(label(view, {1, 0, 2, 0}).empty());
}

TEST(CoordinateTensors, SlicesAndTilesBeginWhereTheyAre) {
  EXPECT_EQ(label(view_of("make_identity_layout((8,8))(3,_)"), {1, 0, 0, 5}),
            std::vector<std::string>{"(3,5)"});
  EXPECT_EQ(label(view_of("local_tile(make_identity_layout((16,16)), <4,8>, (1,1))"), {1, 0, 3, 7}),
            std::vector<std::string>{"(7,15)"});
}

TEST(TensorMemoryTensors, HaveTheRegionThatTheyTake) {
  const LayoutView view =
      view_of("local_tile(tmem<f32> o (128,64):(1@TLane,1@TCol), <128,32>, (0,1))");
  EXPECT_EQ(view.notes()[0], "(0-127, 0-31): lanes 0 to 127, columns 32 to 63.");
  EXPECT_EQ(view_of("tmem<f32> o (128,64):(65536,1)").notes()[0],
            "(0-127, 0-63): lanes 0 to 127, columns 0 to 63.")
      << "CuTe's addresses, a lane 2^16";
}

TEST(Replicas, AreAllNamedInTheirCell) {
  const LayoutView view = view_of("S[(8,2):(4@laneid,1)] + R[4:1@laneid]");
  EXPECT_EQ(label(view, {0, 0, 1, 1}),
            (std::vector<std::string>{"4@laneid+1", "5@laneid+1", "6@laneid+1", "7@laneid+1"}));
  EXPECT_EQ(view.label({0, 0, 1, 1}, {}, {1, false}), std::vector<std::string>{"4@laneid+1 +3"});
  const LayoutView many = view_of("S[8:1@laneid] + R[8:32@tid_in_wg]");
  EXPECT_EQ(label(many, {0, 0, 0, 2}).back(), "+5");
  EXPECT_EQ(label(many, {0, 0, 0, 2}).size(), 4u);
  EXPECT_NE(many.info({0, 0, 0, 2}).place.find("224@tid_in_wg"), std::string::npos)
      << "the inspector names all";
  EXPECT_EQ(view.colour_of({0, 0, 1, 1}, ColourBy::axis, light_theme()),
            view.colour_of({0, 0, 1, 0}, ColourBy::axis, light_theme()));
}

TEST(UnknownNumbers, AreLettersInTheCells) {
  const LayoutView stride = view_of("(4,8):(?{div=16},1)");
  EXPECT_EQ(label(stride, {0, 0, 0, 3}), std::vector<std::string>{"3"});
  EXPECT_EQ(label(stride, {0, 0, 1, 0}), std::vector<std::string>{"a"});
  EXPECT_EQ(label(stride, {0, 0, 2, 3}), std::vector<std::string>{"3+2a"});
  EXPECT_EQ(stride.notes(), std::vector<std::string>{
                                "a is the stride of mode 0: not known, but a multiple of 16."});
  const LayoutView two = view_of("(2,(2,2)):(?,(?,4))");
  EXPECT_EQ(label(two, {0, 0, 1, 3}), std::vector<std::string>{"4+a+b"});
  EXPECT_EQ(two.legend({}, light_theme()).title, "known part of the offset");
}

TEST(UnknownNumbers, OfAnExtentTheFirstAreDrawn) {
  const LayoutView view = view_of("(?,8):(1,?)");
  EXPECT_EQ(view.panels()[0].rows, 4);
  EXPECT_EQ(view.notes()[0], "The extent of mode 0 is not known: its first 4 are drawn.");
  EXPECT_EQ(label(view, {0, 0, 3, 7}), std::vector<std::string>{"3+7a"});
  EXPECT_EQ(view_of("(?{div=8},2):(1,8)").panels()[0].rows, 8);
}

TEST(UnknownNumbers, InsideAModeSayWhereTheRestBegins) {
  const LayoutView view = view_of("(4,(?,2)):(1,(4,8))");
  EXPECT_EQ(view.panels()[0].columns, 8);
  EXPECT_EQ(view.notes()[0],
            "The extent of mode 1, leaf 0 is not known: its first 4 are drawn, and what follows in "
            "that mode begins after all of them.");
  EXPECT_EQ(label(view, {0, 0, 1, 5}), std::vector<std::string>{"13"});
}

// Two tiles of an unknown extent show how it goes on.
TEST(UnknownNumbers, ADivisionShowsItsInput) {
  const LayoutView view = view_of("zipped_divide((?,?):(?,1), <4,2>)");
  ASSERT_EQ(view.panels().size(), 3u);
  EXPECT_EQ(view.panels()[0].rows, 8);
  EXPECT_EQ(view.panels()[0].columns, 4);
  EXPECT_EQ(view.panels()[0].formula, "(?,?):(?,1)");
  EXPECT_EQ(view.panels()[2].formula, "((4,2),(?,?)):((?,1),(?{div=4},2))");
  EXPECT_EQ(label(view, {0, 0, 5, 3}), (std::vector<std::string>{"3+5a", "t3"}));
  EXPECT_EQ(label(view, {2, 0, 1, 3}), (std::vector<std::string>{"2+5a", "t3"}));
}

TEST(CoordinateTensors, ADivisionShowsItsInput) {
  const LayoutView view = view_of("zipped_divide(make_identity_tensor((10,6)), <4,4>)");
  ASSERT_EQ(view.panels().size(), 3u);
  EXPECT_EQ(label(view, {0, 0, 9, 5}), (std::vector<std::string>{"(9,5)", "t5"}));
  EXPECT_EQ(label(view, {2, 0, 5, 5}), (std::vector<std::string>{"(9,5)", "t5"}));
  EXPECT_TRUE(label(view, {2, 0, 2, 5}).empty()) << "beyond the input";
  EXPECT_EQ(view.info({2, 0, 5, 5}).place, "(9,5)");
  EXPECT_EQ(view.info({2, 0, 2, 5}).place, "");
  EXPECT_FALSE(view.cannot_colour(ColourBy::axis2).has_value());
}

// What thread ? has is the same for every thread but for where it begins.
TEST(UnknownNumbers, APartCountsFromItsUnknownBeginning) {
  const LayoutView part = view_of("local_partition((8,8):(8,1), (2,2), ?)");
  EXPECT_EQ(label(part, {0, 0, 0, 0}), std::vector<std::string>{"a"});
  EXPECT_EQ(label(part, {0, 0, 1, 2}), std::vector<std::string>{"20+a"});
  EXPECT_EQ(part.notes(), std::vector<std::string>{"a is where the layout begins: not known."});
  EXPECT_EQ(part.panels()[0].formula, "(4,4):(16,2) off ?");
  const LayoutView operand =
      view_of("partition_A(make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN), ?, (64,32):(32,1))");
  EXPECT_EQ(label(operand, {0, 0, 1, 1}), std::vector<std::string>{"513+a"});
  EXPECT_EQ(operand.notes()[0], "a is where the layout begins: not known, but a multiple of 2.");
  const LayoutView tiles = view_of("local_tile((256,?{div=64}):(?{div=64},1), (128,64), (0,_))");
  EXPECT_EQ(tiles.panels()[0].rows, 128);
  EXPECT_EQ(tiles.panels()[0].columns, 64);
  EXPECT_EQ(label(tiles, {0, 1, 1, 3}), std::vector<std::string>{"67+a"});
  EXPECT_EQ(label(view_of("gmem<f16> + ? o (4,4):(4,1)"), {0, 0, 1, 1}),
            std::vector<std::string>{"5+a"});
}

// What a predicate of a problem of unknown size is made of.
TEST(UnknownNumbers, OfCoordinatesTheFirstAreDrawn) {
  const LayoutView view = view_of("make_identity_tensor((?{div=8},3))");
  EXPECT_EQ(view.panels()[0].rows, 8);
  EXPECT_EQ(view.panels()[0].formula, "(?{div=8},3):(1@0,1@1)");
  EXPECT_EQ(label(view, {0, 0, 7, 2}), std::vector<std::string>{"(7,2)"});
  EXPECT_EQ(view.notes()[0],
            "The extent of mode 0 is not known, but a multiple of 8: its first 8 are drawn.");
}

TEST(UnknownNumbers, WithoutAPictureSayWhatWouldHaveOne) {
  for (const auto& [expression, says] :
       {std::pair{"Sw<2,0,2> o 0 o (4,?):(1,4)", "swizzle"}, std::pair{"(4,2):(?@0,1@1)", "axes"},
        std::pair{"make_identity_tensor((16,16))(?,_)", "axes"}}) {
    const Outcome<LayoutView> view = LayoutView::of_expression(expression);
    ASSERT_FALSE(view.ok()) << expression;
    EXPECT_NE(view.error().sentence.find(says), std::string::npos) << view.error().sentence;
  }
}

}  // namespace
}  // namespace tilescope
