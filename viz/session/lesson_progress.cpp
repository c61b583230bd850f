#include "viz/session/lesson_progress.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace tilescope {
namespace {

using Json = nlohmann::ordered_json;

const LessonProgress::Of* of(const LessonProgress& progress, const Lesson& lesson) {
  const auto found = progress.lessons.find(lesson.name);
  return found == progress.lessons.end() ? nullptr : &found->second;
}

bool read_titles(const Json& json, const char* key, std::set<std::string>& out) {
  const auto list = json.find(key);
  if (list == json.end()) return true;
  if (!list->is_array()) return false;
  for (const Json& title : *list) {
    if (!title.is_string()) return false;
    out.insert(title.get<std::string>());
  }
  return true;
}

Error broken(const char* what) {
  return {ErrorKind::unreadable, fmt::format("This is no record of lessons: {}.", what), ""};
}

}  // namespace

bool seen(const LessonProgress& progress, const Lesson& lesson, std::size_t step) {
  const LessonProgress::Of* own = of(progress, lesson);
  return own && own->seen.count(lesson.steps[step].title) != 0;
}

bool done(const LessonProgress& progress, const Lesson& lesson, std::size_t step) {
  const LessonProgress::Of* own = of(progress, lesson);
  if (!own) return false;
  const LessonStep& of_lesson = lesson.steps[step];
  const auto& where = of_lesson.exercise ? own->solved : own->seen;
  return where.count(of_lesson.title) != 0;
}

std::size_t step_to_go_on(const LessonProgress& progress, const Lesson& lesson) {
  for (std::size_t i = 0; i < lesson.steps.size(); ++i) {
    if (!done(progress, lesson, i)) return i;
  }
  return 0;
}

std::string progress_words(const LessonProgress& progress, const Lesson& lesson) {
  if (!of(progress, lesson)) return "";
  std::size_t count = 0;
  for (std::size_t i = 0; i < lesson.steps.size(); ++i) count += done(progress, lesson, i);
  if (count == lesson.steps.size()) return "done";
  return fmt::format("{} of {} steps", count, lesson.steps.size());
}

void merge(LessonProgress& into, const LessonProgress& more) {
  for (const auto& [name, own] : more.lessons) {
    LessonProgress::Of& both = into.lessons[name];
    both.seen.insert(own.seen.begin(), own.seen.end());
    both.solved.insert(own.solved.begin(), own.solved.end());
  }
}

std::string progress_text(const LessonProgress& progress) {
  Json lessons = Json::object();
  for (const auto& [name, own] : progress.lessons) {
    lessons[name] = {{"seen", own.seen}, {"solved", own.solved}};
  }
  const Json whole = {{"schema", 1}, {"lessons", std::move(lessons)}};
  return whole.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Outcome<LessonProgress> read_progress(std::string_view text) {
  const Json json = Json::parse(text.begin(), text.end(), nullptr, false);
  if (!json.is_object()) return broken("it is not a JSON object");
  const auto schema = json.find("schema");
  if (schema == json.end() || !schema->is_number_integer()) return broken("it names no schema");
  if (*schema != 1) return broken("its schema is of a later program");
  const auto lessons = json.find("lessons");
  if (lessons == json.end() || !lessons->is_object()) return broken("it lists no lessons");
  LessonProgress progress;
  for (const auto& [name, own] : lessons->items()) {
    LessonProgress::Of& of_lesson = progress.lessons[name];
    if (!own.is_object() || !read_titles(own, "seen", of_lesson.seen) ||
        !read_titles(own, "solved", of_lesson.solved)) {
      return broken("a lesson's steps are not lists of titles");
    }
  }
  return progress;
}

}  // namespace tilescope
