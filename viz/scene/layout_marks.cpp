// What is drawn over the colours of a grid: lines, labels, indices, outlines of what is pointed at.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "viz/scene/layout_panels.h"

namespace tilescope {
namespace {

constexpr double least_for_lines = 6;       // px a cell
constexpr double least_for_ticks = 12;      // px a cell
constexpr double least_for_part = 3;        // px a cell
constexpr double least_between_lines = 10;  // px between lines of a nested mode's parts
constexpr std::int64_t most_labels = 1 << 17;
constexpr std::size_t most_outlines = 4096, most_hints = 4096;

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

// Edges between neighbours that differ, as runs.
void add_edges(const Seen& seen, const std::vector<std::int64_t>& number, Segments& out) {
  const auto at = [&](std::int64_t i, std::int64_t j) {
    return number[static_cast<std::size_t>(i * seen.columns + j)];
  };
  for (std::int64_t j = 1; j < seen.columns; ++j) {
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
  for (std::int64_t i = 1; i < seen.rows; ++i) {
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
  if (!segments.lines.empty()) scene.add(std::move(segments));
}

// How the labels of a grid are set: how large, and in which form.
struct Setting {
  double size = 0;  // 0: no label fits
  LayoutView::LabelForm form;
};
Setting setting_for(const LayoutView& view, const LayoutChoice& choice, Size cell) {
  for (const LayoutView::LabelForm form : view.label_forms(choice)) {
    const Size label = label_size(view, choice, form);
    for (const double size : {title_text, heading_text, small_text}) {
      const double air = size > small_text ? 1.5 : 1;
      const double width = label.width * size / small_text * air + 4;
      const double height = label.height * size / small_text * air + 1;
      if (width <= cell.width && height <= cell.height) return {size, form};
    }
  }
  return {};
}

// The owners of a cell whose label cannot name them all.
void hint_owners(const Drawing& d, const Seen& seen, const Cell& cell, const Setting& setting) {
  const std::size_t all = d.view.owners(cell).size();
  const std::size_t named =
      setting.form.pairs ? static_cast<std::size_t>(setting.form.lines) : std::size_t{1};
  const Panel& panel = d.view.panels()[static_cast<std::size_t>(cell.panel)];
  const bool told = all <= named || (panel.owners && panel.owners->everyone);
  if (told || d.scene.hints.size() >= most_hints) return;
  d.scene.hints.push_back(
      {{seen.x(cell.column), seen.y(cell.row), seen.cell.width, seen.cell.height},
       fmt::format("({},{}): {}", cell.row, cell.column, d.view.owner_words(cell))});
}

void label_cells(const Drawing& d, const Seen& seen, const Setting& setting, Labels& out) {
  const std::vector<Rgba> colours = d.view.colours_of(window_of(seen), d.choice, d.theme);
  const double pitch = setting.size * label_pitch;
  // Offsets alone are the usual labels of large pictures: they need no question cell by cell.
  const bool only_offsets = d.view.shows_offsets() && !d.choice.coordinates &&
                            d.view.mark(d.view.colour(d.choice)).empty();
  std::vector<std::int64_t> offsets;
  if (only_offsets) offsets = d.view.numbers_of(window_of(seen), ColourBy::offset, 0);
  out.dark.reserve(colours.size());
  out.light.reserve(colours.size());
  for (std::int64_t i = 0; i < seen.rows; ++i) {
    for (std::int64_t j = 0; j < seen.columns; ++j) {
      const Cell cell{seen.panel, seen.slice, seen.row + i, seen.column + j};
      const std::vector<std::string> lines =
          only_offsets ? std::vector<std::string>{std::to_string(
                             offsets[static_cast<std::size_t>(i * seen.columns + j)])}
                       : d.view.label(cell, d.choice, setting.form);
      const Rgba under = colours[static_cast<std::size_t>(i * seen.columns + j)];
      const Point middle{seen.x(cell.column) + seen.cell.width / 2,
                         seen.y(cell.row) + seen.cell.height / 2};
      const int shown = static_cast<int>(lines.size());
      for (int k = 0; k < shown; ++k) {
        out.add(label_text({middle.x, middle.y + pitch * (k - (shown - 1) / 2.0)},
                           lines[static_cast<std::size_t>(k)], setting.size),
                under);
      }
      if (d.view.most_owners() > 1) hint_owners(d, seen, cell, setting);
    }
  }
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

// The lines between the parts of nested modes, the heavier the further out.
void draw_divisions(const Drawing& d, const Seen& seen, const Panel& panel) {
  static const std::array<Stroke, division_levels> strokes{
      {{Role::text, 2, false}, {{Role::text, 0.7}, 1.25, false}, {{Role::text, 0.45}, 1, false}}};
  for (int level = division_levels; level >= 1; --level) {
    Segments parts;
    parts.stroke = strokes[static_cast<std::size_t>(level - 1)];
    const auto add = [&](const std::vector<Division>& divisions, double cell, auto add_lines,
                         std::int64_t all) {
      for (const Division& part : divisions) {
        const bool visible = static_cast<double>(part.period) * cell >= least_between_lines;
        if (part.level != level || !visible) continue;
        add_lines(seen, part.period, all, parts);
      }
    };
    add(panel.column_divisions, seen.cell.width, add_verticals, panel.columns);
    add(panel.row_divisions, seen.cell.height, add_horizontals, panel.rows);
    add_if_any(d.scene, std::move(parts));
  }
}

}  // namespace

Text label_text(Point at, std::string text, double size) {
  Text out;
  out.at = at;
  out.text = std::move(text);
  out.size = size;
  out.family = Family::mono;
  out.across = Across::centre;
  return out;
}

void Labels::add(Text text, Rgba under) {
  const Rgba ink = text_on(under);
  text.ink = ink;
  (ink == rgb(0x000000) ? dark : light).push_back(std::move(text));
}

void Labels::into(Scene& scene) {
  scene.items.reserve(scene.items.size() + dark.size() + light.size());
  for (Text& t : dark) scene.add(std::move(t));
  for (Text& t : light) scene.add(std::move(t));
}

Size label_size(const LayoutView& view, const LayoutChoice& choice, LayoutView::LabelForm form) {
  std::size_t longest = 1;
  const auto count = [&](const std::string& s) { longest = std::max(longest, s.size()); };
  const ColourBy by = view.colour(choice);
  const std::string_view thread = view.mark(ColourBy::thread);
  if (choice.coordinates) {
    for (const Panel& p : view.panels()) {
      const Cell last{static_cast<int>(&p - view.panels().data()), p.slices - 1, p.rows - 1,
                      p.columns - 1};
      count(fmt::format("({})", fmt::join(view.info(last).flat, ",")));
    }
  } else if (view.kind() == LayoutView::Kind::places) {
    longest = view.longest_place();
  } else if (form.pairs) {
    count(fmt::format("{}{} V{}", thread, view.threads() - 1, view.values() - 1));
  } else if (view.kind() == LayoutView::Kind::thread_value) {
    const std::string more =
        view.most_owners() > 1 ? fmt::format("+{}", view.most_owners() - 1) : std::string();
    if (form.lines > 1 || by != ColourBy::value) {
      count(fmt::format("{}{}", thread, view.threads() - 1) + more);
    }
    count(fmt::format("V{}", view.values() - 1));
  } else {
    const std::string_view mark = view.mark(by);
    if (mark.empty() || form.lines > 1) {
      count(fmt::format("{}", view.lowest_offset()));
      count(fmt::format("{}", view.highest_offset()));
    }
    if (!mark.empty()) count(fmt::format("{}{}", mark, view.categories(by) - 1));
  }
  return {text_width(std::string(longest, '0'), small_text, Family::mono),
          small_text * label_pitch * form.lines};
}

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
  if (d.view.kind() == LayoutView::Kind::thread_value && seen.least() >= least_for_lines) {
    Segments threads, warps;
    threads.stroke = {{Role::text, 0.75}, 1, false};
    warps.stroke = {Role::text, 2, false};
    add_edges(seen, d.view.numbers_of(window_of(seen), ColourBy::thread, 0), threads);
    add_edges(seen, d.view.numbers_of(window_of(seen), ColourBy::warp, 0), warps);
    add_if_any(d.scene, std::move(threads));
    add_if_any(d.scene, std::move(warps));
  }
  if (panel.part && seen.least() >= least_for_part) {
    std::vector<std::int64_t> taken = d.view.numbers_of(window_of(seen), ColourBy::offset, 0);
    for (std::int64_t& n : taken) {
      n = std::binary_search(panel.part->begin(), panel.part->end(), n) ? 1 : 0;
    }
    Segments around;
    around.stroke = {Role::accent, seen.least() >= 16 ? 3.0 : 1.5, false};
    add_edges(seen, taken, around);
    add_if_any(d.scene, std::move(around));
  }
  d.scene.add(outline(seen.grid, Role::text, 1));
  d.scene.end();
}

void draw_labels(const Drawing& d, const Seen& seen) {
  Labels labels;
  const Setting setting = setting_for(d.view, d.choice, seen.cell);
  if (setting.size > 0 && seen.rows * seen.columns <= most_labels) {
    label_cells(d, seen, setting, labels);
  } else if (setting.size == 0) {
    label_blocks(d, seen, labels);
  }
  d.scene.begin("cells");
  labels.into(d.scene);
  d.scene.end();
}

void draw_repetitions(const Drawing& d, const Seen& seen) {
  const Panel& panel = d.view.panels()[static_cast<std::size_t>(seen.panel)];
  if (!panel.again || seen.least() < least_for_ticks || seen.rows * seen.columns > most_labels) {
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
  const auto light = [&](const Cell& cell, double width) {
    // The same element wherever it stands.
    const std::int64_t offset = d.view.offset(cell);
    const std::vector<std::int64_t> offsets =
        d.view.numbers_of(window_of(seen), ColourBy::offset, 0);
    std::size_t found = 0;
    for (std::size_t at = 0; at < offsets.size() && found < most_outlines; ++at) {
      if (offsets[at] != offset) continue;
      const Cell here{seen.panel, seen.slice,
                      seen.row + static_cast<std::int64_t>(at) / seen.columns,
                      seen.column + static_cast<std::int64_t>(at) % seen.columns};
      if (!d.view.inside(here)) continue;
      ++found;
      const Box box = box_at(here.row, here.column);
      d.scene.add(outline(box.grown(1.5), Role::paper, 1.5));
      d.scene.add(outline(box, Role::accent, width));
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
  const BlockSize block = block_at_origin(d.view, seen.panel);
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
