// The window's icons: a dozen shapes of lines, drawn by the theme's inks at any size.
//
// An icon belongs to a word: the same word has the same icon wherever it stands on a button, and
// what the icon stands for can be read beside it, under the pointer and in --describe. They are
// drawn rather than letters of a font of icons: a dozen of them is less than such a font's licence,
// package and 160 KiB.
#pragma once

#include <imgui.h>

#include <optional>
#include <string_view>

namespace tilescope::ui {

enum class Icon {
  play,
  pause,
  stop,
  next,  // a triangle, and a bar that it stops at
  back,  // the same to the left
  last,  // two triangles and a bar
  first,
  forth,     // one stop of a kind further: a chevron
  backward,  // the same to the left
  undo,
  redo,
  share,
  fit,  // the corners of a frame
  moon,
  sun,
  legend,  // swatches with their words
  folded,  // a chevron to the right, of what can be unfolded
  unfolded,
};

// The icon of a button's words: "Undo", "Line back", "Next copy". Nothing: they stand alone.
std::optional<Icon> icon_of(std::string_view words);

// Pixels at 100 % that an icon is wide and high.
inline constexpr float icon_size = 14;

void draw_icon(ImDrawList& list, Icon icon, ImVec2 centre, ImU32 colour);

}  // namespace tilescope::ui
