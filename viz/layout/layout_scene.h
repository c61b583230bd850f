// From a layout view to a scene: where each grid is, and what is drawn at this zoom.
//
//     Frame frame = arrange(view, viewport);              // where everything is
//     Scene scene = build_scene(view, choice, theme, frame);
//     std::optional<Cell> cell = cell_at(view, frame, pointer);
//
// Level of detail: a grid is one raster at any zoom, a pixel a cell; where a pixel of the screen
// stands for several cells it is their mean. Lines between cells appear from 6 px a cell; labels
// appear when they fit and vanish before they crowd; where cells are too small for labels but one
// owner's block of cells is large enough, the block is labelled once. Indices on the margins keep
// at the edge of the picture while the grid is moved under them.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "viz/layout/layout_view.h"
#include "viz/scene/scene.h"
#include "viz/scene/viewport.h"

namespace tilescope {

// Where the grids are, in pixels of the picture.
struct Frame {
  Viewport viewport;  // as used: size and cell resolved
  struct Place {
    Box box;    // headings, indices and grids of a panel
    Box first;  // the first slice's grid; the others follow in rows of `slices_across`
    Size cell;  // a long thin grid is drawn thicker than its cells are long
    Size slice_step;
    std::int64_t slices_across = 1;
  };
  std::vector<Place> places;  // one a panel
  Box content;                // of all panels, where they are now
  Box body;                   // what of them is seen; the title is above, the legend below
  Point title, legend;        // left ends
  double fit_cell = 1;        // the cell size at which everything is seen
};

// No side of a picture of its own choice is longer: what a viewer opens, and a PNG encodes.
inline constexpr double most_natural = 8192;

// `choice`: whose labels a picture of its own size has room for.
Frame arrange(const LayoutView& view, const Viewport& viewport, const LayoutChoice& choice = {});
// Whether every grid can be made out: none is smaller than a thumbnail.
bool has_room(const Frame& frame);
// Whether every panel's cells are large enough for their labels.
bool labels_fit(const LayoutView& view, const LayoutChoice& choice, const Frame& frame);

// Whether what the colours mean is written in every grid: in its cells, in blocks of them, or by
// the numbers of columns that are a tile each.
bool is_told(const LayoutView& view, const LayoutChoice& choice, const Theme& theme,
             const Frame& frame);

Scene build_scene(const LayoutView& view, const LayoutChoice& choice, const Theme& theme,
                  const Frame& frame, RasterStore* store = nullptr);
// A picture, which nobody can point into or zoom: of the size asked for, or the natural one at 0 x
// 0. Colours alone would say nothing, so that where labels have no room in the size asked for all
// of it is set smaller, by `smallest` at most; where threads have none their warps are coloured,
// unless a colour was chosen; and where none has, a note names the size that would do.
Scene build_scene(const LayoutView& view, const LayoutChoice& choice, const Theme& theme,
                  Size size = {}, double smallest = 0.7);

// The cell under a point of the picture.
std::optional<Cell> cell_at(const LayoutView& view, const Frame& frame, Point at);
// The grid of the n-th slice that is shown.
Box slice_box(const Frame::Place& place, std::int64_t n);
// Where a cell is in the picture.
Box box_of(const LayoutView& view, const Frame& frame, const Cell& cell);

// The viewport after zooming by `factor` so that what is under `at` stays there; the cell size
// stays between what shows everything and 256 px.
Viewport zoomed(const LayoutView& view, const Frame& frame, Point at, double factor);
// The viewport after dragging by (dx, dy); the content does not leave the picture.
Viewport panned(const LayoutView& view, const Frame& frame, double dx, double dy);

}  // namespace tilescope
