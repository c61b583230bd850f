// What lies over the view for a moment: the palette, the list of commands, the list of steps.
#include <algorithm>
#include <cmath>

#include "viz/commands/command_palette.h"
#include "viz/commands/overlay_sheets.h"
#include "viz/ui/keys.h"
#include "viz/ui/style.h"
#include "viz/ui/window_ui.h"

#include <imgui_stdlib.h>

namespace tilescope::ui {
namespace {

constexpr float kTop = 88, kWidth = 800, kLine = 48, kRow = 32, kFoot = 32;
constexpr float kInset = 16;
constexpr int kMostRows = 12;

// The box of an overlay: in the middle, under the field.
ImVec2 box_size(ImVec2 display, float wanted_height) {
  return {std::min(kWidth, display.x - 32),
          std::min(wanted_height, std::max(120.0f, display.y - kTop - 48))};
}

// The line of an entry, the letters that were found in the accent.
void lit_text(const Brush& brush, float x, float y, float room, ImFont* font,
              const PaletteEntry& entry) {
  if (text_width(font, entry.line) > room) {
    brush.text(x, y, font, Role::text, cut_in_the_middle(font, entry.line, room));
    return;
  }
  std::size_t next = 0;
  for (std::size_t i = 0; i < entry.line.size(); ++i) {
    while (next < entry.lit.size() && entry.lit[next] < i) ++next;
    const bool lit = next < entry.lit.size() && entry.lit[next] == i;
    brush.text(x, y, font, lit ? Role::accent : Role::text, entry.line.substr(i, 1));
    x += text_width(font, entry.line.substr(i, 1));
  }
}

// What a row is, drawn behind its words.
bool row_button(const Brush& brush, ImVec2 at, ImVec2 size, bool current) {
  const bool clicked = ImGui::InvisibleButton("row", size);
  const ImVec2 high{at.x + size.x, at.y + size.y};
  if (current) {
    brush.list->AddRectFilled(at, high, packed(Ink(Role::accent, 0.14), brush.theme), 4);
  } else if (ImGui::IsItemHovered()) {
    brush.list->AddRectFilled(at, high, packed(Ink(Role::text, 0.07), brush.theme), 4);
  }
  return clicked;
}

// Three columns: what, what it does, and at the right edge its keys.
void columns(const Brush& brush, ImVec2 at, float width, const std::string& middle,
             const std::string& right, float left_share) {
  ImFont* words = brush.fonts.words(TextSize::small);
  const float right_width = right.empty() ? 0 : text_width(words, right) + kInset;
  const float x = std::round(at.x + width * left_share), y = at.y + kRow / 2;
  cut_line(brush, x, y, at.x + width - 8 - right_width - x, words, Role::quiet, middle);
  if (!right.empty()) {
    brush.text(at.x + width - 8 - right_width + kInset, y, words, Role::text, right);
  }
}

struct LineEvents {
  int moved = 0;
  bool caret_to_end = false;
};

int on_line_event(ImGuiInputTextCallbackData* data) {
  auto& events = *static_cast<LineEvents*>(data->UserData);
  if (data->EventFlag == ImGuiInputTextFlags_CallbackHistory) {
    events.moved += data->EventKey == ImGuiKey_UpArrow ? -1 : 1;
  } else if (events.caret_to_end) {
    data->CursorPos = data->SelectionStart = data->SelectionEnd = data->BufTextLen;
    events.caret_to_end = false;
  }
  return 0;
}

}  // namespace

void WindowUi::draw_overlay(const Brush& brush, const Session& session, const Backend& backend) {
  if (!session.overlay.open()) {
    palette_text_.clear();
    palette_active_ = false;
    sheet_frames_ = 0;
    return;
  }
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  ImGui::SetNextWindowPos({0, 0});
  ImGui::SetNextWindowSize(display);
  ImGui::Begin("overlay", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                   ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoBackground);
  ImGui::PushFont(fonts_.words(TextSize::small));
  ring_.restart();
  // A click beside the box puts it away and does nothing else.
  if (ImGui::InvisibleButton("veil", display) || pressed({Key::escape})) issue("back");
  if (session.overlay.kind == Overlay::Kind::palette) {
    draw_palette(brush, session, backend, display);
  } else {
    draw_sheet(brush, sheet_of(session), display);
  }
  ImGui::PopFont();
  ImGui::End();
}

namespace {

// A box on paper with a soft edge, so that it stands before the view in both themes.
void begin_box(Brush& brush, ImVec2 display, ImVec2 size) {
  const ImVec2 at{std::round((display.x - size.x) / 2), kTop};
  ImDrawList* under = ImGui::GetWindowDrawList();
  // Rings, not filled boxes: a software renderer pays for every pixel that it blends.
  constexpr int rings = 7;
  for (int i = 0; i < rings; ++i) {
    const auto spread = static_cast<float>(i) + 1;
    const int ink = (rings - i) * (brush.theme.dark ? 10 : 3);
    under->AddRect({at.x - spread, at.y - spread + 2},
                   {at.x + size.x + spread, at.y + size.y + spread + 2}, IM_COL32(0, 0, 0, ink),
                   8 + spread, 0, 1.5f);
  }
  ImGui::SetCursorScreenPos(at);
  ImGui::BeginChild("box", size, false,
                    ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoScrollbar |
                        ImGuiWindowFlags_NoScrollWithMouse);
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, 0));
  brush.list = ImGui::GetWindowDrawList();
  brush.box(at.x, at.y, size.x, size.y, Role::paper, 8);
  brush.list->AddRect(at, {at.x + size.x, at.y + size.y}, packed(brush.theme.line), 8);
}

void end_box() {
  ImGui::PopStyleVar();
  ImGui::EndChild();
}

}  // namespace

void WindowUi::draw_palette_line(const Brush& brush, const Session& session, ImVec2 at,
                                 float width) {
  if (session.overlay.text != palette_text_) {
    palette_text_ = session.overlay.text;
    palette_caret_to_end_ = true;
    ++palette_generation_;  // a new field takes the new text; the old one holds what was typed
    palette_active_ = false;
  }
  ImFont* font = fonts_.code(TextSize::medium);
  constexpr float edge = 2;  // the box's own
  ImGui::SetCursorScreenPos({at.x, at.y + edge});
  ImGui::PushFont(font);
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding,
                      ImVec2(0, (kLine - 2 * edge - font->FontSize) / 2));
  ImGui::PushStyleVar(ImGuiStyleVar_FrameBorderSize, 0);
  ImGui::SetNextItemWidth(width);
  ImGui::PushID(palette_generation_);
  if (!palette_active_) ImGui::SetKeyboardFocusHere();
  LineEvents events{0, palette_caret_to_end_};
  const std::string before = palette_text_;
  const bool entered = ImGui::InputTextWithHint(
      "##palette", "a command, or a few letters of it", &palette_text_,
      ImGuiInputTextFlags_CallbackHistory | ImGuiInputTextFlags_CallbackAlways |
          ImGuiInputTextFlags_EnterReturnsTrue,
      on_line_event, &events);
  palette_active_ = ImGui::IsItemActive();
  palette_caret_to_end_ = events.caret_to_end;
  ImGui::PopID();
  ImGui::PopStyleVar(2);
  ImGui::PopFont();
  if (palette_text_ != before) {
    intents_.push_back({Intent::Kind::palette_typed, palette_text_, 0});
  }
  if (events.moved) intents_.push_back({Intent::Kind::palette_moved, "", events.moved});
  if (pressed({Key::tab})) intents_.push_back({Intent::Kind::palette_completed, "", 0});
  if (entered) intents_.push_back({Intent::Kind::palette_entered, "", -1});
  brush.line(at.x - kInset, at.y + kLine, at.x + width + kInset, at.y + kLine);
}

void WindowUi::draw_palette(Brush brush, const Session& session, const Backend& backend,
                            ImVec2 display) {
  const std::vector<PaletteEntry> entries = palette_entries(session, backend, session.overlay.text);
  const auto shown = static_cast<float>(std::clamp<int>(int(entries.size()), 1, kMostRows));
  const ImVec2 size = box_size(display, kLine + 8 + shown * kRow + 8 + kFoot);
  begin_box(brush, display, size);
  const ImVec2 at = ImGui::GetWindowPos();
  draw_palette_line(brush, session, {at.x + kInset, at.y}, size.x - 2 * kInset);

  Brush rows = brush;
  ImGui::SetCursorScreenPos({at.x + 8, at.y + kLine + 8});
  ImGui::BeginChild("entries", {size.x - 16, size.y - kLine - 16 - kFoot}, false,
                    ImGuiWindowFlags_NoSavedSettings);
  rows.list = ImGui::GetWindowDrawList();
  const float width = ImGui::GetContentRegionAvail().x;
  ImFont* code = fonts_.code(TextSize::small);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const PaletteEntry& entry = entries[i];
    const ImVec2 row = ImGui::GetCursorScreenPos();
    const bool chosen = i == session.overlay.chosen;
    ImGui::PushID(static_cast<int>(i));
    if (row_button(rows, row, {width, kRow}, chosen)) {
      intents_.push_back({Intent::Kind::palette_entered, "", static_cast<int>(i)});
    }
    if (chosen && palette_chosen_ != i) {
      ImGui::SetScrollHereY();
      palette_chosen_ = i;
    }
    const float room = width * 0.5f - 16, line_width = text_width(code, entry.line);
    lit_text(rows, row.x + 8, row.y + kRow / 2, room, code, entry);
    if (!entry.arguments.empty() && line_width + 16 < room) {
      cut_line(rows, row.x + 16 + line_width, row.y + kRow / 2, room - line_width - 8, code,
               Role::quiet, entry.arguments);
    }
    columns(rows, row, width, entry.help, entry.keys, 0.5f);
    ImGui::PopID();
  }
  ImGui::EndChild();

  const float foot = at.y + size.y - kFoot;
  brush.line(at.x, foot, at.x + size.x, foot);
  ImFont* words = fonts_.words(TextSize::small);
  std::string hint = "Enter does it, Tab completes it, Up and Down choose, Esc closes";
  if (entries.empty()) hint = "No command is called so; Enter says which is near.";
  const bool wrong = !session.overlay.problem.empty();
  cut_line(brush, at.x + kInset, foot + kFoot / 2, size.x - 2 * kInset, words,
           wrong ? Role::wrong : Role::quiet, wrong ? session.overlay.problem : hint);
  end_box();
}

namespace {

// A row of a sheet: what is too long for its column goes on in the next line, so nothing is cut.
struct RowLayout {
  std::vector<std::string> left, middle;
  float middle_x = 0, height = kRow;
};
// Where the second column begins, as a share of the width.
float second_column(Sheet::Kind kind) {
  switch (kind) {
    case Sheet::Kind::commands:
      break;
    case Sheet::Kind::steps:
      return 0.06f;
    case Sheet::Kind::words:
      return 0.2f;
  }
  return 0.46f;
}
// What is typed is in the letters of code, what is read is not.
ImFont* first_font(const Brush& brush, Sheet::Kind kind) {
  return kind == Sheet::Kind::words ? brush.fonts.strong(TextSize::small)
                                    : brush.fonts.code(TextSize::small);
}
ImFont* second_font(const Brush& brush, Sheet::Kind kind) {
  return kind == Sheet::Kind::steps ? brush.fonts.code(TextSize::small)
                                    : brush.fonts.words(TextSize::small);
}

RowLayout row_layout(const Brush& brush, const SheetRow& row, Sheet::Kind kind, float width) {
  RowLayout out;
  if (row.command.empty()) return out;
  ImFont* words = brush.fonts.words(TextSize::small);
  out.middle_x = std::round(width * second_column(kind));
  const float right = row.right.empty() ? 0 : text_width(words, row.right) + kInset;
  out.left = broken(first_font(brush, kind), row.left, out.middle_x - 16);
  out.middle = broken(second_font(brush, kind), row.middle, width - 8 - right - out.middle_x);
  out.height += 16 * static_cast<float>(std::max(out.left.size(), out.middle.size()) - 1);
  return out;
}

void stack(const Brush& brush, float x, float y, ImFont* font, Role role,
           const std::vector<std::string>& lines) {
  for (const std::string& line : lines) {
    brush.text(x, y, font, role, line);
    y += 16;
  }
}

}  // namespace

void WindowUi::draw_sheet(Brush brush, const Sheet& sheet, ImVec2 display) {
  const bool commands = sheet.kind == Sheet::Kind::commands;
  const float width = box_size(display, 0).x - 32;
  std::vector<RowLayout> layouts;
  float height = 0;
  for (const SheetRow& row : sheet.rows) {
    layouts.push_back(row_layout(brush, row, sheet.kind, width));
    height += layouts.back().height;
  }
  const ImVec2 size = box_size(display, kLine + 8 + height + 16);
  begin_box(brush, display, size);
  const ImVec2 at = ImGui::GetWindowPos();
  ImFont* words = fonts_.words(TextSize::small);
  brush.text(at.x + kInset, at.y + kLine / 2, fonts_.strong(TextSize::medium), Role::text,
             sheet.title);
  const std::string hint = sheet.hint + "; Esc closes";
  brush.text(at.x + size.x - kInset - text_width(words, hint), at.y + kLine / 2, words, Role::quiet,
             hint);
  brush.line(at.x, at.y + kLine, at.x + size.x, at.y + kLine);

  Brush rows = brush;
  ImGui::SetCursorScreenPos({at.x + 8, at.y + kLine + 8});
  ImGui::BeginChild("rows", {size.x - 16, size.y - kLine - 16}, false,
                    ImGuiWindowFlags_NoSavedSettings);
  rows.list = ImGui::GetWindowDrawList();
  for (std::size_t i = 0; i < sheet.rows.size(); ++i) {
    const SheetRow& row = sheet.rows[i];
    const ImVec2 place = ImGui::GetCursorScreenPos();
    const float y = place.y + kRow / 2;
    ImGui::PushID(static_cast<int>(i));
    if (row.command.empty()) {
      rows.text(place.x + 8, y, fonts_.strong(TextSize::small), Role::text, row.left);
      ImGui::Dummy({width, kRow});
    } else {
      if (row_button(rows, place, {width, layouts[i].height}, row.current)) issue(row.command);
      focus_frame(rows, {place.x + 3, place.y + 3},
                  {place.x + width - 3, place.y + layouts[i].height - 3});
      const Role ink = row.quiet ? Role::quiet : Role::text;
      stack(rows, place.x + 8, y, first_font(rows, sheet.kind), ink, layouts[i].left);
      stack(rows, place.x + layouts[i].middle_x, y, second_font(rows, sheet.kind),
            commands ? Role::quiet : ink, layouts[i].middle);
      rows.text(place.x + width - 8 - text_width(words, row.right), y, words,
                sheet.kind == Sheet::Kind::words ? Role::quiet : Role::text, row.right);
      // What is marked is seen when the list appears.
      if (row.current && sheet_frames_ < 2) ImGui::SetScrollHereY();
    }
    ImGui::PopID();
  }
  ++sheet_frames_;
  ImGui::EndChild();
  end_box();
}

}  // namespace tilescope::ui
