#include "viz/ui/keys.h"

#include <cctype>

namespace tilescope::ui {
namespace {

#if IMGUI_VERSION_NUM < 18700
// GLFW's key numbers: letters and digits are ASCII; the rest as glfw3.h (3.3) lists them.
int number_of(Key key) {
  switch (key) {
    case Key::escape:
      return 256;
    case Key::enter:
      return 257;
    case Key::home:
      return 268;
    case Key::equal:
      return '=';
    case Key::minus:
      return '-';
    case Key::f5:
      return 294;
    case Key::f6:
      return 295;
    case Key::f8:
      return 297;
    case Key::f10:
      return 299;
    case Key::f11:
      return 300;
    case Key::question:
      break;
    case Key::tab:
      return 258;
    case Key::right:
      return 262;
    case Key::left:
      return 263;
    case Key::down:
      return 264;
    case Key::up:
      return 265;
    case Key::space:
      return ' ';
    case Key::bracket_open:
      return '[';
    case Key::bracket_close:
      return ']';
  }
  return static_cast<int>(key);
}
#else
ImGuiKey number_of(Key key) {
  switch (key) {
    case Key::escape:
      return ImGuiKey_Escape;
    case Key::enter:
      return ImGuiKey_Enter;
    case Key::home:
      return ImGuiKey_Home;
    case Key::equal:
      return ImGuiKey_Equal;
    case Key::minus:
      return ImGuiKey_Minus;
    case Key::f5:
      return ImGuiKey_F5;
    case Key::f6:
      return ImGuiKey_F6;
    case Key::f8:
      return ImGuiKey_F8;
    case Key::f10:
      return ImGuiKey_F10;
    case Key::f11:
      return ImGuiKey_F11;
    case Key::question:
      return ImGuiKey_None;
    case Key::tab:
      return ImGuiKey_Tab;
    case Key::right:
      return ImGuiKey_RightArrow;
    case Key::left:
      return ImGuiKey_LeftArrow;
    case Key::down:
      return ImGuiKey_DownArrow;
    case Key::up:
      return ImGuiKey_UpArrow;
    case Key::space:
      return ImGuiKey_Space;
    case Key::bracket_open:
      return ImGuiKey_LeftBracket;
    case Key::bracket_close:
      return ImGuiKey_RightBracket;
  }
  const int number = static_cast<int>(key);
  if (number >= '0' && number <= '9') return static_cast<ImGuiKey>(ImGuiKey_0 + (number - '0'));
  return static_cast<ImGuiKey>(ImGuiKey_A + (static_cast<int>(key) - 'A'));
}
#endif

bool parse_key(std::string_view text, Key& out) {
  if (text == "Esc") return out = Key::escape, true;
  if (text == "Enter") return out = Key::enter, true;
  if (text == "Home") return out = Key::home, true;
  if (text == "=") return out = Key::equal, true;
  if (text == "-") return out = Key::minus, true;
  if (text == "?") return out = Key::question, true;
  if (text == "Left") return out = Key::left, true;
  if (text == "Right") return out = Key::right, true;
  if (text == "Up") return out = Key::up, true;
  if (text == "Down") return out = Key::down, true;
  if (text == "[") return out = Key::bracket_open, true;
  if (text == "]") return out = Key::bracket_close, true;
  if (text == "F5") return out = Key::f5, true;
  if (text == "F6") return out = Key::f6, true;
  if (text == "F8") return out = Key::f8, true;
  if (text == "F10") return out = Key::f10, true;
  if (text == "F11") return out = Key::f11, true;
  const bool letter = text.size() == 1 && text[0] >= 'A' && text[0] <= 'Z';
  if (letter || (text.size() == 1 && text[0] >= '0' && text[0] <= '9')) {
    out = static_cast<Key>(text[0]);
    return true;
  }
  return false;
}

}  // namespace

bool parse_shortcut(std::string_view text, Shortcut& out) {
  out = {};
  const auto eat = [&](std::string_view prefix) {
    if (text.substr(0, prefix.size()) != prefix) return false;
    text.remove_prefix(prefix.size());
    return true;
  };
  out.control = eat("Ctrl+");
  out.shift = eat("Shift+");
  return parse_key(text, out.key);
}

bool pressed(const Shortcut& shortcut, bool repeat) {
  const ImGuiIO& io = ImGui::GetIO();
  if (shortcut.key == Key::question) return io.InputQueueCharacters.contains('?');
  return io.KeyCtrl == shortcut.control && io.KeyShift == shortcut.shift &&
         ImGui::IsKeyPressed(number_of(shortcut.key), repeat);
}

bool edits_text(const Shortcut& shortcut) {
  for (const Key key : {Key::f5, Key::f6, Key::f8, Key::f10, Key::f11}) {
    if (shortcut.key == key) return false;
  }
  if (!shortcut.control) return true;
  for (char letter : {'A', 'C', 'V', 'X', 'Y', 'Z'}) {
    if (shortcut.key == static_cast<Key>(letter)) return true;
  }
  return false;
}

bool is_arrow(Key key) {
  return key == Key::up || key == Key::down || key == Key::left || key == Key::right;
}

#if IMGUI_VERSION_NUM < 18700
WithoutEscape::WithoutEscape() : was_(ImGui::GetIO().KeyMap[ImGuiKey_Escape]) {
  ImGui::GetIO().KeyMap[ImGuiKey_Escape] = -1;
}
WithoutEscape::~WithoutEscape() {
  ImGui::GetIO().KeyMap[ImGuiKey_Escape] = was_;
}
#else
// Newer ones clear a field only with ImGuiInputTextFlags_EscapeClearsAll.
WithoutEscape::WithoutEscape() = default;
WithoutEscape::~WithoutEscape() = default;
#endif

void set_key(ImGuiIO& io, Key key, bool down) {
#if IMGUI_VERSION_NUM < 18700
  io.KeysDown[number_of(key)] = down;
#else
  io.AddKeyEvent(number_of(key), down);
#endif
}

void set_modifiers(ImGuiIO& io, bool control, bool shift) {
#if IMGUI_VERSION_NUM < 18700
  io.KeyCtrl = control;
  io.KeyShift = shift;
#else
  io.AddKeyEvent(ImGuiMod_Ctrl, control);
  io.AddKeyEvent(ImGuiMod_Shift, shift);
#endif
}

void install_key_map([[maybe_unused]] ImGuiIO& io) {
#if IMGUI_VERSION_NUM < 18700
  io.KeyMap[ImGuiKey_Tab] = -1;
  io.KeyMap[ImGuiKey_LeftArrow] = 263;
  io.KeyMap[ImGuiKey_RightArrow] = 262;
  io.KeyMap[ImGuiKey_UpArrow] = 265;
  io.KeyMap[ImGuiKey_DownArrow] = 264;
  io.KeyMap[ImGuiKey_Space] = ' ';
  io.KeyMap[ImGuiKey_PageUp] = 266;
  io.KeyMap[ImGuiKey_PageDown] = 267;
  io.KeyMap[ImGuiKey_Home] = number_of(Key::home);
  io.KeyMap[ImGuiKey_End] = 269;
  io.KeyMap[ImGuiKey_Delete] = 261;
  io.KeyMap[ImGuiKey_Backspace] = 259;
  io.KeyMap[ImGuiKey_Enter] = number_of(Key::enter);
  io.KeyMap[ImGuiKey_Escape] = number_of(Key::escape);
  for (char letter : {'A', 'C', 'V', 'X', 'Y', 'Z'}) {
    const int slot = letter == 'A'   ? ImGuiKey_A
                     : letter == 'C' ? ImGuiKey_C
                     : letter == 'V' ? ImGuiKey_V
                     : letter == 'X' ? ImGuiKey_X
                     : letter == 'Y' ? ImGuiKey_Y
                                     : ImGuiKey_Z;
    io.KeyMap[slot] = letter;
  }
#endif
}

}  // namespace tilescope::ui
