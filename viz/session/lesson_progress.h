// What a learner has seen and solved, as a value with a text form.
//
//     {"schema": 1, "lessons": {"layouts": {"seen": ["A layout is a function"], "solved": []}}}
//
// Steps are named by their titles, so that a lesson that gains a step loses nobody's progress.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "core/error.h"
#include "core/lesson/lesson.h"

namespace tilescope {

struct LessonProgress {
  struct Of {
    std::set<std::string> seen, solved;  // titles of steps
    friend bool operator==(const Of&, const Of&) = default;
  };
  std::map<std::string, Of> lessons;  // by name
  friend bool operator==(const LessonProgress& a, const LessonProgress& b) {
    return a.lessons == b.lessons;
  }
};

bool seen(const LessonProgress& progress, const Lesson& lesson, std::size_t step);
// Whether nothing is left to do in a step: it was seen, and its exercise, if it has one, solved.
bool done(const LessonProgress& progress, const Lesson& lesson, std::size_t step);
// Where to go on: the first step that is not done; the first of all where all are.
std::size_t step_to_go_on(const LessonProgress& progress, const Lesson& lesson);
// "3 of 9 steps", "done", or nothing where it was never opened.
std::string progress_words(const LessonProgress& progress, const Lesson& lesson);

// Adds what `more` has: nothing that was seen or solved is ever lost.
void merge(LessonProgress& into, const LessonProgress& more);

std::string progress_text(const LessonProgress& progress);
// Refused: text that is no progress, or of a later schema.
Outcome<LessonProgress> read_progress(std::string_view text);

}  // namespace tilescope
