// The centre: controls of the view, the view itself, and what the pointer does there.
#include "viz/ui/window_ui.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "viz/session/build_scene.h"
#include "viz/session/theatre_session.h"
#include "viz/session/timeline_session.h"
#include "viz/session/why_session.h"
#include "viz/ui/keys.h"
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
  const bool own = view.panels()[static_cast<std::size_t>(cell.panel)].through.has_value();
  return fmt::format("isolate offset {}{}", view.offset(cell),
                     own ? fmt::format(" {}", cell.panel) : "");
}

float size_width(const Brush& brush, const SizeField& field) {
  return std::round(text_width(brush.fonts.words(TextSize::small), field.name)) + 8 + kSizeField;
}

// A choice over the view, beside its title: all options side by side, or what is chosen alone and
// a menu of all below it.
struct Shown {
  Choice choice;
  bool folded = false;
  float spared = 0;  // pixels that each option is narrower
};

const std::string& chosen_label(const Choice& choice) {
  for (const Tab& option : choice.options) {
    if (option.current) return option.label;
  }
  static const std::string more = "More";
  return choice.title.empty() ? more : choice.options.front().label;
}

float title_width(const Brush& brush, const Choice& choice) {
  if (choice.title.empty()) return 0;
  return std::round(text_width(brush.fonts.words(TextSize::small), choice.title) + 8);
}

float width_of(const Brush& brush, const Shown& shown) {
  if (!shown.folded) return segmented_width(brush, shown.choice, shown.spared);
  return title_width(brush, shown.choice) + menu_button_width(brush, chosen_label(shown.choice));
}

float row_width(const Brush& brush, const std::vector<Shown>& choices) {
  float width = 0;
  for (const Shown& shown : choices) width += width_of(brush, shown) + (width > 0 ? kGap : 0);
  return width;
}

// As many views side by side as have room, the first ones first; the others in a menu behind them.
std::vector<Shown> views_in(const Brush& brush, const std::vector<Tab>& all, float room,
                            float spared) {
  for (std::size_t count = all.size(); count > 0; --count) {
    const auto middle = all.begin() + static_cast<std::ptrdiff_t>(count);
    std::vector<Shown> out{{{"", {all.begin(), middle}}, false, spared}};
    if (count < all.size()) out.push_back({{"", {middle, all.end()}}, true});
    if (row_width(brush, out) <= room) return out;
  }
  return {{{"", all}, true}};
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
        issue(with_size(session.state, field.name, typed));
      }
      typed = now;
    }
    ImGui::PopID();
    ImGui::PopFont();
    x += label + kSizeField + kGap;
  }
}

// Views at the left, then the open kernel's sizes, choices at the right end. Where they crowd, the
// sizes go first, since the field says them too; then choices fold, the last one first, and the
// views get narrower. They stay where they are at every width: those that do not fit any more are
// in a menu behind the others, and what is left over of the choices is in the palette.
void WindowUi::draw_controls(const Brush& brush, const Session& session, ImVec2 at, float width) {
  brush.line(at.x, at.y + kControls - 1, at.x + width, at.y + kControls - 1);
  const float y = at.y + 8;
  float x = at.x + 16, right = at.x + width - 16;
  if (offers_legend(session)) right -= draw_legend_button(brush, session, {right, y}, width) + 8;
  const auto show = [&](const Shown& shown, float from) {
    if (shown.folded) return draw_folded(brush, shown.choice, {from, y});
    if (const std::string* command = segmented(brush, shown.choice, {from, y}, shown.spared))
      issue(*command);
  };
  std::vector<Shown> choices;
  for (Choice& choice : view_choices(session)) choices.push_back({std::move(choice), true});
  const float least = row_width(brush, choices);
  if (std::vector<Tab> all = tabs(session); !all.empty()) {
    const Shown views{{"", all}, false};
    constexpr float narrower = 12;
    const float spared = x + width_of(brush, views) + kGap + least > right ? narrower : 0;
    for (const Shown& each : views_in(brush, all, right - x, spared)) {
      show(each, x);
      x += width_of(brush, each) + kGap;
    }
  }
  float sizes = 0;
  for (const SizeField& field : size_fields(session)) sizes += size_width(brush, field) + kGap;
  if (sizes > 0 && x + sizes + least <= right) {
    draw_sizes(brush, session, {x, y});
    x += sizes;
  }
  for (Shown& each : choices) each.folded = false;
  for (std::size_t i = choices.size(); i-- > 0 && x + row_width(brush, choices) > right;) {
    choices[i].folded = true;
  }
  float from = std::max(x, std::floor(right - row_width(brush, choices)));
  for (const Shown& each : choices) {
    const float wide = width_of(brush, each);
    if (from + wide > right) break;  // what no fold makes fit is left to the palette
    show(each, from);
    from += wide + kGap;
  }
}

// At the right end, what colours mean: shown or folded. Answers how wide it is.
float WindowUi::draw_legend_button(const Brush& brush, const Session& session, ImVec2 end,
                                   float room) {
  constexpr float for_words = 1080;
  const bool shown = session.legend_shown, words = room >= for_words;
  const float wide = words ? button_width(brush, "Legend") : icon_button_width;
  const ImVec2 at{end.x - wide, end.y};
  const bool clicked = words ? button(brush, "legend", "Legend", at, 0, true, false, shown)
                             : icon_button(brush, "legend", "Legend", at, true, shown);
  if (clicked) issue(shown ? "legend hide" : "legend show");
  if (ImGui::IsItemHovered()) {
    tooltip(brush, shown ? "Legend: folds what colours mean (L)"
                         : "Legend: shows what colours mean, at the foot of the view (L)");
  }
  return wide;
}

void WindowUi::draw_folded(const Brush& brush, const Choice& choice, ImVec2 at) {
  brush.text(at.x, at.y + button_height / 2, fonts_.words(TextSize::small), Role::quiet,
             choice.title);
  const ImVec2 below{at.x + title_width(brush, choice), at.y};
  const bool clicked = menu_button(brush, choice.title.c_str(), chosen_label(choice), below);
  const bool open = menu_ && menu_->choice.title == choice.title;
  if (clicked) {
    menu_ = open ? std::nullopt : std::optional(Menu{choice, {}, false, false});
    changed_ = true;
  }
  if (!menu_ || menu_->choice.title != choice.title) return;
  menu_->choice = choice;
  menu_->at = {below.x, below.y + button_height + 4};
  menu_->placed = true;
}

// A row for each option. Esc and a click beside it put it away.
void WindowUi::draw_menu(const Brush& window_brush) {
  if (menu_ && !menu_->placed) menu_.reset();
  if (!menu_) return;
  menu_->placed = false;
  constexpr float row = 24, padding = 4;
  float width = 120;
  for (const Tab& option : menu_->choice.options) {
    width = std::max(width, button_width(window_brush, option.label) + 2 * padding);
  }
  const ImVec2 size{width, row * static_cast<float>(menu_->choice.options.size()) + 2 * padding};
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  const ImVec2 at{std::clamp(menu_->at.x, 8.0f, std::max(8.0f, display.x - size.x - 8)),
                  menu_->at.y};
  ImGui::SetNextWindowPos(at);
  ImGui::SetNextWindowSize(size);
  ImGui::PushStyleColor(ImGuiCol_WindowBg, packed(window_brush.theme.paper));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 1);
  ImGui::Begin(
      "menu", nullptr,
      ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings);
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, 0));
  Brush brush = window_brush;
  brush.list = ImGui::GetWindowDrawList();
  ring_.restart();  // Tab goes round its rows
  bool done = pressed({Key::escape});
  ImGui::SetCursorScreenPos({at.x + padding, at.y + padding});
  for (const Tab& option : menu_->choice.options) {
    ImGui::SetCursorScreenPos({at.x + padding, ImGui::GetCursorScreenPos().y});
    if (list_row(brush, option.command.c_str(), option.label, "", 0, option.current)) {
      issue(option.command);
      done = true;
    }
    if (option.current && !menu_->drawn) ring_.take();
  }
  // A click on what opened it is that button's.
  const bool beside = ImGui::IsMouseClicked(ImGuiMouseButton_Left) &&
                      !ImGui::IsMouseHoveringRect({at.x, at.y - button_height - 8},
                                                  {at.x + size.x, at.y + size.y}, /*clip=*/false);
  done = done || (beside && menu_->drawn);
  menu_->drawn = true;
  ImGui::PopStyleVar();
  ImGui::End();
  ImGui::PopStyleVar();
  ImGui::PopStyleColor();
  if (done) menu_.reset();
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

void WindowUi::draw_view(const Brush& brush, Session& session, const Backend& backend, ImVec2 at,
                         ImVec2 size) {
  back(at, size, brush.theme.paper);
  const bool controls = !view_choices(session).empty() || !tabs(session).empty();
  const float top = controls ? kControls : 0;
  if (controls) draw_controls(brush, session, at, size.x);
  view_origin_ = {at.x, at.y + top};
  const ImVec2 room{size.x, std::max(1.0f, size.y - top)};
  picture_ = tilescope::picture(session, {double{room.x}, double{room.y}},
                                double{ImGui::GetIO().DisplayFramebufferScale.x});
  const auto empty = emptiness(session);
  if (empty && picture_.scene.items.empty()) {
    draw_empty(brush, *empty, view_origin_, room);
    return;
  }
  const bool edits = shows_build(session) && session.edit.edit.open();
  if (edits) return draw_edit(brush, session, backend, view_origin_, room);
  code_.active = false;
  edited_.clear();
  ImGui::SetCursorScreenPos(view_origin_);
  ImGui::InvisibleButton("view", room,
                         ImGuiButtonFlags_MouseButtonLeft | ImGuiButtonFlags_MouseButtonMiddle);
  use_pointer(session, view_origin_);
  const bool activated = ImGui::IsItemActivated() && !ImGui::IsMouseDown(ImGuiMouseButton_Left);
  painter_.paint(picture_.scene, *brush.list, view_origin_, fonts_, 1, /*on_paper=*/true);
  // The frame lies inside, since the view's edges are its neighbours'.
  const bool focused = focus_frame(brush, {view_origin_.x + 3, view_origin_.y + 3},
                                   {view_origin_.x + room.x - 3, view_origin_.y + room.y - 3});
  if (focused && activated && picture_.layout && session.state.selected) {
    issue(isolating(*session.state.layout, layout_choice(session), *session.state.selected));
  }
}

void WindowUi::use_pointer(Session& session, ImVec2 at) {
  const ImGuiIO& io = ImGui::GetIO();
  const bool hovered = ImGui::IsItemHovered(), held = ImGui::IsItemActive();
  const Point pointer{double{io.MousePos.x - at.x}, double{io.MousePos.y - at.y}};
  const ImVec2 clicked =
      io.MouseClickedPos[ImGui::IsMouseDown(ImGuiMouseButton_Left) ? ImGuiMouseButton_Left
                                                                   : ImGuiMouseButton_Middle];
  const Point from{double{clicked.x - at.x}, double{clicked.y - at.y}};
  if (picture_.timeline) {
    drag_range(session, pointer, held);
    drag_time(session, pointer, from, held);
  }
  if (held && drags_time(picture_, from)) {
    session.theatre.playing = false;
    session.state.theatre.at = picture_.theatre->time_at(pointer.x);
    dragged_ = changed_ = true;
  }
  const auto slides = picture_.why ? picture_.why->part_at(from) : std::nullopt;
  if (held && slides) {
    share_of(session.state.why, *slides) = picture_.why->share_at(*slides, pointer.x);
    dragged_ = changed_ = true;
  }
  if (held && is_zoomed_at(picture_, from) && !ranging_ && !timing_ &&
      (ImGui::IsMouseDragging(ImGuiMouseButton_Left, 4) ||
       ImGui::IsMouseDragging(ImGuiMouseButton_Middle, 1))) {
    dragged_ = true;
    pan_view(session, picture_, double{io.MouseDelta.x}, double{io.MouseDelta.y}, from);
    changed_ = true;
  }
  const bool over = hovered && !dragged_;
  // A pointer that rests elsewhere leaves what a command pointed at.
  const bool moved = io.MouseDelta.x != 0 || io.MouseDelta.y != 0;
  if (over || moved) {
    changed_ |= point_at(session, picture_, over ? std::optional<Point>(pointer) : std::nullopt);
  }
  if (hovered && io.MouseWheel != 0 && !is_zoomed_at(picture_, pointer)) {
    scroll_view(session, picture_, double{io.MouseWheel}, pointer);
    changed_ = true;
  } else if (hovered && io.MouseWheel != 0 && picture_.timeline &&
             (io.KeyShift || pointer.x < picture_.timeline->lanes.x)) {
    pan_view(session, picture_, 0, 3 * timeline_row_height * double{io.MouseWheel}, pointer);
    changed_ = true;
  } else if (hovered && io.MouseWheel != 0) {
    zoom_view(session, picture_, pointer, std::pow(1.2, double{io.MouseWheel}));
    changed_ = true;
  }
  if (hovered) {
    for (const Target& target : picture_.scene.targets) {
      if (target.box.contains(pointer)) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
    }
  }
  if (ImGui::IsItemDeactivated()) {
    if (slides) {
      issue(fmt::format("why {} {}", name_of(*slides), picture_.why->share_at(*slides, pointer.x)));
    } else if (timing_) {
      const std::string command =
          session.timeline_playhead ? drop_playhead(session) : drop_minimap(session);
      if (!command.empty()) issue(command);
      timing_ = false;
    } else if (drags_time(picture_, from)) {
      issue(fmt::format("theatre at {}", std::llround(picture_.theatre->time_at(pointer.x))));
    } else if (hovered && !dragged_ && ImGui::IsMouseReleased(ImGuiMouseButton_Left)) {
      click(session, pointer);
    }
    dragged_ = false;
  }
}

// Over the lanes of a timeline a drag marks a stretch of time, which is added up; beside them, and
// with the middle button, it moves what is seen.
void WindowUi::drag_range(Session& session, Point pointer, bool held) {
  const ImVec2 from = ImGui::GetIO().MouseClickedPos[ImGuiMouseButton_Left];
  const Point begin{double{from.x - view_origin_.x}, double{from.y - view_origin_.y}};
  const Box& lanes = timeline_part(picture_, begin).lanes;
  if (held && lanes.contains(begin) && ImGui::IsMouseDragging(ImGuiMouseButton_Left, 4)) {
    ranging_ = dragged_ = changed_ = true;
    const double a = picture_.timeline->cycle_of(std::clamp(begin.x, lanes.x, lanes.right()));
    const double b = picture_.timeline->cycle_of(std::clamp(pointer.x, lanes.x, lanes.right()));
    session.timeline_dragged = CycleRange{std::min(a, b), std::max(a, b)};
  } else if (ranging_ && !held) {
    const std::string command = timeline_drag(session, *picture_.timeline, begin, pointer);
    if (!command.empty()) issue(command);
    session.timeline_dragged.reset();
    ranging_ = false;
    changed_ = true;
  }
}

// On a timeline's axis a drag moves the moment; on the strip of all of the run, what is seen.
void WindowUi::drag_time(Session& session, Point pointer, Point from, bool held) {
  if (!held || !ImGui::IsMouseDown(ImGuiMouseButton_Left)) return;
  const bool pressed = ImGui::IsMouseClicked(ImGuiMouseButton_Left);
  const TimelineFrame& frame = *picture_.timeline;
  if (pressed) timing_ = false;
  if (drags_playhead(session, frame, from)) {
    drag_playhead(session, frame, pointer.x);
  } else if (drags_minimap(frame, from)) {
    drag_minimap(session, frame, from, pointer, double{ImGui::GetIO().MouseDelta.x}, pressed);
  } else {
    return;
  }
  timing_ = dragged_ = changed_ = true;
}

void WindowUi::click(Session& session, Point at) {
  for (auto target = picture_.scene.targets.rbegin(); target != picture_.scene.targets.rend();
       ++target) {
    if (target->box.contains(at)) return issue(target->command);
  }
  if (picture_.timeline) {
    const std::string command = timeline_click(session, timeline_part(picture_, at), at);
    if (!command.empty()) issue(command);
    return;
  }
  const ViewState& choices = session.state;
  if (session.hovered.cell && choices.layout) {
    const Cell& cell = *session.hovered.cell;
    if (choices.selected == cell)
      return issue(isolating(*choices.layout, layout_choice(session), cell));
    return issue(fmt::format("pick {} {} {} {}", cell.row, cell.column, cell.panel, cell.slice));
  }
  if (const auto& byte = session.hovered.byte) return issue(fmt::format("look byte {}", *byte));
  if (const auto& cell = session.hovered.tmem) {
    return issue(fmt::format("look cell {},{}", cell->lane, cell->column));
  }
  if (const auto& spot = session.hovered.product; spot && spot->in == ProductSpot::In::d) {
    return issue(fmt::format("product element {} {}", spot->row, spot->column));
  }
  if (session.hovered.element) {
    const Element output = pointed_output(session);
    return issue(fmt::format("pick {} {}", output.row, output.column));
  }
}

}  // namespace tilescope::ui
