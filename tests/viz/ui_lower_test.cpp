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
