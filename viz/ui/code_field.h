// Text of many lines that is edited: a fixed-width letter, the numbers of its lines beside it, and
// what a compiler says of a line after the line. Tab puts in two blanks; Esc leaves the text as it
// is and gives the keyboard back.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "viz/ui/widgets.h"

namespace tilescope::ui {

struct CodeMark {
  std::uint32_t line = 0;  // from 1
  std::string words;
  bool error = true;  // else a warning or a note, in quiet letters
};

// What is kept from one frame to the next.
struct CodeField {
  std::string text;
  int generation = 0;  // another one: the text was replaced, whoever types in it
  bool active = false;
  bool takes_keyboard = false;         // from the next frame on
  std::optional<std::uint32_t> go_to;  // the line to which the caret goes
  std::optional<std::uint32_t> seen;   // and which is then scrolled to, with what is above it
};

// True where the text was changed.
bool code_field(const Brush& brush, CodeField& field, ImVec2 at, ImVec2 size,
                const std::vector<CodeMark>& marks);

}  // namespace tilescope::ui
