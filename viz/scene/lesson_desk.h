// The lesson on the learner's desk: which one is open, at which step, with which numbers, and what
// was answered so far.
//
//     LessonPlace   a choice: undo goes back to it, together with the view that its step had set
//     LessonDesk    what passes: answer, verdict, hints. It belongs to one step and one draw of its
//                   numbers, and is blank for another
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/lesson/pose.h"
#include "viz/scene/layout_view.h"
#include "viz/scene/lesson_progress.h"

namespace tilescope {

struct Choices;
struct Session;
class Workshop;

// All lessons in their order, read once; a lesson that cannot be read is told where it is asked
// for.
struct LessonShelf {
  std::vector<Lesson> lessons;
  std::vector<Error> problems;
  std::map<std::string, std::string> meanings;  // of the words that they explain, in lower case
};

// A step as it lies there, numbers drawn and pictures made.
struct LessonSheet {
  std::size_t lesson = 0, at = 0;  // whose step it is
  std::uint64_t round = 0;
  PosedStep step;
  std::vector<std::shared_ptr<const LayoutView>> pictures;  // one a part; null for text
};

struct LessonPlace {
  std::shared_ptr<const LessonShelf> shelf;  // null: no lesson is open
  std::size_t lesson = 0, step = 0;
  std::uint64_t round = 0;  // of the numbers
  std::shared_ptr<const LessonSheet> sheet;
  bool shown = false;  // the lesson stands where the inspector stands

  const Lesson* open() const { return shelf ? &shelf->lessons[lesson] : nullptr; }
  friend bool operator==(const LessonPlace& a, const LessonPlace& b) {
    return a.sheet == b.sheet && a.shown == b.shown;
  }
};

struct LessonDesk {
  std::shared_ptr<const LessonSheet> sheet;  // what all of this is about
  std::string answer;
  std::optional<Judgement> verdict;
  std::size_t hints = 0;  // shown
  bool told = false;      // the answer was asked for
};

// The desk of the step that is open; blank where it was another's.
const LessonDesk& desk_of(const Session& session);
LessonDesk& desk_of(Session& session);

// Reads the lessons that the workshop has, once a session.
std::shared_ptr<const LessonShelf> shelf_of(Session& session, const Workshop& workshop);

// Other numbers than these are asked by none.
inline constexpr std::uint64_t most_rounds = 1'000'000;

// Each answers the sentence for the status line, and is refused where there is no such lesson or
// step, or where a command of the step is. The step's commands and the place are one change. Law: a
// step's view depends on the step and its numbers alone, not on what was open before.
// Without a step, where the learner left off.
Outcome<std::string> open_lesson(Session& session, Workshop& workshop, std::string_view name,
                                 std::optional<std::size_t> step = {}, std::uint64_t round = 0);
// The step lies on the desk, and the view stays as it is: for a view that comes from elsewhere.
Outcome<std::string> lay_out_step(Session& session, Workshop& workshop, std::string_view name,
                                  std::size_t step, std::uint64_t round);
Outcome<std::string> go_to_step(Session& session, Workshop& workshop, std::size_t step,
                                std::uint64_t round);

// "lesson layouts 4", the command that goes to the open step: what undo calls it. Empty where no
// lesson is open.
std::string step_command(const Choices& choices);

// The verdict is also on the desk. Refused where there is no exercise.
Outcome<std::string> answer_exercise(Session& session, Workshop& workshop, std::string_view answer);
// The first hint, the second, then the answer.
Outcome<std::string> give_hint(Session& session);

// What the open result says, for exercises about a run.
RunEvidence evidence_of(const Session& session);

}  // namespace tilescope
