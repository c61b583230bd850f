// Lessons in the window: their steps set views, undo takes a step back as one, answers are judged,
// progress is kept.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>

#include "tests/viz/ui_session.h"
#include "viz/commands/describe_window.h"
#include "viz/commands/overlay_sheets.h"
#include "viz/commands/rebuild.h"
#include "viz/commands/share.h"
#include "viz/session/lesson_evidence.h"
#include "viz/session/lesson_panel.h"
#include "viz/session/panels.h"
#include "viz/session/seek.h"

namespace tilescope {
namespace {

using test::FakeBackend;

class Lessons : public test::SessionTest {
 protected:
  // The answer to the open exercise, computed as the checker does.
  std::string right() {
    return *solution(*session.state.lesson.sheet->step.exercise, evidence_of(session, backend));
  }
  LessonPanel panel() { return *lesson_panel(session); }
};

TEST_F(Lessons, AStepSetsItsViewAndIsOneStepOfUndo) {
  must("open preset 9x32");
  must("theme dark");
  const ViewState before = session.state;
  const std::size_t steps = session.past.size();
  must("lesson layouts");
  EXPECT_EQ(session.state.layout_text, "(4,8):(8,1)");
  ASSERT_TRUE(session.state.selected);
  EXPECT_EQ(session.past.size(), steps + 1);
  EXPECT_TRUE(session.state.dark) << "what a step does not set stays";
  must("lesson next");
  EXPECT_TRUE(session.state.coordinates);
  must("undo");
  EXPECT_EQ(panel().heading, "A grid");
  EXPECT_EQ(session.state.layout_text, "(4,8):(8,1)");
  must("undo");
  EXPECT_TRUE(session.state == before);
  must("redo");
  must("redo");
  EXPECT_EQ(panel().heading, "A question");
}

TEST_F(Lessons, AStepThatCannotSetItsViewChangesNothing) {
  must("open preset 9x32");
  must("lesson layouts");
  refused("lesson step 3", "steps 1 to 2");
  refused("lesson step", "counted from 1");
  refused("lesson back", "first step");
  must("lesson next");
  refused("lesson next", "last step");
  refused("lesson nowhere", "layouts, second");
  refused("lesson broken", "lesson");
  refused("lesson", "needs a lesson's name");
  must("lesson close");
  refused("lesson next", "No lesson is open");
  refused("lesson close", "No lesson is open");
  refused("answer 3", "Nothing is asked");
  refused("hint", "nothing to hint");
  refused("select lesson", "No lesson is open");
}

TEST_F(Lessons, UndoLeadsBackThroughRandomLessonsAndRedoForthAgain) {
  const std::vector<std::string> lines = {
      "lesson layouts", "lesson second", "lesson next",      "lesson back",   "lesson again",
      "lesson view",    "lesson close",  "lesson step 2",    "answer 12",     "hint",
      "select lesson",  "theme dark",    "select inspector", "colour offset", "open preset 9x32"};
  std::mt19937 random(7);
  for (int trial = 0; trial < 20; ++trial) {
    session = {};
    std::vector<ViewState> states = {session.state};
    for (int i = 0; i < 30; ++i) {
      (void)execute(session, backend, lines[random() % lines.size()]);
      if (!(session.state == states.back())) states.push_back(session.state);
    }
    ASSERT_EQ(session.past.size() + 1, states.size());
    for (std::size_t i = states.size() - 1; i-- > 0;) {
      must("undo");
      ASSERT_TRUE(session.state == states[i]) << i;
    }
    for (std::size_t i = 1; i < states.size(); ++i) {
      must("redo");
      ASSERT_TRUE(session.state == states[i]) << i;
    }
  }
}

TEST_F(Lessons, AnAnswerIsJudgedWithTheNumbersOfTheView) {
  must("lesson layouts");
  must("lesson next");
  const std::string answer = right();
  must("answer nonsense");
  EXPECT_EQ(panel().question->verdict->is, Judgement::Is::unreadable);
  must("answer 31337");
  EXPECT_EQ(panel().question->verdict->is, Judgement::Is::wrong);
  EXPECT_FALSE(panel().question->solved);
  must("answer " + answer);
  EXPECT_EQ(panel().question->verdict->is, Judgement::Is::right);
  EXPECT_TRUE(panel().question->solved);
  EXPECT_TRUE(panel().question->hint_button.empty());
  EXPECT_EQ(session.state.layout->panels().front().rows,
            std::stoll(session.state.layout_text.substr(1)));
}

TEST_F(Lessons, AgainAsksWithOtherNumbersAndABlankDesk) {
  must("lesson layouts");
  must("lesson next");
  std::set<std::string> questions;
  must("answer 31337");
  for (int i = 0; i < 8; ++i) {
    questions.insert(plain_text(panel().question->question));
    must("lesson again");
    EXPECT_FALSE(panel().question->verdict);
    must("answer " + right());
    EXPECT_EQ(panel().question->verdict->is, Judgement::Is::right);
  }
  EXPECT_GT(questions.size(), 3u);
}

TEST_F(Lessons, ShowingTheViewAgainKeepsTheDesk) {
  must("lesson layouts");
  must("lesson next");
  must("answer 31337");
  must("open preset 9x32");
  must("lesson view");
  EXPECT_TRUE(panel().question->verdict);
  EXPECT_TRUE(session.state.coordinates);
}

TEST_F(Lessons, ATextSaysWhichTermItsWordsLeadTo) {
  const auto spans = spans_of("A [block index](block index) and [words](), `[a](b)` and [c] (d)");
  ASSERT_EQ(spans.size(), 7u);
  EXPECT_EQ(spans[1].text, "block index");
  EXPECT_EQ(spans[1].term, "block index");
  EXPECT_EQ(spans[3].text, "words");
  EXPECT_EQ(spans[3].term, "");
  EXPECT_EQ(spans[4].text, ", ");
  EXPECT_FALSE(spans[4].term);
  EXPECT_EQ(plain_text(spans), "A block index and words, `[a](b)` and [c] (d)");
  must("lesson layouts");
  EXPECT_EQ(session.state.lesson.shelf->meanings.count("tv layout"), 1u) << "in lower case";
}

TEST_F(Lessons, TwoHintsThenTheAnswerWhichDoesNotCount) {
  must("lesson layouts");
  must("lesson next");
  EXPECT_EQ(panel().question->hint_button, "Hint");
  must("hint");
  EXPECT_EQ(panel().question->hint_button, "Another hint");
  must("hint");
  EXPECT_EQ(panel().question->hint_button, "Show the answer");
  EXPECT_EQ(panel().question->hints.size(), 2u);
  must("hint");
  EXPECT_EQ(panel().question->told, right());
  must("answer " + right());
  EXPECT_FALSE(panel().question->solved) << "what was told is not solved";
  must("lesson again");
  must("answer " + right());
  EXPECT_TRUE(panel().question->solved);
}

TEST_F(Lessons, ARunInAStepEndsBeforeTheNextCommandAndIsTheEvidence) {
  backend.wrong = {11};  // row 1, column 3 of 4 x 8
  must("lesson second");
  EXPECT_FALSE(session.running);
  EXPECT_EQ(session.state.view, ViewName::diff);
  EXPECT_EQ(right(), "(1,3)");
  must("answer (0,0)");
  EXPECT_NE(panel().question->verdict->sentence.find("correctly"), std::string::npos);
  must("answer 1,3");
  EXPECT_TRUE(panel().question->solved);
  EXPECT_EQ(session.past.size(), 1u);
}

// A machine whose way to most places takes longer than a command may: the window draws meanwhile.
constexpr const char* long_ptx = R"(.version 8.3
.target sm_90
.address_size 64
.visible .entry add(.param .u64 c)
{
  .reg .b32 %r<2>;
  .reg .pred %p<2>;
  mov.u32 %r1, 0;
AGAIN:
  add.u32 %r1, %r1, 1;
  setp.lt.u32 %p1, %r1, 400000000;
  @%p1 bra AGAIN;
  ret;
}
)";

class LongWay : public FakeBackend {
 public:
  Outcome<std::shared_ptr<LiveRun>> live(const KernelCard&, const KernelOptions&) override {
    return test::small_machine(long_ptx);
  }
  std::vector<std::string> lesson_names() const override { return {"long"}; }
  Outcome<std::string> lesson_text(std::string_view) const override {
    return std::string(
        "# Long\n```lesson\nnumber: 1\nabout: a way\n```\n## The machine\nText.\n"
        "```do\nopen add\ngo instruction 40000000\nselect registers\nlook warp 1\n```\n"
        "## Two runs\nText.\n```do\nopen add\nrun\ncompare hgemm_v8\n```\n");
  }
};

// In the terminal nobody goes on after a step's last command; and what is looked at while the
// machine is on its way is looked away from when it is there.
TEST(LessonsOnTheWay, TheMachineIsThereBeforeTheNextCommand) {
  LongWay backend;
  Session by_hand;
  ASSERT_TRUE(execute(by_hand, backend, "open add"));
  ASSERT_TRUE(execute(by_hand, backend, "go instruction 40000000"));
  ASSERT_TRUE(seeking(by_hand)) << "a way of so many instructions takes more than one command";
  Session session;
  ASSERT_TRUE(execute(session, backend, "lesson long 1"));
  EXPECT_FALSE(busy(session));
  EXPECT_EQ(session.state.live->stepper.position(), session.state.moment);
  EXPECT_GE(session.state.moment, 40'000'000u);
  EXPECT_EQ(session.state.view, ViewName::registers);
  EXPECT_EQ(session.state.spot.warp, 1u);
  EXPECT_EQ(session.past.size(), 1u);
  // The step after it does not wait for a machine that nobody looks at any more.
  ASSERT_TRUE(execute(by_hand, backend, "lesson long 2"));
  EXPECT_FALSE(busy(by_hand));
  EXPECT_EQ(by_hand.state.view, ViewName::compare);
}

TEST(LessonsOnTheWay, AComparisonIsThereWithItsSecondRun) {
  LongWay backend;
  Session session;
  ASSERT_TRUE(execute(session, backend, "lesson long 2"));
  EXPECT_FALSE(busy(session));
  EXPECT_TRUE(session.script.lines.empty());
  EXPECT_EQ(session.state.view, ViewName::compare);
  ASSERT_TRUE(session.state.comparison);
  EXPECT_EQ(session.state.kernel->name, "hgemm_v8");
  EXPECT_EQ(session.past.size(), 1u);
}

// What waits behind the step goes on when its own lines have come to their end.
TEST(LessonsOnTheWay, AScriptGoesOnBehindAStep) {
  LongWay backend;
  Session session;
  ASSERT_TRUE(start_script(session, backend, {"lesson long 2", "theme dark"}));
  EXPECT_EQ(session.state.view, ViewName::compare);
  EXPECT_TRUE(session.state.dark);
}

TEST_F(Lessons, LessonsStandInTheOutlineInTheirOrder) {
  (void)shelf_of(session, backend);
  const auto lessons = [&] {
    for (OutlineSection& section : outline(session, backend)) {
      if (section.title == "Lessons") return section.items;
    }
    return std::vector<OutlineItem>();
  };
  ASSERT_EQ(lessons().size(), 3u);
  EXPECT_EQ(lessons()[0].label, "First");
  EXPECT_EQ(lessons()[1].command, "lesson second");
  EXPECT_EQ(lessons()[2].command, "course") << "what there is to write, behind them";
  must(lessons()[0].command);
  EXPECT_TRUE(lessons()[0].current);
}

TEST_F(Lessons, AStepByHandBringsItsViewAndASharedOneKeepsTheOneThatIsThere) {
  must("open layout (3,3):(3,1)");
  must("lesson at layouts 2 5 keep");
  EXPECT_EQ(session.state.layout_text, "(3,3):(3,1)");
  EXPECT_EQ(session.state.lesson.round, 5u);
  must("lesson at layouts 2 5");
  EXPECT_NE(session.state.layout_text.find(",8):(8,1)"), std::string::npos);
  EXPECT_EQ(session.state.lesson.round, 5u);
  refused("lesson at layouts 2 1000000 keep", "0 to 999999");
}

TEST_F(Lessons, ASharedViewFromBeforeKeepsItsViewToo) {
  must("open share " + share_string({"open layout (3,3):(3,1)", "lesson at layouts 2 1"}));
  EXPECT_EQ(session.state.layout_text, "(3,3):(3,1)");
  EXPECT_EQ(session.state.lesson.step, 1u);
}

TEST_F(Lessons, AWordIsExplainedInAListOfAll) {
  must("glossary");
  ASSERT_EQ(session.overlay.kind, Overlay::Kind::words);
  const Sheet all = sheet_of(session);
  ASSERT_FALSE(all.rows.empty());
  must("back");
  const std::string word = all.rows.back().left;
  must("glossary " + word);
  const Sheet marked = sheet_of(session);
  EXPECT_TRUE(marked.rows.back().current);
  EXPECT_FALSE(marked.rows.back().middle.empty());
  EXPECT_EQ(std::count_if(marked.rows.begin(), marked.rows.end(),
                          [](const SheetRow& row) { return row.current; }),
            1);
  must("back");
  must(marked.rows.back().command);
  EXPECT_TRUE(session.state.lesson.open()) << "a click goes to the step that explains it";
  refused("glossary nosuchword", "do not explain");
  EXPECT_FALSE(session.overlay.open());
}

TEST_F(Lessons, ProgressThatCannotBeKeptIsToldOnceAndTriedAgain) {
  backend.full_disk = true;
  must("lesson layouts");
  EXPECT_NE(session.message.text.find("This is not saved: The disk is full."), std::string::npos)
      << session.message.text;
  must("lesson next");
  EXPECT_EQ(session.message.text.find("not saved"), std::string::npos) << "once is enough";
  backend.full_disk = false;
  must("lesson back");
  EXPECT_FALSE(backend.kept.empty());
  backend.full_disk = true;
  must("lesson next");
  EXPECT_NE(session.message.text.find("not saved"), std::string::npos) << "another time it fails";
}

TEST_F(Lessons, ProgressIsKeptAsTextAndLeadsOn) {
  must("lesson layouts");
  must("lesson next");
  const auto kept = read_progress(backend.kept);
  ASSERT_TRUE(kept.ok());
  EXPECT_TRUE(*kept == session.progress);
  Session later;
  later.progress = *kept;
  ASSERT_TRUE(execute(later, backend, "lesson layouts").ok());
  EXPECT_EQ(later.state.lesson.step, 1u) << "the exercise is not solved yet";
  ASSERT_TRUE(execute(later, backend, "answer " + right()).ok());
  EXPECT_EQ(progress_words(later.progress, *later.state.lesson.open()), "done");
}

TEST_F(Lessons, TextThatIsNoProgressGetsASentence) {
  for (const char* text :
       {"", "[]", "{}", "{\"schema\":2,\"lessons\":{}}", "{\"schema\":1}",
        "{\"schema\":1,\"lessons\":{\"a\":3}}", "{\"schema\":1,\"lessons\":{\"a\":{\"seen\":[1]}}}",
        "{\"schema\":1,\"lessons\":{\"a\":{\"solved\":\"x\"}}}", "{\"schema\":1,"}) {
    const auto progress = read_progress(text);
    ASSERT_FALSE(progress.ok()) << text;
    EXPECT_NE(progress.error().sentence.find("no record of lessons"), std::string::npos);
  }
  EXPECT_TRUE(read_progress("{\"schema\":1,\"lessons\":{}}").ok());
}

TEST_F(Lessons, ThePanelIsTextForDescribe) {
  must("lesson layouts");
  EXPECT_EQ(plain_text(panel().blocks[0].spans), "A `layout` and more.");
  EXPECT_EQ(plain_text(panel().blocks[1].spans), "stride: how far.");
  Session other;
  ASSERT_TRUE(execute(other, backend, "lesson layouts").ok());
  ASSERT_TRUE(execute(other, backend, "lesson next").ok());
  Picture shown = picture(other, {640, 480});
  const Json json = describe(other, backend, shown);
  EXPECT_EQ(json["lesson"]["step"], 2);
  EXPECT_EQ(json["lesson"]["blocks"][1]["picture"], "(2,2):(1,2)");
  EXPECT_EQ(json["lesson"]["exercise"]["form"], "a number, such as 12");
  ASSERT_TRUE(execute(other, backend, "select inspector").ok());
  EXPECT_FALSE(describe(other, backend, shown).contains("lesson"));
}

TEST_F(Lessons, AViewIsSharedWithItsLessonAndWithoutTakingProgress) {
  must("lesson layouts");
  must("lesson next");
  must("lesson again");
  must("open preset 9x32");
  must("select inspector");
  Session other;
  other.progress.lessons["second"].seen.insert("Only step");
  backend.kept.clear();
  const auto lines = rebuilding(session.state);
  ASSERT_TRUE(rebuild(other, backend, lines).ok());
  EXPECT_EQ(rebuilding(other.state), lines);
  EXPECT_EQ(other.state.lesson.round, 1u);
  EXPECT_FALSE(other.state.lesson.shown);
  EXPECT_EQ(lesson_panel(other)->question->question[0].text, panel().question->question[0].text);
  EXPECT_EQ(other.progress.lessons.size(), 1u);
  EXPECT_TRUE(backend.kept.empty()) << "whoever opens a shared view has not done the step";
}

TEST_F(Lessons, AWordOfTheGlossaryIsExplainedAndOthersAreNamed) {
  must("glossary strides");
  EXPECT_EQ(session.message.text, "stride: how far.");
  refused("glossary nothing", "explain stride");
  must("glossary Stride");
  EXPECT_EQ(session.message.text, "stride: how far.");
  must("glossary");
  EXPECT_EQ(session.message.text, "The lessons explain stride, TV layout.");
}

TEST_F(Lessons, HistoryNamesTheStepByACommandThatGoesThere) {
  must("lesson layouts");
  must("lesson next");
  EXPECT_EQ(session.past.back().name, "lesson layouts 2");
  must("lesson back");
  EXPECT_EQ(session.past.back().name, "lesson layouts 1");
  must("lesson layouts 2");
  EXPECT_EQ(panel().heading, "A question");
  refused("lesson layouts 3", "steps 1 to 2");
  refused("lesson layouts x", "counted from 1");
  must("undo");
  EXPECT_EQ(session.message.text, "Undid `lesson layouts 2`.");
}

TEST_F(Lessons, WhichNumbersAreAskedIsBounded) {
  refused("lesson at layouts 2 1000000", "0 to 999999");
  must("lesson at layouts 2 999999");
  must("lesson again");
  EXPECT_EQ(session.state.lesson.round, 0u);
}

TEST_F(Lessons, ALongAnswerIsQuotedByItsBegin) {
  must("lesson layouts");
  must("lesson next");
  must("answer " + std::string(5000, '1'));
  EXPECT_LT(panel().question->verdict->sentence.size(), 120u);
  must("answer " + std::string(5000, 'x'));
  EXPECT_LT(panel().question->verdict->sentence.size(), 120u);
}

TEST_F(Lessons, MergedProgressHasWhatEitherHad) {
  LessonProgress one, other;
  one.lessons["a"].seen = {"x"};
  other.lessons["a"].seen = {"y"};
  other.lessons["b"].solved = {"z"};
  merge(one, other);
  EXPECT_EQ(one.lessons["a"].seen, (std::set<std::string>{"x", "y"}));
  EXPECT_EQ(one.lessons["b"].solved, std::set<std::string>{"z"});
}

}  // namespace
}  // namespace tilescope
