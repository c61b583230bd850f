// The lesson where the inspector stands: text, pictures, the exercise, and the way on.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "viz/scene/command_text.h"
#include "viz/ui/keys.h"
#include "viz/ui/rich_text.h"
#include "viz/ui/style.h"
#include "viz/ui/window_ui.h"

#include <imgui_stdlib.h>

namespace tilescope::ui {
namespace {

constexpr float kFoot = 48;      // Back and Next
constexpr float kPicture = 216;  // the tallest picture in the text
constexpr float kMargin = 8;

float room() {
  return ImGui::GetContentRegionAvail().x - 2 * kMargin - 4;
}

// Text at the cursor, which then stands below it with `gap` between.
void put_text(const Brush& brush, const std::vector<TextSpan>& spans, Role role, float indent = 0,
              float gap = 8, KnownWords* known = nullptr) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float high =
      rich_text(brush, at.x + kMargin + indent, at.y, room() - indent, spans, role, known);
  ImGui::Dummy({0, high + gap});
}

void put_line(const Brush& brush, ImFont* font, Role role, const std::string& words, float height) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  cut_line(brush, at.x + kMargin, at.y + height / 2, room(), font, role, words);
  ImGui::Dummy({0, height});
}

void put_heading(const Brush& brush, const std::string& words) {
  ImFont* font = brush.fonts.strong(TextSize::medium);
  for (const std::string& line : broken(font, words, room())) {
    put_line(brush, font, Role::text, line, 24);
  }
  ImGui::Dummy({0, 8});
}

// Beside a bar in the colour of what it is: right, wrong, or no try at all.
void put_verdict(const Brush& brush, const Judgement& verdict) {
  std::vector<TextSpan> spans = spans_of(verdict.sentence);
  const bool right = verdict.is == Judgement::Is::right;
  const bool wrong = verdict.is == Judgement::Is::wrong;
  if (right) spans = {{TextSpan::Kind::strong, verdict.sentence}};
  if (wrong) spans.insert(spans.begin(), {TextSpan::Kind::strong, "Not yet. "});
  const ImVec2 at = ImGui::GetCursorScreenPos();
  put_text(brush, spans, Role::text, 12);
  const float below = ImGui::GetCursorScreenPos().y - 8;
  brush.box(at.x + kMargin, at.y, 3, below - at.y,
            right   ? Role::accent
            : wrong ? Role::wrong
                    : Role::line);
}

// A mark a step: filled where it is done, framed where we are.
void put_steps(const Brush& brush, const LessonPanel& panel) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const auto count = static_cast<float>(panel.steps);
  const float gap = 4, wide = std::min(24.0f, std::floor((room() + gap) / count) - gap);
  for (std::size_t i = 0; i < panel.steps; ++i) {
    const float x = at.x + kMargin + static_cast<float>(i) * (wide + gap);
    brush.box(x, at.y + 4, wide, 4, panel.done[i] ? Role::accent : Role::line, 2);
    if (i == panel.step) brush.box(x, at.y + 10, wide, 2, Role::text);
  }
  ImGui::Dummy({0, 24});
}

}  // namespace

void WindowUi::draw_picture_of_lesson(const Brush& brush, const Session& session,
                                      const LessonBlock& block) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  Viewport viewport{{double{room()}, double{kPicture}}};
  viewport.title = false;
  viewport.legend = false;
  const Frame frame = arrange(*block.picture, viewport);
  const Scene scene = build_scene(*block.picture, block.choice, session.theme(), frame);
  brush.box(at.x + kMargin, at.y, room(), kPicture, Role::paper, 4);
  painter_.paint(scene, *brush.list, {at.x + kMargin, at.y}, fonts_, 1, true);
  ImGui::Dummy({0, kPicture + 16});
}

void WindowUi::draw_block(const Brush& brush, const Session& session, const LessonBlock& block,
                          KnownWords& known) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  switch (block.kind) {
    case LessonPart::Kind::paragraph:
      return put_text(brush, block.spans, Role::text, 0, 8, &known);
    case LessonPart::Kind::item:
      brush.box(at.x + kMargin + 4, at.y + rich_line / 2 - 2, 4, 4, Role::quiet, 2);
      return put_text(brush, block.spans, Role::text, 16, 4, &known);
    case LessonPart::Kind::term: {
      put_text(brush, block.spans, Role::text, 12);
      const ImVec2 below = ImGui::GetCursorScreenPos();
      return brush.box(at.x + kMargin, at.y, 2, below.y - 8 - at.y, Role::accent);
    }
    case LessonPart::Kind::picture:
      return draw_picture_of_lesson(brush, session, block);
  }
}

void WindowUi::draw_answer_field(const Brush& brush, const Session& session,
                                 const LessonQuestion& question) {
  // Another step or other numbers: what was typed belonged to the one before.
  if (answered_sheet_ != session.state.lesson.sheet) {
    answered_sheet_ = session.state.lesson.sheet;
    answer_text_ = question.answer;
  }
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float wide = button_width(brush, "Answer");
  ImFont* font = fonts_.code(TextSize::small);
  ImGui::SetCursorScreenPos({at.x + kMargin, at.y});
  ImGui::PushFont(font);
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(10, (button_height - font->FontSize) / 2));
  ImGui::SetNextItemWidth(room() - wide - 8);
  const bool entered = ImGui::InputTextWithHint("##answer", question.form.c_str(), &answer_text_,
                                                ImGuiInputTextFlags_EnterReturnsTrue);
  focus_frame(brush, ImGui::GetItemRectMin(), ImGui::GetItemRectMax(), /*text_field=*/true);
  ImGui::PopStyleVar();
  ImGui::PopFont();
  const bool clicked = button(brush, "answer", "Answer", {at.x + kMargin + room() - wide, at.y},
                              wide, !answer_text_.empty(), true);
  if ((entered || clicked) && !answer_text_.empty()) {
    issue(fmt::format("answer {}", quoted_word(answer_text_)));
  }
  ImGui::SetCursorScreenPos({at.x, at.y + button_height + 8});
}

void WindowUi::draw_question(const Brush& brush, const Session& session,
                             const LessonQuestion& question, KnownWords& known) {
  const ImVec2 top = ImGui::GetCursorScreenPos();
  brush.line(top.x + kMargin, top.y, top.x + kMargin + room(), top.y);
  ImGui::Dummy({0, 8});
  put_line(brush, fonts_.strong(TextSize::small), Role::text,
           question.solved ? "Exercise, solved" : "Exercise", 24);
  put_text(brush, question.question, Role::text, 0, 8, &known);
  for (const std::string& choice : question.choices) {
    put_text(brush, {{TextSpan::Kind::code, choice}}, Role::text, 12, 4);
  }
  // The field says it too, as far as it has room.
  const float field = room() - button_width(brush, "Answer") - 8 - 20;
  ImFont* font = fonts_.code(TextSize::small);
  if (font->CalcTextSizeA(font->FontSize, FLT_MAX, 0, question.form.c_str()).x > field) {
    put_text(brush, {{TextSpan::Kind::plain, fmt::format("The answer is {}.", question.form)}},
             Role::quiet, 0, 8);
  }
  draw_answer_field(brush, session, question);
  if (question.verdict) put_verdict(brush, *question.verdict);
  for (const auto& hint : question.hints) put_text(brush, hint, Role::quiet, 12, 4);
  if (!question.told.empty()) {
    put_text(brush,
             {{TextSpan::Kind::plain, "The answer is "}, {TextSpan::Kind::code, question.told}},
             Role::text, 12, 4);
  }
  ImGui::Dummy({0, 4});
  const ImVec2 at = ImGui::GetCursorScreenPos();
  float x = at.x + kMargin;
  if (!question.hint_button.empty()) {
    if (button(brush, "hint", question.hint_button, {x, at.y}, 0, true)) issue("hint");
    x += button_width(brush, question.hint_button) + 8;
  }
  if (question.draws && button(brush, "again", "Other numbers", {x, at.y}, 0, true)) {
    issue("lesson again");
  }
  ImGui::SetCursorScreenPos({at.x, at.y + button_height + 8});
}

// A verdict or a hint that is new is scrolled into view; the exercise ends the panel.
void WindowUi::show_what_was_said(const LessonQuestion& question) {
  std::string said = fmt::format("{} {}", question.hints.size(), question.told);
  if (question.verdict) said += question.verdict->sentence;
  if (said == said_) return;
  said_ = std::move(said);
  if (question.verdict || !question.hints.empty()) ImGui::SetScrollHereY(1);
}

// What of the course the lesson ends in.
void WindowUi::draw_exercises_of_lesson(const Brush& brush, const LessonPanel& panel) {
  if (panel.exercises.empty()) return;
  ImGui::Dummy({0, 8});
  put_line(brush, fonts_.strong(TextSize::small), Role::text, "Write it yourself", 24);
  for (const auto& [name, title] : panel.exercises) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const std::string words = fmt::format("{}: {}", name, title);
    if (button(brush, name.c_str(), words, {at.x + kMargin, at.y},
               std::min(room(), button_width(brush, words)), true)) {
      issue("course " + name);
    }
    ImGui::SetCursorScreenPos({at.x, at.y + button_height + 8});
  }
}

void WindowUi::draw_right(const Brush& brush, const Session& session, ImVec2 at, ImVec2 size) {
  const std::optional<LessonPanel> lesson = lesson_panel(session);
  if (!lesson) return draw_inspector(brush, session, at, size);
  const bool shown = session.state.lesson.shown;
  const Choice which{
      "", {{"Lesson", "select lesson", shown}, {"Inspector", "select inspector", !shown}}};
  if (const std::string* command = segmented(brush, which, {at.x + 16, at.y + 8})) issue(*command);
  const float head = 48, words = button_width(brush, "Words");
  if (button(brush, "words", "Words", {at.x + size.x - 16 - words, at.y + 8}, words, true)) {
    issue("glossary");
  }
  brush.line(at.x, at.y + head - 1, at.x + size.x, at.y + head - 1);
  const ImVec2 below{at.x, at.y + head}, rest{size.x, std::max(1.0f, size.y - head)};
  if (shown) return draw_lesson(brush, session, *lesson, below, rest);
  draw_inspector(brush, session, below, rest);
}

void WindowUi::draw_lesson(Brush brush, const Session& session, const LessonPanel& panel, ImVec2 at,
                           ImVec2 size) {
  const float foot = at.y + size.y - kFoot;
  ImGui::PushID(panel.heading.c_str());  // another step begins at its top
  begin_panel(brush, "lesson", at, {size.x, size.y - kFoot});
  put_line(brush, fonts_.words(TextSize::small), Role::quiet,
           fmt::format("{}, step {} of {}", panel.title, panel.step + 1, panel.steps), 24);
  put_steps(brush, panel);
  put_heading(brush, panel.heading);
  KnownWords known{session.state.lesson.shelf->meanings};
  int index = 0;
  for (const LessonBlock& block : panel.blocks) {
    ImGui::PushID(index++);
    draw_block(brush, session, block, known);
    ImGui::PopID();
  }
  if (panel.question) {
    draw_question(brush, session, *panel.question, known);
    show_what_was_said(*panel.question);
  }
  draw_exercises_of_lesson(brush, panel);
  end_panel();
  ImGui::PopID();
  if (!known.clicked.empty()) issue("glossary " + known.clicked);

  brush.list = ImGui::GetWindowDrawList();
  brush.line(at.x, foot, at.x + size.x, foot);
  const float y = foot + 8;
  if (button(brush, "lesson back", "Back", {at.x + 16, y}, 0, panel.step > 0)) issue("lesson back");
  const bool last = panel.step + 1 == panel.steps;
  const std::string on = !last ? "Next" : panel.next_lesson.empty() ? "Close" : "Next lesson";
  const std::string command = !last                       ? "lesson next"
                              : panel.next_lesson.empty() ? "lesson close"
                                                          : "lesson " + panel.next_lesson;
  const float wide = button_width(brush, on);
  // Beside a long word on the way on there is room for a shorter one.
  const float x = at.x + 24 + button_width(brush, "Back");
  const std::string whole = "Show the view again";
  const bool fits = x + button_width(brush, whole) + 8 <= at.x + size.x - 16 - wide;
  if (button(brush, "lesson view", fits ? whole : "View again", {x, y}, 0, true)) {
    issue("lesson view");
  }
  if (button(brush, "lesson on", on, {at.x + size.x - 16 - wide, y}, wide, true, true)) {
    issue(command);
  }
}

}  // namespace tilescope::ui
