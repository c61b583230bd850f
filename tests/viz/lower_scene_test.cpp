// The picture of a lowering: what is seen, what is followed, where the rows are.
#include <algorithm>
#include <set>

#include "core/lower/request.h"
#include "viz/lower/lower_scene.h"

namespace tilescope {
namespace {

lowering::Lowering notes() {
  return *lowering::lower(*lowering::request_of(
      "partition_S(make_tiled_copy(UniversalCopy<f32>, (4,32):(32,1), (4,4):(4,1)), ?, "
      "slice(((_,_),?), zipped_divide((?,?):(?,1), (16,128))))"));
}

std::set<std::string> texts(const Scene& scene) {
  std::set<std::string> out;
  for (const Item& item : scene.items) {
    if (const Text* text = std::get_if<Text>(&item)) out.insert(text->text);
  }
  return out;
}

std::size_t strong_lines(const Scene& scene) {
  return static_cast<std::size_t>(
      std::count_if(scene.items.begin(), scene.items.end(), [](const Item& item) {
        const Line* line = std::get_if<Line>(&item);
        return line && line->stroke.width > 1.2;
      }));
}

TEST(LowerScene, ShowsEveryOperationOfEveryLevelUncut) {
  const lowering::Lowering l = notes();
  const Scene scene = lower_scene(l, {}, light_theme());
  const std::set<std::string> shown = texts(scene);
  for (const char* title : {"as written", "slices expanded", "arithmetic", "LLVM", "folded LLVM"}) {
    EXPECT_EQ(shown.count(title), 1u) << title;
  }
  EXPECT_EQ(shown.count("%slice = cute.slice(%arg0, %coord)"), 1u);
  EXPECT_EQ(shown.count("%10 = arith.addi %8, %9 overflow<nsw>"), 1u);
  EXPECT_EQ(shown.count("(tid mod 32) * 4 + (tid / 32) * (? * 4)"), 1u);
  // A hint has a row's whole text, types too.
  for (const lowering::Level& level : l.levels) {
    for (std::size_t s = 0; s < level.statements.size(); ++s) {
      const std::string whole = lowering::text(l, level, static_cast<int>(s));
      EXPECT_TRUE(std::any_of(scene.hints.begin(), scene.hints.end(), [&](const Hint& hint) {
        return hint.text == whole;
      })) << whole;
    }
  }
  for (const Item& item : scene.items) {
    if (const Text* text = std::get_if<Text>(&item)) {
      EXPECT_LE(text->at.x + text_width(text->text, text->size, text->family, text->weight),
                scene.size.width)
          << text->text;
    }
  }
}

TEST(LowerScene, WhatIsFollowedIsJoinedThroughAllLevels) {
  const lowering::Lowering l = notes();
  EXPECT_EQ(strong_lines(lower_scene(l, {}, dark_theme())), 0u);
  const std::size_t slice = strong_lines(lower_scene(l, LowerSpot{0, 3}, dark_theme()));
  const std::size_t address = strong_lines(lower_scene(
      l, LowerSpot{4, static_cast<int>(l.levels[4].statements.size()) - 1}, dark_theme()));
  EXPECT_GE(slice, 6u + 9u + 20u);
  EXPECT_GE(address, 4u);
  EXPECT_LT(address, slice);
}

Scene drawn(const lowering::Lowering& l, Size size, const LowerShown& shown, LowerFrame& frame) {
  Scene scene;
  scene.size = size;
  scene.theme = light_theme();
  frame = draw_lower(scene, l, shown);
  return scene;
}

TEST(LowerScene, RowsAreWhereThePointerFindsThem) {
  const lowering::Lowering l = notes();
  LowerFrame frame, moved;
  drawn(l, {1900, 800}, {}, frame);
  ASSERT_EQ(frame.rows.size(), 5u);
  for (std::size_t level = 0; level < 5; ++level) {
    ASSERT_EQ(frame.rows[level].size(), l.levels[level].statements.size());
    EXPECT_LE(frame.rows[level][0].right(), 1900);
    EXPECT_EQ(frame.at(frame.rows[level][3].centre()), (LowerSpot{static_cast<int>(level), 3}));
  }
  EXPECT_EQ(frame.at({3, 3}), std::nullopt);
  EXPECT_GT(frame.height, 800);
  drawn(l, {1900, 800}, {{}, 0, 100}, moved);
  EXPECT_EQ(moved.rows[2][8].y, frame.rows[2][8].y - 100);
}

TEST(LowerScene, WhereNotAllLevelsFitTheOthersAreAClickAway) {
  const lowering::Lowering l = notes();
  for (const int first : {0, 2, 4}) {
    LowerFrame frame;
    const Scene scene = drawn(l, {760, 600}, {{}, first, 0}, frame);
    std::size_t levels = 0, ways = 0;
    for (std::size_t i = 0; i < 5; ++i) levels += !frame.rows[i].empty();
    for (const Target& target : scene.targets) {
      ways += target.command.rfind("lower from ", 0) == 0;
      EXPECT_TRUE(Box({0, 0, 760, 600}).contains(target.box.centre())) << target.command;
    }
    EXPECT_FALSE(frame.rows[static_cast<std::size_t>(first)].empty());
    EXPECT_GE(levels, 2u) << first;
    EXPECT_LT(levels, 5u);
    EXPECT_EQ(levels + ways, 5u);
  }
}

}  // namespace
}  // namespace tilescope
