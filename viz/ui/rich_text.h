// Paragraphs with code and strong words in them, wrapped to the room that there is.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "viz/session/lesson_panel.h"
#include "viz/ui/widgets.h"

namespace tilescope::ui {

// Words that can be explained, in one page of text. The first of each kind is underlined with dots:
// Tab reaches it, and a click asks for it. Any that the pointer is on is explained beside it.
struct KnownWords {
  const std::map<std::string, std::string>& meanings;  // by word, in lower case
  std::set<std::string> seen = {};                     // meanings that were underlined
  std::string clicked = {};
};

// Draws at (x, y) and answers the height; Dear ImGui's cursor stays. Lines break between words; a
// piece of code that is wider than the room breaks where it must.
float rich_text(const Brush& brush, float x, float y, float width,
                const std::vector<TextSpan>& spans, Role role, KnownWords* known = nullptr);

// Height of a line of it.
inline constexpr float rich_line = 20;

}  // namespace tilescope::ui
