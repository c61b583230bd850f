// Lessons: opening one, its steps, its exercises.
#include "viz/commands/command_table.h"

#include <fmt/format.h>

#include <array>

#include "core/lesson/glossary.h"
#include "viz/commands/lesson_steps.h"
#include "viz/scene/command_text.h"
#include "viz/session/lesson_state.h"

namespace tilescope {
namespace {

Answer run_step(Session& session, Backend& backend, std::string_view which) {
  const auto number = number_in(which);
  if (!number || *number < 1) {
    return usage_error("`lesson step` needs the step's number, counted from 1: `lesson step 3`.");
  }
  return go_to_step(session, backend, static_cast<std::size_t>(*number) - 1, 0);
}

// A step with these numbers. `keep` is for a view that comes from elsewhere, as a share string's
// does: the lines before this one have set it. Not listed, since a person wants the numbers as they
// are drawn: `lesson layouts 3`.
Answer run_at(Session& session, Backend& backend, std::string_view arguments) {
  std::vector<std::string> words = split_words(arguments);
  const bool keeps = !words.empty() && words.back() == "keep";
  if (keeps) words.pop_back();
  const auto step = words.size() > 1 ? number_in(words[1]) : std::nullopt;
  const auto round = words.size() > 2 ? number_in(words[2]) : std::optional<std::int64_t>(0);
  if (words.size() > 3 || !step || *step < 1 || !round || *round < 0) {
    return usage_error(
        "`lesson at` needs a lesson, a step and, where wanted, which numbers: `lesson at layouts 3 "
        "0`; with `keep` after it the view stays as it is.");
  }
  const auto at = static_cast<std::size_t>(*step) - 1;
  const auto numbers = static_cast<std::uint64_t>(*round);
  return keeps ? lay_out_step(session, backend, words[0], at, numbers)
               : open_lesson(session, backend, words[0], at, numbers);
}

// Lessons by name, where they are known, and what moves in the open one.
std::vector<Suggestion> suggest_lesson(const Session& session, const Backend&) {
  std::vector<Suggestion> out;
  if (session.shelf) {
    for (const Lesson& lesson : session.shelf->lessons) out.push_back({lesson.name, lesson.about});
  }
  out.push_back({"next", "the next step"});
  out.push_back({"back", "the step before"});
  out.push_back({"again", "the same exercise with other numbers"});
  out.push_back({"view", "sets the step's view again"});
  out.push_back({"close", "puts the lesson away"});
  return out;
}

// "layouts", or "layouts 4"
Answer run_open(Session& session, Backend& backend, std::string_view name, std::string_view which) {
  if (which.empty()) return open_lesson(session, backend, name);
  const auto number = number_in(which);
  if (!number || *number < 1) {
    return usage_error(fmt::format(
        "`lesson {0}` may take a step's number, counted from 1: `lesson {0} 3`.", name));
  }
  return open_lesson(session, backend, name, static_cast<std::size_t>(*number) - 1);
}

Answer run_lesson(Session& session, Backend& backend, std::string_view arguments) {
  const auto [what, rest] = first_word(arguments);
  const LessonPlace& place = session.state.lesson;
  if (what.empty()) {
    return usage_error(
        "`lesson` needs a lesson's name, or next, back, step N, again, view or close.");
  }
  if (what == "step") return run_step(session, backend, rest);
  if (what == "at") return run_at(session, backend, rest);
  const bool moves =
      what == "next" || what == "back" || what == "again" || what == "view" || what == "close";
  if (!moves) return run_open(session, backend, what, rest);
  if (!rest.empty()) return usage_error(fmt::format("`lesson {}` takes nothing more.", what));
  if (what == "next") {
    const Lesson* lesson = place.open();
    if (lesson && place.step + 1 >= lesson->steps.size()) {
      return usage_error("This is the last step; `lesson back` goes to the one before.");
    }
    return go_to_step(session, backend, place.step + 1, 0);
  }
  if (what == "back") {
    if (place.open() && place.step == 0) return usage_error("This is the first step.");
    return go_to_step(session, backend, place.step - 1, 0);
  }
  if (what == "again")
    return go_to_step(session, backend, place.step, (place.round + 1) % most_rounds);
  if (what == "view") return go_to_step(session, backend, place.step, place.round);
  if (!place.open()) return usage_error("No lesson is open.");
  session.state.lesson = {};
  return std::string("The lesson is closed.");
}

Answer run_answer(Session& session, Backend& backend, std::string_view arguments) {
  return answer_exercise(session, backend, unquoted(arguments));
}

Answer run_hint(Session& session, Backend& backend, std::string_view) {
  return give_hint(session, backend);
}

Answer run_glossary(Session& session, Backend& backend, std::string_view arguments) {
  const auto shelf = shelf_of(session, backend);
  const Overlay sheet{Overlay::Kind::words, std::string(unquoted(arguments)), 0, ""};
  std::string names;
  for (const GlossaryEntry& entry : glossary(shelf->lessons)) {
    if (has_form(entry.term, unquoted(arguments))) {
      session.overlay = sheet;
      return fmt::format("{}: {}", entry.term.forms.front(), entry.term.meaning);
    }
    names += fmt::format("{}{}", names.empty() ? "" : ", ", entry.term.forms.front());
  }
  if (arguments.empty() && !names.empty()) {
    session.overlay = sheet;
    return fmt::format("The lessons explain {}.", names);
  }
  return usage_error(fmt::format("The lessons do not explain `{}`; they explain {}.", arguments,
                                 names.empty() ? "nothing" : names));
}

constexpr std::array kLessonCommands = {
    WindowCommand{"lesson", "NAME [STEP] | next | back | step N | again | view | close",
                  "opens a lesson, or moves in it; again asks with other numbers", "lesson layouts",
                  "", run_lesson, suggest_lesson, true},
    WindowCommand{"answer", "TEXT", "answers the lesson's exercise", "answer 12", "", run_answer},
    WindowCommand{"hint", "", "a hint for the exercise, then a second, then its answer", "hint", "",
                  run_hint},
    WindowCommand{"glossary", "[WORD]", "what a word of the lessons means, or which they explain",
                  "glossary stride", "", run_glossary},
};

}  // namespace

std::span<const WindowCommand> lesson_commands() {
  return kLessonCommands;
}

}  // namespace tilescope
