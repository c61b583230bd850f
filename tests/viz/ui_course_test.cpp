// The course in the window's session: its list, a file to begin with, hints, the judge and what is
// shown of its verdict.
#include <nlohmann/json.hpp>

#include "tests/viz/ui_session.h"
#include "viz/commands/describe_window.h"
#include "viz/commands/rebuild.h"
#include "viz/session/lesson_panel.h"
#include "viz/session/panels.h"

namespace tilescope::test {
namespace {

class CourseSession : public SessionTest {
 protected:
  CourseSession() { course_of(session, backend); }

  const CourseExercise& exercise(const char* name) {
    for (const CourseExercise& each : session.course.index->exercises) {
      if (each.name == name) return each;
    }
    ADD_FAILURE() << name;
    return session.course.index->exercises.front();
  }
  CourseStanding standing(const char* name) { return standing_of(session, exercise(name)); }
  const CourseWork& work(const char* name) { return work_of(session, exercise(name)); }
  Json told(Size size = {1000, 700}) { return describe(session, backend, picture(session, size)); }
  // Of what can be clicked in the view.
  bool offers(const std::string& command, Size size = {1000, 700}) {
    const Picture now = picture(session, size);
    return std::any_of(now.scene.targets.begin(), now.scene.targets.end(),
                       [&](const Target& each) { return each.command == command; });
  }
  static CourseVerdict wrong() {
    CourseVerdict out;
    out.built = true;
    out.kind = "deadlock";
    out.options = "--m 8 --n 16";
    out.sentence = "Nobody can go on.";
    out.where = "add.cu:7";
    out.told = "Count the arrivals.";
    out.show = {"open add --source loop.cu --m 8 --n 16", "run", "select diff"};
    out.runs = 2;
    return out;
  }
  static CourseVerdict right() {
    CourseVerdict out;
    out.built = out.right = out.safe = out.fast = true;
    out.runs = 16;
    out.seconds = 2.2e-6;
    out.ours = 2e-6;
    return out;
  }
};

TEST_F(CourseSession, ShowsTheFirstThatIsNotPassedUntilOneIsChosen) {
  must("select course");
  EXPECT_EQ(shown_exercise(session)->name, "tiles");
  EXPECT_EQ(told()["picture"]["course"]["exercises"].size(), 3u);
  must("course loop");
  EXPECT_EQ(shown_exercise(session)->name, "loop");
  must("move down");
  EXPECT_EQ(session.state.exercise, "last");
  must("move down");
  EXPECT_EQ(session.state.exercise, "last") << "there is none below";
  must("move up");
  must("move up");
  EXPECT_EQ(session.state.exercise, "tiles");
  must("undo");
  EXPECT_EQ(session.state.exercise, "loop");
  refused("course nosuch", "there are tiles, loop, last");
  refused("course broken", "It has no title");
  refused("course loop a.cu b.cu", "an exercise and a file");
}

TEST_F(CourseSession, StartWritesAFileToBeginWithAndNeverOverOne) {
  must("course loop");
  EXPECT_TRUE(offers("course start loop"));
  refused("course check", "`course start loop` writes one");
  refused("course edit", "`course start loop` writes one");
  must("course start loop");
  ASSERT_TRUE(backend.texts.count("loop.cu"));
  const std::string text = backend.texts["loop.cu"];
  EXPECT_NE(text.find("// Yours."), text.npos) << text;
  EXPECT_EQ(text.find("the_answer"), text.npos) << text;
  EXPECT_NE(text.find("tilescope course check loop loop.cu"), text.npos) << text;
  EXPECT_EQ(standing("loop"), CourseStanding::begun);
  EXPECT_EQ(standing("tiles"), CourseStanding::fresh);
  EXPECT_NE(backend.kept.find("\"loop\""), std::string::npos) << "begun is remembered";
  EXPECT_TRUE(offers("course check"));
  backend.put("loop.cu", "my work");
  refused("course start loop", "is there already");
  EXPECT_EQ(backend.texts["loop.cu"], "my work");
  must("course start loop other.cu");
  EXPECT_EQ(work("loop").file, "other.cu");
  refused("course start loop notes.txt", "a CUDA file");
  refused("course start last", "no kernel `none`");
  EXPECT_FALSE(backend.texts.count("last.cu"));
}

TEST_F(CourseSession, AFileOfTheExerciseThatIsThereIsGoneOnWith) {
  backend.put("tiles.cu", "// a copy of the kernel, of nobody's course\n");
  backend.put("loop.cu", "//   judged     tilescope course check loop loop.cu\nmine\n");
  must("course");
  EXPECT_EQ(standing("loop"), CourseStanding::begun);
  EXPECT_EQ(standing("tiles"), CourseStanding::fresh);
  refused("course tiles nosuch.cu", "`course start tiles nosuch.cu` writes one");
  must("course tiles tiles.cu");
  EXPECT_EQ(work("tiles").file, "tiles.cu");
  // From one day to the next.
  Session later;
  later.kept = session.kept;
  backend.put("loop.cu", "without its first lines");
  ASSERT_TRUE(act(later, "course loop").ok());
  EXPECT_EQ(work_of(later, *shown_exercise(later)).file, "") << "it was not worked on here";
  ASSERT_TRUE(act(later, "course tiles").ok());
  EXPECT_EQ(work_of(later, *shown_exercise(later)).file, "tiles.cu");
}

TEST_F(CourseSession, HintsComeOneAfterTheOther) {
  must("course loop");
  EXPECT_EQ(told()["picture"]["course"]["hints"].size(), 0u);
  EXPECT_EQ(*act("course hint"), "Which?");
  EXPECT_TRUE(offers("course hint"));
  EXPECT_EQ(*act("course hint"), "That.");
  EXPECT_EQ(told()["picture"]["course"]["hints"], (std::vector<std::string>{"Which?", "That."}));
  EXPECT_FALSE(offers("course hint"));
  refused("course hint", "has 2 hints, and all were given");
  must("course last");
  refused("course hint", "no hints");
}

TEST_F(CourseSession, AWrongTextIsToldAndCanBeShown) {
  must("course start loop");
  backend.verdict = wrong();
  refused("course show", "Nothing was checked yet");
  must("course check");
  EXPECT_EQ(backend.checked, (std::vector<std::string>{"loop in loop.cu"}));
  EXPECT_TRUE(session.message.failed);
  EXPECT_NE(session.message.text.find("Nobody can go on."), std::string::npos);
  EXPECT_FALSE(session.run_error) << "a wrong text is no command that failed";
  EXPECT_EQ(standing("loop"), CourseStanding::begun);
  const Json verdict = told()["picture"]["course"]["verdict"];
  EXPECT_EQ(verdict["right"], false);
  EXPECT_EQ(verdict["wrong"]["told"], "Count the arrivals.");
  ASSERT_TRUE(offers("course show"));
  const std::size_t steps = session.past.size();
  must("course show");
  EXPECT_EQ(session.past.size(), steps + 1) << "one step of undo";
  EXPECT_EQ(session.state.view, ViewName::diff);
  EXPECT_EQ(session.state.options.at("source"), "loop.cu");
  EXPECT_EQ(session.state.options.at("m"), "8");
  ASSERT_TRUE(session.state.result);
  // And back.
  const auto all = tabs(session);
  EXPECT_TRUE(std::any_of(all.begin(), all.end(),
                          [](const Tab& tab) { return tab.command == "select course"; }));
  must("undo");
  EXPECT_EQ(session.state.view, ViewName::course);
  EXPECT_FALSE(session.state.kernel);
}

TEST_F(CourseSession, ARightTextPassesWithItsTimeBesideOurs) {
  must("course start loop");
  backend.verdict = right();
  must("course check");
  EXPECT_TRUE(session.message.good);
  EXPECT_NE(session.message.text.find("2.20 us where ours takes 2.00 us: 110%"), std::string::npos)
      << session.message.text;
  EXPECT_EQ(standing("loop"), CourseStanding::passed);
  EXPECT_EQ(shown_exercise(session)->name, "loop") << "it stays where its verdict is";
  EXPECT_TRUE(offers("course last")) << "the next one";
  EXPECT_FALSE(offers("course show"));
  refused("course show", "nothing is wrong");
  const auto kept = read_progress(backend.kept);
  ASSERT_TRUE(kept.ok());
  EXPECT_EQ(kept->lessons.at("course").solved, (std::set<std::string>{"loop"}));
  const auto strip_now = strip(session, backend);
  ASSERT_EQ(strip_now.steps.size(), 4u);
  EXPECT_EQ(strip_now.steps[3].value, "yes");
}

TEST_F(CourseSession, AFileThatChangesAfterTheCheckIsSaidToHaveChanged) {
  must("course start loop");
  backend.verdict = wrong();
  must("course check");
  EXPECT_FALSE(work("loop").changed());
  EXPECT_FALSE(look_at_files(session, backend, 10));
  EXPECT_FALSE(files_changed(session, backend));
  backend.put("loop.cu", backend.texts["loop.cu"]);
  EXPECT_FALSE(look_at_files(session, backend, 20)) << "written, and the same as before";
  backend.put("loop.cu", "mended");
  EXPECT_TRUE(files_changed(session, backend));
  EXPECT_TRUE(look_at_files(session, backend, 30));
  EXPECT_TRUE(work("loop").changed());
  EXPECT_EQ(told()["picture"]["course"]["file"]["changed"], true);
  must("course check");
  EXPECT_FALSE(work("loop").changed());
  // What is checked is the text as it was when the judge began.
  backend.slow_judge = true;
  must("course check");
  backend.put("loop.cu", "changed meanwhile");
  backend.finish_check();
  EXPECT_TRUE(take_check(session, backend));
  look_at_files(session, backend, 40);
  EXPECT_TRUE(work("loop").changed());
  backend.texts.erase("loop.cu");
  backend.writes.erase("loop.cu");
  EXPECT_TRUE(look_at_files(session, backend, 50));
  EXPECT_TRUE(offers("course start loop")) << "it is gone";
}

TEST_F(CourseSession, TheJudgeTellsHowFarItIsAndCanBeStopped) {
  must("course start loop");
  backend.slow_judge = true;
  must("course check");
  EXPECT_TRUE(take_check(session, backend)) << "it has come further";
  EXPECT_FALSE(take_check(session, backend)) << "and no further";
  EXPECT_FALSE(offers("course check"));
  const Json now = told();
  EXPECT_EQ(now["picture"]["course"]["checking"], "Checking loop.cu: run 3 of 16, --m 4 --lazy");
  EXPECT_EQ(now["actions"].back()["command"], "cancel");
  EXPECT_DOUBLE_EQ(*strip(session, backend).share, 2.0 / 16);
  refused("course check", "`cancel` stops that");
  must("cancel");
  EXPECT_TRUE(take_check(session, backend));
  EXPECT_FALSE(session.course.check);
  EXPECT_FALSE(session.message.failed);
  EXPECT_FALSE(work("loop").verdict);
  EXPECT_TRUE(offers("course check"));
  // A run beside it is stopped where it is looked at.
  must("open add");
  backend.slow = true;
  must("run");
  must("course check");
  must("select kernel");
  must("cancel");
  EXPECT_EQ(backend.cancels, 1);
  EXPECT_TRUE(session.course.check);
}

TEST_F(CourseSession, WhatCannotBeJudgedIsASentence) {
  must("course start loop");
  backend.has_compiler = false;
  refused("course check", "no nvcc");
  EXPECT_FALSE(session.course.check);
  backend.has_compiler = true;
  backend.judge_fails = Error{ErrorKind::mismatch, "loop.cu has no entry add.", ""};
  must("course check");
  EXPECT_TRUE(session.message.failed);
  ASSERT_TRUE(session.run_error);
  EXPECT_EQ(session.run_error->sentence, "loop.cu has no entry add.");
  EXPECT_FALSE(work("loop").verdict);
}

TEST_F(CourseSession, TheEditorsTextIsSavedBeforeItIsJudged) {
  must("course start loop");
  must("course edit");
  EXPECT_EQ(session.state.view, ViewName::source);
  EXPECT_EQ(session.edit.edit.path, "loop.cu");
  EXPECT_TRUE(edits_exercise(session));
  ASSERT_TRUE(session.edit.edit.line);
  const std::vector<std::string> lines = lines_of_text(session.edit.edit.text);
  EXPECT_NE(lines[*session.edit.edit.line - 1].find("// Yours."), std::string::npos);
  type_edit(session, backend, "// course check loop \nvoid add() { mended(); }\n");
  must("course check");
  EXPECT_EQ(backend.texts["loop.cu"], "// course check loop \nvoid add() { mended(); }\n");
  EXPECT_EQ(work("loop").judged, backend.texts["loop.cu"]);
  EXPECT_FALSE(work("loop").changed());
}

TEST_F(CourseSession, ALessonsLastStepAndItsExerciseLeadToEachOther) {
  must("lesson layouts");
  EXPECT_TRUE(lesson_panel(session)->exercises.empty()) << "not before the last step";
  must("lesson next");
  const auto panel = lesson_panel(session);
  ASSERT_EQ(panel->exercises.size(), 1u);
  EXPECT_EQ(panel->exercises[0].first, "loop");
  EXPECT_EQ(told()["lesson"]["course"][0]["command"], "course loop");
  must("course loop");
  EXPECT_TRUE(offers("lesson layouts"));
  must("course tiles");
  EXPECT_FALSE(offers("lesson layouts"));
}

TEST_F(CourseSession, ASharedViewHasTheExerciseAndRunsNoCompiler) {
  must("course start loop");
  const std::vector<std::string> lines = rebuilding(session, backend, Extent::view);
  EXPECT_EQ(lines.back(), "course loop");
  Session other;
  ASSERT_TRUE(rebuild(other, backend, lines).ok());
  EXPECT_EQ(other.state.exercise, "loop");
  EXPECT_EQ(other.state.view, ViewName::course);
  for (const char* line : {"course check", "course start loop x.cu", "course loop loop.cu",
                           "course show", "course edit"}) {
    EXPECT_FALSE(rebuild(other, backend, {line}).ok()) << line;
  }
  EXPECT_TRUE(backend.checked.empty());
  EXPECT_FALSE(backend.texts.count("x.cu"));
  // A view of something else says nothing of it.
  must("open layout (4,8):(8,1)");
  for (const std::string& line : rebuilding(session, backend, Extent::view)) {
    EXPECT_NE(line.rfind("course", 0), 0u) << line;
  }
}

// What was said is in sight, whatever the room, and each text keeps within it.
TEST_F(CourseSession, ANewVerdictIsScrolledIntoView) {
  for (const Size size : {Size{380, 300}, Size{640, 360}, Size{1100, 420}}) {
    Session fresh;
    fresh.kept = session.kept;
    backend.texts.clear();
    backend.writes.clear();
    backend.verdict = wrong();
    ASSERT_TRUE(act(fresh, "course start loop").ok());
    ASSERT_TRUE(act(fresh, "course check").ok());
    const Picture now = picture(fresh, size);
    bool seen = false;
    for (const Item& item : now.scene.items) {
      const Text* text = std::get_if<Text>(&item);
      if (!text) continue;
      seen = seen || (text->text == "Verdict" && text->at.y > 0 && text->at.y < size.height);
      const double wide = text_width(text->text, text->size, text->family, text->weight);
      const double left = text->across == Across::left     ? text->at.x
                          : text->across == Across::centre ? text->at.x - wide / 2
                                                           : text->at.x - wide;
      EXPECT_GE(left, 0) << text->text;
      EXPECT_LE(left + wide, size.width) << text->text << " at " << size.width;
    }
    EXPECT_TRUE(seen) << size.width;
  }
}

}  // namespace
}  // namespace tilescope::test
