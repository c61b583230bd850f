// What the arrangement and the drawing of a layout view share: heights of headings, room for
// indices, sizes of labels. Inside viz/scene only.
#pragma once

#include "viz/layout/layout_scene.h"

namespace tilescope {

inline constexpr double title_height = 48, heading_line = 24, index_height = 20;
inline constexpr double slice_heading_height = 20, legend_row_height = 24, note_height = 20;
inline constexpr double least_panel_width = 160, ramp_width = 160;

// A formula that is the picture's title is not said twice.
// ... or is not wanted: the panel's title is alone.
bool formula_is_title(const LayoutView& view, const Panel& panel, const Viewport& viewport);

// The notes that there is room for, and how many there is none for.
std::vector<std::string> notes_shown(const LayoutView& view, const Viewport& viewport);

// Room for the row indices left of a grid.
double row_gutter(const Panel& panel);

// The widest label of a view in a form, in pixels at the small text size.
Size label_size(const LayoutView& view, const LayoutChoice& choice, LayoutView::LabelForm form);

// How far the first owner of a panel's first cell reaches without a gap, of a thread/value view.
struct BlockSize {
  std::int64_t rows = 1, columns = 1;
};
BlockSize block_at_origin(const LayoutView& view, int panel);

// The cells of a slice that are seen, [row, row + rows) x [column, column + columns).
struct Seen {
  int panel = 0;
  std::int64_t slice = 0;
  Box grid;  // the whole slice
  Size cell;
  std::int64_t row = 0, column = 0, rows = 0, columns = 0;

  double x(std::int64_t j) const { return grid.x + cell.width * static_cast<double>(j); }
  double y(std::int64_t i) const { return grid.y + cell.height * static_cast<double>(i); }
  double least() const { return std::min(cell.width, cell.height); }
};

// All that is seen of a slice.
inline LayoutView::Window window_of(const Seen& seen) {
  return {seen.panel, seen.slice, seen.row, seen.column, seen.rows, seen.columns};
}

// How the labels of a grid are set: how large, and in which form.
struct Setting {
  double size = 0;  // 0: no label fits
  LayoutView::LabelForm form;
};
Setting setting_for(const LayoutView& view, const LayoutChoice& choice, Size cell);

// Labels, those on light cells before those on dark ones: a painter changes its ink once.
struct Labels {
  std::vector<Text> dark, light;
  void add(Text text, Rgba under);
  void into(Scene& scene);
};
Text label_text(Point at, std::string text, double size);
inline constexpr double label_pitch = 1.25;  // of the size, between two lines of a label

// What is being drawn, for whom, where.
struct Drawing {
  const LayoutView& view;
  const LayoutChoice& choice;
  const Theme& theme;
  const Frame& frame;
  Scene& scene;
};
// The part of a slice's cells that the body shows; nothing where it shows none.
std::optional<Seen> seen_of(const Drawing& d, int panel, std::int64_t slice);
void draw_lines(const Drawing& d, const Seen& seen);
void draw_labels(const Drawing& d, const Seen& seen);
// One label for each rectangle of cells that count the same, where a cell is too small for one.
// Answers which share of the coloured cells that reaches, 0 to 1; 1 where none has a colour.
double label_blocks(const Drawing& d, const Seen& seen, Labels& out);
// Ticks in the corners of elements that a stride of 0 repeats.
void draw_repetitions(const Drawing& d, const Seen& seen);
void draw_outlines(const Drawing& d, const Seen& seen);
void draw_indices(const Drawing& d, const Seen& seen);
void draw_legend(const Drawing& d);
// Of what the legend says about lines around parts; 0 where there are none.
double outlines_width(const LayoutView& view);

// A grid's image, a pixel a cell, and the same with the cells of several owners split among them:
// a line of a label is on its owner's colour; where the label names the first owner alone, the
// others have a strip at the cell's foot.
std::shared_ptr<const Image> split_among_owners(const Drawing& d, const Seen& seen,
                                                const LayoutView::Window& window,
                                                const Image& cells);
bool splits_cells(const Drawing& d, const Seen& seen, const LayoutView::Window& window);

}  // namespace tilescope
