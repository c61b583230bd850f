// What is drawn over the colours of a grid: lines, indices, outlines of what is pointed at.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "viz/layout/layout_panels.h"

namespace tilescope {
namespace {

constexpr double least_for_lines = 6;       // px a cell
constexpr double least_for_ticks = 12;      // px a cell
constexpr double least_for_part = 3;        // px a cell
constexpr double least_between_lines = 10;  // px between lines of a nested mode's parts
constexpr std::int64_t most_labels = 1 << 17;
constexpr std::size_t most_outlines = 4096;
constexpr std::int64_t most_searched = std::int64_t{1} << 22;  // cells that may be one element

// Lines at multiples of `period` that are inside the seen part and not at its slice's edge.
void add_verticals(const Seen& seen, std::int64_t period, std::int64_t all, Segments& out) {
  const double top = seen.y(seen.row), bottom = seen.y(seen.row + seen.rows);
  const std::int64_t first = std::max<std::int64_t>(ceil_div(seen.column, period), 1) * period;
  for (std::int64_t j = first; j < std::min(all, seen.column + seen.columns + 1); j += period) {
    out.lines.push_back({{seen.x(j), top}, {seen.x(j), bottom}});
  }
}
void add_horizontals(const Seen& seen, std::int64_t period, std::int64_t all, Segments& out) {
  const double left = seen.x(seen.column), right = seen.x(seen.column + seen.columns);
  const std::int64_t first = std::max<std::int64_t>(ceil_div(seen.row, period), 1) * period;
  for (std::int64_t i = first; i < std::min(all, seen.row + seen.rows + 1); i += period) {
    out.lines.push_back({{left, seen.y(i)}, {right, seen.y(i)}});
  }
}

// Edges between neighbours that differ, as runs. With `outside` those at the grid's own border too,
// where a cell differs from that.
void add_edges(const Seen& seen, const std::vector<std::int64_t>& number, Segments& out,
               std::optional<std::int64_t> outside = {}) {
  const auto at = [&](std::int64_t i, std::int64_t j) {
    const bool there = i >= 0 && i < seen.rows && j >= 0 && j < seen.columns;
    return there ? number[static_cast<std::size_t>(i * seen.columns + j)] : outside.value_or(0);
  };
  const std::int64_t edges = outside ? 1 : 0;
  for (std::int64_t j = 1 - edges; j < seen.columns + edges; ++j) {
    std::int64_t begin = -1;
    for (std::int64_t i = 0; i <= seen.rows; ++i) {
      const bool edge = i < seen.rows && at(i, j) != at(i, j - 1);
      if (edge && begin < 0) begin = i;
      if (edge || begin < 0) continue;
      const double x = seen.x(seen.column + j);
      out.lines.push_back({{x, seen.y(seen.row + begin)}, {x, seen.y(seen.row + i)}});
      begin = -1;
    }
  }
  for (std::int64_t i = 1 - edges; i < seen.rows + edges; ++i) {
    std::int64_t begin = -1;
    for (std::int64_t j = 0; j <= seen.columns; ++j) {
      const bool edge = j < seen.columns && at(i, j) != at(i - 1, j);
      if (edge && begin < 0) begin = j;
      if (edge || begin < 0) continue;
      const double y = seen.y(seen.row + i);
      out.lines.push_back({{seen.x(seen.column + begin), y}, {seen.x(seen.column + j), y}});
      begin = -1;
    }
  }
}

void add_if_any(Scene& scene, Segments segments) {
  if (!segments.lines.empty()) scene.items.emplace_back(std::move(segments));
}

// The smallest distance of indices at which they do not crowd: whole blocks of an owner or whole
// parts of a nested mode, then doubling.
std::int64_t index_step(const std::vector<Division>& divisions, std::int64_t block,
                        std::int64_t all, double room, double cell) {
  std::vector<std::int64_t> steps{1};
  if (block > 1 && block < all) steps.push_back(block);
  for (const Division& part : divisions) steps.push_back(part.period);
  while (steps.back() < all) steps.push_back(steps.back() * 2);
  for (const std::int64_t step : steps) {
    if (static_cast<double>(step) * cell >= room) return step;
  }
  return steps.back();
}

Rectangle outline(const Box& box, Ink ink, double width) {
  Rectangle out;
  out.box = box;
  out.stroke = {ink, width, false};
  return out;
}

// Between the parts of a nested mode, the heavier the further out. Where they are close, lines step
// back behind the colours.
Stroke division_stroke(int level, double apart) {
  static const std::array<Stroke, division_levels> strokes{
      {{Role::text, 2, false}, {{Role::text, 0.7}, 1.25, false}, {{Role::text, 0.45}, 1, false}}};
  constexpr double close = 32;
  Stroke out = strokes[static_cast<std::size_t>(level - 1)];
  if (apart >= close) return out;
  out.ink.alpha *= std::max(0.2, apart / close);
  out.width = 1;
  return out;
}

void draw_divisions(const Drawing& d, const Seen& seen, const Panel& panel) {
  for (int level = division_levels; level >= 1; --level) {
    const auto add = [&](const std::vector<Division>& divisions, double cell, auto add_lines,
                         std::int64_t all) {
      for (const Division& part : divisions) {
        const double apart = static_cast<double>(part.period) * cell;
        if (part.level != level || apart < least_between_lines) continue;
        Segments lines;
        lines.stroke = division_stroke(level, apart);
        add_lines(seen, part.period, all, lines);
        add_if_any(d.scene, std::move(lines));
      }
    };
    add(panel.column_divisions, seen.cell.width, add_verticals, panel.columns);
    add(panel.row_divisions, seen.cell.height, add_horizontals, panel.rows);
  }
}

}  // namespace

BlockSize block_at_origin(const LayoutView& view, int p) {
  BlockSize out;
  const Cell origin{p, 0, 0, 0};
  if (view.owners(origin).empty()) return out;
  const Panel& panel = view.panels()[static_cast<std::size_t>(p)];
  const Focus first{Focus::On::thread, view.owners(origin)[0].thread};
  while (out.columns < panel.columns && view.holds(first, {p, 0, 0, out.columns})) ++out.columns;
  while (out.rows < panel.rows && view.holds(first, {p, 0, out.rows, 0})) ++out.rows;
  return out;
}

namespace {

// A line around what a part takes of a grid. In small cells scattered elements would be all lines,
// but a tile has its frame at any size.
void draw_part(const Drawing& d, const Seen& seen, const Panel::Numbers& part,
               const std::optional<Panel::Rectangle>& frame, double weight) {
  if (!part) return;
  const Stroke stroke{Role::accent, weight * (seen.least() >= 16 ? 4.0 : 2.0), false};
  if (seen.least() < least_for_part) {
    if (!frame) return;
    const Box box{seen.x(frame->column), seen.y(frame->row),
                  seen.cell.width * static_cast<double>(frame->columns),
                  seen.cell.height * static_cast<double>(frame->rows)};
    d.scene.begin("part", d.frame.body);
    d.scene.add(outline(box, stroke.ink, stroke.width));
    d.scene.end();
    return;
  }
  const std::vector<std::int64_t> taken = d.view.members_of(window_of(seen), part);
  Segments around;
  around.stroke = stroke;
  const bool whole =
      seen.rows * seen.columns == d.view.panels()[static_cast<std::size_t>(seen.panel)].rows *
                                      d.view.panels()[static_cast<std::size_t>(seen.panel)].columns;
  add_edges(seen, taken, around, whole ? std::optional<std::int64_t>(0) : std::nullopt);
  add_if_any(d.scene, std::move(around));
}

}  // namespace

void draw_lines(const Drawing& d, const Seen& seen) {
  const Panel& panel = d.view.panels()[static_cast<std::size_t>(seen.panel)];
  d.scene.begin("lines");
  if (seen.least() >= least_for_lines) {
    Segments thin;
    // In small cells the lines step back behind the colours.
    thin.stroke = {{Role::line, std::clamp((seen.least() - 4) / 28, 0.15, 1.0)}, 1, false};
    add_verticals(seen, 1, panel.columns, thin);
    add_horizontals(seen, 1, panel.rows, thin);
    add_if_any(d.scene, std::move(thin));
  }
  draw_divisions(d, seen, panel);
  if (d.view.kind() == LayoutView::Kind::thread_value && seen.least() >= least_for_part) {
    Segments threads, warps;
    threads.stroke = {{Role::text, 0.75}, 1, false};
    warps.stroke = {Role::text, seen.least() >= least_for_lines ? 2.0 : 1.0, false};
    if (seen.least() >= least_for_lines) {
      add_edges(seen, d.view.numbers_of(window_of(seen), ColourBy::thread, 0), threads);
    }
    add_edges(seen, d.view.numbers_of(window_of(seen), ColourBy::warp, 0), warps);
    add_if_any(d.scene, std::move(threads));
    add_if_any(d.scene, std::move(warps));
  }
  if (d.view.maps_tensor_memory()) {  // rectangles of one region, its copies too
    Segments rectangles;
    rectangles.stroke = {{Role::text, 0.75}, 1, false};
    add_edges(seen, d.view.numbers_of(window_of(seen), ColourBy::value, 0), rectangles);
    add_if_any(d.scene, std::move(rectangles));
  }
  d.scene.add(outline(seen.grid, Role::text, 1));
  draw_part(d, seen, panel.last_part, panel.last_part_frame, 0.5);
  draw_part(d, seen, panel.part, panel.part_frame, 1);
  d.scene.end();
}

void draw_repetitions(const Drawing& d, const Seen& seen) {
  const Panel& panel = d.view.panels()[static_cast<std::size_t>(seen.panel)];
  if (!panel.repeats() || seen.least() < least_for_ticks ||
      seen.rows * seen.columns > most_labels) {
    return;
  }
  const std::vector<Rgba> colours = d.view.colours_of(window_of(seen), d.choice, d.theme);
  const double length = std::min(seen.least() / 3, 10.0);
  Segments on_light, on_dark;  // each in the ink that is seen on its cell
  on_light.stroke = {Ink(rgb(0x000000)), 1.5, false};
  on_dark.stroke = {Ink(rgb(0xffffff)), 1.5, false};
  for (std::int64_t i = 0; i < seen.rows; ++i) {
    for (std::int64_t j = 0; j < seen.columns; ++j) {
      const Cell cell{seen.panel, seen.slice, seen.row + i, seen.column + j};
      if (!d.view.again(cell)) continue;
      const Rgba under = colours[static_cast<std::size_t>(i * seen.columns + j)];
      const double right = seen.x(cell.column + 1), top = seen.y(cell.row);
      (text_on(under) == rgb(0x000000) ? on_light : on_dark)
          .lines.push_back({{right - length, top}, {right, top + length}});
    }
  }
  d.scene.begin("again");
  add_if_any(d.scene, std::move(on_light));
  add_if_any(d.scene, std::move(on_dark));
  d.scene.end();
}

void draw_outlines(const Drawing& d, const Seen& seen) {
  const auto box_at = [&](std::int64_t row, std::int64_t column) {
    Box box{seen.x(column), seen.y(row), seen.cell.width, seen.cell.height};
    const double small = 6 - seen.least();
    return small > 0 ? box.grown(small / 2) : box;
  };
  d.scene.begin("pointer");
  const auto outlined = [&](const Cell& here, double width) {
    const Box box = box_at(here.row, here.column);
    d.scene.add(outline(box.grown(1.5), Role::paper, 1.5));
    d.scene.add(outline(box, Role::accent, width));
  };
  const auto light = [&](const Cell& cell, double width) {
    // The same element wherever it stands. Where far more cells are seen than pixels nobody looks
    // for it: the cell itself is enough.
    if (seen.columns > most_searched / seen.rows) {
      if (cell.panel == seen.panel && cell.slice == seen.slice) outlined(cell, width);
      return;
    }
    const std::int64_t offset = d.view.linked(cell);
    for (const Cell& here : d.view.cells_at(window_of(seen), offset, most_outlines)) {
      outlined(here, width);
    }
  };
  const auto shown = [&](const std::optional<Cell>& cell) {
    return cell && d.view.exists(*cell) && d.view.inside(*cell);
  };
  if (shown(d.choice.selected)) light(*d.choice.selected, 3);
  if (shown(d.choice.hover)) light(*d.choice.hover, 2.5);
  d.scene.end();
}

// Indices keep at the picture's edge when the grid's own edge is out of sight, on a strip of paper.
void draw_indices(const Drawing& d, const Seen& seen) {
  const Panel& panel = d.view.panels()[static_cast<std::size_t>(seen.panel)];
  const Box& body = d.frame.body;
  // TMEM is counted in the lanes of a warp, and as many columns, whatever stands in it.
  const BlockSize block =
      d.view.maps_tensor_memory() ? BlockSize{32, 32} : block_at_origin(d.view, seen.panel);
  const double gutter = row_gutter(panel);
  const double top = std::max(seen.grid.y - index_height, body.y);
  const double right = std::max(seen.grid.x, body.x + gutter);
  const bool rows_stick = panel.rows > 1 && right > seen.grid.x;
  const bool columns_stick = top > seen.grid.y - index_height;
  const Box part = seen.grid.cut(body);
  const auto strip = [&](Box box) {
    Rectangle paper;
    paper.box = box;
    paper.fill = Ink(Role::paper);
    d.scene.add(paper);
  };
  const auto index = [&](Point at, std::int64_t n, Across across) {
    Text text = label_text(at, fmt::format("{}", n), small_text);
    text.across = across;
    text.ink = Role::quiet;
    d.scene.add(std::move(text));
  };

  const double widest = text_width(fmt::format("{}", panel.columns - 1), small_text, Family::mono);
  const std::int64_t across =
      index_step(panel.column_divisions, block.columns, panel.columns, widest + 6, seen.cell.width);
  d.scene.begin("columns");
  if (columns_stick) strip({part.x, top, part.width, index_height});
  for (std::int64_t j = ceil_div(seen.column, across) * across; j < seen.column + seen.columns;
       j += across) {
    const double x = seen.x(j) + seen.cell.width / 2;
    if (rows_stick && x < right + widest / 2) continue;
    index({x, top + index_height / 2}, j, Across::centre);
  }
  d.scene.end();
  if (panel.rows == 1) return;

  const std::int64_t down = index_step(panel.row_divisions, block.rows, panel.rows,
                                       line_height * small_text - 2, seen.cell.height);
  d.scene.begin("rows");
  if (rows_stick) strip({right - gutter, columns_stick ? top : part.y, gutter, part.height});
  for (std::int64_t i = ceil_div(seen.row, down) * down; i < seen.row + seen.rows; i += down) {
    const double y = seen.y(i) + seen.cell.height / 2;
    if (columns_stick && y < top + index_height + small_text / 2) continue;
    index({right - inside, y}, i, Across::right);
  }
  d.scene.end();
}

}  // namespace tilescope
