// The one place that knows how Dear ImGui names keys.
//
// Dear ImGui 1.86 (Debian 12) takes the key numbers of its platform backend: GLFW's. From 1.87 on
// it has names of its own (ImGuiKey_A ...). Everything else in the window asks here, by our names.
#pragma once

#include <imgui.h>

#include <string>
#include <string_view>

namespace tilescope::ui {

// Letters and digits are their own upper-case character. `question` is the character, wherever the
// keyboard has it.
enum class Key : int {
  escape = 256,
  enter,
  home,
  equal,
  minus,
  f5,
  f6,
  f8,
  f10,
  f11,
  question,
  tab,
  up,
  down,
  left,
  right,
  space,
  bracket_open,
  bracket_close
};

struct Shortcut {
  Key key;
  bool control = false;
  bool shift = false;
};

// "Ctrl+Shift+Z", "Esc", "F5", "Ctrl+=" as the command table writes them. False where the text
// names no key that is known here.
bool parse_shortcut(std::string_view text, Shortcut& out);

// True in the frame in which the shortcut was pressed, with exactly these modifiers.
// `repeat`: again while it is held.
bool pressed(const Shortcut& shortcut, bool repeat = false);

// Whether the keys mean something to a field that is being typed in.
bool edits_text(const Shortcut& shortcut);

// Arrows go on while they are held.
bool is_arrow(Key key);

// While it lives Dear ImGui hears no Esc: its fields take back what was typed, and a text of many
// lines stays as it is.
class WithoutEscape {
 public:
  WithoutEscape();
  ~WithoutEscape();
  WithoutEscape(const WithoutEscape&) = delete;
  WithoutEscape& operator=(const WithoutEscape&) = delete;

 private:
  int was_ = 0;
};

// For tests and for scripted input: tells Dear ImGui that a key goes down or up.
void set_key(ImGuiIO& io, Key key, bool down);
void set_modifiers(ImGuiIO& io, bool control, bool shift);

// Dear ImGui 1.86 needs to be told which numbers mean Enter, Backspace and so on where no platform
// backend does it (tests, pictures without a window). Newer versions know. Tab is left out: it goes
// round all targets (focus_ring.h), not only fields; so this comes after the platform's own.
void install_key_map(ImGuiIO& io);

}  // namespace tilescope::ui
