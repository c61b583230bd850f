#include "core/lesson/pose.h"

#include <fmt/format.h>

namespace tilescope {
namespace {

// Replaces the text by itself with numbers in it; the first that cannot be is kept.
void fill(std::string& text, const Drawn& numbers, std::optional<Error>& problem) {
  Outcome<std::string> out = filled(text, numbers);
  if (out) {
    text = std::move(*out);
  } else if (!problem) {
    problem = out.error();
  }
}

// Of number_of({EXPRESSION}, NOUN): what slips in computing the expression lead to.
std::vector<NumberSlip> slips_of(std::string_view checker, const Drawn& numbers) {
  constexpr std::string_view kBegin = "number_of({";
  if (checker.substr(0, kBegin.size()) != kBegin) return {};
  checker.remove_prefix(kBegin.size());
  const std::size_t end = checker.find('}');
  const bool whole =
      end + 1 < checker.size() && (checker[end + 1] == ',' || checker[end + 1] == ')');
  if (end == std::string_view::npos || !whole) return {};
  return number_slips(checker.substr(0, end), numbers);
}

PosedExercise posed_exercise(const Exercise& exercise, const Drawn& numbers,
                             std::optional<Error>& problem) {
  PosedExercise posed{exercise.question, exercise.checker,  {},
                      exercise.hints,    exercise.mistakes, slips_of(exercise.checker, numbers)};
  fill(posed.question, numbers, problem);
  fill(posed.checker, numbers, problem);
  for (std::string& hint : posed.hints) fill(hint, numbers, problem);
  for (LessonMistake& mistake : posed.mistakes) {
    fill(mistake.answer, numbers, problem);
    fill(mistake.sentence, numbers, problem);
  }
  if (const auto task = make_task(posed.checker, {})) posed.form = (*task)->form_words();
  return posed;
}

}  // namespace

Outcome<PosedStep> pose(const LessonStep& step, std::uint64_t round) {
  Drawn numbers;
  if (step.exercise) {
    Outcome<Drawn> drawn = draw_numbers(step.exercise->numbers, step.exercise->seed + round);
    if (!drawn) return drawn.error();
    numbers = std::move(*drawn);
  }
  std::optional<Error> problem;
  PosedStep posed{step.title, step.parts, step.commands, {}};
  for (LessonPart& part : posed.parts) fill(part.text, numbers, problem);
  for (std::string& command : posed.commands) fill(command, numbers, problem);
  if (step.exercise) posed.exercise = posed_exercise(*step.exercise, numbers, problem);
  if (problem) return *problem;
  return posed;
}

Judgement judge(const PosedExercise& exercise, std::string_view answer,
                const RunEvidence& evidence) {
  using Is = Judgement::Is;
  const auto task = make_task(exercise.checker, evidence);
  if (!task) return {Is::unreadable, task.error().sentence};
  const Outcome<Reply> read = read_answer((*task)->form(), answer);
  if (!read) return {Is::unreadable, read.error().sentence};
  if ((*task)->predicts()) {
    return {Is::kept, fmt::format("`{}`: run the kernel now, and see.", text(*read))};
  }
  if (const auto problem = (*task)->problem()) return {Is::unreadable, problem->sentence};
  if ((*task)->accepts(*read)) return {Is::right, (*task)->praise(*read)};
  for (const LessonMistake& mistake : exercise.mistakes) {
    const Outcome<Reply> slip = read_answer((*task)->form(), mistake.answer);
    if (slip && *slip == *read) return {Is::wrong, mistake.sentence};
  }
  for (const Task::Slip& slip : (*task)->slips()) {
    if (slip.answer == *read) return {Is::wrong, slip.sentence};
  }
  for (const NumberSlip& slip : exercise.slips) {
    if (Reply(slip.number) == *read) return {Is::wrong, slip.sentence};
  }
  return {Is::wrong, (*task)->explain(*read)};
}

std::vector<std::string> choices(const PosedExercise& exercise, const RunEvidence& evidence) {
  const auto task = make_task(exercise.checker, evidence);
  return task ? (*task)->choices() : std::vector<std::string>();
}

Outcome<std::string> solution(const PosedExercise& exercise, const RunEvidence& evidence) {
  const auto task = make_task(exercise.checker, evidence);
  if (!task) return task.error();
  const Outcome<Reply> answer = (*task)->solution();
  if (!answer) return answer.error();
  return text(*answer);
}

}  // namespace tilescope
