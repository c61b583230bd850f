// A layout view as a page of characters: the same grids, labels and lines as the scene, for a
// terminal or a text file.
//
// Each cell says all that its colour would: an offset, an owner a line, or an offset and the mark
// of what it is coloured by. Lines between cells are light, those between parts of nested modes
// heavy; where there are many rows the light level ones are left out. What is too wide or too long
// is cut, and a line says what was cut.
#pragma once

#include "viz/layout/layout_view.h"
#include "viz/scene/text_page.h"

namespace tilescope {

// `most_columns`: how wide the page may be; 0: as wide as it wants to be. `only`: one of the view's
// grids, by its number; -1: all.
TextPage text_page(const LayoutView& view, const LayoutChoice& choice, const Theme& theme,
                   int most_columns = 0, int only = -1);
// TMEM as a map: a line a run of lanes, a column a run of columns that hold the same.
TextPage text_map(const LayoutView& view, const LayoutChoice& choice, const Theme& theme,
                  int most_columns = 0);

}  // namespace tilescope
