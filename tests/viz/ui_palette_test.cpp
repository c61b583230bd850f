// The palette: what a few letters find, and that every command of the table can be done by typing.
#include <gtest/gtest.h>

#include "tests/viz/ui_backend.h"
#include "viz/commands/command_palette.h"
#include "viz/commands/commands.h"
#include "viz/commands/overlay_sheets.h"
#include "viz/commands/script.h"

namespace tilescope {
namespace {

class Palette : public ::testing::Test {
 protected:
  Palette() {
    must("open preset 9x32");
    must("open add");
    must("run");
    backend.wait();
    take_result(session, backend);
    must("open preset 9x32");
  }
  void must(std::string_view line) {
    const auto answer = execute(session, backend, line);
    ASSERT_TRUE(answer.ok()) << line << ": " << answer.error().sentence;
  }
  std::string first(std::string_view text) {
    const auto entries = palette_entries(session, backend, text);
    return entries.empty() ? "" : entries.front().line;
  }
  bool offers(std::string_view text, std::string_view line) {
    for (const PaletteEntry& entry : palette_entries(session, backend, text)) {
      if (entry.line == line) return true;
    }
    return false;
  }
  // Opens the palette, types the text letter by letter and presses Enter.
  void type_and_enter(std::string_view text) {
    open_palette(session, "");
    for (std::size_t i = 1; i <= text.size(); ++i) type_palette(session, text.substr(0, i));
    enter_palette(session, backend);
  }

  Session session;
  test::FakeBackend backend;
};

TEST_F(Palette, AFewLettersFindTheCommandTheArgumentAndWhatThereIsToOpen) {
  EXPECT_EQ(first("dark"), "theme dark");
  EXPECT_EQ(first("undo"), "undo");
  EXPECT_EQ(first("timel"), "select timeline") << "a view by its name";
  EXPECT_EQ(first("offset"), "colour offset");
  EXPECT_EQ(first("col off"), "colour offset");
  EXPECT_EQ(first("volta"), "open preset Volta 8x8 quadpair");
  EXPECT_EQ(first("tmdark"), "theme dark") << "letters with gaps";
  EXPECT_EQ(first("isolate ti"), "isolate tile");
  EXPECT_TRUE(offers("wrong elements", "show wrong")) << "words of the help";
  EXPECT_TRUE(offers("tiles column", "open layout zipped_divide((4,8):(8,1), <2,4>)"))
      << "the open kernel's layouts" << first("tiles column");
  EXPECT_TRUE(palette_entries(session, backend, "zzzqqq").empty());
}

TEST_F(Palette, AnEmptyLineListsEveryCommandOnce) {
  const auto entries = palette_entries(session, backend, "  ");
  ASSERT_EQ(entries.size(), window_commands().size());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    EXPECT_EQ(entries[i].line, window_commands()[i].name);
    EXPECT_FALSE(entries[i].help.empty());
  }
}

TEST_F(Palette, OnlyWhatThisLayoutCanDoIsOffered) {
  EXPECT_TRUE(offers("colour", "colour tile"));
  EXPECT_FALSE(offers("colour", "colour warp"));
  must("open preset Volta 8x8 quadpair");
  EXPECT_TRUE(offers("colour", "colour thread"));
}

TEST_F(Palette, LettersThatWereFoundAreToldByTheirPlace) {
  const auto entries = palette_entries(session, backend, "dark");
  ASSERT_EQ(entries.front().line, "theme dark");
  EXPECT_EQ(entries.front().lit, (std::vector<std::size_t>{6, 7, 8, 9}));
}

TEST_F(Palette, EnterDoesWhatIsChosenAndCloses) {
  type_and_enter("dark");
  EXPECT_TRUE(session.state.dark);
  EXPECT_FALSE(session.overlay.open());
  must("undo");
  EXPECT_FALSE(session.state.dark) << "what the palette did is undone like all else";
}

TEST_F(Palette, EnterCompletesWhatNeedsMoreAndThenTakesIt) {
  type_and_enter("isol ti");
  EXPECT_TRUE(session.overlay.open());
  EXPECT_EQ(session.overlay.text, "isolate tile ");
  enter_palette(session, backend);
  EXPECT_NE(session.overlay.problem.find("needs more: N"), std::string::npos);
  type_palette(session, "isolate tile 3");
  EXPECT_TRUE(session.overlay.problem.empty()) << "typing on mends it";
  enter_palette(session, backend);
  EXPECT_TRUE((session.state.isolate == Focus{Focus::On::tile, 3}));
  EXPECT_FALSE(session.overlay.open());
}

TEST_F(Palette, TabWritesTheChosenEntryIntoTheLine) {
  open_palette(session, "volta");
  complete_palette(session, backend);
  EXPECT_EQ(session.overlay.text, "open preset Volta 8x8 quadpair");
  type_palette(session, "isol ti");
  complete_palette(session, backend);
  EXPECT_EQ(session.overlay.text, "isolate tile ");
  type_palette(session, "zzzqqq");
  complete_palette(session, backend);
  EXPECT_EQ(session.overlay.text, "zzzqqq");
}

TEST_F(Palette, ARefusalStandsInItAndChangesNothing) {
  const ViewState before = session.state;
  for (const auto& [text, words] :
       {std::pair{"isolate tile 99", "0 to 11"}, std::pair{"pick 99 0", "9 rows"},
        std::pair{"nosuch thing", "no window command"},
        std::pair{"theme dark; isolate tile 99", "0 to 11"}}) {
    type_and_enter(text);
    EXPECT_EQ(session.overlay.kind, Overlay::Kind::palette) << text;
    EXPECT_EQ(session.overlay.text, text);
    EXPECT_NE(session.overlay.problem.find(words), std::string::npos) << session.overlay.problem;
    EXPECT_TRUE(session.message.text.empty()) << "told once";
  }
  must("undo");  // of `theme dark`, which was good
  EXPECT_TRUE(session.state == before);
}

TEST_F(Palette, TheChoiceMovesAndGoesRoundTheEnds) {
  open_palette(session, "theme");
  const auto entries = palette_entries(session, backend, "theme");
  ASSERT_GE(entries.size(), 2u);
  move_palette(session, backend, 1);
  EXPECT_EQ(session.overlay.chosen, 1u);
  move_palette(session, backend, -2);
  EXPECT_EQ(session.overlay.chosen, entries.size() - 1);
  move_palette(session, backend, 1);
  EXPECT_EQ(session.overlay.chosen, 0u);
}

// What a session shows of having done a line: choices, message, and what lies over the view.
std::string trace(const Session& session) {
  return std::to_string(session.past.size()) + session.state.layout_text +
         std::string(name_of(session.state.view)) + session.message.text + session.field +
         std::to_string(static_cast<int>(session.overlay.kind)) + session.overlay.text;
}

TEST_F(Palette, EveryCommandIsDoneByTypingItsExample) {
  ASSERT_TRUE(
      execute(session, backend, "lesson at layouts 2 keep").ok());  // for `answer` and `hint`
  for (const WindowCommand& command : window_commands()) {
    Session typed = session, done = session;
    if (command.name == "redo") {
      for (Session* each : {&typed, &done}) ASSERT_TRUE(execute(*each, backend, "undo").ok());
    }
    const bool can = start_script(done, backend, {std::string(command.example)}).ok();
    backend.texts.clear();  // what it wrote was not there before
    backend.writes.clear();
    std::swap(session, typed);
    type_and_enter(command.example);
    std::swap(session, typed);
    if (can) {
      EXPECT_EQ(trace(typed), trace(done)) << command.example;
    } else {
      EXPECT_FALSE(typed.overlay.problem.empty()) << command.example;
    }
    const bool typing = command.name == "complete" || command.name == "recall";
    EXPECT_TRUE(can || typing || command.name == "cancel") << command.example;
  }
}

TEST_F(Palette, ItOffersEveryAlternativeThatTheTableWrites) {
  for (const auto& [text, line] :
       {std::pair{"select", "select matrices"}, std::pair{"zoom", "zoom out"},
        std::pair{"label", "label coordinates"}, std::pair{"isolate", "isolate nothing"},
        std::pair{"open", "open layout"}, std::pair{"pick", "pick nothing"}}) {
    EXPECT_TRUE(offers(text, line)) << line;
  }
}

TEST_F(Palette, SeveralCommandsAreDoneInOrderAndARunIsWaitedFor) {
  backend.slow = true;
  type_and_enter("open add --m 6; run; select matrices");
  EXPECT_TRUE(session.running);
  EXPECT_EQ(session.script.lines.size(), 1u);
  backend.finish();
  EXPECT_TRUE(take_result(session, backend));
  EXPECT_EQ(session.state.view, ViewName::diff);
  EXPECT_TRUE(continue_script(session, backend));
  EXPECT_EQ(session.state.view, ViewName::matrices);
  EXPECT_FALSE(continue_script(session, backend));
}

TEST_F(Palette, TheListOfCommandsNamesEachWithItsKeysAndLeadsToThePalette) {
  const Sheet sheet = commands_sheet();
  std::size_t commands = 0;
  for (const SheetRow& row : sheet.rows) {
    if (row.command.empty()) continue;
    ++commands;
    Session other = session;
    ASSERT_TRUE(execute(other, backend, row.command).ok()) << row.command;
    EXPECT_EQ(other.overlay.kind, Overlay::Kind::palette);
    EXPECT_EQ(other.overlay.text.back(), ' ');
  }
  EXPECT_EQ(commands, window_commands().size());
}

TEST_F(Palette, TheListOfStepsNamesEachAndAClickGoesThere) {
  session.past.clear();
  for (const char* line : {"colour offset", "pick 2 3", "theme dark", "label coordinates"}) {
    must(line);
  }
  must("undo");
  const Sheet sheet = history_sheet(session);
  ASSERT_EQ(sheet.rows.size(), 5u);
  EXPECT_EQ(sheet.rows[1].middle, "colour offset");
  EXPECT_TRUE(sheet.rows[3].current);
  EXPECT_TRUE(sheet.rows[4].quiet);
  must(sheet.rows[4].command);
  EXPECT_TRUE(session.state.coordinates);
  must(history_sheet(session).rows[1].command);
  EXPECT_FALSE(session.state.selected);
  EXPECT_TRUE(session.state.colour);
  EXPECT_EQ(session.future.size(), 3u);
  must("back");
  EXPECT_FALSE(session.overlay.open());
}

}  // namespace
}  // namespace tilescope
