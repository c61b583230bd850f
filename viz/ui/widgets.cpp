#include "viz/ui/widgets.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "viz/ui/icons.h"
#include "viz/ui/style.h"

namespace tilescope::ui {
namespace {

constexpr float kRow = 24;     // height of a row of a list
constexpr float kIndent = 16;  // of each level
constexpr float kRadius = 4;
constexpr float kMark = 12;  // that a menu opens

Ink shade(bool held, bool hovered) {
  return Ink(Role::text, held ? 0.14 : hovered ? 0.07 : 0.0);
}

}  // namespace

bool focus_frame(const Brush& brush, ImVec2 low, ImVec2 high, bool text_field) {
  if (!brush.ring || !brush.ring->add(text_field)) return false;
  brush.list->AddRect({low.x - 2, low.y - 2}, {high.x + 2, high.y + 2}, packed(brush.theme.accent),
                      kRadius + 2, 0, 2);
  return true;
}

void Brush::text(float x, float y, ImFont* font, Role role, const std::string& words) const {
  const float em = fonts.em_of(font);
  const float top = y + static_cast<float>(cap_height) * em / 2 - font->Ascent;
  list->AddText(font, font->FontSize, {std::round(x), std::round(top)}, packed(role, theme),
                words.data(), words.data() + words.size());
}

void Brush::box(float x, float y, float width, float height, Role fill, float radius) const {
  list->AddRectFilled({x, y}, {x + width, y + height}, packed(fill, theme), radius);
}

void Brush::line(float x0, float y0, float x1, float y1) const {
  list->AddRectFilled({x0, y0}, {x0 == x1 ? x0 + 1 : x1, y0 == y1 ? y0 + 1 : y1},
                      packed(theme.line));
}

namespace {

constexpr float kIconGap = 7;  // between an icon and its words

float icon_room(std::optional<Icon> icon) {
  return icon ? icon_size + kIconGap : 0;
}

// What a button stands on: paper with a line around it.
void button_ground(const Brush& brush, ImVec2 at, ImVec2 high, bool held, bool hovered,
                   bool marked) {
  brush.box(at.x, at.y, high.x - at.x, high.y - at.y, Role::paper, kRadius);
  const Ink fill = marked ? Ink(Role::accent, 0.14) : shade(held, hovered);
  brush.list->AddRectFilled(at, high, packed(fill, brush.theme), kRadius);
  brush.list->AddRect(at, high, packed(brush.theme.line), kRadius);
}

float width_with(const Brush& brush, const std::string& words, std::optional<Icon> icon) {
  const float text = text_width(brush.fonts.words(TextSize::small), words);
  return std::round(text + icon_room(icon)) + 24;
}

}  // namespace

float button_width(const Brush& brush, const std::string& words) {
  return width_with(brush, words, icon_of(words));
}

float word_button_width(const Brush& brush, const std::string& words) {
  return width_with(brush, words, {});
}

bool icon_button(const Brush& brush, const char* id, const std::string& words, ImVec2 at,
                 bool enabled, bool marked) {
  ImGui::SetCursorScreenPos(at);
  ImGui::PushID(id);
  const bool clicked =
      ImGui::InvisibleButton("button", {icon_button_width, button_height}) && enabled;
  const ImVec2 high{at.x + icon_button_width, at.y + button_height};
  button_ground(brush, at, high, ImGui::IsItemActive() && enabled,
                ImGui::IsItemHovered() && enabled, marked);
  draw_icon(*brush.list, icon_of(words).value_or(Icon::forth),
            {at.x + icon_button_width / 2, at.y + button_height / 2},
            packed(Ink(enabled ? Role::text : Role::quiet, enabled ? 1 : 0.6), brush.theme));
  focus_frame(brush, at, high);
  ImGui::PopID();
  return clicked;
}

namespace {

bool draw_button(const Brush& brush, const char* id, const std::string& words,
                 std::optional<Icon> icon, ImVec2 at, float width, bool enabled, bool loud,
                 bool marked) {
  ImGui::SetCursorScreenPos(at);
  ImGui::PushID(id);
  const bool clicked = ImGui::InvisibleButton("button", {width, button_height}) && enabled;
  const bool hovered = ImGui::IsItemHovered() && enabled, held = ImGui::IsItemActive() && enabled;
  const ImVec2 high{at.x + width, at.y + button_height};
  if (loud && enabled) {
    brush.box(at.x, at.y, width, button_height, Role::accent, kRadius);
    if (hovered) brush.list->AddRectFilled(at, high, IM_COL32(0, 0, 0, held ? 48 : 24), kRadius);
  } else {
    button_ground(brush, at, high, held, hovered, marked);
  }
  ImFont* font = brush.fonts.words(TextSize::small);
  const float room = icon_room(icon), y = at.y + button_height / 2;
  const float x = at.x + (width - text_width(font, words) - room) / 2 + room;
  if (icon) {
    const ImU32 ink = loud && enabled
                          ? packed(text_on(brush.theme.accent))
                          : packed(Ink(enabled ? Role::text : Role::quiet), brush.theme);
    draw_icon(*brush.list, *icon, {x - room + icon_size / 2, y}, ink);
  }
  if (loud && enabled) {
    const Rgba ink = text_on(brush.theme.accent);
    const float em = brush.fonts.em_of(font);
    const float top = y + static_cast<float>(cap_height) * em / 2 - font->Ascent;
    brush.list->AddText(font, font->FontSize, {std::round(x), std::round(top)}, packed(ink),
                        words.data(), words.data() + words.size());
  } else {
    brush.text(x, y, font, enabled ? Role::text : Role::quiet, words);
  }
  focus_frame(brush, at, high);
  ImGui::PopID();
  return clicked;
}

}  // namespace

bool button(const Brush& brush, const char* id, const std::string& words, ImVec2 at, float width,
            bool enabled, bool loud, bool marked) {
  if (width <= 0) width = button_width(brush, words);
  return draw_button(brush, id, words, icon_of(words), at, width, enabled, loud, marked);
}

bool word_button(const Brush& brush, const char* id, const std::string& words, ImVec2 at) {
  return draw_button(brush, id, words, {}, at, word_button_width(brush, words), true, false, false);
}

float segmented_width(const Brush& brush, const Choice& choice, float spared) {
  float width =
      choice.title.empty() ? 0 : text_width(brush.fonts.words(TextSize::small), choice.title) + 8;
  for (const Tab& option : choice.options) width += word_button_width(brush, option.label) - spared;
  return std::round(width);
}

const std::string* segmented(const Brush& brush, const Choice& choice, ImVec2 at, float spared) {
  const std::string* clicked = nullptr;
  ImFont* font = brush.fonts.words(TextSize::small);
  float x = at.x;
  const float middle = at.y + button_height / 2;
  if (!choice.title.empty()) {
    brush.text(x, middle, font, Role::quiet, choice.title);
    x = std::round(x + text_width(font, choice.title) + 8);
  }
  const float begin = x;
  ImGui::PushID(choice.title.c_str());
  for (const Tab& option : choice.options) {
    const float width = word_button_width(brush, option.label) - spared;
    ImGui::SetCursorScreenPos({x, at.y});
    if (ImGui::InvisibleButton(option.label.c_str(), {width, button_height})) {
      clicked = &option.command;
    }
    const ImVec2 low{x, at.y}, high{x + width, at.y + button_height};
    if (option.current) {
      brush.list->AddRectFilled(low, high, packed(Ink(Role::accent, 0.14), brush.theme), kRadius);
    } else {
      brush.list->AddRectFilled(
          low, high, packed(shade(ImGui::IsItemActive(), ImGui::IsItemHovered()), brush.theme),
          kRadius);
    }
    brush.text(x + 12 - spared / 2, middle, font, option.current ? Role::text : Role::quiet,
               option.label);
    focus_frame(brush, low, high);
    x += width;
  }
  ImGui::PopID();
  brush.list->AddRect({begin, at.y}, {x, at.y + button_height}, packed(brush.theme.line), kRadius);
  return clicked;
}

float menu_button_width(const Brush& brush, const std::string& words) {
  return word_button_width(brush, words) + kMark;
}

bool menu_button(const Brush& brush, const char* id, const std::string& words, ImVec2 at) {
  const float width = menu_button_width(brush, words), middle = at.y + button_height / 2;
  const ImVec2 high{at.x + width, at.y + button_height};
  ImGui::SetCursorScreenPos(at);
  ImGui::PushID(id);
  const bool clicked = ImGui::InvisibleButton("menu", {width, button_height});
  brush.box(at.x, at.y, width, button_height, Role::paper, kRadius);
  brush.list->AddRectFilled(
      at, high, packed(shade(ImGui::IsItemActive(), ImGui::IsItemHovered()), brush.theme), kRadius);
  brush.list->AddRect(at, high, packed(brush.theme.line), kRadius);
  brush.text(at.x + 12, middle, brush.fonts.words(TextSize::small), Role::text, words);
  const float tip = high.x - 14;
  brush.list->AddTriangleFilled({tip - 4, middle - 2}, {tip + 4, middle - 2}, {tip, middle + 3},
                                packed(brush.theme.quiet));
  focus_frame(brush, at, high);
  ImGui::PopID();
  return clicked;
}

bool list_row(const Brush& brush, const char* id, const std::string& label,
              const std::string& detail, int level, bool current, std::optional<bool> open) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  ImGui::PushID(id);
  const bool clicked = ImGui::InvisibleButton("row", {width, kRow});
  const bool hovered = ImGui::IsItemHovered();
  const ImVec2 high{at.x + width, at.y + kRow};
  if (current) {
    brush.list->AddRectFilled(at, high, packed(Ink(Role::accent, 0.14), brush.theme), kRadius);
  } else {
    brush.list->AddRectFilled(at, high, packed(shade(ImGui::IsItemActive(), hovered), brush.theme),
                              kRadius);
  }
  ImFont* font = brush.fonts.words(TextSize::small);
  const float x = at.x + 8 + static_cast<float>(level) * kIndent;
  const float room = open ? 24 : 8;
  brush.text(x, at.y + kRow / 2, font, Role::text,
             cut_in_the_middle(font, label, high.x - room - x));
  if (open) {
    draw_icon(*brush.list, *open ? Icon::unfolded : Icon::folded, {high.x - 14, at.y + kRow / 2},
              packed(Role::quiet, brush.theme));
  }
  // Inside the row, since the list cuts off what lies beside it.
  focus_frame(brush, {at.x + 3, at.y + 3}, {high.x - 3, high.y - 3});
  if (hovered && !detail.empty()) tooltip(brush, detail);
  ImGui::PopID();
  return clicked;
}

void heading(const Brush& brush, const std::string& words) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImFont* font = brush.fonts.strong(TextSize::small);
  float y = at.y + 12;
  for (const std::string& line : broken(font, words, ImGui::GetContentRegionAvail().x - 16)) {
    brush.text(at.x + 8, y, font, Role::text, line);
    y += 16;
  }
  ImGui::Dummy({0, y - at.y - 4});
}

void paragraph(const Brush& brush, const std::string& words, Role role) {
  ImFont* font = brush.fonts.words(TextSize::small);
  const float width = ImGui::GetContentRegionAvail().x - 16;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const ImVec2 size =
      font->CalcTextSizeA(font->FontSize, 1e9f, width, words.data(), words.data() + words.size());
  brush.list->AddText(font, font->FontSize, {at.x + 8, at.y}, packed(role, brush.theme),
                      words.data(), words.data() + words.size(), width);
  ImGui::Dummy({width, std::ceil(size.y / 8) * 8});
}

std::vector<std::string> broken(const ImFont* font, const std::string& text, float width) {
  std::vector<std::string> lines;
  std::size_t begin = 0;
  while (begin < text.size()) {
    std::size_t fits = 0, good = 0;
    for (std::size_t n = 1; begin + n <= text.size(); ++n) {
      if (text_width(font, std::string_view(text).substr(begin, n)) > width && n > 1) break;
      fits = n;
      if (std::string_view(" ,/:").find(text[begin + n - 1]) != std::string_view::npos) good = n;
    }
    const bool rest = begin + fits == text.size();
    const std::size_t take = rest || good == 0 ? fits : good;
    lines.push_back(text.substr(begin, take));
    begin += take;
  }
  return lines;
}

void name_value(const Brush& brush, const std::string& name, const std::string& value) {
  ImFont* words = brush.fonts.words(TextSize::small);
  ImFont* code = brush.fonts.code(TextSize::small);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x - 16;
  const float name_width = text_width(words, name), value_width = text_width(code, value);
  brush.text(at.x + 8, at.y + 10, words, Role::quiet, name);
  if (name_width + 16 + value_width <= width) {
    // Values end at one edge, so that their digits stand under each other.
    brush.text(at.x + 8 + width - value_width, at.y + 10, code, Role::text, value);
    ImGui::Dummy({width, 20});
    return;
  }
  // What has no room beside its name stands below it, at the same edge; a text of several lines
  // begins at the left.
  float y = at.y + 28;
  const std::vector<std::string> lines = broken(code, value, width);
  for (const std::string& line : lines) {
    const float x = lines.size() == 1 ? at.x + 8 + width - text_width(code, line) : at.x + 8;
    brush.text(x, y, code, Role::text, line);
    y += 16;
  }
  ImGui::Dummy({width, y - at.y});
}

void begin_panel(Brush& brush, const char* id, ImVec2 at, ImVec2 size) {
  ImGui::SetCursorScreenPos({at.x + 8, at.y});
  ImGui::BeginChild(id, {size.x - 12, size.y}, false,
                    ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NavFlattened);
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(8, 0));
  brush.list = ImGui::GetWindowDrawList();
  ImGui::Dummy({0, 8});
}

void end_panel() {
  ImGui::Dummy({0, 8});
  ImGui::PopStyleVar();
  ImGui::EndChild();
}

bool link_row(const Brush& brush, const InspectorLink& link) {
  ImFont* code = brush.fonts.code(TextSize::small);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, room = width - 16;
  // What has no room beside the other stands below it, in a few lines.
  constexpr std::size_t most_lines = 3;
  const float label_width = text_width(code, link.label);
  const bool beside = label_width + 8 + text_width(code, link.value) <= room;
  std::vector<std::string> lines;
  if (!beside) lines = broken(code, link.value, room);
  if (lines.size() > most_lines) {
    std::string rest;
    for (std::size_t i = most_lines - 1; i < lines.size(); ++i) rest += lines[i] + " ";
    rest.pop_back();
    lines.resize(most_lines);
    lines.back() = cut_in_the_middle(code, rest, room);
  }
  const float height = kRow + 16 * static_cast<float>(lines.size());
  const bool clicked = ImGui::InvisibleButton(link.command.c_str(), {width, height});
  const ImVec2 high{at.x + width, at.y + height};
  const Ink fill =
      link.current ? Ink(Role::accent, 0.14) : shade(ImGui::IsItemActive(), ImGui::IsItemHovered());
  brush.list->AddRectFilled(at, high, packed(fill, brush.theme), kRadius);
  const float first = at.y + kRow / 2;
  brush.text(at.x + 8, first, code, beside ? Role::text : Role::quiet,
             cut_in_the_middle(code, link.label, room));
  if (beside) {
    brush.text(high.x - 8 - text_width(code, link.value), first, code, Role::text, link.value);
  }
  float y = first + 16;
  for (const std::string& line : lines) {
    brush.text(at.x + 8, y, code, Role::text, line);
    y += 16;
  }
  focus_frame(brush, at, high);
  return clicked;
}

void bit_picture(const Brush& brush, const BitPicture& picture) {
  constexpr float height = 18, most = 16;
  ImFont* words = brush.fonts.words(TextSize::small);
  ImFont* code = brush.fonts.code(TextSize::small);
  const float width = ImGui::GetContentRegionAvail().x - 16;
  const float cell = std::min(
      most, std::floor(width / static_cast<float>(std::max<std::size_t>(1, picture.bits.size()))));
  for (const bool after : {false, true}) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    brush.text(at.x + 8, at.y + 10, words, Role::quiet,
               after ? picture.title_after : picture.title_before);
    float x = at.x + 8;
    const float y = at.y + 20;
    for (const BitPicture::Bit& bit : picture.bits) {
      const bool set = after ? bit.after : bit.before, moved = bit.before != bit.after;
      if (bit.read) brush.box(x, y, cell - 1, height, Role::line, 2);
      if (bit.written && moved && after) brush.box(x, y, cell - 1, height, Role::accent, 2);
      if (bit.written && !(moved && after)) {
        brush.list->AddRect({x, y}, {x + cell - 1, y + height}, packed(brush.theme.accent), 2);
      }
      const std::string digit = set ? "1" : "0";
      if (cell >= text_width(code, digit)) {
        const float middle = x + (cell - 1 - text_width(code, digit)) / 2;
        const bool on_accent = bit.written && moved && after;
        brush.text(middle, y + height / 2, code,
                   on_accent ? Role::paper
                   : set     ? Role::text
                             : Role::quiet,
                   digit);
      }
      x += cell;
    }
    ImGui::Dummy({width, 20 + height + 4});
  }
  paragraph(brush, "Grey bits are XORed into framed ones; filled ones changed.", Role::quiet);
}

void progress_bar(const Brush& brush, ImVec2 at, float width, double share) {
  const auto filled = static_cast<float>(std::clamp(share, 0.0, 1.0)) * width;
  brush.box(at.x, at.y, width, 8, Role::line, 4);
  if (filled >= 8) brush.box(at.x, at.y, filled, 8, Role::accent, 4);
}

void cut_line(const Brush& brush, float x, float y, float room, ImFont* font, Role role,
              const std::string& words) {
  const std::string shown = cut_in_the_middle(font, words, room);
  brush.text(x, y, font, role, shown);
  if (shown != words && ImGui::IsMouseHoveringRect({x, y - 10}, {x + room, y + 10})) {
    tooltip(brush, words);
  }
}

void tooltip(const Brush& brush, const std::string& words) {
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(8, 8));
  ImGui::BeginTooltip();
  ImGui::PushFont(brush.fonts.words(TextSize::small));
  ImGui::PushTextWrapPos(480);
  ImGui::TextUnformatted(words.data(), words.data() + words.size());
  ImGui::PopTextWrapPos();
  ImGui::PopFont();
  ImGui::EndTooltip();
  ImGui::PopStyleVar();
}

}  // namespace tilescope::ui
