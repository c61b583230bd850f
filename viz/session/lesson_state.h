// The open lesson: which one is open, at which step, with which numbers, and what
// was answered so far.
//
//     LessonPlace   a choice: undo goes back to it, together with the view that its step had set
//     LessonState    what passes: answer, verdict, hints. It belongs to one step and one draw of
//     its
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
#include "viz/layout/layout_view.h"
#include "viz/session/lesson_progress.h"

namespace tilescope {

struct ViewState;
struct Session;
class Backend;

// All lessons in their order, read once; a lesson that cannot be read is told where it is asked
// for.
struct LessonIndex {
  std::vector<Lesson> lessons;
  std::vector<Error> problems;
  std::map<std::string, std::string> meanings;  // of the words that they explain, in lower case
};

// A step as it is there, numbers drawn and pictures made.
struct LessonPage {
  std::size_t lesson = 0, at = 0;  // whose step it is
  std::uint64_t round = 0;
  PosedStep step;
  std::vector<std::shared_ptr<const LayoutView>> pictures;  // one a part; null for text
  std::vector<std::string> choices;                         // what the exercise has put in order
};

struct LessonPlace {
  std::shared_ptr<const LessonIndex> shelf;  // null: no lesson is open
  std::size_t lesson = 0, step = 0;
  std::uint64_t round = 0;  // of the numbers
  std::shared_ptr<const LessonPage> sheet;
  bool shown = false;  // the lesson is where the inspector is

  const Lesson* open() const { return shelf ? &shelf->lessons[lesson] : nullptr; }
  friend bool operator==(const LessonPlace& a, const LessonPlace& b) {
    return a.sheet == b.sheet && a.shown == b.shown;
  }
};

// Whether the step's exercise has numbers, so that it can be asked with others.
bool draws_numbers(const LessonPlace& place);

struct LessonState {
  std::shared_ptr<const LessonPage> sheet;  // what all of this is about
  std::string answer;
  std::optional<Judgement> verdict;
  std::size_t hints = 0;  // shown
  std::string told;       // the answer, where it was asked for
};

// What passes of the step that is open; blank where it was another's.
const LessonState& lesson_state(const Session& session);
LessonState& lesson_state(Session& session);

// Reads the lessons that the backend has, and the exercises of the course, once a session.
std::shared_ptr<const LessonIndex> shelf_of(Session& session, const Backend& backend);

// "lesson layouts 4", the command that goes to the open step: what undo calls it. Empty where no
// lesson is open.
std::string step_command(const ViewState& state);

}  // namespace tilescope
