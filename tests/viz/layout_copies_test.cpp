// Pictures of what copies move: boxes, lanes and columns of tensor memory, rows that go to lanes.
#include <gtest/gtest.h>

#include "tests/viz/layout_of.h"
#include "viz/layout/layout_scene.h"
#include "viz/layout/layout_text.h"
#include "viz/paint/text.h"

namespace tilescope {
namespace {

Owner only_owner(const LayoutView& view, const Cell& cell) {
  EXPECT_EQ(view.owners(cell).size(), 1u);
  return view.owners(cell).empty() ? Owner{-1, -1} : view.owners(cell)[0];
}

// PTX ISA 9.7.16.8.1: lane l, register r of .16x256b is (l/4 + 8 ((r/2) % 2), r%2 + 2 (l%4)), of
// .32x32b (l, r), and of .16x64b.x2 (l/4 + 8 (l%2), (l/2)%2 + 2r).
TEST(TensorMemoryFragment, SaysWhoseRegisterEachCellIs) {
  const LayoutView wide = view_of("tmem_fragment(SM100_TMEM_LOAD_16dp256b1x)");
  const LayoutView atom = view_of("SM100_TMEM_LOAD_16dp256b1x");
  const LayoutView rows = view_of("tmem_fragment(SM100_TMEM_STORE_32dp32b4x)");
  const LayoutView narrow = view_of("F = tmem_fragment(SM100_TMEM_LOAD_16dp64b2x); F");
  for (int l = 0; l < 32; ++l) {
    for (int r = 0; r < 4; ++r) {
      const Cell there{0, 0, l / 4 + 8 * ((r / 2) % 2), r % 2 + 2 * (l % 4)};
      EXPECT_EQ(only_owner(wide, there), (Owner{l, r}));
      EXPECT_EQ(only_owner(atom, there), (Owner{l, r})) << "an atom is drawn as its fragment";
      EXPECT_EQ(only_owner(rows, {0, 0, l, r}), (Owner{l, r}));
      if (r < 2) {
        EXPECT_EQ(only_owner(narrow, {0, 0, l / 4 + 8 * (l % 2), (l / 2) % 2 + 2 * r}),
                  (Owner{l, r}));
      }
    }
  }
  EXPECT_EQ(wide.panels()[0].rows, 16);
  EXPECT_EQ(wide.panels()[0].columns, 8);
  const LayoutView split = view_of("tmem_fragment(SM100_TMEM_LOAD_16dp32b4x, 32)");
  EXPECT_EQ(only_owner(split, {0, 0, 3, 34}), (Owner{16 + 3, 2}));
  EXPECT_TRUE(split.owners({0, 0, 3, 4}).empty()) << "between the halves";
}

TEST(TmaBox, HasItsDimensionsAcrossDownAndSliceBySlice) {
  const LayoutView box = view_of("SM90_TMA_LOAD<f32,8,4,3>");
  const Panel& panel = box.panels()[0];
  EXPECT_EQ(panel.columns, 8);
  EXPECT_EQ(panel.rows, 4);
  EXPECT_EQ(panel.slices, 3);
  EXPECT_EQ(box.label({0, 2, 1, 5}, {}, {1, false}), std::vector<std::string>{"V77"});
  const LayoutView pair = view_of("SM100_TMA_2SM_LOAD<f16,8,16>");
  EXPECT_EQ(pair.panels()[0].slices, 2);
  EXPECT_EQ(only_owner(pair, {0, 1, 3, 2}), (Owner{1, 26})) << "each CTA has a box of its own";
  EXPECT_EQ(view_of("SM90_TMA_STORE<f16,64>").panels()[0].columns, 64);
}

TEST(OneThread, IsNamedInAProductAndLeftOutOfACopy) {
  EXPECT_EQ(view_of("UniversalCopy<u128,f16>").label_forms({}).size(), 1u);
  EXPECT_EQ(view_of("UniversalCopy<u128,f16>").colour({}), ColourBy::offset);
  const LayoutView mma = view_of("SM100_MMA_F16BF16_SS<f16,f16,f32,64,64,K,K>");
  EXPECT_EQ(mma.colour({}), ColourBy::thread) << "offsets of A, B and C are no common scale";
  EXPECT_EQ(mma.label({2, 0, 3, 0}, {}, {2, false}), (std::vector<std::string>{"CTA0", "V3"}));
}

// PTX ISA, tcgen05.cp: .32x128b.warpx4 puts a row into four lanes, one in each warp's quarter;
// .64x128b with .warpx2::02_13 into two, 64 apart, with ::01_23 into two, 32 apart.
TEST(TensorMemoryCopy, SaysWhichRowEachLaneGets) {
  for (const auto& [atom, rows, row_of] :
       {std::tuple{"SM100_UTCCP_128dp256bit_1cta", 128, +[](int lane) { return lane; }},
        std::tuple{"SM100_UTCCP_4x32dp128bit_1cta", 32, +[](int lane) { return lane % 32; }},
        std::tuple{"SM100_UTCCP_2x64dp128bitlw0213_1cta", 64, +[](int lane) { return lane % 64; }},
        std::tuple{"SM100_UTCCP_2x64dp128bitlw0123_1cta", 64,
                   +[](int lane) { return lane % 32 + lane / 64 * 32; }}}) {
    const LayoutView view = view_of(atom);
    ASSERT_EQ(view.panels().size(), 2u);
    EXPECT_EQ(view.panels()[0].rows, rows) << atom;
    EXPECT_EQ(view.panels()[1].rows, 128) << atom;
    for (int lane = 0; lane < 128; ++lane) {
      EXPECT_EQ(only_owner(view, {1, 0, lane, 9}), (Owner{row_of(lane), 9})) << atom;
    }
  }
  const LayoutView four = view_of("SM100_UTCCP_4dp256bit_2cta");
  EXPECT_EQ(only_owner(four, {1, 0, 64, 0}), (Owner{2, 0}));
  EXPECT_TRUE(four.owners({1, 0, 65, 0}).empty()) << "not written";
  EXPECT_EQ(four.notes().back(), "Each CTA of the pair does the same in its own memory.");
}

TEST(TensorMemoryText, IsAMapOfRuns) {
  const std::string text = paint_text(
      text_page(view_of("tmem_accumulator(64, 128)"), {}, light_theme()), TextColours::none);
  EXPECT_NE(text.find("0-127              128-511"), std::string::npos) << text;
  EXPECT_NE(text.find("96-111  warp 3 │ m 48-63, n 0-127 │ ·       │"), std::string::npos) << text;
  EXPECT_NE(text.find("112-127 warp 3 │ ·                │ ·       │"), std::string::npos) << text;
  EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 40) << "not a line for each lane";
}

// PTX ISA, tcgen05.ld: .pack::16b puts two 16-bit values into each 32-bit register; .x8 of 32x32b
// has 8 registers.
TEST(CopyPicture, PackedFormsTellValuesFromRegisters) {
  for (const char* expression : {"SM100_TMEM_LOAD_32dp32b8x_16b", "SM100_TMEM_STORE_32dp32b8x_16b",
                                 "tmem_fragment(SM100_TMEM_LOAD_32dp32b8x_16b)"}) {
    const std::string note = view_of(expression).notes().back();
    EXPECT_EQ(note.find("V counts the 16 values of a thread, two of 16 bits in each of its 8 "), 0u)
        << note;
  }
  const std::string note = view_of("SM100_TMEM_LOAD_32dp32b8x").notes().back();
  EXPECT_EQ(note.find("V counts the 8 registers of a thread."), 0u) << note;
}

TEST(CopyPicture, RowsAreNotCalledWarps) {
  const LayoutView view = view_of("SM100_UTCCP_2x64dp128bitlw0213_1cta");
  const LayoutView::Legend legend = view.legend({}, light_theme());
  ASSERT_EQ(legend.entries.size(), 2u);
  EXPECT_EQ(legend.title, "row of shared memory");
  EXPECT_EQ(legend.entries[0].label, "R0-31");
  EXPECT_EQ(legend.entries[1].label, "R32-63");
  EXPECT_TRUE(view.cannot_colour(ColourBy::warp).has_value());
}

TEST(CopyPicture, TheInspectorCallsThingsByTheirNames) {
  const auto says = [](const LayoutView& view, const Cell& cell) {
    std::string out;
    for (const auto& [name, value] : view.info(cell).lines()) out += name + " " + value + "; ";
    return out;
  };
  const std::string row = says(view_of("SM100_UTCCP_2x64dp128bitlw0213_1cta"), {1, 0, 40, 3});
  EXPECT_NE(row.find("row of shared memory 40; "), std::string::npos) << row;
  EXPECT_EQ(row.find("warp"), std::string::npos) << row;
  const std::string cta = says(view_of("SM100_TMA_2SM_LOAD<f16,8,16>"), {0, 1, 3, 2});
  EXPECT_NE(cta.find("CTA 1; "), std::string::npos) << cta;
  const std::string lane = says(view_of("tmem_accumulator(64, 32)"), {0, 0, 70, 5});
  EXPECT_NE(
      lane.find("lane 70; column 5; reached by warp 2 of a warpgroup; region m 32-47, n 0-31"),
      std::string::npos)
      << lane;
}

TEST(CopyPicture, OfOneLongRowIsFoldedAroundTheBanks) {
  const LayoutView view = view_of("SM90_BULK_COPY_G2S<f16,512>");
  const Panel& panel = view.panels()[0];
  EXPECT_EQ(panel.columns, 64);
  EXPECT_EQ(panel.rows, 8);
}

}  // namespace
}  // namespace tilescope
