// Paragraphs with code and strong words in them, wrapped to the room that there is.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "viz/scene/lesson_panel.h"
#include "viz/ui/widgets.h"

namespace tilescope::ui {

// Draws at (x, y) and answers the height. Lines break between words; a piece of code that is wider
// than the room breaks where it must.
// A word under the pointer that `meanings` knows is underlined and explained.
float rich_text(const Brush& brush, float x, float y, float width,
                const std::vector<TextSpan>& spans, Role role,
                const std::map<std::string, std::string>* meanings = nullptr);

// Height of a line of it.
inline constexpr float rich_line = 20;

}  // namespace tilescope::ui
