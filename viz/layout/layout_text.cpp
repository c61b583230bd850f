#include "viz/layout/layout_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace tilescope {
namespace {

constexpr int gap = 3;                                     // columns between two panels
constexpr std::int64_t most_ruled_rows = 32;               // with a line under each
constexpr std::int64_t most_rows = 512, most_slices = 64;  // of one panel
constexpr std::int64_t most_rows_of_slices = 2048;         // of all slices of one panel
constexpr int most_width = 4096;                           // of a page nobody gives a width
constexpr int most_lines = 4;                              // of one cell

std::int64_t slices_shown(const Panel& of) {
  const std::int64_t rows = std::min(of.rows, most_rows);
  return std::min(of.slices, std::clamp<std::int64_t>(most_rows_of_slices / rows, 1, most_slices));
}
constexpr int beside = 160;  // panels stand side by side up to here where no width is asked for

struct Shape {
  int width = 1, lines = 1;  // of a cell, in characters
  LayoutView::LabelForm form;
};

std::vector<std::string> lines_of(const LayoutView& view, const LayoutChoice& choice,
                                  const Cell& cell, const Shape& shape) {
  if (view.inside(cell) && !view.taken(cell)) return {"\u00b7"};
  const Focus only = view.resolved(choice.isolate);
  if (only.on != Focus::On::nothing && only.on != Focus::On::phase && view.inside(cell) &&
      !view.holds(only, cell)) {
    return {"\u00b7"};
  }
  std::vector<std::string> out = view.label(cell, choice, shape.form);
  if (!shape.form.pairs && out.size() == 2) out = {out[0] + " " + out[1]};
  if (view.panels()[static_cast<std::size_t>(cell.panel)].repeats()) {
    for (std::string& line : out) line += view.again(cell) ? "'" : " ";
  }
  return out;
}

// Cells are as wide as the widest label in any grid, so that a product's columns run on.
Shape shape_of(const LayoutView& view, const LayoutChoice& choice) {
  Shape out;
  out.form = view.label_forms(choice).front();
  if (view.kind() == LayoutView::Kind::places && !choice.coordinates) {
    out.lines = out.form.lines;
  } else if (view.kind() == LayoutView::Kind::thread_value && !choice.coordinates) {
    const std::int64_t lines = std::clamp<std::int64_t>(view.most_owners(), 1, most_lines);
    out.form = {static_cast<int>(lines), true};
    out.lines = static_cast<int>(lines);
  }
  for (int p = 0; p < static_cast<int>(view.panels().size()); ++p) {
    const Panel& panel = view.panels()[static_cast<std::size_t>(p)];
    for (std::int64_t k = 0; k < slices_shown(panel); ++k) {
      for (std::int64_t i = 0; i < std::min(panel.rows, most_rows); ++i) {
        for (std::int64_t j = 0; j < std::min(panel.columns, most_rows); ++j) {
          for (const std::string& line :
               lines_of(view, choice, {p, panel.first_slice + k, i, j}, out)) {
            out.width = std::max(out.width, columns_of(line));
          }
        }
      }
    }
  }
  return out;
}

LineWeight weight_at(const std::vector<Division>& divisions, std::int64_t at) {
  for (const Division& d : divisions) {
    if (at % d.period == 0) return LineWeight::heavy;
  }
  return LineWeight::light;
}

class Page {
 public:
  Page(const LayoutView& view, const LayoutChoice& choice, const Theme& theme, int most_columns)
      : view_(view),
        choice_(choice),
        theme_(theme),
        most_(most_columns > 0 ? most_columns : most_width),
        beside_(most_columns > 0 ? most_columns : beside),
        shape_(shape_of(view, choice)) {}

  // Of one panel only, or of all: -1.
  TextPage make(int only) {
    page_.write(0, 0, view_.title(), {theme_.text, {}, true});
    int below = 2;
    if (view_.placing() == LayoutView::Placing::product && only < 0) {
      below = put_product(2);
    } else {
      int row = 2, column = 0;
      for (int p = 0; p < static_cast<int>(view_.panels().size()); ++p) {
        if (only >= 0 && p != only) continue;
        const Extent extent = extent_of(p, 0, column);
        if (column > 0 && column + extent.width > beside_) row = below + 1, column = 0;
        const Extent placed = extent_of(p, 0, column);
        put_panel(p, row, column, 0);
        below = std::max(below, row + placed.height);
        column += placed.width + gap;
      }
    }
    put_words(below + 1);
    return std::move(page_);
  }

 private:
  struct Extent {
    int width = 0, height = 0;  // of the whole panel
    int grid_width = 0, grid_height = 0;
    int gutter = 0;
    std::int64_t rows = 0, columns = 0, slices = 0;  // shown
    int slices_across = 1;
  };

  const Panel& panel(int p) const { return view_.panels()[static_cast<std::size_t>(p)]; }
  bool ruled(const Panel& of) const { return of.rows <= most_ruled_rows; }
  bool named(const Panel& of) const { return of.formula != view_.title(); }

  static int gutter_of(const Panel& of) {
    if (of.rows == 1 && of.slices == 1) return 0;
    return columns_of(std::to_string(of.rows - 1)) + 1;
  }

  // The line above row i's cells, below the border; not ruled panels have lines at parts only.
  bool line_above(const Panel& of, std::int64_t i) const {
    return i == 0 || ruled(of) || weight_at(of.row_divisions, i) == LineWeight::heavy;
  }

  int height_of(const Panel& of, std::int64_t rows) const {
    int out = 1;
    for (std::int64_t i = 0; i < rows; ++i) out += shape_.lines + (line_above(of, i) ? 1 : 0);
    return out;
  }

  // `gutter`: at least so wide; `column`: where the panel begins.
  Extent extent_of(int p, int gutter, int column) const {
    const Panel& of = panel(p);
    Extent out;
    out.gutter = std::max(gutter, gutter_of(of));
    const int step = shape_.width + 1;
    const std::int64_t room = std::max((most_ - column - out.gutter - 1) / step, 1);
    out.columns = std::min(of.columns, room);
    out.rows = std::min(of.rows, most_rows);
    out.slices = slices_shown(of);
    out.grid_width = out.gutter + static_cast<int>(out.columns) * step + 1;
    out.grid_height = 1 + height_of(of, out.rows) + (of.all_slices > 1 ? 1 : 0);
    const int fit = std::max((std::min(most_, beside_) - column + gap) / (out.grid_width + gap), 1);
    const int want = of.slices_in_row > 0 ? static_cast<int>(of.slices_in_row) : fit;
    out.slices_across = static_cast<int>(std::min<std::int64_t>(std::min(fit, want), out.slices));
    const int down = static_cast<int>(ceil_div(out.slices, out.slices_across));
    out.width = out.slices_across * (out.grid_width + gap) - gap;
    const int heading = columns_of(of.title) + 2 + columns_of(of.axes);
    out.width = std::max({out.width, std::min(heading, most_ - column),
                          named(of) ? std::min(columns_of(of.formula), most_ - column) : 0});
    out.height = (named(of) ? 2 : 1) + down * out.grid_height;
    return out;
  }

  int put_product(int row) {
    const int gutter = std::max(gutter_of(panel(1)), gutter_of(panel(2)));
    const Extent a = extent_of(0, 0, 0);
    const int right = a.width + gap;
    const Extent b = extent_of(1, gutter, right), c = extent_of(2, gutter, right);
    put_panel(1, row, right, gutter);
    put_panel(0, row + b.height + 1, 0, 0);
    put_panel(2, row + b.height + 1, right, gutter);
    return row + b.height + 1 + std::max(a.height, c.height);
  }

  void put_panel(int p, int row, int column, int gutter) {
    const Panel& of = panel(p);
    const Extent extent = extent_of(p, gutter, column);
    page_.write(row, column, of.title, {theme_.text, {}, true});
    page_.write(row, column + columns_of(of.title) + 2, of.axes, {theme_.quiet, {}, false});
    ++row;
    if (named(of)) page_.write(row++, column, of.formula, {theme_.quiet, {}, false});
    for (std::int64_t k = 0; k < extent.slices; ++k) {
      const int down = static_cast<int>(k) / extent.slices_across;
      const int right = static_cast<int>(k) % extent.slices_across;
      put_slice(p, of.first_slice + k, row + down * extent.grid_height,
                column + right * (extent.grid_width + gap), extent);
    }
    const auto tell = [&](std::int64_t shown, std::int64_t all, const char* what) {
      if (shown == all) return;
      cuts_.push_back(
          fmt::format("{}: {} {} of {} are shown; an SVG shows all.", of.title, shown, what, all));
    };
    tell(extent.columns, of.columns, "columns");
    tell(extent.rows, of.rows, "rows");
    tell(extent.slices, of.slices, "slices");
  }

  void put_slice(int p, std::int64_t slice, int row, int column, const Extent& extent) {
    const Panel& of = panel(p);
    const TextStyle quiet{theme_.quiet, {}, false};
    if (of.all_slices > 1) {
      page_.write(row++, column + extent.gutter, view_.slice_name(p, slice),
                  {theme_.text, {}, false});
    }
    const int left = column + extent.gutter, step = shape_.width + 1;
    for (std::int64_t j = 0; j < extent.columns; ++j) {
      const std::string index = std::to_string(j);
      if (columns_of(index) > shape_.width) break;
      const int air = (shape_.width - columns_of(index)) / 2;
      page_.write(row, left + 1 + static_cast<int>(j) * step + air, index, quiet);
    }
    put_lines(of, row + 1, left, extent);
    const LayoutView::Window window{p, slice, 0, 0, extent.rows, extent.columns};
    const std::vector<Rgba> colours = view_.colours_of(window, choice_, theme_);
    int y = row + 1;
    for (std::int64_t i = 0; i < extent.rows; ++i) {
      if (line_above(of, i)) ++y;
      const std::string index = std::to_string(i);
      if (extent.gutter > 0) {
        page_.write(y + (shape_.lines - 1) / 2, left - 1 - columns_of(index), index, quiet);
      }
      for (std::int64_t j = 0; j < extent.columns; ++j) {
        put_cell({p, slice, i, j}, y, left + 1 + static_cast<int>(j) * step,
                 colours[static_cast<std::size_t>(i * extent.columns + j)]);
      }
      y += shape_.lines;
    }
  }

  void put_lines(const Panel& of, int top, int left, const Extent& extent) {
    const int step = shape_.width + 1, height = height_of(of, extent.rows) - 1;
    const int width = static_cast<int>(extent.columns) * step;
    int y = top;
    for (std::int64_t i = 0; i <= extent.rows; ++i) {
      const bool border = i == 0 || i == extent.rows;
      if (i > 0) y += shape_.lines;
      if (!border && !line_above(of, i)) continue;
      page_.across(y, left, width, border ? LineWeight::light : weight_at(of.row_divisions, i));
      if (i < extent.rows) ++y;
    }
    for (std::int64_t j = 0; j <= extent.columns; ++j) {
      const bool border = j == 0 || j == extent.columns;
      page_.down(top, left + static_cast<int>(j) * step, height,
                 border ? LineWeight::light : weight_at(of.column_divisions, j));
    }
  }

  void put_cell(const Cell& cell, int row, int column, Rgba paper) {
    const std::vector<std::string> lines = lines_of(view_, choice_, cell, shape_);
    const int count = std::min(static_cast<int>(lines.size()), shape_.lines);
    const int first = (shape_.lines - count) / 2;
    // Each owner's line in its own colour, where they differ.
    const std::vector<Rgba> owners = view_.owner_colours(cell, choice_, theme_, shape_.form.lines);
    const auto under = [&](int line) {
      const bool own = line >= 0 && line < static_cast<int>(owners.size());
      return own ? owners[static_cast<std::size_t>(line)] : paper;
    };
    for (int k = 0; k < shape_.lines; ++k) {
      page_.fill(row + k, column, shape_.width, under(k - first));
    }
    for (int k = 0; k < count; ++k) {
      const std::string& line = lines[static_cast<std::size_t>(k)];
      // Numbers align right by digit; owners read from the left.
      const int air = shape_.form.pairs ? 0 : shape_.width - columns_of(line);
      page_.write(row + first + k, column + air, line, {text_on(under(k)), under(k), false});
    }
  }

  void put_words(int row) {
    const TextStyle quiet{theme_.quiet, {}, false};
    const ColourBy by = view_.colour(choice_);
    if (view_.kind() == LayoutView::Kind::thread_value) {
      const std::string_view mark = view_.mark(ColourBy::thread);
      const std::string_view thread = mark == "T" ? "thread" : mark;
      page_.write(row++, 0, fmt::format("{}0 V1: value 1 of {} 0", mark, thread), quiet);
    } else if (by == ColourBy::bank) {
      page_.write(row++, 0, fmt::format("b1: {}", view_.bank_words(choice_.element_bytes)), quiet);
    } else if (!view_.mark(by).empty()) {
      page_.write(row++, 0, fmt::format("{}1: {} 1", view_.mark(by), name_of(by)), quiet);
    }
    for (const std::string& note : view_.notes()) page_.write(row++, 0, note, quiet);
    for (const std::string& cut : cuts_) page_.write(row++, 0, cut, quiet);
  }

  const LayoutView& view_;
  const LayoutChoice& choice_;
  const Theme& theme_;
  int most_, beside_;
  Shape shape_;
  TextPage page_;
  std::vector<std::string> cuts_;
};

}  // namespace

TextPage text_page(const LayoutView& view, const LayoutChoice& choice, const Theme& theme,
                   int most_columns, int only) {
  if (view.maps_tensor_memory()) return text_map(view, choice, theme, most_columns);
  return Page(view, choice, theme, most_columns).make(only);
}

}  // namespace tilescope
