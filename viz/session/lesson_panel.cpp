#include "viz/session/lesson_panel.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/lesson/glossary.h"
#include "viz/session/session.h"

namespace tilescope {
namespace {

LessonBlock block_of(const LessonPart& part, std::shared_ptr<const LayoutView> picture) {
  LessonBlock block;
  block.kind = part.kind;
  if (!picture) {
    std::string text = part.text;
    // A term is the first words of its meaning.
    if (const std::size_t colon = text.find(':');
        part.kind == LessonPart::Kind::term && colon != text.npos) {
      text = fmt::format("**{}**{}", text.substr(0, colon), text.substr(colon));
    }
    block.spans = spans_of(text);
    return block;
  }
  block.picture = std::move(picture);
  block.expression = part.text;
  if (const auto colour = colour_by_name(part.colour); colour) block.choice.colour = *colour;
  return block;
}

LessonQuestion question_of(const Session& session, const LessonPage& page, bool solved) {
  const PosedExercise& exercise = *page.step.exercise;
  const LessonState& work = lesson_state(session);
  LessonQuestion out;
  out.question = spans_of(exercise.question);
  out.form = exercise.form;
  out.answer = work.answer;
  out.verdict = work.verdict;
  for (std::size_t i = 0; i < work.hints; ++i) out.hints.push_back(spans_of(exercise.hints[i]));
  out.told = work.told;
  out.choices = page.choices;
  const bool right = work.verdict && work.verdict->is == Judgement::Is::right;
  if (work.told.empty() && !right) {
    out.hint_button = work.hints == 0                      ? "Hint"
                      : work.hints < exercise.hints.size() ? "Another hint"
                                                           : "Show the answer";
  }
  out.solved = solved;
  out.draws = draws_numbers(session.state.lesson);
  return out;
}

Json texts_of(const std::vector<std::vector<TextSpan>>& all) {
  Json out = Json::array();
  for (const auto& spans : all) out.push_back(plain_text(spans));
  return out;
}

Json question_json(const LessonQuestion& question) {
  Json out;
  out["question"] = plain_text(question.question);
  if (!question.choices.empty()) out["choices"] = question.choices;
  out["form"] = question.form;
  if (!question.answer.empty()) out["answer"] = question.answer;
  if (question.verdict) out["verdict"] = question.verdict->sentence;
  if (!question.hints.empty()) out["hints"] = texts_of(question.hints);
  if (!question.told.empty()) out["told"] = question.told;
  if (!question.hint_button.empty()) out["button"] = question.hint_button;
  out["solved"] = question.solved;
  return out;
}

}  // namespace

std::vector<TextSpan> spans_of(std::string_view markdown) {
  std::vector<TextSpan> out;
  const auto add = [&](TextSpan::Kind kind, std::string_view text) {
    if (!text.empty()) out.push_back({kind, std::string(text), {}});
  };
  std::size_t begin = 0;
  for (std::size_t at = 0; at < markdown.size();) {
    if (const TermLink link = term_link(markdown.substr(at)); link.length > 0) {
      add(TextSpan::Kind::plain, markdown.substr(begin, at - begin));
      out.push_back({TextSpan::Kind::plain, std::string(link.words), std::string(link.term)});
      begin = at += link.length;
      continue;
    }
    const bool code = markdown[at] == '`', strong = markdown.substr(at, 2) == "**";
    const std::string_view mark = code ? "`" : "**";
    const std::size_t end =
        code || strong ? markdown.find(mark, at + mark.size()) : std::string_view::npos;
    if (end == std::string_view::npos) {
      ++at;
      continue;
    }
    add(TextSpan::Kind::plain, markdown.substr(begin, at - begin));
    at += mark.size();
    add(code ? TextSpan::Kind::code : TextSpan::Kind::strong, markdown.substr(at, end - at));
    begin = at = end + mark.size();
  }
  add(TextSpan::Kind::plain, markdown.substr(begin));
  return out;
}

std::string plain_text(const std::vector<TextSpan>& spans) {
  std::string out;
  for (const TextSpan& span : spans) {
    const bool code = span.kind == TextSpan::Kind::code;
    out += code ? fmt::format("`{}`", span.text) : span.text;
  }
  return out;
}

std::optional<LessonPanel> lesson_panel(const Session& session) {
  const LessonPlace& place = session.state.lesson;
  const Lesson* lesson = place.open();
  if (!lesson || !place.sheet) return {};
  LessonPanel out;
  out.lesson = lesson->name;
  out.title = lesson->title;
  out.step = place.step;
  out.steps = lesson->steps.size();
  for (std::size_t i = 0; i < out.steps; ++i)
    out.done.push_back(done(session.progress, *lesson, i));
  const PosedStep& step = place.sheet->step;
  out.heading = step.title;
  for (std::size_t i = 0; i < step.parts.size(); ++i) {
    out.blocks.push_back(block_of(step.parts[i], place.sheet->pictures[i]));
  }
  out.commands = step.commands;
  if (step.exercise) out.question = question_of(session, *place.sheet, out.done[out.step]);
  const std::vector<Lesson>& all = place.shelf->lessons;
  if (out.step + 1 == out.steps && place.lesson + 1 < all.size()) {
    out.next_lesson = all[place.lesson + 1].name;
  }
  if (out.step + 1 == out.steps) {
    for (const CourseExercise* each : exercises_of(session, lesson->name)) {
      out.exercises.emplace_back(each->name, each->title);
    }
  }
  return out;
}

Json describe(const LessonPanel& panel) {
  Json blocks = Json::array();
  for (const LessonBlock& block : panel.blocks) {
    if (block.picture) {
      blocks.push_back({{"picture", block.expression}});
    } else {
      blocks.push_back({{"text", plain_text(block.spans)}});
    }
  }
  Json out = {{"lesson", panel.title},       {"step", panel.step + 1},
              {"steps", panel.steps},        {"heading", panel.heading},
              {"blocks", std::move(blocks)}, {"commands", panel.commands}};
  if (panel.question) out["exercise"] = question_json(*panel.question);
  for (const auto& [name, title] : panel.exercises) {
    out["course"].push_back({{"exercise", name}, {"title", title}, {"command", "course " + name}});
  }
  if (!panel.next_lesson.empty()) out["next_lesson"] = panel.next_lesson;
  return out;
}

}  // namespace tilescope
