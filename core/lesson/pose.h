// A step with its numbers drawn: what a learner meets, and what becomes of the answer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/lesson/lesson.h"
#include "core/lesson/numbers.h"
#include "core/lesson/task.h"

namespace tilescope {

struct PosedExercise {
  std::string question;
  std::string checker;  // the task, operands filled in
  std::string form;     // how an answer is written: "a number, such as 12"
  std::vector<std::string> hints;
  std::vector<LessonMistake> mistakes;
  std::vector<NumberSlip> slips = {};  // of a checker that asks for a number of an expression
};

struct PosedStep {
  std::string title;
  std::vector<LessonPart> parts;
  std::vector<std::string> commands;
  std::optional<PosedExercise> exercise;
};

// `round` 0 draws from the exercise's own seed, another round other numbers.
Outcome<PosedStep> pose(const LessonStep& step, std::uint64_t round);

struct Judgement {
  // kept: it is judged when the kernel has run.
  enum class Is : std::uint8_t { right, wrong, unreadable, kept } is = Is::unreadable;
  std::string sentence;
};

// Unreadable: no answer of this form; it counts as no try.
Judgement judge(const PosedExercise& exercise, std::string_view answer,
                const RunEvidence& evidence);

// What is to be put in order, a line each; most exercises have none.
std::vector<std::string> choices(const PosedExercise& exercise, const RunEvidence& evidence);

// The answer, for a learner who asks for it.
Outcome<std::string> solution(const PosedExercise& exercise, const RunEvidence& evidence);

}  // namespace tilescope
