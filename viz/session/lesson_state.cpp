#include "viz/session/lesson_state.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/lesson/glossary.h"
#include "viz/session/session.h"

namespace tilescope {
const LessonState& lesson_state(const Session& session) {
  static const LessonState blank;
  const LessonPlace& place = session.state.lesson;
  return place.sheet && session.lesson.sheet == place.sheet ? session.lesson : blank;
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
    for (const std::string& form : entry.term.forms) shelf->meanings[form] = meaning;
  }
  session.shelf = shelf;
  return session.shelf;
}

std::string step_command(const ViewState& state) {
  const Lesson* lesson = state.lesson.open();
  return lesson ? fmt::format("lesson {} {}", lesson->name, state.lesson.step + 1) : "";
}

RunEvidence evidence_of(const Session& session) {
  RunEvidence evidence;
  const std::shared_ptr<const DiffView> view = session.state.diff;
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
