// What a stage says of itself.
#include "viz/scene/stage_items.h"

#include <gtest/gtest.h>

#include <map>

#include "viz/scene/theme.h"

namespace tilescope {
namespace {

// Its words, each with the role of its colour.
std::map<std::string, Role> said(const StageContents& stage, const Theme& theme) {
  Scene scene;
  scene.theme = theme;
  draw_stage(scene, stage, {0, 0, 200, 40}, false);
  std::map<std::string, Role> out;
  for (const Item& item : scene.items) {
    if (const Text* text = std::get_if<Text>(&item)) out[text->text] = text->ink.role;
  }
  return out;
}

// Hatching has the ground of the page beneath: what is not there yet is not said to be, in letters
// that are read on it.
TEST(StageItems, WhatIsComingIsReadOverItsHatching) {
  StageContents stage{StageState::coming, 3, {{"A", 0}}};
  const auto coming = said(stage, dark_theme());
  ASSERT_EQ(coming.count("A k3"), 1u);
  EXPECT_EQ(coming.at("A k3"), Role::text);
  EXPECT_EQ(coming.count("there"), 0u);
  EXPECT_EQ(coming.count("coming"), 1u);
  stage.tiles[0].share = 1;
  const auto there = said(stage, dark_theme());
  EXPECT_EQ(there.count("there"), 1u);
  EXPECT_EQ(there.at("A k3"), Role::own) << "over its own colour";
}

}  // namespace
}  // namespace tilescope
