// A sentence in a line that is too short for it.
#pragma once

#include <string>

#include "viz/ui/fonts.h"

namespace tilescope::ui {

// Its beginning, at most `width` pixels wide in `font`, with one letter for what is left out: what
// matters stands first. Names are cut in their middle instead (fonts.h).
inline std::string cut_at_the_end(const ImFont* font, const std::string& text, float width) {
  if (text_width(font, text) <= width) return text;
  const std::string more = "\u2026";
  std::size_t keep = 0;
  for (std::size_t next = 0; next < text.size();) {
    do ++next;
    while (next < text.size() && (static_cast<unsigned char>(text[next]) & 0xc0) == 0x80);
    if (text_width(font, text.substr(0, next) + more) > width) break;
    if (text[next - 1] != ' ') keep = next;
  }
  return text.substr(0, keep) + more;
}

}  // namespace tilescope::ui
