// What stands around the view: outline, inspector, strip, status.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "viz/session/fault_view.h"
#include "viz/session/start_card.h"
#include "viz/session/theatre_session.h"
#include "viz/ui/cut_at_the_end.h"
#include "viz/ui/icons.h"
#include "viz/ui/style.h"
#include "viz/ui/window_ui.h"

namespace tilescope::ui {
namespace {

// A step that can be clicked, under its words.
bool strip_step(const Brush& brush, const StripStep& step, ImVec2 at, ImVec2 size) {
  ImGui::SetCursorScreenPos(at);
  const bool clicked = ImGui::InvisibleButton(step.command.c_str(), size);
  const ImVec2 high{at.x + size.x, at.y + size.y};
  if (ImGui::IsItemHovered()) {
    brush.list->AddRectFilled(at, high, packed(Ink(Role::text, 0.05), brush.theme), 4);
  }
  focus_frame(brush, at, high);
  return clicked;
}

// Between the sections of a panel: half of their distance, a hairline, the other half.
void section_rule(const Brush& brush) {
  ImGui::Dummy({0, 8});
  const ImVec2 at = ImGui::GetCursorScreenPos();
  brush.line(at.x + 8, at.y, at.x + ImGui::GetContentRegionAvail().x - 8, at.y);
  ImGui::Dummy({0, 8});
}

}  // namespace

void WindowUi::draw_outline(Brush brush, const Session& session, const Backend& backend, ImVec2 at,
                            ImVec2 size) {
  begin_panel(brush, "outline", at, size);
  bool first = true;
  for (const OutlineSection& section : outline(session, backend)) {
    if (!std::exchange(first, false)) section_rule(brush);
    ImGui::PushID(section.title.c_str());
    heading(brush, section.title);
    int index = 0;
    for (const OutlineItem& item : section.items) {
      ImGui::PushID(index++);
      if (list_row(brush, "item", item.label, item.detail, item.level, item.current, item.open)) {
        issue(item.command);
      }
      // What was just unfolded, maybe by a command from elsewhere, is where one looks.
      if (item.command == "atoms none" && session.atoms != atoms_shown_) ImGui::SetScrollHereY(0);
      ImGui::PopID();
    }
    ImGui::PopID();
  }
  atoms_shown_ = session.atoms;
  end_panel();
}

void WindowUi::draw_inspector(Brush brush, const Session& session, ImVec2 at, ImVec2 size) {
  begin_panel(brush, "inspector", at, size);
  bool first = true;
  for (const InspectorSection& section : inspector(session)) {
    if (!std::exchange(first, false)) section_rule(brush);
    heading(brush, section.title);
    if (section.lines.empty()) paragraph(brush, section.when_empty, Role::quiet);
    for (const auto& [name, value] : section.lines) name_value(brush, name, value);
    if (section.bits) bit_picture(brush, *section.bits);
    for (const InspectorLink& link : section.links) {
      if (link_row(brush, link)) issue(link.command);
    }
  }
  end_panel();
}

void WindowUi::draw_strip(const Brush& brush, const Session& session, const Backend& backend,
                          ImVec2 at, ImVec2 size) {
  brush.line(at.x, at.y, at.x + size.x, at.y);
  const Strip shown = strip(session, backend);
  const float right = shown.share ? 400 : 0;
  float x = at.x + 16;
  // Where they would take most of the strip, icons whose meaning is sure stand alone, and the
  // others are words.
  float wide = 0;
  for (const Tab& action : shown.actions) wide += button_width(brush, action.label) + 8;
  const bool narrow = wide > size.x * 0.55f;
  for (const Tab& action : shown.actions) {
    const auto icon = icon_of(action.label);
    const bool sure = icon && *icon != Icon::forth && *icon != Icon::backward;
    const char* id = action.label.c_str();
    const ImVec2 place{x, at.y + 12};
    const bool clicked = !narrow ? button(brush, id, action.label, place, 0, true)
                         : sure  ? icon_button(brush, id, action.label, place, true)
                                 : word_button(brush, id, action.label, place);
    if (clicked) issue(action.command);
    if (narrow && sure && ImGui::IsItemHovered()) tooltip(brush, action.label);
    const float room = !narrow ? button_width(brush, action.label)
                       : sure  ? icon_button_width
                               : word_button_width(brush, action.label);
    if (action.alarm) brush.box(x, at.y + 9 + button_height, room, 3, Role::wrong);
    x += room + 8;
  }
  if (!shown.actions.empty()) x += 8;
  // All, where they have room; else as many as have more of it, around the current one.
  constexpr float least = 144, usual = 208;
  const float all = at.x + size.x - 16 - right - x;
  const std::size_t steps = std::max<std::size_t>(1, shown.steps.size());
  const bool crowded = static_cast<float>(steps) * least > all;
  const std::size_t fits = std::max<std::size_t>(1, static_cast<std::size_t>(all / usual));
  const std::size_t count = crowded ? std::min(steps, fits) : steps;
  std::size_t first = 0;
  for (std::size_t i = 0; i < shown.steps.size() && shown.steps.size() > count; ++i) {
    if (shown.steps[i].current)
      first = std::min(i - std::min(i, count / 2), shown.steps.size() - count);
  }
  const float width = all / static_cast<float>(count);
  for (std::size_t i = first; i < std::min(first + count, shown.steps.size()); ++i) {
    const StripStep& step = shown.steps[i];
    const float room = width - 32;
    if (!step.command.empty() &&
        strip_step(brush, step, {x - 8, at.y + 1}, {room + 16, size.y - 2})) {
      issue(step.command);
    }
    brush.text(x, at.y + 18, fonts_.strong(TextSize::small), Role::text, step.title);
    cut_line(brush, x, at.y + 38, room, fonts_.code(TextSize::small), Role::quiet, step.value);
    if (step.current) brush.box(x, at.y, std::min(room, 160.0f), 2, Role::accent);
    if (i + 1 == first + count && i + 1 < shown.steps.size()) {
      const std::string more = fmt::format("+{}", shown.steps.size() - i - 1);
      ImFont* font = fonts_.words(TextSize::small);
      brush.text(x + width - 8 - text_width(font, more), at.y + 18, font, Role::quiet, more);
    } else if (i + 1 < shown.steps.size() && !shown.apart) {
      const float tip = x + width - 12, y = at.y + size.y / 2;
      brush.list->AddTriangleFilled({tip - 6, y - 5}, {tip - 6, y + 5}, {tip, y},
                                    packed(session.theme().quiet));
    }
    x += width;
  }
  if (!shown.share) return;
  const float begin = at.x + size.x - right;
  brush.text(begin, at.y + 18, fonts_.words(TextSize::small), Role::text,
             cut_in_the_middle(fonts_.words(TextSize::small), shown.progress, right - 96));
  progress_bar(brush, {begin, at.y + 34}, right - 96, *shown.share);
  if (button(brush, "stop", "Stop", {at.x + size.x - 80, at.y + 12}, 64, true)) issue("cancel");
}

void WindowUi::draw_status(const Brush& brush, const Session& session, ImVec2 at, ImVec2 size) {
  brush.line(at.x, at.y, at.x + size.x, at.y);
  ImFont* font = fonts_.words(TextSize::small);
  const View& view = view_of(session.state.view);
  const auto theatre = view.id == ViewName::theatre ? theatre_of(session) : nullptr;
  const bool nothing = emptiness(session) && !shows_start(session);
  const std::string hints =
      nothing                ? ""
      : shows_start(session) ? "? lists all commands, Ctrl+Shift+P finds one"
      : view.id == ViewName::timeline
          ? "Scroll zooms, dragging adds up, click says why, Esc goes back"
      : view.id == ViewName::why && picture_.why
          ? "Drag a slider, click a step for what it was, scroll the list, Esc goes back"
      : view.id == ViewName::product
          ? "Point at A, B or bytes to see where they are, click an element of D to open it"
      : view.id == ViewName::theatre && theatre && theatre->moves_by_threads()
          ? "Drag the strip to another time, click a warp to look at it"
      : view.id == ViewName::theatre
          ? "Drag the strip to another time, click a stage to follow what is in it"
      : view.id == ViewName::course ? "Up and Down change the exercise, scroll moves the list"
      : view.list && picture_.accumulator && !picture_.accumulator->values.empty()
          ? "Scroll zooms D or moves the list, dragging moves D, click "
            "selects, Esc goes back"
      : view.list ? "Scroll moves the list, click selects, Esc goes back"
                  : "Scroll zooms, dragging moves, click selects, Esc goes back";
  const float hints_width = text_width(font, hints);
  const float middle = at.y + size.y / 2;
  // What just happened comes first.
  const bool both = !hints.empty() && size.x > hints_width * 2 &&
                    text_width(font, session.message.text) <= size.x - hints_width - 64;
  const float room = both ? size.x - hints_width - 64 : size.x - 32;
  const std::string& message = session.message.text;
  const std::string said = cut_at_the_end(font, message, room);
  brush.text(at.x + 16, middle, font,
             session.message.failed ? Role::wrong
             : session.message.good ? Role::right
                                    : Role::text,
             said);
  const ImVec2 low{at.x + 16, middle - 10};
  if (said != message && ImGui::IsMouseHoveringRect(low, {low.x + room, low.y + 20})) {
    tooltip(brush, message);
  }
  // A fault that is told leads to where it happened.
  if (const std::string command = command_of_message(session); !command.empty()) {
    const float wide = std::min(room, text_width(font, session.message.text));
    if (strip_step(brush, {"", "", false, command}, {at.x + 8, at.y + 2},
                   {wide + 16, size.y - 4})) {
      issue(command);
    }
  }
  if (both) brush.text(at.x + size.x - 16 - hints_width, middle, font, Role::quiet, hints);
}

}  // namespace tilescope::ui
