// The centre: controls of the view, the view itself, and what the pointer does there.
#include "viz/ui/window_ui.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "viz/ui/style.h"

#include <imgui_stdlib.h>

namespace tilescope::ui {
namespace {

constexpr float kControls = 48, kGap = 16, kSizeField = 72;

// What a second click on a cell isolates: what its colour stands for.
std::string isolating(const LayoutView& view, const LayoutChoice& choice, const Cell& cell) {
  for (const Focus& focus : view.lit_by(cell, view.colour(choice))) {
    if (focus.on == Focus::On::nothing || focus.on == Focus::On::offset) continue;
    return fmt::format("isolate {} {}", name_of(focus.on), focus.number);
  }
  return fmt::format("isolate offset {}", view.offset(cell));
}

float size_width(const Brush& brush, const SizeField& field) {
  return std::round(text_width(brush.fonts.words(TextSize::small), field.name)) + 8 + kSizeField;
}

// What is chosen alone; a click goes on to the next.
Choice folded(const Choice& choice) {
  for (std::size_t i = 0; i < choice.options.size(); ++i) {
    if (!choice.options[i].current) continue;
    const Tab& next = choice.options[(i + 1) % choice.options.size()];
    return {choice.title, {{choice.options[i].label, next.command, true}}};
  }
  return choice;
}

float row_width(const Brush& brush, const std::vector<Choice>& choices) {
  float width = 0;
  for (const Choice& choice : choices) {
    width += segmented_width(brush, choice) + (width > 0 ? kGap : 0);
  }
  return width;
}

}  // namespace

void WindowUi::draw_sizes(const Brush& brush, const Session& session, ImVec2 at) {
  ImFont* font = fonts_.words(TextSize::small);
  float x = at.x;
  for (const SizeField& field : size_fields(session)) {
    brush.text(x, at.y + button_height / 2, font, Role::quiet, field.name);
    const float label = std::round(text_width(font, field.name)) + 8;
    std::string& typed = size_texts_[field.name];
    ImGui::SetCursorScreenPos({x + label, at.y});
    ImGui::PushFont(fonts_.code(TextSize::small));
    ImGui::PushID(field.name.c_str());
    ImGui::SetNextItemWidth(kSizeField);
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding,
                        ImVec2(8, (button_height - fonts_.code(TextSize::small)->FontSize) / 2));
    ImGui::InputText("##size", &typed, ImGuiInputTextFlags_CharsDecimal);
    ImGui::PopStyleVar();
    const bool left = ImGui::IsItemDeactivatedAfterEdit();
    focus_frame(brush, {x + label, at.y}, {x + label + kSizeField, at.y + button_height},
                /*text_field=*/true);
    if (!ImGui::IsItemActive()) {
      const std::string now = fmt::format("{}", field.value);
      if (left && typed != now && !typed.empty()) {
        issue(with_size(session.choices, field.name, typed));
      }
      typed = now;
    }
    ImGui::PopID();
    ImGui::PopFont();
    x += label + kSizeField + kGap;
  }
}

void WindowUi::draw_controls(const Brush& brush, const Session& session, ImVec2 at, float width) {
  brush.line(at.x, at.y + kControls - 1, at.x + width, at.y + kControls - 1);
  const float y = at.y + 8;
  float x = at.x + 16;
  const auto show = [&](const Choice& choice, float from) {
    if (const std::string* command = segmented(brush, choice, {from, y})) issue(*command);
  };
  const std::vector<Tab> views = tabs(session);
  if (!views.empty()) {
    const Choice choice{"", views};
    show(choice, x);
    x += segmented_width(brush, choice) + kGap;
  }
  const std::vector<SizeField> sizes = size_fields(session);
  float sizes_width = 0;
  for (const SizeField& field : sizes) sizes_width += size_width(brush, field) + kGap;
  if (x + sizes_width <= at.x + width) {  // else they are said in the field
    draw_sizes(brush, session, {x, y});
    x += sizes_width;
  }
  // Choices stand at the right end. Where they crowd, they fold from the last to the first.
  const float right = at.x + width - 16;
  std::vector<Choice> choices = view_choices(session);
  for (std::size_t i = choices.size(); i-- > 0 && x + row_width(brush, choices) > right;) {
    choices[i] = folded(choices[i]);
  }
  float from = std::max(x, std::round(right - row_width(brush, choices)));
  for (const Choice& choice : choices) {
    const float wide = segmented_width(brush, choice);
    if (from + wide > right) break;  // what no fold makes fit is left to the field
    show(choice, from);
    from += wide + kGap;
  }
}

void WindowUi::draw_empty(const Brush& brush, const Emptiness& empty, ImVec2 at, ImVec2 size) {
  ImFont* font = fonts_.words(TextSize::medium);
  const float width = std::min(size.x - 64, 560.0f);
  const ImVec2 text = font->CalcTextSizeA(font->FontSize, 1e9f, width, empty.sentence.data(),
                                          empty.sentence.data() + empty.sentence.size());
  const float x = std::round(at.x + (size.x - text.x) / 2);
  const float y = std::round(at.y + (size.y - text.y - 24 - button_height) / 2);
  brush.list->AddText(font, font->FontSize, {x, y}, packed(Role::quiet, brush.theme),
                      empty.sentence.data(), empty.sentence.data() + empty.sentence.size(), width);
  if (empty.command.empty()) return;
  const float wide = button_width(brush, empty.button);
  if (button(brush, "way out", empty.button,
             {std::round(at.x + (size.x - wide) / 2), std::round(y + text.y + 24)}, wide, true,
             true)) {
    issue(empty.command);
  }
}

void WindowUi::draw_view(const Brush& brush, Session& session, ImVec2 at, ImVec2 size) {
  back(at, size, brush.theme.paper);
  const bool controls = !view_choices(session).empty() || !tabs(session).empty();
  const float top = controls ? kControls : 0;
  if (controls) draw_controls(brush, session, at, size.x);
  view_origin_ = {at.x, at.y + top};
  const ImVec2 room{size.x, std::max(1.0f, size.y - top)};
  picture_ = tilescope::picture(session, {double{room.x}, double{room.y}},
                                double{ImGui::GetIO().DisplayFramebufferScale.x});
  if (const auto empty = emptiness(session)) {
    draw_empty(brush, *empty, view_origin_, room);
    return;
  }
  ImGui::SetCursorScreenPos(view_origin_);
  ImGui::InvisibleButton("view", room,
                         ImGuiButtonFlags_MouseButtonLeft | ImGuiButtonFlags_MouseButtonMiddle);
  use_pointer(session, view_origin_);
  const bool activated = ImGui::IsItemActivated() && !ImGui::IsMouseDown(ImGuiMouseButton_Left);
  painter_.paint(picture_.scene, *brush.list, view_origin_, fonts_, 1, /*on_paper=*/true);
  // The frame lies inside, since the view's edges are its neighbours'.
  const bool focused = focus_frame(brush, {view_origin_.x + 3, view_origin_.y + 3},
                                   {view_origin_.x + room.x - 3, view_origin_.y + room.y - 3});
  if (focused && activated && picture_.layout && session.choices.selected) {
    issue(isolating(*session.choices.layout, layout_choice(session), *session.choices.selected));
  }
}

void WindowUi::use_pointer(Session& session, ImVec2 at) {
  const ImGuiIO& io = ImGui::GetIO();
  const bool hovered = ImGui::IsItemHovered(), held = ImGui::IsItemActive();
  const Point pointer{double{io.MousePos.x - at.x}, double{io.MousePos.y - at.y}};
  if (held && (ImGui::IsMouseDragging(ImGuiMouseButton_Left, 4) ||
               ImGui::IsMouseDragging(ImGuiMouseButton_Middle, 1))) {
    dragged_ = true;
    pan_view(session, picture_, double{io.MouseDelta.x}, double{io.MouseDelta.y});
    changed_ = true;
  }
  const bool over = hovered && !dragged_;
  // A pointer that rests elsewhere leaves what a command pointed at.
  const bool moved = io.MouseDelta.x != 0 || io.MouseDelta.y != 0;
  if (over || moved) {
    changed_ |= point_at(session, picture_, over ? std::optional<Point>(pointer) : std::nullopt);
  }
  if (hovered && io.MouseWheel != 0) {
    zoom_view(session, picture_, pointer, std::pow(1.2, double{io.MouseWheel}));
    changed_ = true;
  }
  if (hovered) {
    for (const Target& target : picture_.scene.targets) {
      if (target.box.contains(pointer)) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
    }
  }
  if (ImGui::IsItemDeactivated()) {
    if (hovered && !dragged_ && ImGui::IsMouseReleased(ImGuiMouseButton_Left)) {
      click(session, pointer);
    }
    dragged_ = false;
  }
}

void WindowUi::click(Session& session, Point at) {
  for (auto target = picture_.scene.targets.rbegin(); target != picture_.scene.targets.rend();
       ++target) {
    if (target->box.contains(at)) return issue(target->command);
  }
  const Choices& choices = session.choices;
  if (session.hover && choices.layout) {
    const Cell& cell = *session.hover;
    if (choices.selected == cell)
      return issue(isolating(*choices.layout, layout_choice(session), cell));
    return issue(fmt::format("pick {} {} {} {}", cell.row, cell.column, cell.panel, cell.slice));
  }
  if (session.hover_element) {
    return issue(
        fmt::format("pick {} {}", session.hover_element->row, session.hover_element->column));
  }
}

}  // namespace tilescope::ui
