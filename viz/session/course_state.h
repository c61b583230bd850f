// The course in the window: the exercises, the file that each is worked on in, and what was said of
// it.
//
//     ViewState::exercise   which one is chosen: a choice, which undo takes back
//     CourseState           what passes: files, hints, verdicts, the check in progress
//
// Which are begun and passed is in the record of progress (viz/session/lesson_progress.h), under
// `course_progress`: `seen` are those that were begun, `solved` those that are passed. Which file
// is worked on is kept from one day to the next (Session::kept).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/lesson/course.h"

namespace tilescope {

struct Session;
struct Strip;
struct InspectorSection;
class Backend;

inline constexpr std::string_view course_progress = "course";

// What was done of one exercise.
struct CourseWork {
  std::string file;         // empty: none
  std::uint64_t stamp = 0;  // of the file when it was looked at last; 0: it is not there
  std::string text;         // what it had in it then
  std::size_t hints = 0;    // that were given
  std::optional<CourseVerdict> verdict;
  std::string judged;  // the text that the verdict is about

  bool there() const { return stamp != 0; }
  bool changed() const { return verdict && there() && text != judged; }  // since the verdict
};

// A judge at work.
struct CourseCheck {
  std::string exercise, file, text;
  CourseProgress progress;
};

struct CourseState {
  std::shared_ptr<const CourseIndex> index;  // null: not read yet
  std::map<std::string, CourseWork> work;    // by exercise
  std::optional<CourseCheck> check;
  double next_look = 0;  // seconds; when the file is looked at again
  // What was said last, to be scrolled into view.
  enum class News : std::uint8_t { none, verdict, hint } news = News::none;
};

// The exercises that the backend has, read once a session.
std::shared_ptr<const CourseIndex> course_of(Session& session, const Backend& backend);

// The chosen exercise; where none is, the first that is not passed. Null: there are none.
const CourseExercise* shown_exercise(const Session& session);
// Blank where nothing was done.
const CourseWork& work_of(const Session& session, const CourseExercise& exercise);
CourseStanding standing_of(const Session& session, const CourseExercise& exercise);
// The exercises that a lesson explains.
std::vector<const CourseExercise*> exercises_of(const Session& session, std::string_view lesson);

// Each answers the sentence for the status line and leads to the view; refused with what would
// work. Without a name: the one that is shown. Without a file: the one that is worked on.
Outcome<std::string> open_exercise(Session& session, Backend& backend, std::string_view name,
                                   std::string_view file);
// Writes the file, NAME.cu where nothing is said; never over one that is there.
Outcome<std::string> start_exercise(Session& session, Backend& backend, std::string_view name,
                                    std::string_view file);
Outcome<std::string> hint_at_exercise(Session& session, Backend& backend);
// Begins to judge, in the background. Text of this file that the editor has not saved is saved.
Outcome<std::string> check_exercise(Session& session, Backend& backend, std::string_view file);
// Takes the verdict once it is there, and meanwhile how far the judge is; true if anything is new.
bool take_check(Session& session, Backend& backend);
Outcome<std::string> stop_check(Session& session, Backend& backend);

// What opens the file in the window, to be edited and run there; and what shows what the verdict is
// about. Refused where there is no file, or nothing to be seen.
Outcome<std::vector<std::string>> lines_to_edit(const Session& session);
Outcome<std::vector<std::string>> lines_to_show(const Session& session);

// Looks at the files on the disk; true if one is another than before.
bool look_at_course(Session& session, Backend& backend);
// For who sleeps: whether there is something to look at, without looking into it.
bool course_file_changed(const Session& session, const Backend& backend);

// Whether the editor has the file of the exercise that is shown.
bool edits_exercise(const Session& session);

std::vector<InspectorSection> course_sections(const Session& session);
// The strip below the view: file, right, safe, fast; or how far the judge is.
Strip course_strip(const Session& session);

}  // namespace tilescope
