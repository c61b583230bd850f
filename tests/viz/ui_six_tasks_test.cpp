// Six things that a reader comes for, done by hand in the window, with what they cost: clicks and
// key strokes as they are driven here, a chord as one. Text that is typed counts as one, whatever
// its length, since it is as long elsewhere. docs/manual/tasks.md has the table beside web
// visualisers.
#include <gtest/gtest.h>

#include "tests/viz/ui_stage.h"
#include "viz/commands/share.h"

namespace tilescope {
namespace {

class SixTasks : public test::WindowTest {
 protected:
  void stroke(char letter, bool shift = false) {
    press(static_cast<ui::Key>(letter), true, shift);
    settle();
  }
  void write(const char* text) {
    type(text);
    settle();
  }
  // Into the field: a click, all of it chosen, the expression.
  void enter(const char* expression) {
    click(field_);
    stroke('A');
    write(expression);
  }
  std::string said(std::string_view title, std::string_view name) {
    for (const InspectorSection& section : inspector(session)) {
      for (const auto& line : section.lines) {
        if (section.title == title && line.first == name) return line.second;
      }
    }
    return "";
  }
  // The words of the view.
  bool shows(std::string_view words) {
    for (const auto& item : window->picture().scene.items) {
      const Text* text = std::get_if<Text>(&item);
      if (text && text->text.find(words) != std::string::npos) return true;
    }
    return false;
  }
};

TEST_F(SixTasks, FindTheOwnerOfACell) {
  enter("make_layout_tv((4,8):(8,1), (2,2):(2,1))");
  point(place({0, 0, 3, 5}));
  // Rows 2 and 3 are those of threads 8 to 15, two columns each; value 2 lies below value 0.
  EXPECT_EQ(said("Under the pointer", "thread"), "10");
  EXPECT_EQ(said("Under the pointer", "value"), "3");
  EXPECT_EQ(clicks(), 1);
  EXPECT_EQ(keys(), 1);
  EXPECT_EQ(texts(), 1);
}

TEST_F(SixTasks, SeeWhyThereIsAConflict) {
  enter("(32,32):(32,1)");
  click({100, 80 + 8 + 24 + 24 + 12});  // "banks", below "grid" in the outline
  settle();
  EXPECT_EQ(session.state.view, ViewName::wavefronts);
  EXPECT_TRUE(shows("bank 0 is asked for 32 different words"));
  EXPECT_EQ(clicks(), 2);
  EXPECT_EQ(keys(), 1);
}

TEST_F(SixTasks, ShareAView) {
  act("colour offset");
  settle();
  stroke('S', true);
  EXPECT_EQ(clicks() + keys(), 1);
  const std::string word = session.copied;
  ASSERT_TRUE(read_share(word).ok());
  EXPECT_EQ(ImGui::GetClipboardText(), word);
  // And who receives it: one stroke.
  act("open layout (4,4):(4,1)");
  settle();
  stroke('V');
  EXPECT_EQ(session.state.layout_text, "preset 9x32");
  EXPECT_TRUE(session.state.colour == ColourBy::offset);
  EXPECT_EQ(clicks() + keys(), 2);
}

TEST_F(SixTasks, ShareByTheButton) {
  const auto button = middle_of({"share", "button"});
  ASSERT_TRUE(button);
  click(*button);
  EXPECT_TRUE(read_share(session.copied).ok());
  EXPECT_EQ(clicks(), 1);
}

TEST_F(SixTasks, CompareTwoDivisions) {
  enter("zipped_divide((8,16):(16,1), <4,4>)");
  stroke('P', true);
  write("beside zipped_divide((8,16):(16,1), <2,8>)");
  press(ui::Key::enter);
  settle();
  const auto& panels = session.state.layout->panels();
  ASSERT_EQ(panels.size(), 4u);
  EXPECT_EQ(panels[0].title, "First: input");
  EXPECT_EQ(panels[1].title, "Second: input");
  // Row 1, column 6 of the input is in the tile right of the first; or in the first one below.
  point(place({0, 0, 1, 6}));
  EXPECT_EQ(said("Under the pointer", "tile").substr(0, 1), "2");
  point(place({1, 0, 1, 6}));
  EXPECT_EQ(said("Under the pointer", "tile").substr(0, 1), "0");
  EXPECT_EQ(clicks(), 1);
  EXPECT_EQ(keys(), 3);
  EXPECT_EQ(texts(), 2);
}

TEST_F(SixTasks, ReadASwizzle) {
  enter("composition(Swizzle<2,1,3>, (8,8):(8,1))");
  point(place({0, 0, 3, 4}));
  EXPECT_EQ(said("Under the pointer", "before the swizzle"), "28");
  EXPECT_EQ(said("Under the pointer", "offset"), "30");
  const auto sections = inspector(session);
  ASSERT_TRUE(sections.front().bits) << "and which bits moved";
  EXPECT_EQ(clicks(), 1);
  EXPECT_EQ(keys(), 1);
}

TEST_F(SixTasks, UndoThreeSteps) {
  for (const char* line : {"colour offset", "pick 2 3", "label coordinates"}) act(line);
  settle();
  for (int i = 0; i < 3; ++i) stroke('Z');
  EXPECT_FALSE(session.state.colour);
  EXPECT_FALSE(session.state.selected);
  EXPECT_FALSE(session.state.coordinates);
  EXPECT_EQ(keys(), 3);
  EXPECT_EQ(clicks(), 0);
}

}  // namespace
}  // namespace tilescope
