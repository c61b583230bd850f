#include "viz/commands/lesson_steps.h"

#include <fmt/format.h>

#include <utility>

#include "viz/commands/commands.h"
#include "viz/commands/overlay_sheets.h"
#include "viz/commands/script.h"
#include "viz/session/lesson_evidence.h"

namespace tilescope {
namespace {

Error no_lesson(const LessonIndex& shelf, std::string_view name) {
  std::string names;
  for (const Lesson& lesson : shelf.lessons) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", lesson.name);
  }
  if (names.empty()) return {ErrorKind::unknown, "There are no lessons here.", ""};
  return {ErrorKind::unknown, fmt::format("There is no lesson `{}`; there are {}.", name, names),
          ""};
}

Error no_step(const Lesson& lesson) {
  return {ErrorKind::usage,
          fmt::format("The lesson `{}` has steps 1 to {}.", lesson.name, lesson.steps.size()), ""};
}

Error no_round() {
  return {ErrorKind::usage,
          fmt::format("Which numbers are asked is counted from 0 to {}.", most_rounds - 1), ""};
}

// Its place on the shelf.
Outcome<std::size_t> find_lesson(Session& session, const Backend& backend, std::string_view name) {
  const std::shared_ptr<const LessonIndex> shelf = shelf_of(session, backend);
  for (std::size_t i = 0; i < shelf->lessons.size(); ++i) {
    if (shelf->lessons[i].name == name) return i;
  }
  for (const Error& problem : shelf->problems) {
    const std::string file = fmt::format("{}.md", name);
    if (problem.where.compare(0, file.size(), file) == 0) return problem;
  }
  return no_lesson(*shelf, name);
}

Outcome<std::shared_ptr<const LessonPage>> sheet_of(const Session& session, Backend& backend,
                                                    const Lesson& lesson, std::size_t which,
                                                    std::size_t at, std::uint64_t round) {
  Outcome<PosedStep> posed = pose(lesson.steps[at], round);
  if (!posed) return posed.error();
  auto sheet = std::make_shared<LessonPage>();
  sheet->lesson = which;
  sheet->at = at;
  sheet->round = round;
  sheet->step = std::move(*posed);
  for (const LessonPart& part : sheet->step.parts) {
    std::shared_ptr<const LayoutView> picture;
    if (part.kind == LessonPart::Kind::picture) {
      auto view = LayoutView::of_expression(part.text);
      if (!view) return view.error();
      picture = std::make_shared<const LayoutView>(std::move(*view));
    }
    sheet->pictures.push_back(std::move(picture));
  }
  if (sheet->step.exercise) {
    sheet->choices = choices(*sheet->step.exercise, evidence_of(session, backend));
  }
  return std::shared_ptr<const LessonPage>(std::move(sheet));
}

// Each command to its end, a run and the machine's way included: the next one may be about what it
// leaves.
std::optional<Error> set_view(Session& session, Backend& backend,
                              const std::vector<std::string>& commands) {
  for (const std::string& command : commands) {
    const auto answer = execute(session, backend, command);
    if (!answer) return answer.error();
    if (auto error = finish_commands(session, backend)) return error;
    if (session.run_error) return session.run_error;
  }
  return {};
}

// A step's view begins from nothing, so that it is the same wherever one comes from. How the window
// looks, and which lesson is open, is no part of it.
void clear_view(Session& session, Backend& backend) {
  if (session.running) {  // a run of the view that goes
    backend.cancel();
    backend.wait();
    take_result(session, backend);
  }
  ViewState clear;
  clear.dark = session.state.dark;
  clear.settings = session.state.settings;
  clear.lesson = session.state.lesson;
  session.state = std::move(clear);
  session.playing = false;
  session.seek.reset();
  session.run_error.reset();
  forget_passing(session);
}

// The commands of a step leave steps of undo, which the one that asked for them stands for.
std::optional<Error> set_view_at_once(Session& session, Backend& backend,
                                      const std::vector<std::string>& commands) {
  std::vector<Step> past = session.past, future = session.future;
  Script script = std::exchange(session.script, {});  // that the step itself is a line of
  clear_view(session, backend);
  const std::optional<Error> problem = set_view(session, backend, commands);
  session.past = std::move(past);
  session.future = std::move(future);
  session.script = std::move(script);
  return problem;
}

}  // namespace

Outcome<std::string> open_lesson(Session& session, Backend& backend, std::string_view name,
                                 std::optional<std::size_t> step, std::uint64_t round) {
  const auto found = find_lesson(session, backend, name);
  if (!found) return found.error();
  LessonPlace& place = session.state.lesson;
  place.shelf = session.shelf;
  place.lesson = *found;
  const std::size_t at = step.value_or(step_to_go_on(session.progress, *place.open()));
  return go_to_step(session, backend, at, round);
}

Outcome<std::string> lay_out_step(Session& session, Backend& backend, std::string_view name,
                                  std::size_t step, std::uint64_t round) {
  const auto found = find_lesson(session, backend, name);
  if (!found) return found.error();
  LessonPlace place;
  place.shelf = session.shelf;
  place.lesson = *found;
  const Lesson& lesson = *place.open();
  if (step >= lesson.steps.size()) return no_step(lesson);
  if (round >= most_rounds) return no_round();
  auto sheet = sheet_of(session, backend, lesson, *found, step, round);
  if (!sheet) return sheet.error();
  place.step = step;
  place.round = round;
  place.sheet = std::move(*sheet);
  place.shown = true;
  session.state.lesson = place;
  return fmt::format("{}, step {}: {}.", lesson.title, step + 1, lesson.steps[step].title);
}

Outcome<std::string> go_to_step(Session& session, Backend& backend, std::size_t step,
                                std::uint64_t round) {
  LessonPlace place = session.state.lesson;
  const Lesson* lesson = place.open();
  if (!lesson) {
    return Error{ErrorKind::usage, "No lesson is open; `lesson layouts` opens the first.", ""};
  }
  if (step >= lesson->steps.size()) return no_step(*lesson);
  if (round >= most_rounds) return no_round();
  // Setting the view again keeps the sheet, and with it what was answered.
  const bool same = place.sheet && place.lesson == place.sheet->lesson && step == place.sheet->at &&
                    round == place.sheet->round;
  auto sheet = same ? Outcome<std::shared_ptr<const LessonPage>>(place.sheet)
                    : sheet_of(session, backend, *lesson, place.lesson, step, round);
  if (!sheet) return sheet.error();
  if (auto error = set_view_at_once(session, backend, (*sheet)->step.commands)) return *error;
  place.step = step;
  place.round = round;
  place.sheet = std::move(*sheet);
  place.shown = true;
  session.state.lesson = place;
  session.progress.lessons[lesson->name].seen.insert(lesson->steps[step].title);
  return fmt::format("{}, step {} of {}: {}.{}", lesson->title, step + 1, lesson->steps.size(),
                     place.sheet->step.title, keep_progress(session, backend));
}

Outcome<std::string> answer_exercise(Session& session, Backend& backend, std::string_view answer) {
  const LessonPlace& place = session.state.lesson;
  if (!place.sheet || !place.sheet->step.exercise) {
    return Error{ErrorKind::usage, "Nothing is asked here; an exercise of a lesson asks.", ""};
  }
  lesson_state(session).answer = answer;
  return judge_answer(session, backend);
}

Outcome<std::string> give_hint(Session& session, Backend& backend) {
  const LessonPlace& place = session.state.lesson;
  if (!place.sheet || !place.sheet->step.exercise) {
    return Error{ErrorKind::usage,
                 "There is nothing to hint at; an exercise of a lesson has hints.", ""};
  }
  const PosedExercise& exercise = *place.sheet->step.exercise;
  LessonState& work = lesson_state(session);
  if (work.hints < exercise.hints.size()) return exercise.hints[work.hints++];
  const Outcome<std::string> answer = solution(exercise, evidence_of(session, backend));
  if (!answer) return answer.error();
  work.told = *answer;
  return fmt::format("The answer is {}.{}", *answer,
                     draws_numbers(place) ? " `lesson again` asks with other numbers." : "");
}

}  // namespace tilescope
