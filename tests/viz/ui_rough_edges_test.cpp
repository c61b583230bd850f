// Where the window was rough to those who used it: steps that change nothing, views that were
// smeared, files that moved, text that was pasted.
#include <gtest/gtest.h>

#include "tests/viz/ui_stage.h"
#include "viz/commands/rebuild.h"
#include "viz/commands/share.h"
#include "viz/commands/workspace.h"

namespace tilescope {
namespace {

class RoughEdges : public test::WindowTest {
 protected:
  void refused(std::string_view line, std::string_view words) {
    const auto answer = execute(session, backend, line);
    ASSERT_FALSE(answer.ok()) << line;
    EXPECT_NE(answer.error().sentence.find(words), std::string::npos) << answer.error().sentence;
  }
};

TEST_F(RoughEdges, WhatChangesNothingIsNoStep) {
  act("open preset 9x32");
  session.past.clear();
  for (const char* line : {"open preset 9x32", "colour tile", "select layout", "theme light"}) {
    act(line);
    EXPECT_TRUE(session.past.empty()) << line;
  }
  act("colour offset");
  act("colour offset");
  EXPECT_EQ(session.past.size(), 1u);
  act("open preset 9x32");
  EXPECT_EQ(session.past.size(), 2u) << "the colour is the usual one again";
  act("open add");
  act("open add");
  EXPECT_EQ(session.past.size(), 3u);
  act("open A.npy");
  act("open A.npy");
  EXPECT_EQ(session.past.size(), 5u) << "a file may hold something else now";
}

TEST_F(RoughEdges, TypingALayoutAndEnterAreOneStep) {
  session.past.clear();
  fill_field("(4,8):(8,1)");
  press(ui::Key::enter);
  EXPECT_EQ(session.state.layout_text, "(4,8):(8,1)");
  EXPECT_EQ(session.past.size(), 1u);
  act("undo");
  EXPECT_EQ(session.state.layout_text, "preset 9x32");
}

TEST_F(RoughEdges, APastedShareStringIsOpened) {
  const std::string text = share_string({"open layout (4,8):(8,1)", "colour offset"});
  click(field_);
  press(static_cast<ui::Key>('A'), true);
  for (char c : text) ImGui::GetIO().AddInputCharacter(static_cast<unsigned char>(c));
  settle();
  EXPECT_EQ(session.state.layout_text, "(4,8):(8,1)");
  EXPECT_TRUE(session.state.colour == ColourBy::offset);
  EXPECT_EQ(session.field, "(4,8):(8,1)");
  type_field(session, backend, text.substr(0, text.size() - 3));
  EXPECT_FALSE(session.problem) << "it may be still to come";
  EXPECT_FALSE(enter_field(session, backend).ok());
  ASSERT_TRUE(session.problem);
  EXPECT_NE(session.problem->sentence.find("missing or was changed"), std::string::npos);
}

TEST_F(RoughEdges, EnterOnAWrongExpressionKeepsTheKeyboardAtTheError) {
  fill_field("zipped_divide((4,8):(8,1), <3,)");
  press(ui::Key::enter);
  settle();
  ASSERT_TRUE(session.problem);
  EXPECT_TRUE(ImGui::GetIO().WantTextInput);
  EXPECT_EQ(session.editor.caret, session.problem->end);
}

// No quad with a smooth texture spans several pixels of the picture in a direction in which each is
// wider than one of the display: their colours would run into each other.
TEST_F(RoughEdges, LongThinGridsAreNotSmeared) {
  act("open layout zipped_divide((37,150):(150,1), <16,128>)");
  settle();
  int smooth = 0, smeared = 0;
  const ImDrawData& data = *ImGui::GetDrawData();
  for (int l = 0; l < data.CmdListsCount; ++l) {
    const ImDrawList& list = *data.CmdLists[l];
    for (const ImDrawCmd& command : list.CmdBuffer) {
      const auto found = textures.smooth.find((std::uintptr_t)command.TextureId);
      if (found == textures.smooth.end()) continue;
      for (unsigned i = 0; i + 6 <= command.ElemCount; i += 6) {
        const ImDrawVert* v = list.VtxBuffer.Data + command.VtxOffset +
                              list.IdxBuffer[static_cast<int>(command.IdxOffset + i)];
        const float texels_x = (v[2].uv.x - v[0].uv.x) * found->second.x;
        const float texels_y = (v[2].uv.y - v[0].uv.y) * found->second.y;
        ++smooth;
        smeared += texels_x > 0 && v[2].pos.x - v[0].pos.x >= texels_x;
        smeared += texels_y > 0 && v[2].pos.y - v[0].pos.y >= texels_y;
      }
    }
  }
  EXPECT_GE(smooth, 6) << "the 2048 x 6 grid, a strip a column";
  EXPECT_EQ(smeared, 0);
}

TEST_F(RoughEdges, ViewsOfMemoryAnswerToTheCommandsOfCells) {
  for (const char* view : {"select banks", "select sectors", "select bits"}) {
    act("open layout (8,8):(8,1)");
    act(view);
    act("pick 2 3");
    act("copy value");
    EXPECT_EQ(session.copied, "19") << view;
    act("move right");
    ASSERT_TRUE(session.state.selected);
    EXPECT_EQ(session.state.selected->column, 4) << view;
    act("point 1 1");
    EXPECT_TRUE(session.hovered.cell) << view;
    refused("zoom in", "always shown whole");
    EXPECT_EQ(session.pending_zoom, 1);
    act("back");
    EXPECT_FALSE(session.state.selected) << view;
    act("export a.txt");
  }
}

TEST_F(RoughEdges, RefusalsNameAllThatWouldWork) {
  refused("select foo", "inspector");
  refused("select foo", "sectors");
  refused("export x", ".csv or .txt");
  refused("export", ".csv or .txt");
  refused("pick 0 0 9", "this layout has 4, 0 to 3");
  refused("pick 99 0 1", "grid 1, which has 3 rows and 8 columns");
  refused("open with space.npy", "quotes");
  refused("open lesson layouts", "`lesson layouts`");
  session.past.clear();
  refused("undo", "Zoom is no step");
}

TEST_F(RoughEdges, AMatrixOfHigherRankSaysHowItIsShown) {
  backend.shape = {2, 3, 4};
  act("open A.npy");
  EXPECT_NE(session.message.text.find("shown as 6 x 4"), std::string::npos) << session.message.text;
  act("pick 1 1");
  EXPECT_EQ(session.message.text.find("run the kernel"), std::string::npos);
}

TEST_F(RoughEdges, AMovedFileLosesNothingElseOfYesterday) {
  session.tour_seen = false;
  const auto said = restore_workspace_text(session, backend, R"json({"tilescope": "workspace",
      "version": 1, "view": ["theme dark", "open /gone/nosuch.npy", "open layout (4,8):(8,1)"],
      "settings": ["font 125", "font 900"], "tour": "seen", "kept": {"expressions": ["7:3"]}})json");
  ASSERT_TRUE(said.ok()) << said.error().sentence;
  EXPECT_NE(said->find("font 900"), std::string::npos) << *said;
  EXPECT_NE(said->find("1 more could not be done"), std::string::npos) << *said;
  EXPECT_TRUE(session.state.dark);
  EXPECT_EQ(session.state.layout_text, "(4,8):(8,1)");
  EXPECT_EQ(session.state.settings.font, 125);
  EXPECT_TRUE(session.tour_seen);
  EXPECT_EQ(session.kept["expressions"], std::vector<std::string>{"7:3"});
  const auto all = restore_workspace_text(session, backend, workspace_text(session, backend));
  ASSERT_TRUE(all.ok());
  EXPECT_EQ(*all, "");
  EXPECT_FALSE(restore_workspace_text(session, backend, "{").ok());
  EXPECT_FALSE(restore_workspace_text(session, backend, "[]").ok());
}

TEST_F(RoughEdges, WhatIsKeptNamesFilesByTheirWholePaths) {
  backend.folder = "/home/me/";
  act("open data/A.npy");
  EXPECT_EQ(session.field, "data/A.npy") << "as it was written";
  act("save workspace day.json");
  EXPECT_NE(backend.texts["day.json"].find("open /home/me/data/A.npy"), std::string::npos);
  act("copy command");
  EXPECT_NE(session.copied.find("/home/me/data/A.npy"), std::string::npos) << session.copied;
  act("share");
  const auto lines = read_share(session.copied);
  ASSERT_TRUE(lines.ok());
  EXPECT_EQ(lines->front(), "open /home/me/data/A.npy");
}

TEST_F(RoughEdges, InASmallWindowWordsGiveWayToCells) {
  for (const char* line : {"open preset 9x32", "open layout zipped_divide((8,16):(16,1), <4,4>)"}) {
    act(line);
    const Picture small = picture(session, {400, 240});
    ASSERT_TRUE(small.layout);
    EXPECT_GE(small.layout->fit_cell, 2) << line;
    const Picture large = picture(session, {768, 584});
    EXPECT_TRUE(large.layout->viewport.title && large.layout->viewport.formulas &&
                large.layout->viewport.legend)
        << "all comes back with the room";
  }
  act("open layout (1024,1024):(1024,1)");
  EXPECT_TRUE(picture(session, {768, 584}).layout->viewport.title) << "it would gain nothing";
}

TEST_F(RoughEdges, TheTourIsGoneThroughByKeyboard) {
  click(field_);
  EXPECT_TRUE(ImGui::GetIO().WantTextInput);
  act("tour");
  settle();
  EXPECT_FALSE(ImGui::GetIO().WantTextInput) << "it takes the keyboard";
  for (std::size_t step = 1; step < 5; ++step) {
    press(ui::Key::enter);
    ASSERT_TRUE(session.tour);
    EXPECT_EQ(*session.tour, step);
  }
  act("tour");
  settle();
  press(ui::Key::escape);
  EXPECT_FALSE(session.tour);
}

}  // namespace
}  // namespace tilescope
