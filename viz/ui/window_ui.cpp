#include "viz/ui/window_ui.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "viz/commands/command_palette.h"
#include "viz/commands/commands.h"
#include "viz/commands/script.h"
#include "viz/session/product_session.h"
#include "viz/session/seek.h"
#include "viz/session/start_card.h"
#include "viz/session/theatre_session.h"
#include "viz/session/tour.h"
#include "viz/ui/keys.h"
#include "viz/ui/style.h"

namespace tilescope::ui {
namespace {

constexpr float kTop = 80;     // field and the line under it
constexpr float kStrip = 56;   // derivation or run
constexpr float kStatus = 32;  // what just happened

// In pixels: as it is dragged, else as chosen, else a share of the window within bounds.
float panel_width(float dragged, int chosen, float display, float share, float least, float most) {
  if (dragged != Dragged::no) return dragged;
  if (chosen == WindowSettings::usual && display < 720 && least < 200) return 0;  // no room for it
  if (chosen == WindowSettings::usual) {
    return std::round(std::clamp(display * share, least, most) / 8) * 8;
  }
  return std::min(static_cast<float>(chosen), std::round(display * 0.4f));
}

ImGuiWindowFlags whole_display() {
  return ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
         ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoBringToFrontOnFocus |
         ImGuiWindowFlags_NoBackground | ImGuiWindowFlags_NoScrollWithMouse;
}

}  // namespace

void WindowUi::draw(Session& session, Backend& backend) {
  apply_style(ImGui::GetStyle(), session.theme());
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  backdrops_.clear();
  back({0, 0}, display, session.theme().panel);
  ImGui::SetNextWindowPos({0, 0});
  ImGui::SetNextWindowSize(display);
  ImGui::Begin("Tilescope", nullptr, whole_display());
  ImGui::PushFont(fonts_.words(TextSize::small));
  const Brush brush{session.theme(), fonts_, ImGui::GetWindowDrawList(), &ring_};
  ring_.begin_frame();

  const WindowSettings& settings = session.state.settings;
  float left = panel_width(panels_.outline, settings.outline, display.x, 0.168f, 168, 216);
  // A lesson is read: its lines have some fifty letters. Numbers need less.
  const bool reads = session.state.lesson.open() && session.state.lesson.shown;
  float right =
      reads ? panel_width(panels_.inspector, settings.inspector, display.x, 0.29f, 320, 400)
            : panel_width(panels_.inspector, settings.inspector, display.x, 0.24f, 240, 296);
  // A page says all of itself: where there is little room it has that of the inspector, too.
  constexpr float roomy = 1100, wide = 960;
  const ViewName view = session.state.view;
  const bool page = view == ViewName::kernel || shows_start(session);
  // Nor has a picture of many parts, which says the same under the pointer.
  const bool stage = view == ViewName::theatre || view == ViewName::why ||
                     view == ViewName::handoffs || view == ViewName::product;
  const float least_width = page ? roomy : stage ? wide : 0;
  if (!reads && display.x < least_width && settings.inspector == WindowSettings::usual &&
      panels_.inspector == Dragged::no) {
    right = 0;
  }
  // A panel that is hidden is seen while the tour tells of it.
  if (session.tour && !session.overlay.open()) {
    const TourStep::Part told = tour_steps()[*session.tour].part;
    if (told == TourStep::Part::outline && left == 0) left = 168;
    if (told == TourStep::Part::inspector && right == 0) right = 240;
  }
  // A low window has room for the view alone.
  const float strip_height = display.y < 480 ? 0 : kStrip;
  const float middle_height = std::max(1.0f, display.y - kTop - strip_height - kStatus);
  const float middle_width = std::max(1.0f, display.x - left - right);
  const auto part = [&](TourStep::Part which) -> Part& {
    return parts_[static_cast<std::size_t>(which)];
  };
  part(TourStep::Part::outline) = {{0, kTop}, {left, middle_height}};
  part(TourStep::Part::view) = {{left, kTop}, {middle_width, middle_height}};
  part(TourStep::Part::inspector) = {{display.x - right, kTop}, {right, middle_height}};
  // Before the view, whose half of the edge would else be the view's.
  splitter(brush, "outline", left, kTop, middle_height, panels_.outline, left > 0, 1);
  splitter(brush, "inspector", display.x - right, kTop, middle_height, panels_.inspector, right > 0,
           -1);
  ring_.part(2);
  draw_view(brush, session, backend, {left, kTop}, {middle_width, middle_height});
  ring_.part(1);
  if (left > 0) draw_outline(brush, session, backend, {0, kTop}, {left, middle_height});
  ring_.part(3);
  if (right > 0) {
    draw_right(brush, session, {display.x - right, kTop}, {right, middle_height});
  }
  ring_.part(4);
  if (strip_height > 0) {
    draw_strip(brush, session, backend, {0, kTop + middle_height}, {display.x, strip_height});
  }
  draw_status(brush, session, {0, display.y - kStatus}, {display.x, kStatus});
  ring_.part(0);
  draw_top(brush, session, backend, {0, 0}, {display.x, kTop});

  use_shortcuts(session);
  ImGui::PopFont();
  ImGui::End();
  draw_menu(brush);
  draw_tour(brush, session);
  draw_overlay(brush, session, backend);
  if (session.parts_due != 0) {
    ring_.go_on(session.parts_due);
    session.parts_due = 0;
    changed_ = true;
  }
  // Tab takes what completes the word, where something does, and puts blanks into code.
  const bool completes = code_.active || (field_active_ && !offers_.completions.all.empty());
  if (!completes) changed_ |= ring_.move();
}

void exchange_clipboard(Session& session, Backend& backend) {
  if (session.copy_due) {
    ImGui::SetClipboardText(session.copied.c_str());
    session.copy_due = false;
  }
  if (session.paste_due) {
    session.paste_due = false;
    const char* text = ImGui::GetClipboardText();
    if (text && *text) type_field(session, backend, text);
  }
}

bool WindowUi::perform(Session& session, Backend& backend) {
  const std::vector<Intent> intents = std::move(intents_);
  intents_.clear();
  for (const Intent& intent : intents) {
    switch (intent.kind) {
      case Intent::Kind::command:
        (void)execute(session, backend, intent.text);
        break;
      case Intent::Kind::typed:
        type_field(session, backend, intent.text);
        break;
      case Intent::Kind::entered:
        // What is wrong is mended where it stands: the field keeps the keyboard.
        if (!enter_field(session, backend)) move_caret_ = session.editor.caret;
        break;
      case Intent::Kind::palette_typed:
        type_palette(session, intent.text);
        break;
      case Intent::Kind::palette_moved:
        move_palette(session, backend, intent.number);
        break;
      case Intent::Kind::palette_completed:
        complete_palette(session, backend);
        break;
      case Intent::Kind::palette_entered:
        if (intent.number >= 0) session.overlay.chosen = static_cast<std::size_t>(intent.number);
        enter_palette(session, backend);
        break;
    }
  }
  exchange_clipboard(session, backend);
  const bool finished = take_result(session, backend);
  const bool built = take_build(session, backend);
  const bool checked = take_check(session, backend);
  const bool changed_file = look_at_files(session, backend, ImGui::GetTime());
  constexpr double share_of_frame = 10;  // milliseconds
  const bool walked = seek_on(session, backend, share_of_frame);
  const bool went_on = continue_script(session, backend);
  const double seconds = double{ImGui::GetIO().DeltaTime};
  const bool played = play_on(session, backend, seconds) | play_theatre(session, seconds) |
                      play_product(session, seconds);
  const bool changed = changed_ || finished || built || checked || changed_file || walked ||
                       went_on || played || !intents.empty();
  changed_ = false;
  return changed;
}

// Where text is being typed, the keys that edit it are the text's. What lies over the view sees to
// its own Escape.
void WindowUi::use_shortcuts(const Session& session) {
  const bool typing = ImGui::GetIO().WantTextInput;
  for (const WindowCommand& command : window_commands()) {
    for (const KeyBinding& binding : key_bindings(command)) {
      Shortcut shortcut;
      if (!parse_shortcut(binding.keys, shortcut)) continue;
      if (typing && edits_text(shortcut)) continue;
      // What lies over the view has its own Escape and no selection to move.
      if ((session.overlay.open() || menu_) && !shortcut.control) continue;
      if (pressed(shortcut, is_arrow(shortcut.key))) issue(binding.line);
    }
  }
}

// The edge of a panel: drag to resize, to the side to hide; a double click does either.
void WindowUi::splitter(const Brush& brush, const char* panel, float x, float top, float height,
                        float& dragged, bool shown, float direction) {
  constexpr float grip = 8, least = WindowSettings::least_panel;
  const float display = ImGui::GetIO().DisplaySize.x;
  const float from = std::clamp(x - grip / 2, 0.0f, display - grip);
  ImGui::SetCursorScreenPos({from, top});
  ImGui::PushID(panel);
  ImGui::InvisibleButton("edge", {grip, height});
  ImGui::PopID();
  const bool hovered = ImGui::IsItemHovered(), held = ImGui::IsItemActive();
  if (hovered || held) {
    ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
    brush.box(std::floor(x) - 1, top, 2, height, Role::accent);
  } else {
    brush.line(std::clamp(x - (direction > 0 ? 1.0f : 0.0f), 0.0f, display - 1), top,
               std::clamp(x - (direction > 0 ? 1.0f : 0.0f), 0.0f, display - 1), top + height);
  }
  if (hovered && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) {
    issue(fmt::format("panel {} {}", panel, shown ? "hide" : "show"));
    dragged = Dragged::no;
    return;
  }
  const bool dragging = held && ImGui::IsMouseDragging(ImGuiMouseButton_Left, 2);
  if (!dragging && dragged == Dragged::no) return;
  // Where the button is let go counts, also after a slow frame.
  const float mouse = ImGui::GetIO().MousePos.x;
  const float wanted = direction > 0 ? mouse : display - mouse;
  dragged = wanted < least / 2 ? 0 : std::clamp(wanted, least, std::max(least, display * 0.4f));
  changed_ = true;
  if (held) return;
  issue(dragged > 0 ? fmt::format("panel {} {}", panel, std::lround(dragged))
                    : fmt::format("panel {} hide", panel));
  dragged = Dragged::no;
}

}  // namespace tilescope::ui
