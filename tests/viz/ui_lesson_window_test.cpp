// The lesson's panel in the window: reached by mouse and by keyboard, read by its labels.
#include "tests/viz/ui_stage.h"
#include "viz/commands/overlay_sheets.h"
#include "viz/session/lesson_evidence.h"
#include "viz/session/lesson_panel.h"
#include "viz/ui/rich_text.h"

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

// Of what can be clicked nothing lies over another, at the last step neither, where the way on has
// a longer name.
TEST_F(LessonWindow, ButtonsStandBesideEachOther) {
  act("lesson layouts 2");
  settle();
  const auto& targets = window->ring().targets();
  std::size_t below = 0;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (targets[i].low.x < 912 || targets[i].low.y < 664 || targets[i].low.y > 712) continue;
    ++below;
    for (std::size_t k = i + 1; k < targets.size(); ++k) {
      const auto &a = targets[i], &b = targets[k];
      const bool over = a.low.x < b.high.x && b.low.x < a.high.x && a.low.y < b.high.y &&
                        b.low.y < a.high.y && a.window == b.window;
      EXPECT_FALSE(over) << a.low.x << " to " << a.high.x << ", " << b.low.x << " to " << b.high.x;
    }
  }
  EXPECT_EQ(below, 3u);
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

// Words lead to the term that is meant: several words before one of them, and where the text says
// so to another, or to none.
TEST_F(LessonWindow, ATermOfSeveralWordsIsOne) {
  const std::map<std::string, std::string> meanings = {{"index", "one"},
                                                       {"block index", "two"},
                                                       {"words", "three"},
                                                       {"lanes", "four"},
                                                       {"tmem", "five"}};
  const auto seen = [&](const char* text) {
    ui::KnownWords known{meanings};
    ImGui::NewFrame();
    ImGui::Begin("text");
    ui::Brush brush{session.theme(), fonts, ImGui::GetWindowDrawList(), nullptr};
    (void)ui::rich_text(brush, 0, 0, 400, spans_of(text), Role::text, &known);
    ImGui::End();
    ImGui::Render();
    return known.seen;
  };
  EXPECT_EQ(seen("A block index."), (std::set<std::string>{"two"}));
  EXPECT_EQ(seen("The index (block)."), (std::set<std::string>{"one"}));
  EXPECT_EQ(seen("The [words]() are: TMEM, `index`"), (std::set<std::string>{"five"}));
  EXPECT_EQ(seen("Its [lanes](TMEM) and lanes"), (std::set<std::string>{"five", "four"}));
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
