// A picture in the format that a file's name asks for, with the program's own fonts.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "viz/layout/layout_view.h"
#include "viz/scene/scene.h"

namespace tilescope {

// By the extension: .svg, .png, .pdf or .tex. Another one is a usage error that names these.
Outcome<std::vector<std::byte>> paint_for_file(const Scene& scene, std::string_view path);

// Whether a name asks for text: .txt, or - for stdout.
bool asks_for_text(std::string_view path);
// A layout view as text for such a place: in colour only on a terminal that shows colours and
// where NO_COLOR (no-color.org) is not set; as wide as the terminal there, else as wide as it is.
std::string text_for(const LayoutView& view, const LayoutChoice& choice, const Theme& theme,
                     std::string_view path);

// The same for the terminal, or where stdout is none in plain characters, at most so wide and so
// high. Where all of it is higher, its last grid alone; empty where that is so large, too, that
// most of it would be missing.
std::string small_text_for(const LayoutView& view, const LayoutChoice& choice, const Theme& theme,
                           int columns, int lines);

}  // namespace tilescope
