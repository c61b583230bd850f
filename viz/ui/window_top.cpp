// The top line: the field with what is open, its value or what is wrong with it, and what can be
// done.
#include "viz/ui/window_ui.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "viz/session/tour.h"
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

void WindowUi::draw_top(const Brush& brush, Session& session, const Backend& backend, ImVec2 at,
                        ImVec2 size) {
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
  const bool kernel = session.state.kernel != nullptr;
  std::vector<Action> actions = {
      {"Run", "run", kernel && !session.running, kernel},
      {"Undo", "undo", !session.past.empty(), false, step_words("Takes back", session.past)},
      {"Redo", "redo", !session.future.empty(), false, step_words("Does again", session.future)},
      {"Share", "share", true, false, "Copies a word that opens this view elsewhere"},
      {"Show all", "zoom fit", true, false},
      {session.state.dark ? "Light" : "Dark", session.state.dark ? "theme light" : "theme dark",
       true, false},
  };
  // The field comes first: where it would be narrow, icons stand alone, but for the action that the
  // window is about; then what also has a key or is seldom needed goes.
  bool alone = false;
  const auto width_of = [&](const Action& action) {
    const bool icon = alone && &action != &actions.front();
    return icon ? icon_button_width : button_width(brush, action.words);
  };
  const auto all_of_them = [&] {
    float width = 0;
    for (const Action& action : actions) width += width_of(action) + 8;
    return width;
  };
  const auto field_room = [&] { return at.x + size.x - kMargin - all_of_them() - 8 - field_x; };
  constexpr float least_field = 280, enough = 400;
  alone = field_room() < enough;
  while (actions.size() > 2 && field_room() < least_field) actions.pop_back();
  const float width = all_of_them();
  float x = at.x + size.x - kMargin - width + 8;
  const float field_width = std::max(80.0f, x - 16 - field_x);
  draw_field(brush, session, backend, {field_x, at.y + kFieldTop}, field_width);
  for (const Action& action : actions) {
    const ImVec2 place{x, at.y + kFieldTop};
    const bool icon = alone && &action != &actions.front();
    const bool clicked =
        icon ? icon_button(brush, action.command.c_str(), action.words, place, action.enabled)
             : button(brush, action.command.c_str(), action.words, place, 0, action.enabled,
                      action.loud);
    if (clicked) issue(action.command);
    const std::string about = !icon ? action.about
                              : action.about.empty()
                                  ? action.words
                                  : fmt::format("{}: {}", action.words, action.about);
    if (!about.empty() && ImGui::IsItemHovered()) tooltip(brush, about);
    x += width_of(action) + 8;
  }
  const auto part = [&](TourStep::Part which, float from, float wide) {
    parts_[static_cast<std::size_t>(which)] = {{from - 4, at.y + kFieldTop - 4},
                                               {wide + 8, button_height + 8}};
  };
  part(TourStep::Part::field, field_x, field_width);
  part(TourStep::Part::actions, at.x + size.x - kMargin - width + 8, width - 8);
  const ImVec2 under{field_x, at.y + kFieldTop + button_height};
  const bool wrong = session.problem && !(offers_.signature && offers_.unfinished);
  if (wrong || !draw_signature(brush, under, field_width)) {
    draw_problem(brush, session, under, field_width);
  }
  draw_completions(brush, session);
}

void WindowUi::draw_field(const Brush& brush, Session& session, const Backend& backend, ImVec2 at,
                          float width) {
  // Text that a command put into the session replaces what is being typed.
  if (session.field != field_shown_) {
    if (session.field != field_text_) {
      field_text_ = session.field;
      ++field_generation_;
      if (field_active_) move_caret_ = session.editor.caret;
    }
    field_shown_ = session.field;
  }
  offers_ = assistance(session, backend);
  chosen_ = std::min(session.editor.chosen, offers_.completions.all.size());
  recall_ = 0;
  accept_.reset();
  caret_ = session.editor.caret;
  ImFont* font = fonts_.code(TextSize::small);
  const bool wrong = session.problem.has_value();
  ImGui::SetCursorScreenPos(at);
  ImGui::PushFont(font);
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding,
                      ImVec2(kFieldPadding, (button_height - font->FontSize) / 2));
  if (wrong) ImGui::PushStyleColor(ImGuiCol_Border, packed(session.theme().wrong));
  ImGui::PushID(field_generation_);
  ImGui::SetNextItemWidth(width);
  if (move_caret_) ImGui::SetKeyboardFocusHere();
  const bool typed = ImGui::InputTextWithHint(
      "##field", "a layout expression, `preset NAME`, or a kernel", &field_text_,
      ImGuiInputTextFlags_CallbackAlways | ImGuiInputTextFlags_CallbackHistory |
          (offers_.completions.all.empty() ? 0 : ImGuiInputTextFlags_CallbackCompletion),
      edit, this);
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
  // Where another part of the window took the keyboard the list goes; a list that a command asked
  // for stays.
  if (active != field_active_ && !move_caret_) session.editor.active = active;
  field_active_ = active || move_caret_.has_value();
  Editor& editor = session.editor;
  if (active) {
    changed_ |= editor.caret != caret_ || editor.chosen != chosen_;
    editor.caret = caret_;
    editor.chosen = chosen_;
  }
  if (typed) {
    editor.dismissed = false;
    editor.chosen = 0;
    editor.recalled.reset();
  }
  if (recall_ != 0) issue(recall_ < 0 ? "recall back" : "recall next");
  if (accept_) issue(fmt::format("complete {}", *accept_ + 1));
  const float mono = text_width(font, "0");
  list_at_ = {std::min(at.x + kFieldPadding + mono * static_cast<float>(offers_.completions.begin),
                       at.x + width - 320),
              at.y + button_height + 28};
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

// The keys of the field: Up and Down go through the list, or through what was opened; Tab takes
// what is chosen.
int WindowUi::edit(ImGuiInputTextCallbackData* data) {
  WindowUi& self = *static_cast<WindowUi*>(data->UserData);
  const std::size_t offered = self.offers_.completions.all.size();
  switch (data->EventFlag) {
    case ImGuiInputTextFlags_CallbackCompletion:
      if (offered > 0) self.accept_ = self.chosen_;
      break;
    case ImGuiInputTextFlags_CallbackHistory: {
      const bool up = data->EventKey == ImGuiKey_UpArrow;
      if (offered == 0) {
        self.recall_ = up ? -1 : 1;
      } else {
        self.chosen_ = (self.chosen_ + (up ? offered - 1 : 1)) % offered;
      }
      break;
    }
    default:
      if (self.move_caret_) {
        data->CursorPos = static_cast<int>(
            std::min<std::size_t>(*self.move_caret_, static_cast<std::size_t>(data->BufTextLen)));
        data->ClearSelection();
        self.move_caret_.reset();
      }
      self.caret_ = static_cast<std::size_t>(data->CursorPos);
  }
  return 0;
}

// The function around the caret, the parameter that is being typed in bold.
bool WindowUi::draw_signature(const Brush& brush, ImVec2 at, float width) {
  if (!offers_.signature) return false;
  const Signature& call = *offers_.signature;
  ImFont* code = fonts_.code(TextSize::small);
  const float y = at.y + 16, right = at.x + width;
  float x = at.x + kFieldPadding;
  const auto put = [&](ImFont* font, Role role, std::string_view words) {
    if (x >= right) return;
    cut_line(brush, x, y, right - x, font, role, std::string(words));
    x += text_width(font, words);
  };
  put(code, Role::quiet, call.name);
  put(code, Role::quiet, call.parameters.substr(0, call.begin));
  const float begin = x;
  put(code, Role::text, call.parameters.substr(call.begin, call.end - call.begin));
  if (x > begin) brush.box(begin, y + 8, x - begin, 2, Role::accent);
  put(code, Role::quiet, call.parameters.substr(call.end));
  x += 16;
  put(fonts_.words(TextSize::small), Role::quiet, call.help);
  return true;
}

// A list under the word that is being typed. A press takes a line before the field loses the
// keyboard.
void WindowUi::draw_completions(const Brush& brush, Session& session) {
  const std::vector<Completion>& all = offers_.completions.all;
  if (all.empty()) return;
  constexpr float row = 24, width = 560;
  constexpr std::size_t most = 10;
  const std::size_t first = chosen_ < most ? 0 : chosen_ - most + 1;
  const std::size_t count = std::min(most, all.size() - first);
  const float foot = all.size() > most ? row : 0;
  const ImVec2 size{std::min(width, ImGui::GetIO().DisplaySize.x - list_at_.x - 16),
                    row * static_cast<float>(count) + 8 + foot};
  ImGui::SetNextWindowPos(list_at_);
  ImGui::SetNextWindowSize(size);
  ImGui::PushStyleColor(ImGuiCol_WindowBg, packed(brush.theme.paper));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 1);
  ImGui::Begin("completions", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                   ImGuiWindowFlags_NoFocusOnAppearing | ImGuiWindowFlags_NoNav |
                   ImGuiWindowFlags_NoSavedSettings);
  Brush inner = brush;
  inner.list = ImGui::GetWindowDrawList();
  ImFont* code = fonts_.code(TextSize::small);
  ImFont* words = fonts_.words(TextSize::small);
  for (std::size_t i = first; i < first + count; ++i) {
    const float y = list_at_.y + 4 + row * static_cast<float>(i - first);
    const ImVec2 low{list_at_.x + 4, y}, high{list_at_.x + size.x - 4, y + row};
    const bool hovered = ImGui::IsMouseHoveringRect(low, high);
    if (i == chosen_) {
      inner.list->AddRectFilled(low, high, packed(Ink(Role::accent, 0.14), brush.theme), 4);
    } else if (hovered) {
      inner.list->AddRectFilled(low, high, packed(Ink(Role::text, 0.07), brush.theme), 4);
    }
    const float middle = y + row / 2, x = low.x + 8;
    inner.text(x, middle, code, Role::text, all[i].text);
    const float detail = x + std::max(160.0f, text_width(code, all[i].text) + 16);
    const std::string about =
        all[i].detail.empty() ? std::string(name_of(all[i].kind)) : all[i].detail;
    cut_line(inner, detail, middle, high.x - 8 - detail, words, Role::quiet, about);
    if (hovered && ImGui::IsMouseClicked(ImGuiMouseButton_Left)) {
      issue(fmt::format("complete {}", i + 1));
      field_active_ = true;  // the field goes on being typed in
      session.editor.active = true;
    }
  }
  if (foot > 0) {
    inner.text(list_at_.x + 12, list_at_.y + size.y - row / 2 - 4, words, Role::quiet,
               fmt::format("{} more; Tab takes the marked one", all.size() - count));
  }
  ImGui::End();
  ImGui::PopStyleVar();
  ImGui::PopStyleColor();
}

void WindowUi::draw_problem(const Brush& brush, const Session& session, ImVec2 at, float width) {
  const float y = at.y + 16;
  if (!session.problem) {
    const Meaning meaning = meaning_of_field(session);
    ImFont* font = meaning.code ? fonts_.code(TextSize::small) : fonts_.words(TextSize::small);
    cut_line(brush, at.x + kFieldPadding, y, width - kFieldPadding, font, Role::quiet,
             meaning.text);
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
  if (wide <= limit - from || !offers_.completions.all.empty()) {
    return cut_line(brush, from, y, limit - from, font, Role::wrong, sentence);
  }
  // Two lines have room above the view; what is longer is cut in the second.
  const std::string first = broken(font, sentence, limit - from).front();
  brush.text(from, y - 7, font, Role::wrong, first);
  cut_line(brush, from, y + 9, limit - from, font, Role::wrong, sentence.substr(first.size()));
}

}  // namespace tilescope::ui
