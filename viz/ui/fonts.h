// The window's letters: one sans for words, one mono for numbers, layouts and code, in three
// sizes; bold for rank. Each size is drawn into the atlas at its own pixel size, so nothing is
// scaled and every letter is sharp.
#pragma once

#include <imgui.h>

#include <array>
#include <cstddef>
#include <span>
#include <string>

namespace tilescope::ui {

// Contents of TrueType files. They must stay alive until the atlas is built.
struct FontFiles {
  std::span<const std::byte> sans, bold, mono;
};

// Pixels of the em square at 100 %.
enum class TextSize { small = 13, medium = 16, large = 22 };

struct FontSet {
  std::array<ImFont*, 3> sans{}, bold{}, mono{};  // by size: small, medium, large

  static int index(TextSize size) {
    return size == TextSize::small ? 0 : size == TextSize::medium ? 1 : 2;
  }
  ImFont* words(TextSize size) const { return sans[static_cast<std::size_t>(index(size))]; }
  ImFont* strong(TextSize size) const { return bold[static_cast<std::size_t>(index(size))]; }
  ImFont* code(TextSize size) const { return mono[static_cast<std::size_t>(index(size))]; }

  // For a scene's text of any size: the smallest font that is at least as large, so that letters
  // are never enlarged; and the em square of one of these fonts in pixels.
  ImFont* nearest(bool code, bool strong, float em) const;
  float em_of(const ImFont* font) const;
  float scale = 1;  // pixels of the display for each of the window's
};

// Adds the fonts to the atlas and builds it. A file that is missing or no font leaves Dear ImGui's
// built-in letters in its place. With a scale the letters have so many times the pixels and, for
// whoever lays them out, the same size.
FontSet add_fonts(ImFontAtlas& atlas, const FontFiles& files, float scale = 1.0f);

// Text with its middle replaced by "..." so that it is at most `width` pixels wide in `font`.
std::string cut_in_the_middle(const ImFont* font, const std::string& text, float width);

float text_width(const ImFont* font, std::string_view text);

}  // namespace tilescope::ui
