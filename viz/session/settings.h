// How the window looks, whatever is open in it: letters, motion, widths of panels.
// They are choices too (undone, scripted), but a share string leaves them as the reader has them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tilescope {

struct WindowSettings {
  static constexpr int usual = -1;  // a panel's width: by the window's
  static constexpr int least_font = 100, most_font = 250;
  static constexpr int least_panel = 120, most_panel = 1200;

  int font = 100;  // percent; everything grows with the letters, as far as there is room
  bool animation = true;
  bool rebuilds = false;                   // a kernel whose file has changed, by itself
  int outline = usual, inspector = usual;  // widths in pixels at 100 %; 0: collapsed
  std::optional<bool> legend;              // at the foot of views; nothing: where there is room

  friend bool operator==(const WindowSettings&, const WindowSettings&) = default;
};

// The commands that make these settings from the usual ones, and whether a line is such a command.
std::vector<std::string> settings_lines(const WindowSettings& settings);
bool is_setting(std::string_view line);

}  // namespace tilescope
