// Pictures of atoms, tiled operations and parts: who owns what, and what meets what.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "tests/viz/layout_of.h"
#include "viz/layout/layout_scene.h"

namespace tilescope {
namespace {

constexpr int a = 0, b = 1, c = 2;

Owner only_owner(const LayoutView& view, const Cell& cell) {
  EXPECT_EQ(view.owners(cell).size(), 1u);
  return view.owners(cell)[0];
}

// The grids of an atom are the same for each major: how an operand lies in shared memory is said.
TEST(AtomPicture, SaysWhichWayAnOperandLiesInSharedMemory) {
  const auto said = [](std::string_view atom, int operand) {
    return view_of(atom).panels()[static_cast<std::size_t>(operand)].axes;
  };
  const char* mixed = "SM90_64x8x16_F32F16F16_SS<MN,K>";
  EXPECT_EQ(said(mixed, a), "f16 in shared memory, M-major; M down, K across");
  EXPECT_EQ(said(mixed, b), "f16 in shared memory, K-major; K down, N across");
  EXPECT_EQ(said(mixed, c), "f32 in registers; M down, N across");
  EXPECT_EQ(said("make_tiled_mma(SM100_MMA_F16BF16_SS<f16,f16,f32,128,64,K,MN>)", b),
            "f16 in shared memory, N-major; K down, N across");
  EXPECT_EQ(said("SM80_16x8x16_F32F16F16F32_TN", a), "f16 in registers; M down, K across");
}

// PTX ISA, mma.m16n8k16 with f16: fragments for A, B and C.
TEST(AtomPicture, OperandsOfMma16816AreThoseOfThePtxIsa) {
  const LayoutView view = view_of("SM80_16x8x16_F32F16F16F32_TN");
  ASSERT_EQ(view.panels().size(), 3u);
  for (int lane = 0; lane < 32; ++lane) {
    const int group = lane / 4, in_group = lane % 4;
    for (int i = 0; i < 8; ++i) {
      const int row = (i / 2) % 2 == 0 ? group : group + 8;
      const int column = in_group * 2 + (i & 1) + (i >= 4 ? 8 : 0);
      EXPECT_EQ(only_owner(view, {a, 0, row, column}), (Owner{lane, i}));
    }
    for (int i = 0; i < 4; ++i) {
      const int row = in_group * 2 + (i & 1) + (i >= 2 ? 8 : 0);
      EXPECT_EQ(only_owner(view, {b, 0, row, group}), (Owner{lane, i}));  // K down, N across
      EXPECT_EQ(only_owner(view, {c, 0, i < 2 ? group : group + 8, in_group * 2 + (i & 1)}),
                (Owner{lane, i}));
    }
  }
}

TEST(AtomPicture, RowsOfARunOnIntoCAndColumnsOfBStandAboveIts) {
  for (const char* atom :
       {"SM80_16x8x16_F32F16F16F32_TN", "SM70_8x8x4_F32F16F16F32_TN",
        "SM90_64x256x16_F32F16F16_SS<K,K>", "make_tiled_mma(UniversalFMA<f32>, (4,4))"}) {
    const LayoutView view = view_of(atom);
    for (const Size size : {Size{}, Size{1600, 1000}}) {
      const Frame frame = arrange(view, Viewport{size});
      const Panel& panel = view.panels()[c];
      for (const Cell& cell : {Cell{c, 0, 0, 0}, Cell{c, 0, panel.rows - 1, panel.columns - 1}}) {
        const Box at = box_of(view, frame, cell);
        const Box left = box_of(view, frame, {a, 0, cell.row, 0});
        const Box above = box_of(view, frame, {b, 0, 0, cell.column});
        EXPECT_DOUBLE_EQ(at.y, left.y);
        EXPECT_DOUBLE_EQ(at.height, left.height);
        EXPECT_DOUBLE_EQ(at.x, above.x);
        EXPECT_DOUBLE_EQ(at.width, above.width);
        EXPECT_LT(left.right(), at.x);
        EXPECT_LT(above.bottom(), at.y);
      }
    }
  }
}

TEST(AtomPicture, AQuadPairIsNamedByTheThreadsOfTheWarp) {
  for (const char* expression :
       {"SM70_8x8x4_F32F16F16F32_TN", "make_tiled_mma(SM70_8x8x4_F32F16F16F32_TN)"}) {
    const LayoutView view = view_of(expression);
    std::set<std::int32_t> threads;
    for (int n = 0; n < 8; ++n) threads.insert(only_owner(view, {b, 0, 0, n}).thread);
    EXPECT_EQ(threads, (std::set<std::int32_t>{0, 1, 2, 3, 16, 17, 18, 19})) << expression;
    std::vector<std::string> listed;
    for (const auto& entry : view.legend({}, light_theme()).entries) listed.push_back(entry.label);
    EXPECT_EQ(listed,
              (std::vector<std::string>{"T0", "T1", "T2", "T3", "T16", "T17", "T18", "T19"}));
  }
}

TEST(AtomPicture, WhatAllThreadsShareHasNoThreadButItsValue) {
  const LayoutView view = view_of("SM90_64x64x16_F32F16F16_SS<K,K>");
  EXPECT_EQ(view.label({a, 0, 3, 1}, {}, {2, false}), std::vector<std::string>{"V67"});
  EXPECT_EQ(view.label({c, 0, 17, 10}, {}, {2, false}), (std::vector<std::string>{"T37", "V4"}));
  EXPECT_EQ(view.colour_of({a, 0, 3, 1}, ColourBy::thread, light_theme()), light_theme().panel);
  EXPECT_EQ(view.notes(), (std::vector<std::string>{"A: all 128 threads share every element.",
                                                    "B: all 128 threads share every element."}));
}

TEST(AtomPicture, ThreadsOfAPairOfCtasAreTheCtas) {
  const LayoutView view = view_of("SM100_MMA_F16BF16_2x1SM_SS<f16,f16,f32,256,256,K,K>");
  EXPECT_EQ(view.mark(ColourBy::thread), "CTA");
  EXPECT_EQ(view.categories(ColourBy::thread), 2);
  for (const int upper : {0, 127}) {
    EXPECT_EQ(only_owner(view, {a, 0, upper, 15}).thread, 0);
    EXPECT_EQ(only_owner(view, {a, 0, upper + 128, 15}).thread, 1);
    EXPECT_EQ(only_owner(view, {b, 0, 7, upper}).thread, 0) << "each CTA loads half of B's columns";
    EXPECT_EQ(only_owner(view, {b, 0, 7, upper + 128}).thread, 1);
    EXPECT_EQ(only_owner(view, {c, 0, upper, 200}).thread, 0) << "and keeps its rows of C";
    EXPECT_EQ(only_owner(view, {c, 0, upper + 128, 200}).thread, 1);
  }
}

// PTX ISA, ldmatrix: thread t gives the address of row t; of each 8x8 matrix thread t gets row
// t / 4, columns 2 (t % 4) and the next.
TEST(CopyPicture, LdmatrixReadsRowsAndHandsOutPairs) {
  const LayoutView view = view_of("SM75_U32x4_LDSM_N");
  ASSERT_EQ(view.panels().size(), 2u);
  for (int row = 0; row < 32; ++row) {
    for (int column = 0; column < 8; ++column) {
      EXPECT_EQ(only_owner(view, {0, 0, row, column}), (Owner{row, column}));
      EXPECT_EQ(only_owner(view, {1, 0, row, column}),
                (Owner{row % 8 * 4 + column / 2, row / 8 * 2 + column % 2}));
    }
  }
}

TEST(CopyPicture, ATiledCopyShowsBothSidesOfItsTile) {
  const LayoutView view =
      view_of("make_tiled_copy_A(SM75_U32x4_LDSM_N, make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN))");
  ASSERT_EQ(view.panels().size(), 2u);
  EXPECT_EQ(view.panels()[0].title, "Source");
  EXPECT_EQ(view.panels()[1].rows, 16);
  const LayoutView mma = view_of("SM80_16x8x16_F32F16F16F32_TN");
  for (int row = 0; row < 16; ++row) {
    for (int column = 0; column < 16; ++column) {
      EXPECT_EQ(only_owner(view, {1, 0, row, column}).thread,
                only_owner(mma, {a, 0, row, column}).thread)
          << "who multiplies an element has copied it";
    }
  }
}

std::set<std::int64_t> taken(const LayoutView& view, int panel) {
  std::set<std::int64_t> out;
  const Panel& p = view.panels()[static_cast<std::size_t>(panel)];
  for (std::int64_t i = 0; i < p.rows; ++i) {
    for (std::int64_t j = 0; j < p.columns; ++j) {
      if (view.taken({panel, 0, i, j})) out.insert(view.offset({panel, 0, i, j}));
    }
  }
  return out;
}

TEST(PartPicture, AThreadsPartStandsInItsWhole) {
  const LayoutView view =
      view_of("partition_C(make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN), 5, (32,16):(16,1))");
  ASSERT_EQ(view.kind(), LayoutView::Kind::parts);
  const LayoutView mma = view_of("SM80_16x8x16_F32F16F16F32_TN");
  for (int row = 0; row < 32; ++row) {
    for (int column = 0; column < 16; ++column) {
      const bool mine = only_owner(mma, {c, 0, row % 16, column % 8}).thread == 5;
      EXPECT_EQ(view.taken({0, 0, row, column}), mine) << row << "," << column;
    }
  }
  // What is not taken is faded; the part itself is in full colour.
  const LayoutView::Window corner{0, 0, 0, 0, 1, 1}, part{1, 0, 0, 0, 1, 1};
  const LayoutView plain = view_of("(32,16):(16,1)");
  EXPECT_NE(view.colours_of(corner, {}, light_theme()),
            plain.colours_of(corner, {}, light_theme()));
  EXPECT_EQ(view.colours_of(part, {}, light_theme())[0],
            view.colour_of({0, 0, 1, 2}, ColourBy::offset, light_theme()));
}

TEST(PartPicture, AChainGoesFromTheTensorToTheThread) {
  const LayoutView view = view_of(
      "A = (32,16):(16,1); T = zipped_divide(A, <16,8>)((_,_),1);"
      "partition_C(make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN), 5, T)");
  ASSERT_EQ(view.panels().size(), 3u);
  EXPECT_EQ(view.panels()[0].title, "A");
  EXPECT_EQ(view.panels()[1].rows, 16);
  EXPECT_EQ(taken(view, 0).size(), 128u);
  // Thread 5 has row 1 and row 9 of the tile, columns 2 and 3; the tile begins at row 16 of A.
  const auto at = [](int row, int column) { return std::int64_t{16} * (16 + row) + column; };
  const std::set<std::int64_t> mine{at(1, 2), at(1, 3), at(9, 2), at(9, 3)};
  EXPECT_EQ(taken(view, 1), mine);
  EXPECT_EQ(view.offset({2, 0, 0, 0}), at(1, 2));
}

TEST(PartPicture, ATensorsPartsKnowWhereTheyBegin) {
  const LayoutView view = view_of(
      "A = gmem<f16> o (16,16):(16,1); T = local_tile(A, <8,8>, (1,0));"
      "local_partition(T, (4,2):(2,1), 3)");
  ASSERT_EQ(view.panels().size(), 3u);
  EXPECT_EQ(view.offset({1, 0, 0, 0}), 128);
  // Thread 3 of (4,2):(2,1) is at (1,1): every fourth row and second column from there.
  EXPECT_EQ(view.offset({2, 0, 0, 0}), 128 + 16 + 1);
  EXPECT_EQ(taken(view, 1).size(), 8u);
}

TEST(PartPicture, AnElementATilerAndASwizzleHaveOnesToo) {
  EXPECT_EQ(taken(view_of("A = (8,8):(8,1); A(3,5)"), 0), std::set<std::int64_t>{29});
  const LayoutView tiler = view_of("<3:3,(2,4):(1,8)>");
  EXPECT_EQ(taken(tiler, 0).size(), 24u);
  EXPECT_TRUE(tiler.taken({0, 0, 3, 9}));
  EXPECT_FALSE(tiler.taken({0, 0, 4, 9}));
  const LayoutView swizzle = view_of("Sw<3,4,3>");
  EXPECT_EQ(swizzle.offset({0, 0, 1, 0}), (8 + 1) * 16) << "row 1 exchanges neighbouring chunks";
}

TEST(TensorMemory, ShowsRegionsByNameAndWhichWarpReachesThem) {
  const LayoutView view = view_of(
      "T = (128,512):(1@TLane,1@TCol); C0 = zipped_divide(T, <128,128>)((_,_),0);"
      "C1 = zipped_divide(T, <128,128>)((_,_),1); C1");
  const Panel& panel = view.panels()[0];
  EXPECT_EQ(panel.rows, 128);
  EXPECT_EQ(panel.columns, 512);
  for (const std::int64_t lane : {0, 31, 32, 127}) {
    EXPECT_EQ(only_owner(view, {0, 0, lane, 100}), (Owner{static_cast<std::int32_t>(lane), 0}));
    EXPECT_EQ(only_owner(view, {0, 0, lane, 130}).value, 1);
    EXPECT_TRUE(view.holds({Focus::On::warp, lane / 32}, {0, 0, lane, 130}));
    EXPECT_TRUE(view.owners({0, 0, lane, 256}).empty()) << "not taken";
  }
  EXPECT_EQ(view.name(ColourBy::value, 1), "C1");
  EXPECT_EQ(view.notes()[1], "C1: lanes 0 to 127, columns 128 to 255.");
}

TEST(TensorMemory, TirxPutsAccumulatorsAndScaleFactorsThere) {
  const LayoutView view = view_of(
      "D = S[(128,256):(1@TLane,1@TCol)]; SFA = S[(32,4):(1@TLane,1@TCol)] + R[4:32@TLane] + "
      "256@TCol; SFA");
  EXPECT_EQ(only_owner(view, {0, 0, 100, 255}).value, 0);
  for (const std::int32_t lane : {5, 37, 69, 101}) {  // a copy for each warp
    EXPECT_EQ(only_owner(view, {0, 0, lane, 259}), (Owner{lane, 1 + lane / 32}));
    EXPECT_EQ(view.name(ColourBy::value, 1 + lane / 32), fmt::format("SFA, copy {}", lane / 32));
  }
  EXPECT_TRUE(view.owners({0, 0, 5, 260}).empty());
  EXPECT_EQ(view.legend({}, light_theme()).entries[1].label, "SFA");
}

// PTX ISA, tcgen05 layout F: with M 64 the rows are in the lower half of each warp's lanes.
TEST(TensorMemory, AnAccumulatorStandsWhereTheInstructionPutsIt) {
  const LayoutView view = view_of(
      "fragment_C(make_tiled_mma(SM100_MMA_F16BF16_SS<f16,f16,f32,64,128,K,K>), 0, (64,128))");
  ASSERT_EQ(view.panels()[0].title, "TMEM");
  for (std::int64_t lane = 0; lane < 128; ++lane) {
    EXPECT_EQ(view.owners({0, 0, lane, 127}).size(), lane % 32 < 16 ? 1u : 0u) << lane;
    EXPECT_TRUE(view.owners({0, 0, lane, 128}).empty());
  }
}

// core/tensor/fragment.h: A lies packed, two elements of 16 bits or four of 8 in a column.
TEST(TensorMemory, NarrowElementsOfAShareColumns) {
  for (const auto& [expression, name] :
       {std::pair{"fragment_A(make_tiled_mma(SM100_MMA_F16BF16_TS<f16,f16,f32,128,256,K,K>), 0, "
                  "(128,64))",
                  "m 0-127, k 0-63"},
        std::pair{"fragment_A(make_tiled_mma(SM100_MMA_F8F6F4_TS<e4m3,e4m3,f32,128,256,K,K>), 0, "
                  "(128,128))",
                  "m 0-127, k 0-127"}}) {
    const LayoutView view = view_of(expression);
    ASSERT_EQ(view.panels()[0].title, "TMEM") << expression;
    EXPECT_EQ(view.name(ColourBy::value, 0), name);
    EXPECT_EQ(view.notes()[0], fmt::format("{}: lanes 0 to 127, columns 0 to 31.", name));
    for (const std::int64_t lane : {0, 31, 127}) {
      for (std::int64_t column = 0; column < 40; ++column) {
        EXPECT_EQ(view.owners({0, 0, lane, column}).size(), column < 32 ? 1u : 0u)
            << expression << " at " << lane << "," << column;
      }
    }
  }
}

std::vector<std::string> regions_of(const LayoutView& view) {
  std::vector<std::string> out;
  for (const auto& entry : view.legend({}, light_theme()).entries) out.push_back(entry.label);
  return out;
}

// PTX ISA 9.7.16.10.5, layouts A and B: each CTA of a pair has half of the rows.
TEST(TensorMemory, APairOfCtasHasAGridEach) {
  for (const auto& [expression, rows, width] :
       {std::tuple{"tmem_accumulator(256, 256, 2)", 128, 256},
        std::tuple{"tmem_accumulator(128, 192, 2)", 64, 96}}) {
    const LayoutView view = view_of(expression);
    ASSERT_EQ(view.panels().size(), 2u) << expression;
    EXPECT_EQ(view.panels()[0].title, "TMEM of CTA 0");
    EXPECT_EQ(view.panels()[1].title, "TMEM of CTA 1");
    for (int cta = 0; cta < 2; ++cta) {
      EXPECT_EQ(view.panels()[static_cast<std::size_t>(cta)].columns, 512);
      const std::int32_t upper = rows == 64 ? 1 : 0;  // of the columns, in lanes of their own
      const Owner first = only_owner(view, {cta, 0, 0, 0});
      const Owner last = only_owner(view, {cta, 0, 127, width - 1});
      EXPECT_EQ(first.value, cta) << expression;
      EXPECT_EQ(last, (Owner{127, cta + 2 * upper})) << expression;
      EXPECT_TRUE(view.owners({cta, 0, 0, width}).empty());
    }
  }
  EXPECT_EQ(regions_of(view_of("tmem_accumulator(128, 192, 2)")),
            (std::vector<std::string>{"m 0-63, n 0-95", "m 64-127, n 0-95", "m 0-63, n 96-191",
                                      "m 64-127, n 96-191"}));
  EXPECT_EQ(view_of("tmem_accumulator(256, 64, 2)").notes()[1],
            "m 128-255, n 0-63: CTA 1, lanes 0 to 127, columns 0 to 63.");
}

TEST(TensorMemory, ARectangleIsNamedByTheCoordinatesInIt) {
  const LayoutView quarters = view_of("tmem_accumulator(64, 32)");
  EXPECT_EQ(regions_of(quarters), (std::vector<std::string>{"m 0-15, n 0-31", "m 16-31, n 0-31",
                                                            "m 32-47, n 0-31", "m 48-63, n 0-31"}));
  EXPECT_EQ(quarters.notes()[2], "m 32-47, n 0-31: lanes 64 to 79, columns 0 to 31.");
  EXPECT_EQ(regions_of(view_of("tmem_accumulator_ws(64, 128)")),
            (std::vector<std::string>{"m 0-63, n 0-63", "m 0-63, n 64-127"}));
  EXPECT_EQ(regions_of(view_of("((16,4),8):((1@TLane,32@TLane),1@TCol)"))[1], "(16-31, 0-7)")
      << "a layout's modes have no letters";
  EXPECT_EQ(regions_of(view_of("(64,64):(2@TLane,1@TCol)")),
            std::vector<std::string>{"(0-63, 0-63)"})
      << "64 rectangles would be too many names";
}

TEST(TensorMemory, CopiesAreOneRegion) {
  const LayoutView view = view_of("S[(32,4):(1@TLane,1@TCol)] + R[4:32@TLane]");
  EXPECT_EQ(regions_of(view), std::vector<std::string>{"(0-31, 0-3)"});
  EXPECT_EQ(view.notes()[0], "(0-31, 0-3): lanes 0 to 127, columns 0 to 3: 4 copies.");
  EXPECT_EQ(view.name(ColourBy::value, 3), "(0-31, 0-3), copy 3");
  EXPECT_EQ(view.colour_of({0, 0, 3, 0}, ColourBy::value, light_theme()),
            view.colour_of({0, 0, 99, 0}, ColourBy::value, light_theme()));
}

TEST(TensorMemory, HasNoRoomBeyondACluster) {
  const Outcome<LayoutView> view = LayoutView::of_expression("(128,17):(1@TLane,1@cbx)");
  ASSERT_FALSE(view.ok());
  EXPECT_NE(view.error().sentence.find("CTA 16"), std::string::npos) << view.error().sentence;
}

// Lines between the warps' quarters run through no name.
TEST(TensorMemory, ANameStandsBetweenTheQuartersLines) {
  const LayoutView view = view_of("tmem_accumulator(128, 128)");
  const Scene scene = build_scene(view, {}, light_theme());
  const Frame frame = arrange(view, {});
  const double lane = frame.places[0].cell.height, top = frame.places[0].first.y;
  int names = 0;
  for (const Item& item : scene.items) {
    const Text* text = std::get_if<Text>(&item);
    const bool in_grid = text && text->at.y > top && text->at.y < top + 128 * lane;
    if (!in_grid || text->text != "m 0-127, n 0-127") continue;
    ++names;
    const double from_line = std::fmod(text->at.y - top, 32 * lane) / lane;
    EXPECT_NEAR(from_line, 16, 1) << "in the middle of a quarter";
  }
  EXPECT_EQ(names, 1);
}

TEST(TensorMemory, HasNoRoomBeyondItsColumns) {
  const Outcome<LayoutView> view = LayoutView::of_expression("(128,1024):(1@TLane,1@TCol)");
  ASSERT_FALSE(view.ok());
  EXPECT_NE(view.error().sentence.find("512 columns"), std::string::npos) << view.error().sentence;
}

TEST(Places, AreWhatCellsOfALayoutOnAxesShow) {
  const LayoutView identity = view_of("(4,5):(1@0,1@1)");
  EXPECT_EQ(identity.label({0, 0, 3, 2}, {}, {1, false}), std::vector<std::string>{"(3,2)"});
  const LayoutView threads = view_of("(8,4):(1@tid_in_wg,1)");
  EXPECT_EQ(threads.label({0, 0, 3, 2}, {}, {1, false}), std::vector<std::string>{"3@tid_in_wg+2"});
  EXPECT_EQ(threads.info({0, 0, 3, 2}).place, "3@tid_in_wg+2");
}

TEST(Places, AreColouredByTheirNumberOnAnAxis) {
  const Theme& theme = light_theme();
  const LayoutView identity = view_of("(4,5):(1@0,1@1)");
  EXPECT_EQ(identity.colour({}), ColourBy::axis) << "the first axis, where nothing is chosen";
  const Rgba first = identity.colour_of({0, 0, 0, 0}, ColourBy::axis, theme);
  EXPECT_EQ(identity.colour_of({0, 0, 0, 4}, ColourBy::axis, theme), first);
  EXPECT_NE(identity.colour_of({0, 0, 1, 0}, ColourBy::axis, theme), first);
  EXPECT_EQ(identity.colour_of({0, 0, 3, 1}, ColourBy::axis2, theme),
            identity.colour_of({0, 0, 0, 1}, ColourBy::axis2, theme));
  EXPECT_NE(identity.colour_of({0, 0, 0, 1}, ColourBy::axis2, theme), first);
  LayoutChoice second;
  second.colour = ColourBy::axis2;
  EXPECT_EQ(identity.legend(second, theme).title, "axis 1");
  EXPECT_EQ(identity.legend(second, theme).highest, "4");
  const std::vector<Rgba> all = identity.colours_of({0, 0, 0, 0, 4, 5}, second, theme);
  EXPECT_EQ(all[4], identity.colour_of({0, 0, 0, 4}, ColourBy::axis2, theme)) << "in one pass too";
}

// PTX ISA 9.7.16.10.5: layouts D, F, A and B of accumulators, by hand.
TEST(TensorMemoryOfAnAtom, TheNoteSaysLanesAndColumnsOfC) {
  const auto note = [](std::string_view atom) {
    const LayoutView view = view_of(atom);
    return view.notes().empty() ? std::string() : view.notes().front();
  };
  EXPECT_EQ(
      note("SM100_MMA_F16BF16_SS<f16,f16,f32,128,256,K,K>"),
      "C in TMEM: rows are in lanes 0-127, columns 0-255; tmem_accumulator(128,256) draws it.");
  EXPECT_EQ(note("SM100_MMA_F16BF16_SS<f16,f16,f32,64,32,K,K>"),
            "C in TMEM: each 16 rows are in lanes 32 apart, from lane 0, columns 0-31; "
            "tmem_accumulator(64,32) draws it.");
  EXPECT_EQ(note("SM100_MMA_F16BF16_2x1SM_SS<f16,f16,f32,256,64,K,K>"),
            "C in TMEM of each CTA: rows are in lanes 0-127, columns 0-63; "
            "tmem_accumulator(256,64,2) draws it.");
  EXPECT_EQ(note("SM100_MMA_F16BF16_2x1SM_SS<f16,f16,f32,128,64,K,K>"),
            "C in TMEM of each CTA: n below 32 is in lanes 0-63, n from 32 on in lanes 64-127, "
            "columns 0-31; tmem_accumulator(128,64,2) draws it.");
  EXPECT_EQ(note("SM80_16x8x16_F32F16F16F32_TN"), "") << "registers";
}

// The note points at an expression; it must draw.
TEST(TensorMemoryOfAnAtom, WhatTheNoteNamesDraws) {
  for (const char* atom : {"SM100_MMA_F16BF16_SS<f16,f16,f32,64,32,K,K>",
                           "SM100_MMA_F16BF16_2x1SM_SS_SPARSE<f16,f16,f32,128,64,K,K>"}) {
    const std::string note = view_of(atom).notes().front();
    const std::size_t begin = note.find("tmem_accumulator"), end = note.find(" draws it");
    ASSERT_NE(end, std::string::npos) << note;
    EXPECT_TRUE(view_of(note.substr(begin, end - begin)).maps_tensor_memory());
  }
}

// PTX ISA 9.7.16.10.8, 9.7.15.6, 9.7.14.6: 2:4, 1:2 for tf32, 4:8 in pairs for mxf4.
TEST(SparseAtoms, SayWhatIsLeftOutAndWhereTheMetadataIs) {
  const auto told = [](std::string_view atom, std::string_view axes, std::string_view words) {
    const LayoutView view = view_of(atom);
    EXPECT_NE(view.panels()[0].axes.find(axes), std::string::npos) << view.panels()[0].axes;
    bool found = false;
    for (const std::string& note : view.notes()) found = found || note.find(words) != note.npos;
    EXPECT_TRUE(found) << atom << ": " << words;
  };
  told("SM100_MMA_F16BF16_SS_SPARSE<f16,f16,f32,128,256,K,K>", "shared memory, sparse 2:4",
       "metadata in TMEM");
  told("SM90_SPARSE_64x64x16_F32TF32TF32_RS_TN", "registers, sparse 1:2", "metadata in a register");
  told("SM120_SPARSE_16x8x128_TN_VS<e2m1,e2m1,f32,ue8m0,64>", "sparse 4:8", "two pairs are kept");
  told("make_tiled_mma(SM90_SPARSE_64x64x32_F32F16F16_SS<K,K>)", "sparse 2:4", "2 are kept");
  EXPECT_EQ(view_of("SM90_64x64x16_F32F16F16_SS<K,K>").panels()[0].axes.find("sparse"),
            std::string::npos);
}

TEST(ScaledAtoms, SayWhichScaleFactorsAreNotDrawn) {
  const auto last = [](std::string_view atom) { return view_of(atom).notes().back(); };
  EXPECT_EQ(last("SM120_16x8x64_TN_VS<e2m1,e2m1,f32,ue4m3,16>"),
            "A and B have scale factors, one ue4m3 for each 16 elements along K of a row; they are "
            "in registers and not in this picture.");
  EXPECT_NE(last("SM100_MMA_MXF8F6F4_SS<e4m3,e4m3,f32,ue8m0,128,128,K,K>")
                .find("one ue8m0 for each 32 elements"),
            std::string::npos);
  EXPECT_NE(last("SM100_MMA_MXF4_SS<e2m1,e2m1,f32,ue8m0,128,128,32,K,K>")
                .find("32 elements along K of a row; they are in TMEM"),
            std::string::npos);
  const LayoutView narrow = view_of("SM120_16x8x32_TN<e4m3,e5m2,f32>");
  EXPECT_EQ(narrow.panels()[0].axes.substr(0, 10), "e4m3 as u8");
  EXPECT_EQ(narrow.panels()[1].axes.substr(0, 10), "e5m2 as u8");
}

// A picture of a pair shows CTAs and no V.
TEST(BoxesOfAPair, AreToldWithoutAV) {
  const std::string one = view_of("SM90_TMA_LOAD<f16,64,128>").notes().back();
  const std::string pair = view_of("SM100_TMA_2SM_LOAD<f16,64,128>").notes().back();
  EXPECT_EQ(one.substr(0, 8), "V counts");
  EXPECT_EQ(pair.substr(0, 35), "Each CTA's box is stored row by row") << pair;
}

// 64 f16 are 128 bytes, all banks once: (1,0) begins in bank 0 again, (0,2) is in bank 1.
TEST(BanksOfAPartition, AreCountedInTheCopysType) {
  for (const char* partition :
       {"partition_S(make_tiled_copy(UniversalCopy<u128,f16>, (16,8):(8,1), (1,8)), 5, "
        "(16,64):(64,1))",
        "c = make_tiled_copy(UniversalCopy<u128,f16>, (16,8):(8,1), (1,8)); "
        "p = partition_S(c, 5, (16,64):(64,1)); p",
        "partition_A(make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN), 5, (16,64):(64,1))"}) {
    const LayoutView view = view_of(partition);
    EXPECT_EQ(view.bank_words(0), "bank, elements of 2 bytes") << partition;
    EXPECT_EQ(view.bank({0, 0, 1, 0}, 0), 0) << partition;
    EXPECT_EQ(view.bank({0, 0, 0, 2}, 0), 1) << partition;
  }
  EXPECT_EQ(view_of("partition_C(make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN), 5, (16,8):(8,1))")
                .bank_words(0),
            "bank, elements of 4 bytes");
}

// TIRx's thread axes are threads and warps.
TEST(Places, ThreadAndWarpMeanTheAxesOfThatName) {
  const LayoutView view = view_of("S[(8,4):(1@laneid,1@warpid)]");
  LayoutChoice choice;
  choice.colour = ColourBy::warp;
  EXPECT_FALSE(view.cannot_colour(ColourBy::warp).has_value());
  EXPECT_EQ(view.legend(choice, light_theme()).title, "axis warpid");
  EXPECT_EQ(view.colour_of({0, 0, 0, 2}, view.colour(choice), light_theme()),
            view.colour_of({0, 0, 5, 2}, view.colour(choice), light_theme()));
  choice.colour = ColourBy::thread;
  EXPECT_EQ(view.legend(choice, light_theme()).title, "axis laneid");
  const auto refused = view_of("S[(8,4):(2@tid_in_wg,1@m)]").cannot_colour(ColourBy::warp);
  ASSERT_TRUE(refused.has_value());
  EXPECT_NE(refused->sentence.find("axis (tid_in_wg), axis2 (offset), none"), std::string::npos)
      << refused->sentence;
}

TEST(Places, HaveTheColoursOfTheirOwnAxesAlone) {
  const LayoutView threads = view_of("S[(8,4):(2@tid_in_wg,1@m)] + 3@tid_in_wg");
  const LayoutView::Legend legend = threads.legend({}, light_theme());
  EXPECT_EQ(legend.title, "axis tid_in_wg");
  EXPECT_EQ(legend.lowest, "3") << "where the layout begins";
  EXPECT_EQ(legend.highest, "17");
  EXPECT_FALSE(threads.cannot_colour(ColourBy::axis2).has_value());
  EXPECT_TRUE(threads.cannot_colour(ColourBy::axis3).has_value());
  EXPECT_NE(view_of("24:3").cannot_colour(ColourBy::axis)->sentence.find("no axis"),
            std::string::npos);
  const Outcome<ColourBy> unknown = colour_by_name("lane");
  ASSERT_FALSE(unknown.ok());
  EXPECT_NE(unknown.error().sentence.find("bank, axis, axis2"), std::string::npos);
}

// PTX ISA, mma.m16n8k16: what layout_C_TV gives is C of the atom's own picture.
TEST(OwnersPicture, AThreadValueLayoutOfAnOperandStandsInItsTile) {
  const LayoutView whole = view_of("SM80_16x8x16_F32F16F16F32_TN");
  const std::string mma = "X = make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN); ";
  for (const auto& [call, operand] :
       {std::pair{"layout_A_TV(X)", a}, std::pair{"layout_B_TV(X)", b},
        std::pair{"layout_C_TV(X)", c}, std::pair{"tv = layout_C_TV(X); tv", c}}) {
    const LayoutView view = view_of(mma + call);
    ASSERT_EQ(view.panels().size(), 1u) << call;
    const Panel& panel = view.panels()[0];
    ASSERT_EQ(panel.rows, whole.panels()[static_cast<std::size_t>(operand)].rows) << call;
    for (std::int64_t i = 0; i < panel.rows; ++i) {
      for (std::int64_t j = 0; j < panel.columns; ++j) {
        EXPECT_EQ(only_owner(view, {0, 0, i, j}), only_owner(whole, {operand, 0, i, j}));
      }
    }
  }
  EXPECT_EQ(view_of("((4,8),(2,2)):((32,1),(16,8))").kind(), LayoutView::Kind::plain)
      << "a layout alone does not say what it is over";
}

TEST(OwnersPicture, ATiledCopyHasOneForEachSide) {
  const std::string copy = "X = make_tiled_copy(SM75_U32x4_LDSM_N, (32,1):(1,0), (1,8):(0,1)); ";
  const LayoutView both = view_of(copy + "X");
  for (const auto& [call, side] :
       {std::pair{"layout_S_TV(X)", 0}, std::pair{"layout_D_TV(X)", 1}}) {
    const LayoutView one = view_of(copy + call);
    ASSERT_EQ(one.panels().size(), 1u);
    EXPECT_EQ(one.owners({0, 0, 9, 3})[0], both.owners({side, 0, 9, 3})[0]) << call;
  }
  const LayoutView tile = view_of(copy + "layout_TV(X)");
  EXPECT_EQ(tile.panels()[0].title, "Tile (32,8)");
  EXPECT_EQ(only_owner(tile, {0, 0, 9, 3}), (Owner{9, 3}));
}

TEST(Values, WithoutAPictureSayWhatHasOne) {
  for (const auto& [expression, instead] :
       {std::pair{"5", "a layout"}, std::pair{"(3,4)", "make_layout((3,4))"},
        std::pair{"indices(4:1)", "the layout that the list was made from"}}) {
    const Outcome<LayoutView> view = LayoutView::of_expression(expression);
    ASSERT_FALSE(view.ok()) << expression;
    EXPECT_NE(view.error().sentence.find(instead), std::string::npos) << view.error().sentence;
  }
}

// An atom's layout_C_TV is drawn as a tiled operation's: as a tile and who owns it.
TEST(AtomPicture, AnAtomsLayoutsAreDrawnAsItsOperands) {
  const LayoutView whole = view_of("SM80_16x8x16_F32F16F16F32_TN");
  int panel = 0;
  for (const char* expression :
       {"layout_A_TV(SM80_16x8x16_F32F16F16F32_TN)", "layout_B_TV(SM80_16x8x16_F32F16F16F32_TN)",
        "layout_C_TV(SM80_16x8x16_F32F16F16F32_TN)"}) {
    const LayoutView view = view_of(expression);
    ASSERT_EQ(view.kind(), LayoutView::Kind::thread_value) << expression;
    const Panel& of = view.panels()[0];
    EXPECT_EQ(of.rows, whole.panels()[static_cast<std::size_t>(panel)].rows);
    EXPECT_EQ(only_owner(view, {0, 0, of.rows - 1, of.columns - 1}),
              only_owner(whole, {panel, 0, of.rows - 1, of.columns - 1}));
    ++panel;
  }
}

TEST(AtomPicture, CtasAreNoWarps) {
  const LayoutView pair = view_of("SM100_MMA_F16BF16_2x1SM_SS<f16,f16,f32,256,64,K,K>");
  ASSERT_TRUE(pair.cannot_colour(ColourBy::warp).has_value());
  EXPECT_NE(pair.cannot_colour(ColourBy::warp)->sentence.find("no warp"), std::string::npos);
  EXPECT_FALSE(pair.cannot_colour(ColourBy::thread).has_value());
  EXPECT_FALSE(view_of("SM80_16x8x16_F32F16F16F32_TN").cannot_colour(ColourBy::warp).has_value());
}

}  // namespace
}  // namespace tilescope
