// The course in the window, by mouse: begin, edit, check, stop, see what is wrong.
#include "tests/viz/ui_stage.h"
#include "viz/session/course_state.h"

namespace tilescope {
namespace {

class CourseWindow : public test::WindowTest {
 protected:
  CourseWindow() {
    act("course loop");
    settle();
  }
  // Clicks on what does this in the view.
  void click_on(const std::string& command) {
    for (const Target& each : window->picture().scene.targets) {
      if (each.command == command) return click(on_display(each.box.centre()));
    }
    ADD_FAILURE() << "nothing does " << command;
  }
  const CourseWork& work() { return work_of(session, *shown_exercise(session)); }
};

TEST_F(CourseWindow, FromTheFirstLineToTheVerdictByMouse) {
  click_on("course start loop");
  ASSERT_TRUE(backend.texts.count("loop.cu"));
  click_on("course hint");
  EXPECT_EQ(work().hints, 1u);
  click_on("course edit");
  backend.wait_build();
  settle();
  ASSERT_EQ(session.edit.edit.path, "loop.cu");
  const auto check = middle_of({"course check", "button"});
  ASSERT_TRUE(check) << "the editor of the exercise's file has the judge at hand";
  backend.verdict.built = true;
  backend.verdict.kind = "different";
  backend.verdict.sentence = "Elements differ.";
  backend.verdict.show = {"open add", "select matrices"};
  click(*check);
  settle();
  EXPECT_EQ(session.state.view, ViewName::course);
  ASSERT_TRUE(work().verdict);
  click_on("course show");
  EXPECT_EQ(session.state.view, ViewName::matrices);
}

TEST_F(CourseWindow, TheJudgeIsStoppedInTheStrip) {
  click_on("course start loop");
  backend.slow_judge = true;
  click_on("course check");
  ASSERT_TRUE(session.course.check);
  const auto stop = middle_of({"stop", "button"});
  ASSERT_TRUE(stop);
  click(*stop);
  settle();
  EXPECT_FALSE(session.course.check);
  EXPECT_FALSE(work().verdict);
}

TEST_F(CourseWindow, WhatAnotherEditorWritesIsSeen) {
  click_on("course start loop");
  click_on("course check");
  ASSERT_TRUE(work().verdict);
  EXPECT_FALSE(work().changed());
  backend.put("loop.cu", "mended");
  session.course.next_look = 0;
  settle();
  EXPECT_TRUE(work().changed());
}

TEST_F(CourseWindow, AnotherFilesEditorHasNoJudge) {
  act("open add");
  act("edit");
  settle();
  ASSERT_TRUE(session.edit.edit.open());
  EXPECT_FALSE(middle_of({"course check", "button"}));
}

}  // namespace
}  // namespace tilescope
