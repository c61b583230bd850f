#include "viz/session/lesson_desk.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/lesson/glossary.h"
#include "viz/session/session.h"

namespace tilescope {
const LessonDesk& desk_of(const Session& session) {
  static const LessonDesk blank;
  const LessonPlace& place = session.choices.lesson;
  return place.sheet && session.desk.sheet == place.sheet ? session.desk : blank;
}

LessonDesk& desk_of(Session& session) {
  const LessonPlace& place = session.choices.lesson;
  if (session.desk.sheet != place.sheet) {
    session.desk = {};
    session.desk.sheet = place.sheet;
  }
  return session.desk;
}

std::shared_ptr<const LessonShelf> shelf_of(Session& session, const Workshop& workshop) {
  if (session.shelf) return session.shelf;
  auto shelf = std::make_shared<LessonShelf>();
  for (const std::string& name : workshop.lesson_names()) {
    const Outcome<std::string> text = workshop.lesson_text(name);
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
    for (const std::string& form : entry.term.forms) shelf->meanings[form] = meaning;
  }
  session.shelf = shelf;
  return session.shelf;
}

std::string step_command(const Choices& choices) {
  const Lesson* lesson = choices.lesson.open();
  return lesson ? fmt::format("lesson {} {}", lesson->name, choices.lesson.step + 1) : "";
}

RunEvidence evidence_of(const Session& session) {
  RunEvidence evidence;
  const std::shared_ptr<const DiffView> view = session.choices.diff;
  if (!view) return evidence;
  const DifferenceSource& source = view->source();
  evidence.done = true;
  evidence.rows = source.rows();
  evidence.columns = source.columns();
  evidence.wrong = view->wrong_count();
  const std::vector<Element> first = view->wrong_bins(1, 0, 0, evidence.rows, evidence.columns, 1);
  if (!first.empty()) evidence.first_wrong = first[0].row * evidence.columns + first[0].column;
  evidence.at = [view](std::int64_t row, std::int64_t column) {
    float difference = 0;
    std::uint8_t wrong = 0;
    view->source().read(row, column, {&difference, 1}, {&wrong, 1});
    return RunEvidence::Element{wrong != 0, view->source().got(row, column),
                                view->source().want(row, column)};
  };
  return evidence;
}

}  // namespace tilescope
