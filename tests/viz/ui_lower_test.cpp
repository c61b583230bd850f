// The lowering of the open layout in the window: what a click follows, what is shown where it does
// not fit, what is said of a layout that cannot be lowered.
#include <gtest/gtest.h>

#include "tests/viz/ui_session.h"
#include "viz/commands/rebuild.h"
#include "viz/session/lower_session.h"
#include "viz/session/panels.h"

namespace tilescope {
namespace {

class Lowering : public test::SessionTest {
 protected:
  const std::optional<LowerSpot>& followed() const { return session.state.study.lowered; }
};

TEST_F(Lowering, EveryTargetIsACommandThatWorks) {
  must("open layout slice(((_,_),?), zipped_divide((?,?):(?,1), (16,128)))");
  must("select lower");
  ASSERT_FALSE(emptiness(session));
  for (const Size size : {Size{1280, 800}, Size{700, 400}, Size{2400, 1000}}) {
    const Picture shown = picture(session, size);
    EXPECT_GE(shown.scene.targets.size(), 10u);
    for (const Target& target : shown.scene.targets) must(target.command);
  }
}

TEST_F(Lowering, AValueIsFollowedAndLetGo) {
  must("open layout slice((?,_), (?,8):(8,1))");
  must("lower slice");
  EXPECT_TRUE(session.state.view == ViewName::lower);
  ASSERT_TRUE(followed());
  EXPECT_EQ(*followed(), (LowerSpot{0, 3}));
  must("lower 4 2");
  EXPECT_EQ(*followed(), (LowerSpot{4, 2}));
  must("back");
  EXPECT_FALSE(followed());
  must("lower slice");
  must("undo");
  EXPECT_FALSE(followed());
  refused("lower view", "takes the name of a value");
  refused("lower 5 0", "0 to 4");
  refused("lower 0 99", "no statement 99");
  refused("lower from nowhere", "folded LLVM");
  refused("zoom in", "scrolled");
  // Another layout has other statements.
  must("lower slice");
  must("open layout (4,8):(8,1)");
  EXPECT_FALSE(followed());
}

TEST_F(Lowering, LinesMakeItAgain) {
  must("open layout slice((?,_), (?,8):(8,1))");
  must("lower from arithmetic");
  must("lower 2 4");
  const std::vector<std::string> lines = rebuilding(session.state);
  const ViewState before = session.state;
  must("open layout (4,8):(8,1)");
  for (const std::string& line : lines) must(line);
  EXPECT_TRUE(session.state == before);
}

const char* const tile_of_a_thread =
    "open layout partition_S(make_tiled_copy(UniversalCopy<f32>, (4,32):(32,1), (4,4):(4,1)), ?, "
    "slice(((_,_),?), gmem<f32> o zipped_divide((?,?):(?,1), <16,128>)))";

TEST_F(Lowering, PtxIsPutBelowAndTakenAway) {
  must(tile_of_a_thread);
  const auto answer = act("lower ptx elementwise_add");
  ASSERT_TRUE(answer.ok());
  EXPECT_TRUE(session.state.view == ViewName::lower);
  ASSERT_EQ(lowering_of(session)->levels.size(), 6u);
  EXPECT_NE(answer->find("the same bytes as in the layout for all 128 threads"), std::string::npos)
      << *answer;
  must("lower from PTX");
  const Picture shown = picture(session, {1280, 900});
  bool line = false;
  for (const Hint& hint : shown.scene.hints) line = line || hint.text == "elementwise_add.py:17";
  EXPECT_TRUE(line);
  for (const Target& target : shown.scene.targets) must(target.command);
  must("lower 5 3");
  EXPECT_EQ(*followed(), (LowerSpot{5, 3}));
  // What is followed of the PTX goes with it; undo brings both back.
  must("lower ptx nothing");
  EXPECT_FALSE(followed());
  EXPECT_EQ(lowering_of(session)->levels.size(), 5u);
  refused("lower from PTX", "folded LLVM");
  must("undo");
  EXPECT_EQ(*followed(), (LowerSpot{5, 3}));
  EXPECT_EQ(lowering_of(session)->levels.size(), 6u);
  refused("lower ptx no_such_kernel", "no PTX of no_such_kernel");
  refused("lower ptx", "a kernel's name");
  // Another layout has none.
  must("open layout (4,8):(8,1)");
  EXPECT_EQ(lowering_of(session)->levels.size(), 5u);
}

TEST_F(Lowering, LinesMakeThePtxAgain) {
  must(tile_of_a_thread);
  must("lower ptx elementwise_add");
  must("lower 5 4");
  must("lower from folded LLVM");
  const std::vector<std::string> lines = rebuilding(session.state);
  const ViewState before = session.state;
  must("open layout (4,8):(8,1)");
  for (const std::string& line : lines) must(line);
  EXPECT_TRUE(session.state == before);
}

TEST_F(Lowering, WhatCannotBeLoweredSaysWhy) {
  must("open layout Sw<3,3,3> o 0 o (8,64):(64,1)");
  must("select lower");
  const auto empty = emptiness(session);
  ASSERT_TRUE(empty);
  EXPECT_NE(empty->sentence.find("swizzle"), std::string::npos) << empty->sentence;
  must(empty->command);
  EXPECT_FALSE(emptiness(session));
}

}  // namespace
}  // namespace tilescope
