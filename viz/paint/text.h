// A page of characters as UTF-8 text: plain, or with ANSI colours for a terminal (ECMA-48 SGR).
#pragma once

#include <cstdint>
#include <string>

#include "viz/scene/text_page.h"

namespace tilescope {

// none: characters alone; cube: the 256 colours of xterm; full: 24 bits.
enum class TextColours : std::uint8_t { none, cube, full };

// A line end after each row; blanks at a row's end are left out where nothing is behind them.
std::string paint_text(const TextPage& page, TextColours colours);

}  // namespace tilescope
