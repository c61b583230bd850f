#include "viz/session/lesson_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "core/lesson/glossary.h"
#include "viz/session/session.h"

namespace tilescope {
const LessonState& lesson_state(const Session& session) {
  static const LessonState blank;
  const LessonPlace& place = session.state.lesson;
  return place.sheet && session.lesson.sheet == place.sheet ? session.lesson : blank;
}

bool draws_numbers(const LessonPlace& place) {
  const Lesson* lesson = place.open();
  if (!lesson || place.step >= lesson->steps.size()) return false;
  const std::optional<Exercise>& exercise = lesson->steps[place.step].exercise;
  return exercise && exercise->numbers.find_first_not_of(" ;") != std::string::npos;
}

LessonState& lesson_state(Session& session) {
  const LessonPlace& place = session.state.lesson;
  if (session.lesson.sheet != place.sheet) {
    session.lesson = {};
    session.lesson.sheet = place.sheet;
  }
  return session.lesson;
}

std::shared_ptr<const LessonIndex> shelf_of(Session& session, const Backend& backend) {
  if (session.shelf) return session.shelf;
  auto shelf = std::make_shared<LessonIndex>();
  for (const std::string& name : backend.lesson_names()) {
    const Outcome<std::string> text = backend.lesson_text(name);
    Outcome<Lesson> lesson = text ? read_lesson(*text, name) : Outcome<Lesson>(text.error());
    if (lesson) {
      shelf->lessons.push_back(std::move(*lesson));
    } else {
      shelf->problems.push_back(lesson.error());
    }
  }
  std::stable_sort(shelf->lessons.begin(), shelf->lessons.end(),
                   [](const Lesson& a, const Lesson& b) { return a.number < b.number; });
  for (const GlossaryEntry& entry : glossary(shelf->lessons)) {
    std::string meaning = fmt::format("{}: {}", entry.term.forms.front(), entry.term.meaning);
    meaning.erase(std::remove(meaning.begin(), meaning.end(), '`'), meaning.end());  // Markdown's
    for (const std::string& form : entry.term.forms) {
      std::string key = form;
      for (char& c : key) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      shelf->meanings[key] = meaning;
    }
  }
  session.shelf = shelf;
  (void)course_of(session, backend);  // lessons end in exercises
  return session.shelf;
}

std::string step_command(const ViewState& state) {
  const Lesson* lesson = state.lesson.open();
  return lesson ? fmt::format("lesson {} {}", lesson->name, state.lesson.step + 1) : "";
}

}  // namespace tilescope
