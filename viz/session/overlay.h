// What is over the view for a moment because the reader asked for it: the palette, the list of
// commands, the list of steps, the words that lessons explain. One at a time; Esc, or a click
// beside it, puts it away. It is no choice: undo knows nothing of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tilescope {

struct Overlay {
  enum class Kind : std::uint8_t { none, palette, commands, history, words };
  Kind kind = Kind::none;
  std::string text;        // palette: its line; words: the one that was asked for
  std::size_t chosen = 0;  // palette: which entry Enter takes
  std::string problem;     // palette: why the line could not be done

  bool open() const { return kind != Kind::none; }
};
std::string_view name_of(Overlay::Kind kind);

}  // namespace tilescope
