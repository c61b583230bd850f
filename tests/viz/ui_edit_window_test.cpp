// The editor in the window: typing, keys that are the text's, marks at lines, and the buttons.
#include "tests/viz/ui_stage.h"
#include "viz/session/edit_state.h"

namespace tilescope {
namespace {

class EditWindow : public test::WindowTest {
 protected:
  EditWindow() {
    act("open add");
    act("edit");
    for (int i = 0; i < 4; ++i) frame();
  }
  const std::string& text() const { return session.edit.edit.text; }
  void compile() {
    backend.wait_build();
    for (int i = 0; i < 4; ++i) frame();
  }
};

TEST_F(EditWindow, WhatIsTypedIsTheTextAndTabPutsInBlanks) {
  const std::string before = backend.texts["add.cu"];
  type("ab");
  EXPECT_EQ(text(), "ab" + before) << "the editor has the keyboard when it opens";
  press(ui::Key::tab);
  type("c");
  EXPECT_EQ(text(), "ab  c" + before);
  EXPECT_EQ(backend.texts["add.cu"], before) << "saved when asked to";
  press(static_cast<ui::Key>('S'), true);
  EXPECT_EQ(backend.texts["add.cu"], "ab  c" + before);
  press(static_cast<ui::Key>('Z'), true);
  EXPECT_NE(text(), "ab  c" + before) << "the text's own undo";
  EXPECT_EQ(session.state.view, ViewName::source);
}

TEST_F(EditWindow, EscapeGivesTheKeyboardBackAndTakesNothingBack) {
  type("kept");
  press(ui::Key::escape);
  EXPECT_EQ(text().substr(0, 4), "kept");
  EXPECT_TRUE(session.edit.edit.open());
  const std::string now = text();
  type("x");
  EXPECT_EQ(text(), now);
}

TEST_F(EditWindow, AnErrorLeadsToItsLine) {
  type("@");
  press(static_cast<ui::Key>('B'), true);
  compile();
  ASSERT_TRUE(session.edit.failed);
  act("edit line 3");
  for (int i = 0; i < 4; ++i) frame();
  type("here");
  EXPECT_EQ(text(), "@// add\nvoid add() {\nhere}\n");
}

TEST_F(EditWindow, AnotherProgramsTextTakesItsPlaceWhereItStands) {
  backend.put("add.cu", "void add() { other }\n");
  session.edit.next_look = 0;
  for (int i = 0; i < 4; ++i) frame();
  EXPECT_EQ(text(), "void add() { other }\n");
  type("x");
  EXPECT_NE(text().find("x"), std::string::npos) << "and is typed in from there on";
  EXPECT_NE(text().find("other"), std::string::npos);
}

TEST_F(EditWindow, ItsButtonsSaveRebuildAndClose) {
  type("// ");
  const auto close = middle_of({"edit off", "button"});
  ASSERT_TRUE(close);
  click(*close);
  EXPECT_FALSE(session.edit.edit.open());
  EXPECT_EQ(session.state.view, ViewName::source);
}

}  // namespace
}  // namespace tilescope
