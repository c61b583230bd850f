// Pictures of layouts: what is drawn at which size, and which cell is where.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/viz/layout_of.h"
#include "viz/layout/layout_json.h"
#include "viz/layout/presets.h"
#include "viz/scene/describe.h"
#include "viz/scene/palette.h"

namespace tilescope {
namespace {

struct Shown {
  Text text;
  std::string group;  // the innermost
};
std::vector<Shown> texts_of(const Scene& scene) {
  std::vector<Shown> out;
  std::vector<std::string> path{""};
  for (const Item& item : scene.items) {
    if (const auto* begin = std::get_if<GroupBegin>(&item)) path.push_back(begin->name);
    if (std::holds_alternative<GroupEnd>(item)) path.pop_back();
    if (const auto* text = std::get_if<Text>(&item)) out.push_back({*text, path.back()});
  }
  EXPECT_EQ(path.size(), 1u) << "groups are closed";
  return out;
}

Box box_of_text(const Text& text) {
  const double width = text_width(text.text, text.size, text.family, text.weight);
  const double left = text.across == Across::left     ? text.at.x
                      : text.across == Across::centre ? text.at.x - width / 2
                                                      : text.at.x - width;
  const double height = text.size * cap_height;
  return {left, text.at.y - height / 2, width, height};
}

std::size_t labels_in(const Scene& scene) {
  std::size_t n = 0;
  for (const Shown& shown : texts_of(scene)) n += shown.group == "cells";
  return n;
}

const std::vector<std::string>& pictures() {
  static const std::vector<std::string> all{
      "zipped_divide((9,(4,8)):(59,(13,1)), <3:3,(2,4):(1,8)>)",
      "make_layout_tv((4,32):(32,1), (4,4):(4,1))",
      "(4,6,3,2):(1,4,24,72)",
      "Sw<3,3,3> o 0 o (8,64):(64,1)",
      "((4,2),(2,4)):((2,16),(1,8))",
      "zipped_divide((10,10):(1,10), <4,4>)",
      "(8,8):(1000,1)",
      "100000:3",
      "(100000,1):(1,1)",
      "(1024,1024):(1024,1)",
      "(1048576,1048576):(1,1048576)",
      "1:0",
      "SM80_16x8x16_F32F16F16F32_TN",
      "SM70_8x8x4_F32F16F16F32_TN",
      "SM90_64x256x16_F32F16F16_SS<K,K>",
      "SM75_U32x4_LDSM_N",
      "partition_C(make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN), 5, (32,16):(16,1))",
      "<3:3,(2,4):(1,8)>",
      "Sw<3,4,3>",
      "(4,5):(1@0,1@1)",
      "(128,256):(1@TLane,1@TCol)"};
  return all;
}

TEST(Picture, NothingIsCutOffAndNoTextLiesOnAnother) {
  for (const std::string& expression : pictures()) {
    const LayoutView view = view_of(expression);
    for (const Size size : {Size{}, Size{1600, 900}, Size{640, 480}}) {
      const Scene scene = build_scene(view, {}, light_theme(), size);
      const std::vector<Shown> all = texts_of(scene);
      ASSERT_FALSE(all.empty());
      const Box page{0, 0, scene.size.width, scene.size.height};
      std::vector<Box> boxes;
      for (const Shown& shown : all) {
        const Box box = box_of_text(shown.text);
        if (shown.group != "columns" && shown.group != "rows") {
          EXPECT_GE(box.x, page.x) << expression << ": " << shown.text.text;
          EXPECT_LE(box.right(), page.right() + 1) << expression << ": " << shown.text.text;
        }
        EXPECT_GE(box.y, page.y);
        EXPECT_LE(box.bottom(), page.bottom()) << expression << ": " << shown.text.text;
        boxes.push_back(box);
      }
      if (boxes.size() > 3000) continue;
      for (std::size_t i = 0; i < boxes.size(); ++i) {
        for (std::size_t j = i + 1; j < boxes.size(); ++j) {
          EXPECT_TRUE(boxes[i].cut(boxes[j]).empty())
              << expression << " at " << size.width << ": " << all[i].text.text << " and "
              << all[j].text.text;
        }
      }
    }
  }
}

// A picture that is narrow because its grid is has room for its legend, which lists what occurs.
TEST(Picture, ANarrowOneHasTheSwatchesOfItsBanks) {
  LayoutChoice banks;
  banks.colour = ColourBy::bank;
  for (const auto& [expression, listed] :
       {std::pair{"4:1", 4}, std::pair{"2:1", 2}, std::pair{"(4,4):(1,2)", 10}}) {
    const LayoutView view = view_of(expression);
    EXPECT_EQ(view.legend(banks, light_theme()).entries.size(), static_cast<std::size_t>(listed))
        << expression;
    EXPECT_EQ(view.legend(banks, light_theme()).unlisted, 0) << expression;
    for (const Size size : {Size{}, Size{220, 260}}) {
      const Scene scene = build_scene(view, banks, light_theme(), size);
      int swatches = 0;
      for (const Shown& shown : texts_of(scene)) {
        if (shown.group != "legend") continue;
        swatches += shown.text.text[0] == 'b' && shown.text.text.size() < 4;
        EXPECT_LE(box_of_text(shown.text).right(), scene.size.width)
            << expression << " at " << size.width << ": " << shown.text.text;
      }
      EXPECT_GE(swatches, size.width > 0 ? 1 : 2) << expression << " at " << size.width;
    }
  }
}

TEST(Labels, StayInsideTheirCellsAndVanishBeforeTheyCrowd) {
  const LayoutView view = view_of("(16,16):(16,1)");
  bool seen = false;
  for (double cell = 200; cell > 2; cell *= 0.93) {
    Viewport viewport;
    viewport.size = {4000, 4000};
    viewport.cell = cell;
    const Frame frame = arrange(view, viewport);
    const Scene scene = build_scene(view, {}, light_theme(), frame);
    for (const Shown& shown : texts_of(scene)) {
      if (shown.group != "cells") continue;
      const std::optional<Cell> at = cell_at(view, frame, shown.text.at);
      ASSERT_TRUE(at.has_value());
      const Box box = box_of(view, frame, *at), text = box_of_text(shown.text);
      EXPECT_GE(text.x, box.x);
      EXPECT_LE(text.right(), box.right());
      EXPECT_GE(text.y, box.y);
      EXPECT_LE(text.bottom(), box.bottom());
      EXPECT_EQ(shown.text.text, std::to_string(view.offset(*at)));
    }
    const std::size_t labels = labels_in(scene);
    EXPECT_TRUE(labels == 0 || labels == 256);
    if (cell > 40) {
      EXPECT_EQ(labels, 256u);
    }
    if (cell < 20) {
      EXPECT_EQ(labels, 0u);
    }
    seen = seen || labels > 0;
  }
  EXPECT_TRUE(seen);
}

TEST(Labels, AreReadableOnTheirCells) {
  for (const Theme* theme : {&light_theme(), &dark_theme()}) {
    for (const Preset& preset : presets()) {
      const Outcome<LayoutView> view = open_preset(preset);
      ASSERT_TRUE(view.ok());
      const Frame frame = arrange(*view, {});
      const Scene scene = build_scene(*view, {}, *theme, frame);
      for (const Shown& shown : texts_of(scene)) {
        if (shown.group != "cells") continue;
        const std::optional<Cell> cell = cell_at(*view, frame, shown.text.at);
        ASSERT_TRUE(cell.has_value());
        const Rgba under = view->colour_of(*cell, view->colour({}), *theme);
        EXPECT_GE(contrast(resolve(shown.text.ink, *theme), under), 4.5);
      }
    }
  }
}

TEST(Labels, SayWhatTheColourStandsForWithItsMark) {
  const LayoutView view = view_of("((2,2),(2,2)):((1,8),(2,16))");
  const std::vector<std::pair<ColourBy, std::string>> all{{ColourBy::tile, "t1"},
                                                          {ColourBy::thread, "T2"},
                                                          {ColourBy::warp, "W0"},
                                                          {ColourBy::value, "V0"},
                                                          {ColourBy::bank, "b8"}};
  for (const auto& [by, mark] : all) {
    LayoutChoice choice;
    choice.colour = by;
    EXPECT_EQ(view.label({0, 0, 2, 0}, choice, view.label_forms(choice).front()),
              (std::vector<std::string>{"8", mark}));
    EXPECT_EQ(view.label({0, 0, 2, 0}, choice, {1, false}), std::vector<std::string>{mark});
  }
  // The legend writes its swatches with the same marks.
  LayoutChoice banks;
  banks.colour = ColourBy::bank;
  const std::vector<LayoutView::Legend::Entry> swatches = view.legend(banks, light_theme()).entries;
  EXPECT_TRUE(std::any_of(swatches.begin(), swatches.end(),
                          [](const auto& swatch) { return swatch.label == "b8"; }));
}

TEST(Marks, ATickIsInEveryCellThatAStrideOf0Repeats) {
  const LayoutView view = view_of("(4,(2,3)):(0,(1,0))");
  const Frame frame = arrange(view, {});
  std::set<std::pair<std::int64_t, std::int64_t>> ticked;
  for (const Item& item : build_scene(view, {}, light_theme(), frame).items) {
    const Segments* segments = std::get_if<Segments>(&item);
    if (segments == nullptr) continue;
    for (const auto& [a, b] : segments->lines) {
      if (a.x == b.x || a.y == b.y) continue;
      const std::optional<Cell> cell = cell_at(view, frame, {(a.x + b.x) / 2, (a.y + b.y) / 2});
      ASSERT_TRUE(cell.has_value());
      ticked.insert({cell->row, cell->column});
    }
  }
  EXPECT_EQ(ticked.size(), 22u) << "of 24 cells two elements stand for the first time";
  EXPECT_EQ(ticked.count({0, 0}) + ticked.count({0, 1}), 0u);
  EXPECT_EQ(view.notes().size(), 1u);
}

TEST(Lines, AreHeavierTheFurtherOutTheyDivide) {
  const Scene scene = build_scene(view_of("(1,((2,2),2)):(0,((1,2),4))"), {}, light_theme());
  std::set<double> widths;
  for (const Item& item : scene.items) {
    if (const Segments* segments = std::get_if<Segments>(&item)) {
      for (const auto& [a, b] : segments->lines) {
        if (a.x == b.x) widths.insert(segments->stroke.width);
      }
    }
  }
  EXPECT_EQ(widths, (std::set<double>{1, 1.25, 2}));
}

TEST(Labels, SmallCellsOfOneOwnerShareOne) {
  const LayoutView view = view_of("make_layout_tv((4,32):(32,1), (4,4):(4,1))");
  const Scene scene = build_scene(view, {}, light_theme(), Size{1600, 900});
  std::vector<std::string> labels;
  for (const Shown& shown : texts_of(scene)) {
    if (shown.group == "cells") labels.push_back(shown.text.text);
  }
  ASSERT_EQ(labels.size(), 128u);
  for (int t = 0; t < 128; ++t) {
    EXPECT_NE(std::find(labels.begin(), labels.end(), "T" + std::to_string(t)), labels.end());
  }
}

TEST(Detail, AMillionCellsAreOneRasterAndFewItems) {
  const LayoutView view = view_of("(1024,1024):(1024,1)");
  const Scene scene = build_scene(view, {}, light_theme(), Size{1600, 1000});
  std::size_t rasters = 0;
  for (const Item& item : scene.items) {
    const Raster* raster = std::get_if<Raster>(&item);
    if (raster == nullptr || raster->image->rows == 1) continue;
    ++rasters;
    EXPECT_EQ(raster->image->columns, 1024);
    EXPECT_EQ(raster->image->rows, 1024);
  }
  EXPECT_EQ(rasters, 1u);
  EXPECT_LT(scene.items.size(), 500u);
}

TEST(Detail, APixelOfManyCellsIsTheirMean) {
  // Columns alternate between the offsets 0 and 1, several to a pixel.
  const LayoutView view = view_of("(2048,(2,1024)):(0,(1,0))");
  const Rgba mean = mix(quantity(0), quantity(1), 0.5);
  const Scene scene = build_scene(view, {}, light_theme(), Size{400, 400});
  std::size_t checked = 0;
  for (const Item& item : scene.items) {
    const Raster* raster = std::get_if<Raster>(&item);
    if (raster == nullptr || raster->image->rows == 1) continue;
    EXPECT_LT(raster->image->columns, 1024);
    const Rgba c = raster->image->rgba[0];
    EXPECT_LT(std::abs(c.r - mean.r) + std::abs(c.g - mean.g) + std::abs(c.b - mean.b), 90);
    ++checked;
  }
  EXPECT_EQ(checked, 1u);
}

TEST(Detail, OneCellWideStripesAreNotLabelledAsABlock) {
  const LayoutView view = view_of("(1024,1024):(1,1024)");
  for (const ColourBy by : {ColourBy::thread, ColourBy::value}) {
    LayoutChoice choice;
    choice.colour = by;
    EXPECT_EQ(labels_in(build_scene(view, choice, light_theme(), Size{1600, 1000})), 0u);
  }
  LayoutChoice warps;
  warps.colour = ColourBy::warp;  // 32 rows each, 24 pixels
  EXPECT_EQ(labels_in(build_scene(view, warps, light_theme(), Size{1600, 1000})), 32u);
}

TEST(Detail, AllBlocksOfASizeAreLabelledOrNone) {
  const LayoutView view = view_of("make_layout_tv((4,32):(32,1), (4,4):(4,1))");
  std::set<std::size_t> counts;
  LayoutChoice threads;
  threads.colour = ColourBy::thread;
  for (double width = 400; width <= 1600; width += 25) {
    counts.insert(labels_in(build_scene(view, threads, light_theme(), Size{width, 900})));
  }
  EXPECT_EQ(counts, (std::set<std::size_t>{0, 128})) << "128 threads, 16 elements each";
}

TEST(Detail, ARasterIsMadeOnceAChange) {
  const LayoutView view = view_of("zipped_divide((64,64):(64,1), <8,8>)");
  RasterStore store;
  const Frame frame = arrange(view, Viewport{{900, 700}});
  const auto versions = [&](const LayoutChoice& choice) {
    std::vector<std::uint64_t> out;
    for (const Item& item : build_scene(view, choice, light_theme(), frame, &store).items) {
      const Raster* raster = std::get_if<Raster>(&item);
      if (raster != nullptr && raster->image->rows > 1) out.push_back(raster->image->version);
    }
    return out;
  };
  LayoutChoice choice;
  const auto first = versions(choice);
  EXPECT_EQ(versions(choice), first);
  choice.hover = Cell{0, 0, 1, 1};
  const auto lit = versions(choice);
  EXPECT_NE(lit, first);
  choice.hover = Cell{0, 0, 2, 2};  // the same tile
  EXPECT_EQ(versions(choice), lit);
  choice.hover.reset();
  EXPECT_EQ(versions(choice), first);
}

TEST(Detail, ALegendIsNoNewTextureEachFrame) {
  const Outcome<LayoutView> view = open_preset(presets()[2]);
  ASSERT_TRUE(view.ok());
  RasterStore store;
  const auto versions = [&] {
    std::vector<std::uint64_t> out;
    for (const Item& item :
         build_scene(*view, {}, light_theme(), arrange(*view, {}), &store).items) {
      const Raster* raster = std::get_if<Raster>(&item);
      if (raster != nullptr) out.push_back(raster->image->version);
    }
    return out;
  };
  const auto first = versions();
  EXPECT_EQ(first.size(), 5u);  // the grid, and a ramp for each of four warps
  EXPECT_EQ(std::set<std::uint64_t>(first.begin(), first.end()).size(), 5u);
  EXPECT_EQ(versions(), first);
}

TEST(Hit, TheCellUnderAPointIsTheOneDrawnThere) {
  for (const std::string& expression : pictures()) {
    const LayoutView view = view_of(expression);
    const Frame frame = arrange(view, Viewport{{1600, 900}});
    for (int p = 0; p < static_cast<int>(view.panels().size()); ++p) {
      const Panel& panel = view.panels()[static_cast<std::size_t>(p)];
      for (int n = 0; n < 50; ++n) {
        const Cell cell{p, panel.slices * n / 50, panel.rows * ((n * 7) % 50) / 50,
                        panel.columns * ((n * 13) % 50) / 50};
        const Box box = box_of(view, frame, cell);
        if (box.width < 0.01) continue;  // beyond what a point can tell
        const std::optional<Cell> found = cell_at(view, frame, box.centre());
        ASSERT_TRUE(found.has_value()) << expression;
        EXPECT_EQ(*found, cell) << expression;
      }
    }
    EXPECT_FALSE(cell_at(view, frame, {-5, -5}).has_value());
    EXPECT_FALSE(cell_at(view, frame, {1e9, 1e9}).has_value());
  }
}

TEST(Zoom, KeepsWhatIsUnderThePointer) {
  const LayoutView view = view_of("(512,512):(512,1)");
  Frame frame = arrange(view, Viewport{{1200, 800}});
  const Cell aim{0, 0, 300, 222};
  const Point pointer = box_of(view, frame, aim).centre();
  for (int i = 0; i < 12; ++i) {
    frame = arrange(view, zoomed(view, frame, pointer, 1.4));
    const Point now = box_of(view, frame, aim).centre();
    const double slack = frame.viewport.cell * 0.5 + 1;
    EXPECT_NEAR(now.x, pointer.x, slack);
    EXPECT_NEAR(now.y, pointer.y, slack);
  }
  EXPECT_GT(frame.viewport.cell, 30);
  for (int i = 0; i < 40; ++i) frame = arrange(view, zoomed(view, frame, pointer, 0.7));
  EXPECT_DOUBLE_EQ(frame.viewport.cell, frame.fit_cell);
  EXPECT_EQ(frame.viewport.pan, (Point{0, 0}));
}

TEST(Pan, DoesNotLoseTheContent) {
  const LayoutView view = view_of("(512,512):(512,1)");
  Frame frame = arrange(view, Viewport{{1200, 800}, 20});
  for (const double far : {1e7, -1e7}) {
    frame = arrange(view, panned(view, frame, far, -far));
    EXPECT_FALSE(frame.content.cut(frame.body).empty());
  }
  // What fits does not move.
  const LayoutView small = view_of("(4,4):(4,1)");
  const Frame still = arrange(small, Viewport{{1200, 800}});
  EXPECT_EQ(panned(small, still, 100, 100).pan, (Point{0, 0}));
}

TEST(Sizes, OddOnesGiveASanePicture) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  for (const std::string& expression : pictures()) {
    const LayoutView view = view_of(expression);
    for (const Viewport& viewport :
         {Viewport{{1, 1}}, Viewport{{nan, 5}}, Viewport{{40, 1e5}}, Viewport{{800, 600}, nan},
          Viewport{{800, 600}, inf}, Viewport{{800, 600}, -3}, Viewport{{800, 600}, 1e-30},
          Viewport{{800, 600}, 50, {nan, inf}}, Viewport{{800, 600}, 50, {1e15, -1e15}},
          Viewport{{800, 600}, 0, {}, nan}, Viewport{{inf, inf}}}) {
      const Scene scene = build_scene(view, {}, dark_theme(), arrange(view, viewport));
      EXPECT_GT(scene.size.width, 0);
      EXPECT_TRUE(std::isfinite(scene.size.width * scene.size.height));
      for (const Shown& shown : texts_of(scene)) {
        EXPECT_TRUE(std::isfinite(shown.text.at.x) && std::isfinite(shown.text.at.y));
      }
    }
  }
}

TEST(Slices, EachIsNamedByItsCoordinate) {
  const Scene scene = build_scene(view_of("(4,6,3,2):(1,4,24,72)"), {}, light_theme());
  std::vector<std::string> names;
  for (const Shown& shown : texts_of(scene)) {
    if (shown.text.text.substr(0, 4) == "(_,_") names.push_back(shown.text.text);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"(_,_,0,0)", "(_,_,1,0)", "(_,_,2,0)", "(_,_,0,1)",
                                             "(_,_,1,1)", "(_,_,2,1)"}));
}

TEST(Pointer, LightsTheSameElementInEveryGrid) {
  const Outcome<LayoutView> view = open_preset(presets()[0]);
  ASSERT_TRUE(view.ok());
  LayoutChoice choice;
  choice.hover = Cell{0, 0, 4, 9};
  const Frame frame = arrange(*view, {});
  const Scene scene = build_scene(*view, choice, light_theme(), frame);
  std::vector<Cell> outlined;
  for (const Item& item : scene.items) {
    const Rectangle* r = std::get_if<Rectangle>(&item);
    if (r == nullptr || r->stroke.ink.role != Role::accent) continue;
    outlined.push_back(*cell_at(*view, frame, r->box.centre()));
  }
  EXPECT_EQ(outlined, (std::vector<Cell>{{0, 0, 4, 9}, {1, 0, 4, 3}, {2, 0, 10, 1}}));
}

TEST(Legend, ClicksAreCommands) {
  const Outcome<LayoutView> view = open_preset(presets()[0]);
  const Scene scene = build_scene(*view, {}, light_theme());
  ASSERT_EQ(scene.targets.size(), 13u);
  EXPECT_EQ(scene.targets[0].command, "colour offset");
  EXPECT_EQ(scene.targets[4].command, "isolate tile 3");
}

TEST(Describe, NamesEveryLabelRowByRow) {
  const Outcome<LayoutView> view = open_preset(presets()[1]);
  ASSERT_TRUE(view.ok());
  LayoutChoice choice;
  choice.hover = Cell{0, 0, 5, 2};
  const Json json = describe(*view, choice, build_scene(*view, choice, light_theme()));
  EXPECT_EQ(json["kind"], "thread_value");
  EXPECT_EQ(json["colour"], "thread");
  EXPECT_EQ(json["panels"][0]["layout"], "((2,2,2),(2,2,2)):((1,16,4),(8,2,32))");
  EXPECT_EQ(json["hover"]["thread"], "7");
  EXPECT_EQ(json["hover"]["value"], "0");
  EXPECT_EQ(json["hover"]["coordinate"], "(5,2)");
  const Json& grids = json["picture"]["groups"][1];
  ASSERT_EQ(grids["name"], "grids");
  const Json& panel = grids["groups"][0];
  EXPECT_EQ(panel["name"], "panel Tile (8,8)");
  Json cells;
  for (const Json& group : panel["groups"]) {
    if (group["name"] == "cells") cells = group["rows"];
  }
  ASSERT_EQ(cells.size(), 16u);  // two lines a cell
  EXPECT_EQ(cells[0], (Json{"T0", "T0", "T2", "T2", "T0", "T0", "T2", "T2"}));
  EXPECT_EQ(cells[1], (Json{"V0", "V1", "V0", "V1", "V4", "V5", "V4", "V5"}));
  EXPECT_EQ(cells[10], (Json{"T5", "T5", "T7", "T7", "T5", "T5", "T7", "T7"}));
}

TEST(Describe, EqualViewsGiveEqualBytes) {
  for (const Preset& preset : presets()) {
    const auto once = [&] {
      const Outcome<LayoutView> view = open_preset(preset);
      return describe(*view, {}, build_scene(*view, {}, dark_theme(), Size{1280, 800})).dump();
    };
    EXPECT_EQ(once(), once());
  }
}

TEST(Size, TooSmallForCellsIsKnown) {
  const Outcome<LayoutView> view = LayoutView::of_expression("(8,8):(8,1)");
  EXPECT_FALSE(has_room(arrange(*view, Viewport{{200, 100}})));
  EXPECT_TRUE(has_room(arrange(*view, Viewport{{400, 300}})));
  EXPECT_TRUE(has_room(arrange(*view, {})));
  const LayoutView mma = view_of("SM80_16x8x16_F32F16F16F32_TN");
  EXPECT_FALSE(labels_fit(mma, {}, arrange(mma, Viewport{{700, 500}})));
  EXPECT_TRUE(labels_fit(mma, {}, arrange(mma, {})));
}

// What the last part takes is marked in the first whole too, and a part at the border is closed.
TEST(Parts, AreOutlinedInEveryWholeBeforeThem) {
  const Outcome<LayoutView> view = LayoutView::of_expression(
      "A = (32,16):(16,1); T = zipped_divide(A, <16,8>)((_,_),1);"
      "partition_C(make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN), 5, T)");
  const Frame frame = arrange(*view, {});
  const Scene scene = build_scene(*view, {}, light_theme(), frame);
  const auto edge_at = [&](double x, double y) {  // a vertical line in the accent through (x, y)
    for (const Item& item : scene.items) {
      const Segments* lines = std::get_if<Segments>(&item);
      if (lines == nullptr ||
          !(resolve(lines->stroke.ink, light_theme()) == light_theme().accent)) {
        continue;
      }
      for (const auto& [from, to] : lines->lines) {
        if (from.x == to.x && std::fabs(from.x - x) < 0.5 && from.y < y && to.y > y) return true;
      }
    }
    return false;
  };
  const Box corner = box_of(*view, frame, {0, 0, 31, 0});  // of the tile, at A's own border
  EXPECT_TRUE(edge_at(corner.x, corner.centre().y));
  const Box mine = box_of(*view, frame, {0, 0, 16 + 9, 2});  // of thread 5
  EXPECT_TRUE(edge_at(mine.x, mine.centre().y));
}

TEST(LayoutPicture, NamesOfManySlicesDoNotOverlap) {
  for (const char* expression : {"(4,4,100000):(1,4,16)", "(1,1,1024):(1,1,1)"}) {
    const LayoutView view = view_of(expression);
    const Scene scene = build_scene(view, {}, light_theme(), arrange(view, {}));
    double y = -1, end = 0;
    std::size_t names = 0;
    for (const Shown& shown : texts_of(scene)) {
      if (shown.group != "panel Layout") continue;
      const Box box = box_of_text(shown.text);
      EXPECT_LE(box.right(), scene.size.width) << shown.text.text;
      EXPECT_TRUE(shown.text.at.y != y || box.x > end) << shown.text.text;
      y = shown.text.at.y, end = box.right();
      ++names;
    }
    EXPECT_GT(names, 100u) << expression;
  }
}

}  // namespace
}  // namespace tilescope
