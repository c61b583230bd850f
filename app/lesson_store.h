// Lessons as the program carries them, and the learner's progress on disk.
//
// Progress is in tilescope/progress.json of the state folder (app/files.h). Law: what one program
// has written is in what any other writes later.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/lesson/course.h"
#include "viz/session/lesson_progress.h"

namespace tilescope {

// Names of lessons/NAME.md, embedded and of TILESCOPE_ASSETS.
std::vector<std::string> lesson_names();
Outcome<std::string> lesson_text(std::string_view name);
// "order.ptx", beside them; "kernels/elementwise/elementwise_add.cu", a source.
Outcome<std::string> lesson_file(std::string_view name);

// Exercises of the course, course/NAME.md, embedded and of TILESCOPE_ASSETS.
CourseIndex course_exercises();
// The source that an exercise is made of, with its marks.
Outcome<std::string> course_source(const CourseExercise& exercise);

// Nothing done yet where there is no file. Refused: a file that is none of ours.
Outcome<LessonProgress> saved_progress();

// To go on from. A file that is none of ours, or a later program's, is put aside as
// progress.broken.json (progress.2.broken.json...), and a new record is begun. Refused where it
// cannot be put aside: then nothing should be written.
struct TakenUp {
  LessonProgress progress;
  std::string news;  // what was put aside, and where; else empty
};
Outcome<TakenUp> take_up_progress();

// Together with what is there: another window may have written since. Programs that write at the
// same time take turns.
std::optional<Error> write_progress(const std::string& text);

}  // namespace tilescope
