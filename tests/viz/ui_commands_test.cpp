// The window's commands: what they do to the session, what they refuse, and undo.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>
#include <set>

#include "tests/viz/random_lines.h"
#include "tests/viz/ui_session.h"
#include "viz/commands/describe_window.h"
#include "viz/scene/command_text.h"
#include "viz/session/panels.h"

namespace tilescope {
namespace {

using test::FakeBackend;

class Commands : public test::SessionTest {};

TEST(CommandText, SemicolonsSeparateOutsideBracketsAndQuotes) {
  using Lines = std::vector<std::string>;
  EXPECT_EQ(*split_commands("open layout (8,8):(8,1); colour offset"),
            (Lines{"open layout (8,8):(8,1)", "colour offset"}));
  EXPECT_EQ(*split_commands("open a; edit line 12 x = 1; y = 2;"),
            (std::vector<std::string>{"open a", "edit line 12 x = 1; y = 2;"}));
  EXPECT_EQ(*split_commands("edit insert 3 int i = 0; run"),
            (std::vector<std::string>{"edit insert 3 int i = 0; run"}));
  EXPECT_EQ(
      *split_commands("edit line 3 \"x = 1;\"; edit line 4; edit revert; run"),
      (std::vector<std::string>{"edit line 3 \"x = 1;\"", "edit line 4", "edit revert", "run"}));
  EXPECT_EQ(*split_commands("open layout 'A = 4:1; A' ; run"),
            (Lines{"open layout 'A = 4:1; A'", "run"}));
  EXPECT_EQ(*split_commands("a (b; c) [d; e] {f; g}; h"), (Lines{"a (b; c) [d; e] {f; g}", "h"}));
  EXPECT_EQ(*split_commands(" ; ;run;; "), (Lines{"run"}));
  EXPECT_TRUE(split_commands("")->empty());
}

TEST(CommandText, AQuoteThatDoesNotEndIsRefused) {
  const auto commands = split_commands("open layout 'A; run");
  ASSERT_FALSE(commands.ok());
  EXPECT_NE(commands.error().sentence.find("does not end"), std::string::npos);
}

TEST(CommandText, WordsKeepTogetherInBracketsAndLoseTheirQuotes) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(split_words("add --a 'my file.npy' --m 3"),
            (Words{"add", "--a", "my file.npy", "--m", "3"}));
  EXPECT_EQ(split_words("(4, 8):(8, 1) x"), (Words{"(4, 8):(8, 1)", "x"}));
}

TEST(CommandText, AWordThatIsQuotedIsTheSameWordAgain) {
  for (const std::string word : {"plain", "two words", "semi;colon", "it's", "", "say \"x\""}) {
    EXPECT_EQ(split_words(quoted_word(word)), std::vector<std::string>{word}) << word;
  }
}

TEST(CommandTable, NamesAndKeysStandForOneThingAndKeysForACommandThatIsThere) {
  std::set<std::string> names, keys;
  for (const WindowCommand& command : window_commands()) {
    EXPECT_TRUE(names.insert(std::string(command.name)).second) << command.name;
    EXPECT_EQ(first_word(command.example).first, command.name);
    EXPECT_FALSE(command.help.empty()) << command.name;
    for (const KeyBinding& binding : key_bindings(command)) {
      EXPECT_TRUE(keys.insert(binding.keys).second) << binding.keys;
      EXPECT_EQ(first_word(binding.line).first, command.name);
    }
  }
  const WindowCommand several{"zoom", "in", "", "", "Home fit, Ctrl+= in", nullptr};
  const auto bindings = key_bindings(several);
  ASSERT_EQ(bindings.size(), 2u);
  EXPECT_EQ(bindings[0].keys, "Home");
  EXPECT_EQ(bindings[0].line, "zoom fit");
  EXPECT_EQ(bindings[1].keys, "Ctrl+=");
  EXPECT_EQ(bindings[1].line, "zoom in");
}

TEST_F(Commands, EveryExampleInTheTableWorksOnceAKernelRan) {
  for (const WindowCommand& command : window_commands()) {
    if (command.name == "complete" || command.name == "recall") continue;  // need typing
    if (command.name == "cancel" || command.name == "redo") continue;      // need a run, an undo
    session = {};
    must("open preset 9x32");
    must("open add");
    must("run");
    if (command.name == "colour" || command.name == "isolate" || command.name == "label" ||
        command.name == "export") {
      must("open preset 9x32");
    }
    if (command.name == "answer" || command.name == "hint") must("lesson layouts");
    if (command.name == "answer" || command.name == "hint") must("lesson next");
    must(command.example);
    EXPECT_FALSE(session.message.text.empty()) << command.name;
  }
}

TEST_F(Commands, OpenLayoutShowsItAndPutsItsTextIntoTheField) {
  must("open layout zipped_divide((9,(4,8)):(59,(13,1)), <3:3,(2,4):(1,8)>)");
  ASSERT_TRUE(session.state.layout);
  EXPECT_EQ(session.state.layout->kind(), LayoutView::Kind::divided);
  EXPECT_EQ(session.state.layout->tiles(), 12);
  EXPECT_EQ(session.field, "zipped_divide((9,(4,8)):(59,(13,1)), <3:3,(2,4):(1,8)>)");
  EXPECT_EQ(meaning_of_field(session).text, "= ((3,(2,4)),(3,(2,2))):((177,(13,2)),(59,(26,1)))");
}

TEST_F(Commands, BadCommandsGetASentenceAndChangeNothing) {
  must("open preset 9x32");
  refused("", "no window command");
  refused("colur tile", "did you mean `colour`");
  refused("open", "needs what to open");
  refused("open layout", "no expression");
  refused("open layout (3,4", "`)`");
  refused("open layout 5", "needs a layout");
  refused("open preset nosuch", "9x32");
  refused("open nosuch", "nosuch");
  refused("open add --q 3", "--q");
  refused("open add m 3", "written --NAME VALUE");
  refused("open add --m", "needs a value");
  refused("run", "open one first");
  refused("cancel", "Nothing is running");
  refused(
      "select nothing",
      "bits, lower, course, kernel, theatre, timeline, why, handoffs, product, source, registers");
  refused("colour thread", "can be coloured by tile");
  refused("colour mauve", "offset");
  refused("isolate", "tile");
  refused("isolate tile", "needs a number");
  refused("isolate tile x", "needs a number");
  refused("isolate tile 12", "0 to 11");
  refused("isolate thread 0", "no threads");
  refused("label", "coordinates or contents");
  refused("pick 3", "a row, a column");
  refused("pick 9 0", "9 rows and 32 columns");
  refused("pick 0 0 99999999999", "has 4, 0 to 3");
  refused("pick 1 2 3 4 5", "a row, a column");
  refused("pick -1 0", "a row, a column");
  refused("show", "wrong or all");
  refused("zoom", "in, out or fit");
  refused("theme pink", "light or dark");
  refused("export", "file's name");
  refused("undo everything", "a number of steps");
  refused("undo 9", "only 1 step");
  refused("history of it", "takes no arguments");
}

TEST_F(Commands, ChoicesForOneLayoutDoNotOutliveIt) {
  must("open preset 9x32");
  must("colour offset");
  must("isolate tile 3");
  must("pick 1 1");
  must("open layout (8,8):(8,1)");
  EXPECT_FALSE(session.state.colour);
  EXPECT_FALSE(session.state.selected);
  EXPECT_TRUE(session.state.isolate.on == Focus::On::nothing);
}

TEST_F(Commands, BackUndoesIsolationThenSelection) {
  must("open preset 9x32");
  must("pick 1 1");
  must("isolate tile 3");
  must("back");
  EXPECT_TRUE(session.state.isolate.on == Focus::On::nothing);
  EXPECT_TRUE(session.state.selected);
  must("back");
  EXPECT_FALSE(session.state.selected);
}

TEST_F(Commands, AKernelListsItsLayoutsAndEachOpensInTheLayoutView) {
  must("open add --m 6");
  EXPECT_EQ(session.state.view, ViewName::kernel);
  EXPECT_EQ(session.field, "add --m 6");
  std::vector<std::string> layouts;
  for (const OutlineSection& section : outline(session, backend)) {
    for (const OutlineItem& item : section.items) {
      if (item.level == 1 && item.command.rfind("open layout", 0) == 0)
        layouts.push_back(item.command);
    }
  }
  ASSERT_EQ(layouts.size(), 2u);
  for (const std::string& command : layouts) {
    must(command);
    EXPECT_EQ(session.state.view, ViewName::layout);
    EXPECT_TRUE(session.state.kernel) << "the kernel stays open";
  }
}

TEST_F(Commands, ARunIsComparedAndAWrongElementHasItsProvenance) {
  backend.wrong = {11};  // row 1, column 3 of 4 x 8
  must("open add");
  must("run");
  EXPECT_EQ(session.state.view, ViewName::diff);
  ASSERT_TRUE(session.state.diff);
  EXPECT_EQ(session.state.diff->wrong_count(), 1);
  EXPECT_TRUE(session.message.failed);
  EXPECT_NE(session.message.text.find("1 of 32 elements differ"), std::string::npos);
  bool listed = false;
  for (const InspectorSection& section : inspector(session)) {
    listed =
        listed || (section.title == "First wrong, got minus want" && section.links.size() == 1 &&
                   section.links[0].value == "+1" && section.links[0].command == "pick 1 3");
  }
  EXPECT_TRUE(listed);
  must("pick 1 3");
  const Lines lines = diff_choice(session, true).provenance;
  const auto value = [&](std::string_view name) {
    for (const auto& [key, text] : lines) {
      if (key == name) return text;
    }
    return std::string("missing");
  };
  EXPECT_EQ(value("CTA"), "(0,0,0)");
  EXPECT_EQ(value("lane"), "11");
  EXPECT_EQ(value("source"), "kernels/add.cu:42");
  EXPECT_EQ(value("from A"), "11");
  EXPECT_EQ(value("from B"), "11");
}

// An unrolled loop has one mistake at many PTX lines: one entry with its counts, as the terminal
// prints it.
TEST_F(Commands, ReportsOfOneSourceLineAreOneEntry) {
  must("open add");
  must("run");
  ASSERT_TRUE(session.state.result);
  RunResult result = *session.state.result;
  const auto race = [](std::uint32_t line, std::uint32_t ptx_line, std::uint32_t warp) {
    Report out;
    out.weight = Weight::hazard;
    out.kind = "shared_race";
    out.sentence = "a race";
    out.site.kernel = "add";
    out.site.source = "add.cu";
    out.site.source_line = line;
    out.site.ptx_line = ptx_line;
    out.site.warp = warp;
    return out;
  };
  result.reports = {race(7, 20, 0), race(9, 30, 0), race(7, 24, 1)};
  session.state.result = std::make_shared<const RunResult>(std::move(result));
  std::vector<std::string> seen;
  for (const InspectorSection& section : inspector(session)) {
    if (section.title != "hazard") continue;
    seen.emplace_back();
    for (const auto& [name, text] : section.lines) {
      if (name == "seen") seen.back() = text;
    }
  }
  EXPECT_EQ(seen,
            (std::vector<std::string>{"2 times at this line: 2 PTX lines, 2 warps of 1 CTA", ""}));
}

TEST_F(Commands, ARunCanBeStoppedAndSaysSo) {
  backend.slow = true;
  must("open add");
  must("run");
  EXPECT_TRUE(session.running);
  const Strip during = strip(session, backend);
  ASSERT_TRUE(during.share);
  EXPECT_DOUBLE_EQ(*during.share, 0.3);
  EXPECT_FALSE(take_result(session, backend));
  must("cancel");
  EXPECT_TRUE(take_result(session, backend));
  EXPECT_FALSE(session.running);
  EXPECT_NE(session.message.text.find("stopped"), std::string::npos);
  EXPECT_TRUE(session.state.matrices) << "what was computed so far is shown";
}

TEST_F(Commands, AFaultIsSaidInTheDiffViewWithAWayOut) {
  backend.faults = true;
  must("open add");
  must("run");
  must("select diff");
  const auto empty = emptiness(session);
  ASSERT_TRUE(empty);
  EXPECT_NE(empty->sentence.find("behind the end of A"), std::string::npos);
  EXPECT_EQ(empty->command, "select matrices");
  must(empty->command);
  EXPECT_FALSE(emptiness(session));
}

TEST_F(Commands, EmptyViewsOfferTheCommandThatFillsThem) {
  for (const char* view : {"select layout", "select matrices", "select diff"}) {
    session = {};
    must(view);
    const auto empty = emptiness(session);
    ASSERT_TRUE(empty) << view;
    if (empty->command == "open elementwise_add") continue;  // not in this backend
    must(empty->command);
    EXPECT_FALSE(emptiness(session)) << view;
  }
}

TEST_F(Commands, UndoAndRedoGoThroughTheSameStates) {
  const std::vector<std::string> lines = {"open preset 9x32",
                                          "colour offset",
                                          "isolate tile 3",
                                          "pick 2 5",
                                          "label coordinates",
                                          "open add",
                                          "run",
                                          "pick 1 1",
                                          "show wrong",
                                          "select layout",
                                          "theme dark",
                                          "open layout (8,8):(8,1)"};
  std::vector<ViewState> states = {session.state};
  for (const std::string& line : lines) {
    must(line);
    states.push_back(session.state);
  }
  for (std::size_t i = states.size() - 1; i-- > 0;) {
    must("undo");
    EXPECT_TRUE(session.state == states[i]) << "before `" << lines[i] << "`";
  }
  refused("undo", "nothing to undo");
  for (std::size_t i = 1; i < states.size(); ++i) {
    must("redo");
    EXPECT_TRUE(session.state == states[i]) << "after `" << lines[i - 1] << "`";
  }
  refused("redo", "nothing to redo");
}

// Undo and views that go elsewhere are tried with random lines: a command that makes a choice and
// is not among them could be forgotten by both.
TEST_F(Commands, EveryOneThatChoosesIsAmongTheRandomLines) {
  for (const WindowCommand& command : window_commands()) {
    if (!command.chooses) continue;
    const auto& lines = test::random_lines();
    EXPECT_TRUE(std::any_of(
        lines.begin(), lines.end(),
        [&](const std::string& line) { return first_word(line).first == command.name; }))
        << "`" << command.name << "` chooses; put a line of it into tests/viz/random_lines.h";
  }
}

TEST_F(Commands, UndoReturnsFromAnyRandomSequence) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    session = {};
    for (const std::string& line : test::random_sequence(random, 60)) (void)act(line);
    const ViewState last = session.state;
    std::size_t steps = 0;
    while (!session.past.empty()) {
      must("undo");
      ++steps;
    }
    EXPECT_TRUE(session.state == ViewState{});
    while (steps-- > 0) must("redo");
    EXPECT_TRUE(session.state == last);
  }
}

TEST_F(Commands, SeveralStepsAreTakenBackAndMadeAgainAtOnce) {
  const std::vector<std::string> lines = {"open preset 9x32", "colour offset", "isolate tile 3",
                                          "pick 2 5", "theme dark"};
  std::vector<ViewState> states = {session.state};
  for (const std::string& line : lines) {
    must(line);
    states.push_back(session.state);
  }
  std::mt19937 random(11);
  std::size_t at = lines.size();
  for (int round = 0; round < 200; ++round) {
    const std::size_t to = random() % states.size();
    if (to == at) continue;
    must(to < at ? fmt::format("undo {}", at - to) : fmt::format("redo {}", to - at));
    EXPECT_TRUE(session.state == states[to]);
    EXPECT_EQ(session.past.size(), to);
    EXPECT_EQ(session.future.size(), lines.size() - to);
    at = to;
  }
}

TEST_F(Commands, TheSelectionMovesByOneStaysInsideAndIsOneStep) {
  refused("move right", "No layout is open");
  must("open preset 9x32");
  must("move right");
  EXPECT_EQ(*session.state.selected, (Cell{0, 0, 0, 0})) << "the first move begins it";
  for (const char* line : {"move right", "move right", "move down", "move left", "move up"}) {
    must(line);
  }
  EXPECT_EQ(*session.state.selected, (Cell{0, 0, 0, 1}));
  for (int i = 0; i < 40; ++i) must("move right");
  for (int i = 0; i < 40; ++i) must("move down");
  EXPECT_EQ(*session.state.selected, (Cell{0, 0, 8, 31}));
  refused("move sideways", "left, right, up or down");
  must("undo");
  EXPECT_FALSE(session.state.selected) << "a walk is one step";
  must("open add");
  must("move down");
  must("move down");
  EXPECT_EQ(*session.state.element, (Element{1, 0}));
}

TEST_F(Commands, TheTourHasSixStepsAndEscapeEndsIt) {
  refused("tour next", "no tour on");
  refused("tour around", "next, back or end");
  must("tour");
  EXPECT_TRUE(session.tour_seen);
  std::set<std::string> titles;
  for (int i = 0; i < 6; ++i) {
    ASSERT_TRUE(session.tour);
    const Json json = describe(session, backend, picture(session, {1000, 640}));
    titles.insert(json["tour"]["title"].get<std::string>());
    must("tour next");
  }
  EXPECT_FALSE(session.tour);
  EXPECT_EQ(titles.size(), 6u);
  must("tour");
  must("tour next");
  must("tour back");
  must("tour back");
  EXPECT_EQ(session.tour, std::optional<std::size_t>(0));
  must("back");
  EXPECT_FALSE(session.tour);
}

TEST_F(Commands, ANewChoiceForgetsWhatWasUndone) {
  must("open preset 9x32");
  must("colour offset");
  must("undo");
  must("colour bank");
  refused("redo", "nothing to redo");
}

TEST_F(Commands, TypingShowsEachValueAndIsOneStep) {
  must("open preset 9x32");
  const std::string text = "(8,8):(8,1)";
  for (std::size_t i = 1; i <= text.size(); ++i) type_field(session, backend, text.substr(0, i));
  EXPECT_FALSE(session.problem);
  EXPECT_EQ(session.field, text);
  EXPECT_EQ(session.state.layout_text, text);
  must("undo");
  EXPECT_EQ(session.state.layout_text, "preset 9x32");
  EXPECT_EQ(session.field, "preset 9x32");
}

TEST_F(Commands, AProblemStandsUnderItsPlaceAndTheViewStays) {
  must("open layout (8,8):(8,1)");
  type_field(session, backend, "complement((4,4):(1,3), 24)");
  ASSERT_TRUE(session.problem);
  EXPECT_EQ(session.problem->begin, 11u);
  EXPECT_EQ(session.problem->end, 22u);
  EXPECT_FALSE(session.problem->sentence.empty());
  EXPECT_EQ(session.state.layout_text, "(8,8):(8,1)");
  type_field(session, backend, "complement((4,4):(1,4), 32)");
  EXPECT_FALSE(session.problem);
}

TEST_F(Commands, EnterOpensAKernelByNameAndTypingItIsNoError) {
  must("open preset 9x32");
  type_field(session, backend, "add --m 5");
  EXPECT_FALSE(session.problem);
  EXPECT_EQ(session.state.layout_text, "preset 9x32");
  ASSERT_TRUE(enter_field(session, backend).ok());
  ASSERT_TRUE(session.state.kernel);
  EXPECT_EQ(session.state.kernel->sizes[0].value, 5);
  type_field(session, backend, "preset Volta");
  ASSERT_TRUE(enter_field(session, backend).ok());
  EXPECT_EQ(session.state.layout->kind(), LayoutView::Kind::thread_value);
}

TEST_F(Commands, ExportPaintsTheOpenViewOrSaysThatThereIsNone) {
  refused("export a.svg", "No layout is open");
  must("open preset 9x32");
  must("export a.svg");
  must("open add");
  must("export 'b c.png'");
  EXPECT_EQ(backend.exported, (std::vector<std::string>{"a.svg", "b c.png"}));
}

TEST_F(Commands, MatricesZoomAboutThePointerAndStayInTheirRooms) {
  must("open add --m 40 --n 60");
  must("run");
  must("select matrices");
  const MatricesView& view = *session.state.matrices;
  Picture shown = picture(session, {900, 600});
  // Until a matrix fills its room there is an edge that it keeps to.
  zoom_view(session, shown, shown.matrices->slots[1].centre(), 4);
  shown = picture(session, {900, 600});
  const Box slot = shown.matrices->slots[1];
  const Point pointer{slot.x + slot.width * 0.7, slot.y + slot.height * 0.4};
  const auto element = element_at(view, *shown.matrices, pointer);
  ASSERT_TRUE(element);
  for (int i = 0; i < 3; ++i) {
    zoom_view(session, shown, pointer, 1.3);
    shown = picture(session, {900, 600});
    EXPECT_EQ(element_at(view, *shown.matrices, pointer), element);
  }
  for (const auto& [dx, dy] : {std::pair{1e6, 1e6}, std::pair{-1e6, -1e6}}) {
    pan_view(session, shown, dx, dy);
    shown = picture(session, {900, 600});
    for (std::size_t i = 0; i < view.matrices().size(); ++i) {
      EXPECT_TRUE(shown.matrices->slots[i] == shown.matrices->rooms[i]) << "no gap beside a matrix";
    }
  }
}

TEST_F(Commands, DescribeSaysEveryPanelAndIsTheSameForTheSameState) {
  backend.wrong = {5};
  session.show_times = false;
  for (const char* line : {"open preset 9x32", "pick 2 3", "open add", "run", "pick 0 5"}) {
    must(line);
    const Json one = describe(session, backend, picture(session, {1000, 640}));
    const Json two = describe(session, backend, picture(session, {1000, 640}));
    EXPECT_EQ(one.dump(), two.dump());
    for (const char* part :
         {"field", "view", "outline", "picture", "inspector", "strip", "status"}) {
      EXPECT_TRUE(one.contains(part)) << part << " after " << line;
    }
  }
  const std::string text = describe(session, backend, picture(session, {1000, 640})).dump();
  EXPECT_NE(text.find("kernels/add.cu:42"), std::string::npos);
}

}  // namespace
}  // namespace tilescope
