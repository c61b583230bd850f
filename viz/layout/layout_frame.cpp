// Where everything of a layout view stands: fitting, zoom, pan, and which cell is under a point.
#include <algorithm>
#include <array>

#include "viz/layout/layout_panels.h"

namespace tilescope {
namespace {

constexpr double margin = 24, panel_gap = 32, slice_gap = 16, thin = 24;
constexpr double most_heading_width = 480;
constexpr std::int64_t most_operand = 64;  // cells a side
constexpr std::int64_t lanes_of_a_warp = 32;
constexpr Size page{1552, 1000};  // of grids that are not labelled cell by cell
constexpr double largest_cell = 256, smallest_cell = 1e-9;
constexpr std::int64_t most_labelled = std::int64_t{1} << 14;

double digits_width(std::int64_t last) {
  return text_width(std::to_string(std::max<std::int64_t>(last, 0)), small_text, Family::mono);
}

// Rows of panels, as columns of stacked panels from left to right.
using Arrangement = std::vector<std::vector<int>>;

// A product has one arrangement of its own.
std::vector<Arrangement> arrangements(const LayoutView& view) {
  const int panels = static_cast<int>(view.panels().size());
  if (view.placing() == LayoutView::Placing::product) return {{}};
  std::vector<Arrangement> out;
  for (int stacked = 1; stacked <= panels; ++stacked) {
    Arrangement& columns = out.emplace_back();
    for (int p = 0; p < panels; ++p) {
      if (p % stacked == 0) columns.emplace_back();
      columns.back().push_back(p);
    }
  }
  return out;
}

double longest_side(const Panel& panel) {
  return static_cast<double>(std::max(panel.rows, panel.columns));
}

// A side of an operand that is narrower gets longer cells, so that a name has room in it.
constexpr double least_side = 80, labelled_cell = 24;

double drawn_out(double cell, std::int64_t cells, const Viewport& viewport) {
  const double enough = std::min(viewport.side / static_cast<double>(cells), labelled_cell);
  return std::max(cell, enough);
}

// A box of one thread's values has flat cells: as wide and as high as their labels are.
double height_of_values(const LayoutView& view, double cell) {
  const Size label = label_size(view, {}, {1, false});
  return cell * std::min(1.0, (label.height + 6) / (label.width + 8));
}

// Cells are square, and as large in every panel; but a division into large tiles is so much taller
// than its input that it gets smaller ones, and a long thin grid is drawn thicker.
Size cell_of(const LayoutView& view, const Panel& panel, double cell, const Viewport& viewport) {
  if (view.placing() == LayoutView::Placing::product) {
    const std::int64_t m = view.panels()[2].rows, n = view.panels()[2].columns;
    const std::int64_t k = view.panels()[0].columns;
    const bool a = &panel == &view.panels()[0], b = &panel == &view.panels()[1];
    return {drawn_out(cell, a ? k : n, viewport), drawn_out(cell, b ? k : m, viewport)};
  }
  const bool one_thread = view.kind() == LayoutView::Kind::thread_value && view.threads() == 1;
  if (one_thread && longest_side(panel) > static_cast<double>(most_operand)) {
    return {cell, height_of_values(view, cell)};
  }
  constexpr double tallest = 1.5, thinnest = 8;
  const double rows = static_cast<double>(panel.rows);
  const double columns = static_cast<double>(panel.columns);
  if (view.kind() == LayoutView::Kind::divided) {
    cell *= std::min(1.0, tallest * longest_side(view.panels()[0]) / longest_side(panel));
    return {std::max(cell, rows * cell / thinnest / columns),
            std::max(cell, columns * cell / thinnest / rows)};
  }
  if (panel.columns > 1 && panel.rows > 1 && cell * rows >= thin && cell * columns >= thin) {
    return {cell, cell};
  }
  return {std::max(cell, thin / columns), std::max(cell, thin / rows)};
}

// A panel at the origin.
Frame::Place place_of(const Panel& panel, Size cell, double heading, double gutter) {
  Frame::Place out;
  out.cell = cell;
  const Size grid{out.cell.width * static_cast<double>(panel.columns),
                  out.cell.height * static_cast<double>(panel.rows)};
  const double slice_heading = panel.all_slices > 1 ? slice_heading_height : 0;
  out.slice_step = {grid.width + slice_gap + gutter,
                    grid.height + slice_gap + slice_heading + index_height};
  const double want =
      std::sqrt(static_cast<double>(panel.slices) * out.slice_step.height / out.slice_step.width);
  out.slices_across =
      panel.slices_in_row > 0
          ? panel.slices_in_row
          : std::clamp<std::int64_t>(static_cast<std::int64_t>(std::ceil(want)), 1, panel.slices);
  const std::int64_t down = ceil_div(panel.slices, out.slices_across);
  out.first = {gutter, heading + slice_heading + index_height, grid.width, grid.height};
  const double width =
      out.first.x + grid.width + out.slice_step.width * static_cast<double>(out.slices_across - 1);
  const double height =
      out.first.y + grid.height + out.slice_step.height * static_cast<double>(down - 1);
  out.box = {0, 0, std::max(width, least_panel_width), height};
  return out;
}

void move(Frame::Place& place, double dx, double dy) {
  place.box.x += dx, place.box.y += dy;
  place.first.x += dx, place.first.y += dy;
}

struct Laid {
  std::vector<Frame::Place> places;
  Size size;
};
double heading_of(const LayoutView& view, const Panel& panel, const Viewport& viewport) {
  return heading_line * (formula_is_title(view, panel, viewport) ? 1 : 2);
}

// A panel may be narrow, its words are not: what they want, or their share of the
// size asked for.
double heading_width(const LayoutView& view, const Panel& panel, const Viewport& viewport) {
  const double title = text_width(panel.title, heading_text, Family::sans, FontWeight::bold);
  const double axes = text_width(panel.axes, small_text, Family::sans);
  if (!viewport.formulas) return std::min(title + inside, viewport.heading);
  double out = title + between + axes + inside;
  if (!formula_is_title(view, panel, viewport)) {
    out = std::max(out, text_width(panel.formula, small_text, Family::mono) + inside);
  }
  return std::min(out, viewport.heading);
}

// A to the left of C and B above it, so that their rows and columns run on into C's.
Laid lay_out_product(const LayoutView& view, double cell, const Viewport& viewport) {
  const std::vector<Panel>& panels = view.panels();
  const double gutter = std::max(row_gutter(panels[1]), row_gutter(panels[2]));
  Laid out;
  for (const Panel& panel : panels) {
    const bool left = &panel == &panels[0];
    out.places.push_back(place_of(panel, cell_of(view, panel, cell, viewport),
                                  heading_of(view, panel, viewport),
                                  left ? row_gutter(panel) : gutter));
    Box& box = out.places.back().box;
    box.width = std::max(box.width, heading_width(view, panel, viewport));
  }
  Frame::Place &a = out.places[0], &b = out.places[1], &c = out.places[2];
  const double x = a.box.width + panel_gap, y = b.box.height + panel_gap;
  move(a, 0, y);
  move(b, x, 0);
  move(c, x, y);
  out.size = {x + std::max(b.box.width, c.box.width), y + std::max(a.box.height, c.box.height)};
  return out;
}

Laid lay_out(const LayoutView& view, const Arrangement& arrangement, double cell,
             const Viewport& viewport) {
  if (view.placing() == LayoutView::Placing::product) return lay_out_product(view, cell, viewport);
  Laid out;
  out.places.resize(view.panels().size());
  double x = 0;
  for (const std::vector<int>& column : arrangement) {
    double y = 0, width = 0;
    for (const int p : column) {
      const Panel& panel = view.panels()[static_cast<std::size_t>(p)];
      Frame::Place place = place_of(panel, cell_of(view, panel, cell, viewport),
                                    heading_of(view, panel, viewport), row_gutter(panel));
      place.box.width = std::max(place.box.width, heading_width(view, panel, viewport));
      move(place, x, y);
      y = place.box.bottom() + panel_gap;
      width = std::max(width, place.box.width);
      out.size.height = std::max(out.size.height, place.box.bottom());
      out.places[static_cast<std::size_t>(p)] = place;
    }
    x += width + panel_gap;
  }
  out.size.width = x - panel_gap;
  return out;
}

double fitting_cell(const LayoutView& view, const Arrangement& arrangement, Size room,
                    const Viewport& viewport) {
  double low = smallest_cell, high = largest_cell;
  for (int i = 0; i < 60; ++i) {
    const double cell = std::sqrt(low * high);
    const Size size = lay_out(view, arrangement, cell, viewport).size;
    (size.width <= room.width && size.height <= room.height ? low : high) = cell;
  }
  return low >= 6 ? std::floor(low + 1e-9) : low;
}

BlockSize smallest_block(const LayoutView& view) {
  BlockSize out = block_at_origin(view, 0);
  for (int p = 1; p < static_cast<int>(view.panels().size()); ++p) {
    const BlockSize block = block_at_origin(view, p);
    out.rows = std::min(out.rows, block.rows);
    out.columns = std::min(out.columns, block.columns);
  }
  return out;
}

// The cell sizes at which a picture that may be any size is read best, the one with the fullest
// labels first; none where a page is better.
std::vector<double> natural_cells(const LayoutView& view, const LayoutChoice& choice) {
  std::int64_t most = 1, longest = 1;
  for (const Panel& p : view.panels()) {
    most = std::max(most, p.rows * p.columns * p.slices);
    longest = std::max({longest, p.rows, p.columns});
  }
  if (most > most_labelled) return {};
  // Beyond this a label a cell is a wall, not a page; where warps or values have blocks of cells
  // these are labelled instead.
  const ColourBy by = view.colour(choice);
  const bool blocks = view.threads() == 1 || by == ColourBy::warp || !choice.colour;
  if (view.placing() == LayoutView::Placing::product && longest > most_operand && blocks &&
      (view.threads() > lanes_of_a_warp || view.threads() == 1)) {
    return {};
  }
  std::vector<double> out;
  for (const LayoutView::LabelForm form : view.label_forms(choice)) {
    const Size label = label_size(view, choice, form);
    const double text = std::max(label.width + 8, label.height + 6);
    const double roomy = std::min(640.0 / static_cast<double>(longest), 64.0);
    const BlockSize block = smallest_block(view);
    const double blocked =
        std::max({(label.width + 8) / static_cast<double>(block.columns),
                  (line_height * small_text + 4) / static_cast<double>(block.rows), 12.0});
    // All of a box is one thread's, whose values are what there is to tell.
    const bool box = view.threads() == 1 && view.placing() == LayoutView::Placing::free;
    const bool by_block = block.columns > 1 && block.rows > 1 && longest > 16 && !box;
    out.push_back(std::ceil(std::max(by_block ? blocked : text, roomy)));
  }
  return out;
}

// What the legend of offsets needs, which any view may be coloured by; or the chosen colour's title
// and its first swatches.
double legend_width(const LayoutView& view, const LayoutChoice& choice) {
  constexpr std::size_t first = 4;
  constexpr double swatch = 20, more = 72;
  const LayoutView::Legend legend = view.legend(choice, light_theme());
  double own = text_width(legend.title, small_text, Family::sans, FontWeight::bold) + more;
  for (std::size_t i = 0; i < std::min(first, legend.entries.size()); ++i) {
    const LayoutView::Legend::Entry& entry = legend.entries[i];
    own += between + (entry.colours.size() > 1 ? 70 : swatch) +
           text_width(entry.label, small_text, Family::mono);
  }
  const auto width = [](std::int64_t n) {
    return text_width(std::to_string(n), small_text, Family::mono);
  };
  return std::max(own, 64 + width(view.lowest_offset()) + ramp_width +
                           width(view.highest_offset()) + 2 * inside) +
         (outlines_width(view) > 0 ? outlines_width(view) + 2 * between : 0);
}

double legend_block_height(const LayoutView& view, const Viewport& viewport) {
  const double notes = note_height * static_cast<double>(notes_shown(view, viewport).size());
  return (viewport.legend ? between + legend_row_height : 0) + (notes > 0 ? inside + notes : 0);
}

constexpr double most_title = 960, most_words = 1552;

// What the title and the notes need to be read whole.
double words_width(const LayoutView& view, const Viewport& viewport) {
  double whole = 0;
  if (viewport.title) {
    whole = text_width(view.title(), title_text, Family::sans, FontWeight::bold);
    if (whole > most_title) {  // draw_title sets it smaller
      whole = text_width(view.title(), heading_text, Family::sans, FontWeight::bold) + between;
    }
  }
  for (const std::string& note : view.notes()) {
    whole = std::max(whole, text_width(note, small_text, Family::sans));
  }
  whole = std::max(whole, text_width(viewport.advice, small_text, Family::sans));
  return std::min(whole, viewport.size.width > 0 ? viewport.size.width - 2 * margin : most_words);
}

// `words`: the width that stands left-aligned with the grids.
Frame framed(const LayoutView& view, Viewport viewport, const Arrangement& arrangement, double fit,
             double words) {
  Frame out;
  out.fit_cell = fit;
  if (!(viewport.cell > 0)) viewport.cell = fit;
  viewport.cell = std::clamp(viewport.cell, smallest_cell, largest_cell);
  out.viewport = viewport;
  Laid laid = lay_out(view, arrangement, viewport.cell, viewport);
  const double above = viewport.title ? title_height : 0;
  const double below = legend_block_height(view, viewport);
  out.body = {0, viewport.title ? margin + above - inside : 0, viewport.size.width, 0};
  out.body.height =
      std::max(0.0, viewport.size.height - out.body.y - (below > 0 ? below + margin - inside : 0));
  // What fits stands in the middle; what does not is moved by the pan.
  const double free_x = viewport.size.width - std::max(laid.size.width, words) - 2 * margin;
  const double free_y = viewport.size.height - laid.size.height - above - below - 2 * margin;
  const double left = margin + std::max(0.0, std::floor(free_x / 2));
  const double top = margin + std::max(0.0, std::floor(free_y / 2));
  out.content = {left - viewport.pan.x, top + above - viewport.pan.y, laid.size.width,
                 laid.size.height};
  for (Frame::Place& place : laid.places) move(place, out.content.x, out.content.y);
  out.places = std::move(laid.places);
  const double x = free_x > 0 ? left : margin;
  out.title = {x, top + title_text / 2};
  out.legend = {x, std::min(top + above + laid.size.height, viewport.size.height - margin - below) +
                       between + legend_row_height / 2};
  if (free_y > 0) {
    out.body.y = std::max(0.0, top + above - inside);
    out.body.height = std::max(0.0, laid.size.height + 2 * inside);
  }
  return out;
}

// As large as it wants to be, in the arrangement nearest to a slide's shape.
std::pair<const Arrangement*, double> natural_arrangement(const LayoutView& view,
                                                          const std::vector<Arrangement>& all,
                                                          const Viewport& viewport,
                                                          const LayoutChoice& choice,
                                                          double words) {
  const auto nearest = [&](double asked) {
    std::pair<const Arrangement*, double> best{&all[0], asked};
    double odd = 1e300;
    for (const Arrangement& each : all) {
      const double cell = asked > 0 ? asked : fitting_cell(view, each, page, viewport);
      const Size size = lay_out(view, each, cell, viewport).size;
      const double shape = std::fabs(std::log(size.width / (size.height + words) / 1.6));
      if (shape < odd) {
        odd = shape;
        best = {&each, cell};
      }
    }
    return best;
  };
  for (const double cell : natural_cells(view, choice)) {
    const std::pair<const Arrangement*, double> found = nearest(cell);
    const Size size = lay_out(view, *found.first, cell, viewport).size;
    if (size.width <= most_natural && size.height + words <= most_natural) return found;
  }
  return nearest(0);
}

double sane(double value, double otherwise, double lowest, double highest) {
  return std::isfinite(value) ? std::clamp(value, lowest, highest) : otherwise;
}

}  // namespace

bool has_room(const Frame& frame) {
  constexpr double least = 48;
  return std::all_of(frame.places.begin(), frame.places.end(), [&](const Frame::Place& place) {
    return std::max(place.first.width, place.first.height) >= least;
  });
}

std::vector<std::string> notes_shown(const LayoutView& view, const Viewport& viewport) {
  std::vector<std::string> out = view.notes();
  const std::size_t room =
      std::max<std::size_t>(viewport.notes, 2) - (viewport.advice.empty() ? 0 : 1);
  if (out.size() > room) {
    const std::size_t left_out = out.size() - (room - 1);
    out.resize(room - 1);
    out.push_back(std::to_string(left_out) + " more notes have room in a higher picture.");
  }
  if (!viewport.advice.empty()) out.push_back(viewport.advice);
  return out;
}

bool formula_is_title(const LayoutView& view, const Panel& panel, const Viewport& viewport) {
  return !viewport.formulas || (viewport.title && panel.formula == view.title());
}

double row_gutter(const Panel& panel) {
  return panel.rows == 1 && panel.slices == 1 ? 0
                                              : std::ceil(digits_width(panel.rows - 1)) + inside;
}

Frame arrange(const LayoutView& view, const Viewport& asked, const LayoutChoice& choice) {
  Viewport viewport = asked;
  viewport.cell = sane(asked.cell, 0, 0, largest_cell);
  viewport.pan = {sane(asked.pan.x, 0, -1e12, 1e12), sane(asked.pan.y, 0, -1e12, 1e12)};
  viewport.pixel_scale = sane(asked.pixel_scale, 1, 0.1, 16);
  const std::vector<Arrangement> all = arrangements(view);
  const double above = viewport.title ? title_height : 0;
  const bool any_size = !(asked.size.width > 0 && asked.size.height > 0);
  // Notes leave the grids at least three quarters of the height.
  viewport.notes =
      any_size ? view.notes().size() + 1
               : static_cast<std::size_t>(std::max(2.0, asked.size.height / 4 / note_height));
  viewport.heading = most_heading_width;
  viewport.side = least_side;
  const double below = legend_block_height(view, viewport);

  if (asked.size.width > 0 && asked.size.height > 0) {
    viewport.size = {sane(asked.size.width, 1, 1, 1e6), sane(asked.size.height, 1, 1, 1e6)};
    const bool product = view.placing() == LayoutView::Placing::product;
    viewport.heading = std::min(most_heading_width, viewport.size.width / (product ? 3 : 4));
    const Size room{viewport.size.width - 2 * margin,
                    viewport.size.height - 2 * margin - above - below};
    const Arrangement* best = &all[0];
    double cell = 0;
    const auto fits = [&] {
      const Size size = lay_out(view, all[0], smallest_cell, viewport).size;
      return size.width <= room.width && size.height <= room.height;
    };
    while (view.placing() == LayoutView::Placing::product && viewport.side > 1 && !fits()) {
      viewport.side /= 2;
    }
    for (const Arrangement& each : all) {
      const double fitting = fitting_cell(view, each, room, viewport);
      if (fitting > cell) {
        cell = fitting;
        best = &each;
      }
    }
    return framed(view, viewport, *best, cell, words_width(view, viewport));
  }

  const auto [best, natural] = natural_arrangement(view, all, viewport, choice, above + below);
  const Size size = lay_out(view, *best, natural, viewport).size;
  const double words =
      std::max(words_width(view, viewport), viewport.legend ? legend_width(view, choice) : 0);
  const double width = std::max(size.width, words);
  viewport.size = {std::ceil(width + 2 * margin),
                   std::ceil(size.height + above + below + 2 * margin)};
  return framed(view, viewport, *best, natural, words);
}

std::optional<Cell> cell_at(const LayoutView& view, const Frame& frame, Point at) {
  if (!frame.body.contains(at)) return std::nullopt;
  for (std::size_t p = 0; p < frame.places.size(); ++p) {
    const Frame::Place& place = frame.places[p];
    const Panel& panel = view.panels()[p];
    const double x = at.x - place.first.x, y = at.y - place.first.y;
    if (x < 0 || y < 0) continue;
    const double across = std::floor(x / place.slice_step.width);
    const double down = std::floor(y / place.slice_step.height);
    if (across >= static_cast<double>(place.slices_across) ||
        down >= static_cast<double>(panel.slices)) {
      continue;
    }
    Cell cell;
    cell.panel = static_cast<int>(p);
    const std::int64_t shown =
        static_cast<std::int64_t>(down) * place.slices_across + static_cast<std::int64_t>(across);
    if (shown >= panel.slices) continue;
    cell.slice = panel.first_slice + shown;
    const double column = (x - across * place.slice_step.width) / place.cell.width;
    const double row = (y - down * place.slice_step.height) / place.cell.height;
    if (column >= static_cast<double>(panel.columns) || row >= static_cast<double>(panel.rows)) {
      continue;
    }
    cell.row = static_cast<std::int64_t>(row);
    cell.column = static_cast<std::int64_t>(column);
    if (view.exists(cell)) return cell;
  }
  return std::nullopt;
}

Box slice_box(const Frame::Place& place, std::int64_t slice) {
  Box out = place.first;
  out.x += place.slice_step.width * static_cast<double>(slice % place.slices_across);
  out.y += place.slice_step.height * static_cast<double>(slice / place.slices_across);
  return out;
}

Box box_of(const LayoutView& view, const Frame& frame, const Cell& cell) {
  if (!view.exists(cell)) return {};
  const Frame::Place& place = frame.places[static_cast<std::size_t>(cell.panel)];
  const Panel& panel = view.panels()[static_cast<std::size_t>(cell.panel)];
  const std::int64_t shown = cell.slice - panel.first_slice;
  if (shown < 0 || shown >= panel.slices) return {};
  const Box grid = slice_box(place, shown);
  return {grid.x + place.cell.width * static_cast<double>(cell.column),
          grid.y + place.cell.height * static_cast<double>(cell.row), place.cell.width,
          place.cell.height};
}

namespace {

// The panel whose grids are nearest to a point.
std::size_t nearest_panel(const Frame& frame, Point at) {
  std::size_t best = 0;
  double least = 1e300;
  for (std::size_t p = 0; p < frame.places.size(); ++p) {
    const Box& b = frame.places[p].box;
    const double dx = std::max({b.x - at.x, 0.0, at.x - b.right()});
    const double dy = std::max({b.y - at.y, 0.0, at.y - b.bottom()});
    if (dx + dy < least) {
      least = dx + dy;
      best = p;
    }
  }
  return best;
}

}  // namespace

Viewport zoomed(const LayoutView& view, const Frame& frame, Point at, double factor) {
  Viewport viewport = frame.viewport;
  const double cell = sane(viewport.cell * factor, viewport.cell, frame.fit_cell, largest_cell);
  viewport.pan = {};
  viewport.cell = cell;
  if (cell <= frame.fit_cell) {
    viewport.cell = 0;
    return viewport;
  }
  const std::size_t p = nearest_panel(frame, at);
  const Frame::Place& before = frame.places[p];
  const double across = std::floor(std::max(0.0, at.x - before.first.x) / before.slice_step.width);
  const double down = std::floor(std::max(0.0, at.y - before.first.y) / before.slice_step.height);
  const double column =
      (at.x - before.first.x - across * before.slice_step.width) / before.cell.width;
  const double row = (at.y - before.first.y - down * before.slice_step.height) / before.cell.height;
  const Frame::Place after = arrange(view, viewport).places[p];
  viewport.pan = {
      after.first.x + across * after.slice_step.width + column * after.cell.width - at.x,
      after.first.y + down * after.slice_step.height + row * after.cell.height - at.y};
  return panned(view, arrange(view, viewport), 0, 0);
}

Viewport panned(const LayoutView& view, const Frame& frame, double dx, double dy) {
  Viewport viewport = frame.viewport;
  Viewport still = viewport;
  still.pan = {};
  const Frame home = arrange(view, still);
  if (viewport.cell <= home.fit_cell) return still;  // all is seen
  viewport.pan = dragged(viewport, home.content, home.body, dx, dy);
  return viewport;
}

}  // namespace tilescope
