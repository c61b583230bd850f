#include "viz/ui/code_field.h"

#include <fmt/format.h>
#include <imgui_internal.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <cmath>

#include "viz/scene/cuda_text.h"
#include "viz/ui/keys.h"
#include "viz/ui/style.h"

namespace tilescope::ui {
namespace {

constexpr float kPad = 8;

// Where a line begins.
int begin_of_line(const std::string& text, std::uint32_t line) {
  std::size_t at = 0;
  for (std::uint32_t i = 1; i < line; ++i) {
    const std::size_t end = text.find('\n', at);
    if (end == text.npos) break;
    at = end + 1;
  }
  return static_cast<int>(at);
}

int edit(ImGuiInputTextCallbackData* data) {
  auto& field = *static_cast<CodeField*>(data->UserData);
  if (field.go_to) {
    data->CursorPos = begin_of_line(field.text, *field.go_to);
    data->SelectionStart = data->SelectionEnd = data->CursorPos;
    field.seen = field.go_to;
    field.go_to.reset();
  }
  if (pressed({Key::tab}, true)) {
    if (data->HasSelection()) {
      const int from = std::min(data->SelectionStart, data->SelectionEnd);
      data->DeleteChars(from, std::abs(data->SelectionEnd - data->SelectionStart));
      data->CursorPos = from;
    }
    data->InsertChars(data->CursorPos, "  ");
  }
  return 0;
}

// Where the text stands in its window: how far down, and to the side while somebody types in it.
struct Place {
  float down = 0, right = 0;
};

Place place_of(ImGuiID id) {
  const ImGuiWindow* outer = ImGui::GetCurrentWindow();
  Place out;
  if (!outer->DC.ChildWindows.empty()) out.down = outer->DC.ChildWindows.back()->Scroll.y;
  if (const ImGuiInputTextState* state = ImGui::GetInputTextState(id)) out.right = state->ScrollX;
  return out;
}

// A line that was gone to stands where what is around it can be seen too.
void scroll_to(CodeField& field, float height) {
  const ImGuiWindow* outer = ImGui::GetCurrentWindow();
  if (!field.seen || outer->DC.ChildWindows.empty()) return;
  const float row = ImGui::GetFontSize();
  ImGui::SetScrollY(outer->DC.ChildWindows.back(),
                    std::max(0.0f, row * static_cast<float>(*field.seen) - height / 3));
  field.seen.reset();
}

// Letters that are more than plain are drawn once more, in their colours.
void draw_colours(const Brush& brush, std::string_view line, ImVec2 at, bool& in_comment) {
  ImFont* font = brush.fonts.code(TextSize::small);
  for (const CudaSpan& span : cuda_spans(line, in_comment)) {
    if (span.part == CudaPart::plain) continue;
    const std::string piece(line.substr(span.begin, span.end - span.begin));
    const float before = text_width(font, std::string(line.substr(0, span.begin)));
    brush.list->AddText(font, font->FontSize, {at.x + before, at.y},
                        packed(Ink(colour_of(span.part, brush.theme)), brush.theme), piece.c_str());
  }
}

// A line that goes on beyond the pane says so, at the side where it does.
void draw_cuts(const Brush& brush, float width, float begin, float left, float right, float y,
               float row) {
  ImFont* font = brush.fonts.code(TextSize::small);
  const std::string more = "\u2026";
  const float room = text_width(font, more) + 6;
  const auto mark = [&](float x) {
    brush.box(x, y, room, row, Role::paper);
    brush.text(x + 3, y + row / 2, font, Role::accent, more);
  };
  if (begin + width > right - 8) mark(right - room);
  if (begin < left && width > 0) mark(left - 1);
}

// The lines that are seen: colours, and what is cut.
void draw_code(const Brush& brush, const CodeField& field, ImVec2 at, float right, float top,
               Place place, std::uint32_t first, std::uint32_t last) {
  ImFont* font = brush.fonts.code(TextSize::small);
  bool in_comment = false;
  std::string_view rest = field.text;
  for (std::uint32_t i = 0; i < last; ++i) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (i < first) {
      (void)cuda_spans(line, in_comment);
      continue;
    }
    const float y = top + static_cast<float>(i) * font->FontSize, x = at.x - place.right;
    draw_colours(brush, line, {x, y}, in_comment);
    draw_cuts(brush, text_width(font, std::string(line)), x, at.x, right, y, font->FontSize);
  }
}

// Numbers at the left, and the marks of lines that are seen; what is marked lies below the letters.
void draw_lines(const Brush& brush, const CodeField& field, ImVec2 at, ImVec2 size, float numbers,
                Place place, const std::vector<CodeMark>& marks) {
  ImFont* font = brush.fonts.code(TextSize::small);
  const float row = font->FontSize, top = at.y + 7 - place.down;
  brush.list->PushClipRect(at, {at.x + size.x, at.y + size.y}, true);
  const auto count =
      static_cast<std::uint32_t>(std::count(field.text.begin(), field.text.end(), '\n') + 1);
  const auto first = static_cast<std::uint32_t>(std::max(0.0f, place.down / row));
  const auto last = std::min(count, first + static_cast<std::uint32_t>(size.y / row) + 2);
  for (std::uint32_t i = first; i < last; ++i) {
    const std::string number = fmt::format("{}", i + 1);
    brush.text(at.x + numbers - kPad - text_width(font, number),
               top + (static_cast<float>(i) + 0.5f) * row, font, Role::quiet, number);
  }
  // Over the letters, which a window of their own draws.
  const ImGuiWindow* outer = ImGui::GetCurrentWindow();
  if (!outer->DC.ChildWindows.empty()) {
    Brush above = brush;
    above.list = outer->DC.ChildWindows.back()->DrawList;
    above.list->PushClipRect({at.x + numbers, at.y}, {at.x + size.x, at.y + size.y});
    draw_code(above, field, {at.x + numbers + 8, at.y}, at.x + size.x, top, place, first, last);
    above.list->PopClipRect();
  }
  for (const CodeMark& mark : marks) {
    if (mark.line < 1 || mark.line - 1 < first || mark.line > last) continue;
    const float y = top + static_cast<float>(mark.line - 1) * row;
    const auto begin = static_cast<std::size_t>(begin_of_line(field.text, mark.line));
    const std::string_view line =
        std::string_view(field.text).substr(begin, field.text.find('\n', begin) - begin);
    const Role role = mark.error ? Role::wrong : Role::quiet;
    brush.list->AddRectFilled({at.x + numbers, y}, {at.x + size.x, y + row},
                              packed(Ink(role, 0.12), brush.theme));
    brush.box(at.x + numbers - 4, y, 3, row, role);
    brush.text(at.x + numbers + 8 + text_width(font, line) + 24 - place.right, y + row / 2,
               brush.fonts.words(TextSize::small), role, mark.words);
  }
  brush.list->PopClipRect();
}

}  // namespace

bool code_field(const Brush& brush, CodeField& field, ImVec2 at, ImVec2 size,
                const std::vector<CodeMark>& marks) {
  ImFont* font = brush.fonts.code(TextSize::small);
  const float numbers = std::ceil(text_width(font, "00000")) + 2 * kPad;
  // The numbers lead the keyboard, and a click on them, into the text.
  ImGui::SetCursorScreenPos(at);
  if (ImGui::InvisibleButton("lines", {numbers, size.y})) field.takes_keyboard = true;
  focus_frame(brush, {at.x + 3, at.y + 3}, {at.x + numbers - 3, at.y + size.y - 3});
  ImGui::PushID(field.generation);
  const ImGuiID id = ImGui::GetID("##code");
  ImGui::SetCursorScreenPos({at.x + numbers, at.y});
  ImGui::PushFont(font);
  ImGui::PushStyleColor(ImGuiCol_FrameBg, IM_COL32(0, 0, 0, 0));
  ImGui::PushStyleColor(ImGuiCol_Border, IM_COL32(0, 0, 0, 0));
  if (field.takes_keyboard || field.go_to) ImGui::SetKeyboardFocusHere();
  field.takes_keyboard = false;
  bool changed = false;
  {
    const WithoutEscape keeps_text;
    changed = ImGui::InputTextMultiline("##code", &field.text, {size.x - numbers, size.y},
                                        ImGuiInputTextFlags_CallbackAlways, edit, &field);
  }
  field.active = ImGui::GetActiveID() == id;
  scroll_to(field, size.y);
  ImGui::PopStyleColor(2);
  ImGui::PopFont();
  draw_lines(brush, field, at, size, numbers, place_of(id), marks);
  if (field.active && pressed({Key::escape})) ImGui::ClearActiveID();
  ImGui::PopID();
  return changed;
}

}  // namespace tilescope::ui
