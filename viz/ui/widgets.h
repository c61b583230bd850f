// The window's own widgets: text in three sizes, word buttons, choices side by side, name and value
// rows, a progress bar. Each is drawn from the theme; none shows Dear ImGui's default look.
#pragma once

#include <imgui.h>

#include <optional>
#include <string>
#include <vector>

#include "viz/session/panels.h"
#include "viz/ui/focus_ring.h"
#include "viz/ui/fonts.h"

namespace tilescope::ui {

// What widgets are drawn with, in one frame.
struct Brush {
  const Theme& theme;
  const FontSet& fonts;
  ImDrawList* list = nullptr;
  FocusRing* ring = nullptr;

  // One line of text whose left end and vertical middle (of the capitals) are at (x, y).
  void text(float x, float y, ImFont* font, Role role, const std::string& words) const;
  void box(float x, float y, float width, float height, Role fill, float radius = 0) const;
  void line(float x0, float y0, float x1, float y1) const;  // level or upright, 1 px
};

// The item that was just drawn can be reached by Tab; where the keyboard is, it has a frame in the
// accent. True if that is here.
bool focus_frame(const Brush& brush, ImVec2 low, ImVec2 high, bool text_field = false);

// A button with words on it, behind their icon where they have one (icons.h); `loud` is the one
// action that the view is about. True when clicked. `width` 0: as wide as the words ask for.
// `marked`: what it turns on is on.
bool button(const Brush& brush, const char* id, const std::string& words, ImVec2 at, float width,
            bool enabled, bool loud = false, bool marked = false);
float button_width(const Brush& brush, const std::string& words);
// The words alone, without their icon.
bool word_button(const Brush& brush, const char* id, const std::string& words, ImVec2 at);
float word_button_width(const Brush& brush, const std::string& words);
inline constexpr float button_height = 32;
// The icon alone, where words have no room: they are said under the pointer.
bool icon_button(const Brush& brush, const char* id, const std::string& words, ImVec2 at,
                 bool enabled, bool marked = false);
inline constexpr float icon_button_width = button_height;

// Options beside each other, the current one marked. Answers the command of the one clicked.
// `spared`: pixels that each option is narrower, where they crowd.
const std::string* segmented(const Brush& brush, const Choice& choice, ImVec2 at, float spared = 0);
float segmented_width(const Brush& brush, const Choice& choice, float spared = 0);

// What is chosen, with a mark that there is more to choose from. True when clicked.
bool menu_button(const Brush& brush, const char* id, const std::string& words, ImVec2 at);
float menu_button_width(const Brush& brush, const std::string& words);

// A row of a list that can be clicked; the text is cut in the middle where it is too wide, and
// whole on hover.
// `open`: of a row that folds those below it, at its right end an arrow.
bool list_row(const Brush& brush, const char* id, const std::string& label,
              const std::string& detail, int level, bool current, std::optional<bool> open = {});

// A heading in a panel, and a name with its value under it or beside it.
void heading(const Brush& brush, const std::string& words);
void name_value(const Brush& brush, const std::string& name, const std::string& value);
void paragraph(const Brush& brush, const std::string& words, Role role);

// A panel that scrolls by itself; the widgets inside draw into its own list, so the brush is
// changed.
void begin_panel(Brush& brush, const char* id, ImVec2 at, ImVec2 size);
void end_panel();

// A row of name and value that can be clicked.
bool link_row(const Brush& brush, const InspectorLink& link);

// Two rows of bits, before and after: what is read in grey, what changed in the accent.
void bit_picture(const Brush& brush, const BitPicture& picture);

void progress_bar(const Brush& brush, ImVec2 at, float width, double share);

// Lines of at most `width` pixels, broken where a reader of a path, a layout or a sentence expects
// it: after a blank, a comma, a slash or a colon. A longer piece is broken where it must be.
std::vector<std::string> broken(const ImFont* font, const std::string& text, float width);

// One line of text that is cut in the middle where it is wider than its room, and whole on hover.
void cut_line(const Brush& brush, float x, float y, float room, ImFont* font, Role role,
              const std::string& words);

// Text of a small box at the pointer; only what the pointer asks for.
void tooltip(const Brush& brush, const std::string& words);

}  // namespace tilescope::ui
