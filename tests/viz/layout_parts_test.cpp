// Pictures of parts: which elements of the whole a tile or a partition has, and which it has not.
#include <gtest/gtest.h>

#include <set>

#include "tests/viz/layout_of.h"
#include "viz/layout/layout_scene.h"

namespace tilescope {
namespace {

using Cells = std::set<std::pair<std::int64_t, std::int64_t>>;

Cells cells_where(const LayoutView& view, int panel, bool (LayoutView::*has)(const Cell&) const) {
  Cells out;
  const Panel& p = view.panels()[static_cast<std::size_t>(panel)];
  for (std::int64_t i = 0; i < p.rows; ++i) {
    for (std::int64_t j = 0; j < p.columns; ++j) {
      if ((view.*has)({panel, 0, i, j})) out.insert({i, j});
    }
  }
  return out;
}
Cells taken(const LayoutView& view, int panel) {
  return cells_where(view, panel, &LayoutView::taken);
}
Cells inside(const LayoutView& view, int panel) {
  return cells_where(view, panel, &LayoutView::inside);
}

// The last tile of 10 rows and 6 columns has 2 of each: beyond them an offset may be that of an
// element in another row.
TEST(PartPicture, APartialTileHasOnlyWhatIsThere) {
  for (const char* expression :
       {"local_tile((10,6):(6,1), <4,4>, (2,1))", "local_tile((10,6):(1,10), <4,4>, (2,1))",
        "A = (10,6):(6,1); T = local_tile(A, <4,4>, (2,1)); T",
        "zipped_divide((10,6):(6,1), <4,4>)((_,_),(2,1))",
        "local_tile(((5,2),6):((6,30),1), <4,4>, (2,1))",
        "local_tile(gmem<f16> o (10,6):(6,1), <4,4>, (2,1))",
        "local_tile(make_layout((10,6), (6,1)), <4,4>, (2,1))"}) {
    const LayoutView view = view_of(expression);
    ASSERT_EQ(view.panels().size(), 2u) << expression;
    EXPECT_EQ(taken(view, 0), (Cells{{8, 4}, {8, 5}, {9, 4}, {9, 5}})) << expression;
    EXPECT_EQ(inside(view, 1), (Cells{{0, 0}, {0, 1}, {1, 0}, {1, 1}})) << expression;
    const Theme theme = light_theme();
    EXPECT_EQ(view.colours_of({1, 0, 2, 0, 1, 1}, {}, theme)[0], theme.panel) << "beyond it: grey";
    EXPECT_TRUE(view.label({1, 0, 2, 0}, {}, {1, false}).empty());
    ASSERT_EQ(view.notes().size(), 1u) << expression;
    EXPECT_NE(view.notes()[0].find("12 of 16 cells are beyond"), std::string::npos);
  }
}

TEST(PartPicture, AThreadMayHaveNothing) {
  const LayoutView none =
      view_of("partition_C(make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN, (2,2)), 37, (16,8))");
  EXPECT_TRUE(taken(none, 0).empty()) << "warp 1 has rows 16 to 31";
  EXPECT_TRUE(inside(none, 1).empty());
  // Thread 31 of A: rows 7 and 15, columns 6, 7, 14, 15 (PTX ISA, mma.m16n8k16); row 15 is not
  // there.
  const LayoutView some =
      view_of("partition_A(make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN), 31, (15,16))");
  EXPECT_EQ(taken(some, 0), (Cells{{7, 6}, {7, 7}, {7, 14}, {7, 15}}));
}

// A part of a partial tile: each step is counted from where its own whole begins.
TEST(PartPicture, APartOfAPartialTileHasOnlyWhatIsThere) {
  const LayoutView view =
      view_of("A = (10,6):(6,1); T = local_tile(A, <4,4>, (2,1)); local_partition(T, (2,2), 1)");
  ASSERT_EQ(view.panels().size(), 3u);
  // Thread 1 of (2,2):(1,2) begins at (1,0) of the tile and takes each second row and column.
  EXPECT_EQ(taken(view, 1), (Cells{{1, 0}}));
  EXPECT_EQ(inside(view, 2), (Cells{{0, 0}}));
  EXPECT_EQ(view.offset({2, 0, 0, 0}), 9 * 6 + 4);
}

TEST(PartPicture, OffsetsOfASwizzledChainAddUp) {
  const LayoutView view = view_of(
      "A = Sw<2,3,3> o 0 o (32,64):(64,1); T = local_tile(A, <16,16>, (1,2));"
      "local_tile(T, <4,4>, (1,1))");
  const LayoutView whole = view_of("Sw<2,3,3> o 0 o (32,64):(64,1)");
  ASSERT_EQ(view.panels().size(), 3u);
  EXPECT_EQ(view.offset({1, 0, 0, 0}), whole.offset({0, 0, 16, 32}));
  EXPECT_EQ(view.offset({2, 0, 1, 3}), whole.offset({0, 0, 21, 39}));
  EXPECT_EQ(taken(view, 1).size(), 16u);
}

TEST(PartPicture, ATileOfAStrideOfZeroIsNotTakenEverywhere) {
  const LayoutView view = view_of("local_tile((8,8):(0,1), <4,8>, (1,0))");
  EXPECT_EQ(taken(view, 0).size(), 32u);
  EXPECT_FALSE(view.taken({0, 0, 3, 0}));
  EXPECT_TRUE(view.taken({0, 0, 4, 0}));
}

TEST(PartPicture, WhatACtaTakesIsCalledSo) {
  const LayoutView view = view_of(
      "partition_B(make_tiled_mma(SM100_MMA_F16BF16_2x1SM_SS<f16,f16,f32,256,64,K,K>), 1, "
      "(64,32):(32,1))");
  EXPECT_EQ(view.panels()[1].title, "Of one CTA");
}

TEST(PartPicture, PanelsOfALongChainDoNotOverlap) {
  for (const char* expression :
       {"A = (8,8):(8,1); T = local_tile(A, <4,4>, (1,0)); U = local_tile(T, <2,2>, (1,0));"
        "local_partition(U, (1,2), 1)",
        "A = (16,16):(16,1); B = local_tile(A, <8,8>, (1,0)); C = local_tile(B, <4,4>, (1,0));"
        "D = local_tile(C, <2,2>, (1,0)); local_partition(D, (1,2), 1)"}) {
    const LayoutView view = view_of(expression);
    ASSERT_GE(view.panels().size(), 4u);
    for (const Size size : {Size{}, Size{1600, 1000}, Size{700, 1200}}) {
      const Frame frame = arrange(view, Viewport{size});
      for (std::size_t p = 0; p < frame.places.size(); ++p) {
        EXPECT_GT(frame.places[p].first.width, 0) << expression;
        for (std::size_t q = 0; q < p; ++q) {
          EXPECT_TRUE(frame.places[p].box.cut(frame.places[q].box).empty()) << p << " and " << q;
        }
      }
    }
  }
}

// R(c) = A(B(c)): which elements of A it takes, in which order.
TEST(PartPicture, ACompositionStandsBesideWhatItComposes) {
  const LayoutView view = view_of("composition((6,4):(8,2), (2,3):(3,1))");
  ASSERT_EQ(view.panels().size(), 2u);
  EXPECT_EQ(view.panels()[1].title, "Composition");
  EXPECT_EQ(taken(view, 0), (Cells{{0, 0}, {1, 0}, {2, 0}, {3, 0}, {4, 0}, {5, 0}}));
  EXPECT_EQ(view.offset({1, 0, 1, 2}), 40) << "element 5 of A";
  EXPECT_EQ(view_of("composition(8:2, (4,4):(1,4))").panels().size(), 1u) << "goes beyond A";
  EXPECT_EQ(view_of("composition(Sw<1,0,2>, (4,4):(4,1))").panels().size(), 1u);
}

// A tile has its frame where cells are too small for lines of their own.
TEST(PartPicture, ATileHasAFrameAtAnySize) {
  const LayoutView view = view_of("local_tile((1024,1024):(1024,1), <256,256>, (1,2))");
  const Frame frame = arrange(view, Viewport{{900, 600}});
  ASSERT_LT(frame.places[0].cell.width, 3);
  const Box corner = box_of(view, frame, {0, 0, 256, 512});
  bool framed = false;
  for (const Item& item : build_scene(view, {}, light_theme(), frame).items) {
    const Rectangle* box = std::get_if<Rectangle>(&item);
    if (box == nullptr || !(resolve(box->stroke.ink, light_theme()) == light_theme().accent)) {
      continue;
    }
    framed |= std::abs(box->box.x - corner.x) < 0.5 && std::abs(box->box.y - corner.y) < 0.5 &&
              std::abs(box->box.width - 256 * frame.places[0].cell.width) < 0.5;
  }
  EXPECT_TRUE(framed);
}

// A CTA's operand, ((32,16),1,2), is drawn as the instruction reads it.
TEST(PartPicture, TheModesOfATallOperandAreTheGrids) {
  const LayoutView view = view_of(
      "partition_B(make_tiled_mma(SM100_MMA_F16BF16_2x1SM_SS<f16,f16,f32,256,64,K,K>), 1, "
      "(64,32):(32,1))");
  EXPECT_EQ(view.panels()[1].rows, 32);
  EXPECT_EQ(view.panels()[1].columns, 16);
  EXPECT_EQ(view.panels()[1].slices, 2);
  EXPECT_EQ(view.offset({1, 1, 3, 2}), (32 + 3) * 32 + 16 + 2);
  EXPECT_FALSE(view.taken({0, 0, 31, 0}));
  EXPECT_TRUE(view.taken({0, 0, 32, 0}));
}

}  // namespace
}  // namespace tilescope
