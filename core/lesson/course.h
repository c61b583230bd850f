// "Write it yourself": a kernel of which a part is left out, what that part has to do, and what is
// judged. The exercise is a Markdown file:
//
//     # A loop over K                          the title
//     ```course                                once, first
//     number: 4                                its place
//     kernel: hgemm_v2                         in whose place it runs
//     lesson: hgemm_v2                         that explains it; may be left out
//     source: kernels/mine.cu                  with the marks; the kernel's own, if left out
//     shapes: --k 64; --k 512                  options of the kernel; each is run
//     time: 120                                percent of our kernel's time, at most
//     ```
//     Text, and lines that begin with "- ":       what the part has to do
//     ## Hints
//     - Which parity ... ?                        from a question to the line
//     ## Mistakes
//     - deadlock, done: You wait for ...          where a run ends so, and what it says has these
//                                                 words (they may be left out), this is told
//
// A mistake's first word is the kind of a fault or hazard (docs/manual/faults), `different` where
// elements are wrong, `slow`, or `unbuilt` where the text does not compile. The first that fits is
// told.
//
// What is left out is marked in the kernel's own source: the lines behind one that ends in
// `// [exercise`, up to one that ends in `// exercise]`. A source may have several such parts.
// Lines of the marks stay, so a mark may stand behind code.
//
// What a judge says of a text is a CourseVerdict; who runs it is app (app/course_judge.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace tilescope {

struct CourseMistake {
  std::string kind;
  std::vector<std::string> words;  // all of which the program's sentence has
  std::string sentence;
};

struct CourseExercise {
  std::string name, title, kernel, lesson, source;
  int number = 0;
  std::vector<std::string> shapes;     // at least one
  std::int64_t percent = 0;            // of our kernel's time
  std::vector<std::string> statement;  // paragraphs; items begin with "- "
  std::vector<std::string> hints;
  std::vector<CourseMistake> mistakes;
};

// All exercises in the order of teaching. One that cannot be read is a problem.
struct CourseIndex {
  std::vector<CourseExercise> exercises;
  std::vector<Error> problems;
};
// Refused: there is none of this name, with those that there are; or its file cannot be read.
Outcome<CourseExercise> exercise_named(const CourseIndex& index, std::string_view name);

// Where a learner stands in an exercise.
enum class CourseStanding : std::uint8_t { fresh, begun, passed };
std::string_view name_of(CourseStanding standing);  // "not yet", "begun", "passed"

// Right, safe, fast (docs/manual/course.md).
struct CourseVerdict {
  bool built = false, right = false, safe = false, fast = false;
  bool passed() const { return built && right && safe && fast; }
  // Where it did not pass: the kind (as of a mistake), the options of the run that showed it, what
  // the program said and where, and what the exercise has to say of it; empty: nothing.
  std::string kind, options, sentence, where, told;
  std::vector<std::string> show;  // window commands that show it; empty: there is nothing to see
  std::int64_t runs = 0;
  double seconds = 0, ours = 0;  // predicted; 0: not asked
};
// How far a judge is: which run of how many, and its options.
struct CourseProgress {
  std::int64_t run = 0, of = 0;
  std::string options;
};
// "not right", "right, but not safe", "right, safe and fast".
std::string_view summary(const CourseVerdict& verdict);
// "1.23 us where ours takes 1.20 us: 102%, of 120% at most", or that it was not asked.
std::string time_words(const CourseVerdict& verdict, const CourseExercise& exercise);
// "--k 64;  --k 512"
std::string shapes_words(const CourseExercise& exercise);

// `name`: what `course start NAME` takes; the place of an error is "NAME.md:LINE".
Outcome<CourseExercise> read_course_exercise(std::string_view text, std::string_view name);

// The source without the parts that are marked; where each stood, what has to be written. Refused:
// nothing is marked, or a mark without its other end.
Outcome<std::string> without_marked(std::string_view source, const CourseExercise& exercise);

// The text that a learner begins with: what is asked and how it is judged, then the source without
// its marked parts. `file`: its name.
Outcome<std::string> first_text(const CourseExercise& exercise, std::string_view source,
                                std::string_view file);
// Whether a text began as that, by its first lines.
bool is_text_of(const CourseExercise& exercise, std::string_view text);

// The source as it is shown, line by line: the marks are gone, every line is where it was.
std::string without_marks(std::string_view source);

// What is told of a run that ended so; empty: the exercise has nothing to say of it.
std::string mistake_told(const CourseExercise& exercise, std::string_view kind,
                         std::string_view sentence);

}  // namespace tilescope
