// A view as a page of lines, for a terminal: what it says and shows, as far as characters can.
//
// Grids are app's to paint (viz/layout/layout_text.h, in colour where the terminal has some).
// Banks, sectors, bits, the theatre and the difference have a page of their own; handoffs and
// lowering are text already; of lists (the source, registers, barriers, the kernel, Why, a
// comparison) it is the words of their picture, line by line. What is left is a picture only:
// memory, TMEM, the timeline.
#pragma once

#include <optional>
#include <string>

#include "viz/session/session.h"

namespace tilescope {

// At most so many characters a line; a longer one is cut, and ends in an ellipsis. Nothing: there
// is no page of this view. An empty view says what could be there.
std::optional<std::string> view_page(const Session& session, int columns);

// The words of a scene: a line for each height at which some stand, in reading order, at about the
// columns where they are drawn.
std::string words_page(const Scene& scene);

// A page of at most so many lines, each at most so many characters; `left`: how many were cut away.
std::string cut_page(const std::string& page, int columns, std::size_t lines, std::size_t& left);

}  // namespace tilescope
