// The lesson's panel in the window: reached by mouse and by keyboard, read by its labels.
#include "tests/viz/ui_stage.h"
#include "viz/commands/overlay_sheets.h"
#include "viz/session/lesson_evidence.h"
#include "viz/session/lesson_panel.h"

namespace tilescope {
namespace {

using test::WindowTest;

class LessonWindow : public WindowTest {
 protected:
  LessonPanel panel() { return *lesson_panel(session); }
  const ImVec2 next_{1240, 688}, back_{956, 688};
  // The inspector's tab, right of the lesson's.
  const ImVec2 inspector_{1040, 104};
};

TEST_F(LessonWindow, NextAndBackStandBelowTheText) {
  act("lesson layouts");
  settle();
  click(next_);
  EXPECT_EQ(panel().step, 1u);
  click(back_);
  EXPECT_EQ(panel().step, 0u);
}

TEST_F(LessonWindow, TheInspectorIsOneClickAway) {
  act("lesson layouts");
  settle();
  click(inspector_);
  EXPECT_FALSE(session.state.lesson.shown);
  settle();
  click({940, 104});  // the inspector's column is narrower, and so its tabs stand further right
  click({1020, 104});
  EXPECT_TRUE(session.state.lesson.shown);
}

TEST_F(LessonWindow, AWordIsExplainedByAClickByTheKeyboardAndInAList) {
  act("lesson layouts");
  settle();
  click({1240, 104});  // the button above the text
  ASSERT_EQ(session.overlay.kind, Overlay::Kind::words);
  EXPECT_TRUE(session.overlay.text.empty());
  press(ui::Key::escape);
  ASSERT_FALSE(session.overlay.open());
  // F6 to the lesson, then past its tabs and the button to the first word.
  act("lesson next");
  settle();
  for (int i = 0; i < 4; ++i) press(ui::Key::f6);
  for (int i = 0; i < 3; ++i) press(ui::Key::tab);
  press(ui::Key::enter);
  settle();
  ASSERT_EQ(session.overlay.kind, Overlay::Kind::words);
  const Sheet sheet = sheet_of(session);
  const auto marked = std::find_if(sheet.rows.begin(), sheet.rows.end(),
                                   [](const SheetRow& row) { return row.current; });
  ASSERT_NE(marked, sheet.rows.end()) << session.overlay.text;
  EXPECT_EQ(session.message.text.rfind(marked->left + ": ", 0), 0u) << session.message.text;
}

TEST_F(LessonWindow, AnAnswerIsTypedAndEntered) {
  act("lesson layouts");
  act("lesson next");
  settle();
  const std::string right =
      *solution(*session.state.lesson.sheet->step.exercise, evidence_of(session, backend));
  // Tab reaches the field among others that take text.
  for (int i = 0; i < 100 && !panel().question->verdict; ++i) {
    press(ui::Key::tab);
    if (!ImGui::GetIO().WantTextInput) continue;
    type("7");
    press(ui::Key::enter);
    settle();
    if (!panel().question->verdict) act("lesson view");
  }
  ASSERT_TRUE(panel().question->verdict);
  EXPECT_EQ(panel().question->answer, "7");
  act("answer " + right);
  settle();
  EXPECT_TRUE(panel().question->solved);
}

TEST_F(LessonWindow, EveryStepIsDrawnAtEverySize) {
  for (const ImVec2 size : {ImVec2{800, 500}, ImVec2{1280, 800}, ImVec2{2560, 1600}}) {
    ImGui::GetIO().DisplaySize = size;
    act("lesson layouts");
    act("lesson step 1");
    settle();
    act("lesson next");
    act("answer 31337");
    act("hint");
    act("hint");
    act("hint");
    settle();
    EXPECT_TRUE(panel().question->hint_button.empty());
  }
}

}  // namespace
}  // namespace tilescope
