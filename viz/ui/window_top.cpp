// The top line: the field with what is open, its value or what is wrong with it, and what can be
// done.
#include "viz/ui/window_ui.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "viz/scene/tour.h"
#include "viz/ui/keys.h"
#include "viz/ui/style.h"

#include <imgui_stdlib.h>

namespace tilescope::ui {
namespace {

// What a button that goes a step would do: "Takes back `colour offset`".
std::string step_words(const char* does, const std::vector<Step>& steps) {
  return steps.empty() ? "" : fmt::format("{} `{}`", does, steps.back().name);
}

constexpr float kMargin = 16, kFieldTop = 12, kFieldPadding = 10;

}  // namespace

void WindowUi::draw_top(const Brush& brush, Session& session, ImVec2 at, ImVec2 size) {
  brush.line(at.x, at.y + size.y - 1, at.x + size.x, at.y + size.y - 1);
  ImFont* name = fonts_.strong(TextSize::medium);
  const float middle = at.y + kFieldTop + button_height / 2;
  brush.text(at.x + kMargin, middle, name, Role::text, "Tilescope");
  const float field_x = std::round(at.x + kMargin + text_width(name, "Tilescope") + 24);

  struct Action {
    std::string words, command;
    bool enabled, loud;
    std::string about = {};  // on hover
  };
  const bool kernel = session.choices.kernel != nullptr;
  const std::vector<Action> actions = {
      {"Run", "run", kernel && !session.running, kernel},
      {"Undo", "undo", !session.past.empty(), false, step_words("Takes back", session.past)},
      {"Redo", "redo", !session.future.empty(), false, step_words("Does again", session.future)},
      {"Show all", "zoom fit", true, false},
      {session.choices.dark ? "Light" : "Dark", session.choices.dark ? "theme light" : "theme dark",
       true, false},
  };
  float width = 0;
  for (const Action& action : actions) width += button_width(brush, action.words) + 8;
  float x = at.x + size.x - kMargin - width + 8;
  const float field_width = std::max(80.0f, x - 16 - field_x);
  for (const Action& action : actions) {
    if (button(brush, action.command.c_str(), action.words, {x, at.y + kFieldTop}, 0,
               action.enabled, action.loud)) {
      issue(action.command);
    }
    if (!action.about.empty() && ImGui::IsItemHovered()) tooltip(brush, action.about);
    x += button_width(brush, action.words) + 8;
  }
  const auto part = [&](TourStep::Part which, float from, float wide) {
    parts_[static_cast<std::size_t>(which)] = {{from - 4, at.y + kFieldTop - 4},
                                               {wide + 8, button_height + 8}};
  };
  part(TourStep::Part::field, field_x, field_width);
  part(TourStep::Part::actions, at.x + size.x - kMargin - width + 8, width - 8);
  draw_field(brush, session, {field_x, at.y + kFieldTop}, field_width);
  draw_problem(brush, session, {field_x, at.y + kFieldTop + button_height}, field_width);
}

void WindowUi::draw_field(const Brush& brush, Session& session, ImVec2 at, float width) {
  // Text that a command put into the session replaces what is being typed.
  if (session.field != field_shown_) {
    if (session.field != field_text_) {
      field_text_ = session.field;
      ++field_generation_;
    }
    field_shown_ = session.field;
  }
  ImFont* font = fonts_.code(TextSize::small);
  const bool wrong = session.problem.has_value();
  ImGui::SetCursorScreenPos(at);
  ImGui::PushFont(font);
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding,
                      ImVec2(kFieldPadding, (button_height - font->FontSize) / 2));
  if (wrong) ImGui::PushStyleColor(ImGuiCol_Border, packed(session.theme().wrong));
  ImGui::PushID(field_generation_);
  ImGui::SetNextItemWidth(width);
  const bool typed = ImGui::InputTextWithHint(
      "##field", "a layout expression, `preset NAME`, or a kernel", &field_text_);
  const bool active = ImGui::IsItemActive();
  focus_frame(brush, at, {at.x + width, at.y + button_height}, /*text_field=*/true);
  const bool entered = ImGui::IsItemDeactivated() && pressed({Key::enter});
  ImGui::PopID();
  if (wrong) ImGui::PopStyleColor();
  ImGui::PopStyleVar();
  ImGui::PopFont();
  if (active && !wrong) {
    brush.list->AddRect(at, {at.x + width, at.y + button_height}, packed(session.theme().accent), 4,
                        0, 1);
  }
  if (typed) {
    field_shown_ = field_text_;
    session.field = field_text_;
    intents_.push_back({Intent::Kind::typed, field_text_, 0});
  }
  if (entered) intents_.push_back({Intent::Kind::entered, field_text_, 0});

  if (!wrong) return;
  const std::size_t begin = std::min(session.problem->begin, field_text_.size());
  const std::size_t end = std::clamp(session.problem->end, begin, field_text_.size());
  const float char_width = text_width(font, "0");
  const float from = at.x + kFieldPadding + text_width(font, field_text_.substr(0, begin));
  const float wide = std::max(char_width, text_width(font, field_text_.substr(begin, end - begin)));
  problem_x_ = std::clamp(from, at.x + kFieldPadding, at.x + width - 24);
  const float stop = std::min(from + wide, at.x + width - kFieldPadding);
  if (stop > problem_x_) {
    brush.box(problem_x_, at.y + button_height - 6, stop - problem_x_, 2, Role::wrong);
  }
}

void WindowUi::draw_problem(const Brush& brush, const Session& session, ImVec2 at, float width) {
  const float y = at.y + 16;
  if (!session.problem) {
    const Meaning meaning = meaning_of_field(session);
    ImFont* font = meaning.code ? fonts_.code(TextSize::small) : fonts_.words(TextSize::small);
    cut_line(brush, at.x + kFieldPadding, y, width, font, Role::quiet, meaning.text);
    return;
  }
  // The sentence begins under the caret if it fits there, else as far left as it needs.
  ImFont* font = fonts_.words(TextSize::small);
  const std::string& sentence = session.problem->sentence;
  const float wide = text_width(font, sentence);
  const float limit = ImGui::GetIO().DisplaySize.x - 16;
  const float x = std::clamp(problem_x_ + 16, at.x + 16, std::max(at.x + 16, limit - wide));
  const float tip = std::clamp(problem_x_ + 4, at.x + 4, x);
  brush.list->AddTriangleFilled({tip - 5, y + 3}, {tip + 5, y + 3}, {tip, y - 5},
                                packed(session.theme().wrong));
  const float from = std::max(x, tip + 12);
  cut_line(brush, from, y, limit - from, font, Role::wrong, sentence);
}

}  // namespace tilescope::ui
