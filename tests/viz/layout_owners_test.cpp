// Cells that several threads own: each owner is named, and has its colour.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/viz/layout_of.h"
#include "viz/layout/layout_scene.h"

namespace tilescope {
namespace {

constexpr int a = 0, b = 1, c = 2;

std::set<std::int32_t> threads_of(const LayoutView& view, const Cell& cell) {
  std::set<std::int32_t> out;
  for (const Owner& owner : view.owners(cell)) out.insert(owner.thread);
  return out;
}

// (v,m,n,k) is thread v + V(m + M(n + N k)) here. Threads along K share C.
TEST(SharedCells, ThreadsAlongKAllHoldC) {
  const LayoutView fma = view_of("make_tiled_mma(UniversalFMA<f32>, (2,2,2))");
  for (int m = 0; m < 2; ++m) {
    for (int n = 0; n < 2; ++n) {
      EXPECT_EQ(threads_of(fma, {c, 0, m, n}), (std::set{m + 2 * n, m + 2 * n + 4}));
    }
  }
  for (const std::string& note : fma.notes()) {
    EXPECT_EQ(note.find("outside"), std::string::npos) << note;
  }
  EXPECT_NE(fma.notes().back().find("2 times, by threads along K"), std::string::npos);
  const LayoutView warps = view_of("make_tiled_mma(SM80_16x8x8_F16F16F16F16_TN, (2,1,2))");
  EXPECT_EQ(threads_of(warps, {c, 0, 17, 2}), (std::set{37, 37 + 64}));
}

TEST(SharedCells, EachOwnersLineStandsOnItsColour) {
  const LayoutView view = view_of("make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN, (2,2))");
  const Theme& theme = light_theme();
  const Cell shared{a, 0, 1, 2};  // thread 5 of warps 0 and 2, which stand along N
  ASSERT_EQ(threads_of(view, shared), (std::set{5, 5 + 64}));
  const std::vector<Rgba> lines = view.owner_colours(shared, {}, theme, 2);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0], view.colour_of({c, 0, 1, 2}, ColourBy::thread, theme)) << "as in C";
  EXPECT_EQ(lines[1], view.colour_of({c, 0, 1, 2 + 8}, ColourBy::thread, theme));
  LayoutChoice by_value;
  by_value.colour = ColourBy::value;
  EXPECT_EQ(view.owner_colours(shared, by_value, theme, 0).size(), 1u) << "both hold value 0";
  EXPECT_TRUE(view.owner_colours({c, 0, 1, 2}, {}, theme, 2).empty()) << "one owner";
  LayoutChoice isolated;
  isolated.isolate = {Focus::On::thread, 5 + 64};
  const std::vector<Rgba> faded = view.owner_colours(shared, isolated, theme, 2);
  EXPECT_EQ(faded[1], lines[1]) << "the isolated owner's";
  EXPECT_NE(faded[0], lines[0]);
}

// What is drawn in a box of a scene: the raster's colours there.
std::set<std::uint32_t> colours_in(const Scene& scene, const Box& box) {
  std::set<std::uint32_t> out;
  for (const Item& item : scene.items) {
    const Raster* raster = std::get_if<Raster>(&item);
    if (raster == nullptr || !raster->box.contains(box.centre())) continue;
    const Image& image = *raster->image;
    const double width = raster->box.width / image.columns;
    const double height = raster->box.height / image.rows;
    for (int y = 0; y < image.rows; ++y) {
      for (int x = 0; x < image.columns; ++x) {
        const Point at{raster->box.x + (x + 0.5) * width, raster->box.y + (y + 0.5) * height};
        if (!box.contains(at)) continue;
        const Rgba p = image.rgba[static_cast<std::size_t>(y * image.columns + x)];
        out.insert(static_cast<std::uint32_t>(p.r << 16 | p.g << 8 | p.b));
      }
    }
  }
  return out;
}

TEST(SharedCells, AreSplitAtEverySize) {
  const LayoutView view = view_of("make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN, (2,2))");
  for (const Size size : {Size{}, Size{1600, 1400}, Size{900, 800}}) {
    const Frame frame = arrange(view, Viewport{size});
    const Scene scene = build_scene(view, {}, light_theme(), frame);
    for (const Cell& cell : {Cell{a, 0, 1, 2}, Cell{b, 0, 3, 9}}) {
      EXPECT_EQ(colours_in(scene, box_of(view, frame, cell)).size(), 2u) << size.width;
    }
    EXPECT_EQ(colours_in(scene, box_of(view, frame, {c, 0, 1, 2})).size(), 1u);
  }
}

std::vector<std::string> texts_in(const Scene& scene, const Box& box) {
  std::vector<std::string> out;
  for (const Item& item : scene.items) {
    const Text* text = std::get_if<Text>(&item);
    if (text != nullptr && box.contains(text->at)) out.push_back(text->text);
  }
  std::sort(out.begin(), out.end());
  return out;
}

// Eight warps over a tile of 128 x 128: too many cells for labels, but each warp's block has one.
TEST(SharedCells, BlocksOfWarpsNameAllTheirWarps) {
  const LayoutView view =
      view_of("make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN, (4,2), <128,128,16>)");
  const Frame frame = arrange(view, {});
  const Scene scene = build_scene(view, {}, light_theme(), frame);
  const auto block = [&](int panel, std::int64_t row, std::int64_t column, std::int64_t rows,
                         std::int64_t columns) {
    const Box first = box_of(view, frame, {panel, 0, row, column});
    const Box last = box_of(view, frame, {panel, 0, row + rows - 1, column + columns - 1});
    return texts_in(scene, {first.x, first.y, last.right() - first.x, last.bottom() - first.y});
  };
  EXPECT_EQ(block(a, 16, 0, 16, 16), (std::vector<std::string>{"W1", "W5"}));
  EXPECT_EQ(block(b, 0, 8, 16, 8), (std::vector<std::string>{"W4", "W5", "W6", "W7"}));
  EXPECT_EQ(block(c, 16, 8, 16, 8), (std::vector<std::string>{"W5"}));
}

// Whatever is tiled, a picture of its own size names who owns what.
TEST(Labels, DoNotVanishFromLargeProducts) {
  for (const char* mma : {"(2,2), <64,64,16>", "(1,1), <128,128,16>", "(4,1), <64,64,32>",
                          "(2,2), <64,64,64>", "(2,4,1), <256,128,32>"}) {
    const LayoutView view =
        view_of("make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN, " + std::string(mma) + ")");
    const Frame frame = arrange(view, {});
    EXPECT_LE(std::max(frame.viewport.size.width, frame.viewport.size.height), most_natural) << mma;
    const Scene scene = build_scene(view, {}, light_theme(), frame);
    for (std::size_t p = 0; p < 3; ++p) {
      const std::vector<std::string> texts = texts_in(scene, frame.places[p].first);
      EXPECT_TRUE(
          std::any_of(texts.begin(), texts.end(),
                      [](const std::string& text) { return text[0] == 'T' || text[0] == 'W'; }))
          << mma << ", operand " << p;
    }
  }
}

}  // namespace
}  // namespace tilescope
