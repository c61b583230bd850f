#include "viz/matrix/matrices_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/numeric/number_text.h"
#include "viz/scene/items.h"
#include "viz/scene/palette.h"

namespace tilescope {
namespace {

constexpr double kHeading = 48;      // name and detail above a map
constexpr double kLegend = 64;       // the scale below all maps
constexpr double kBare = 24;         // what is below them without it
constexpr double kLargestCell = 96;  // pixels
constexpr double kLabelCell = 44;    // from here on values are written into the elements

bool is_missing(const MatricesView::Matrix& matrix, std::int64_t index) {
  return !matrix.missing.empty() && matrix.missing[static_cast<std::size_t>(index)];
}

bool is_undefined(const MatricesView::Matrix& matrix, std::int64_t index) {
  return !matrix.undefined.empty() && matrix.undefined[static_cast<std::size_t>(index)];
}

const std::byte* at(const Buffer& buffer, std::int64_t index) {
  return buffer.bytes.data() + static_cast<std::size_t>(index) * bytes_of(buffer.dtype);
}

// Elements [row, row + rows) x [column, column + columns) by pixels of step x step.
struct Seen {
  std::int64_t row = 0, column = 0, rows = 0, columns = 0, step = 1;
};

// The thread that has a sum: hue of its warp in the warpgroup, lightness of its lane.
Rgba owner_colour(const RegisterSums::Sum& sum, const Theme& theme) {
  constexpr int threads = 128;
  return thread_colour(sum.warp % 4 * 32 + sum.lane, threads, theme.dark);
}

struct PixelColours {
  const MatricesView& view;
  const Theme& theme;
  bool sums_by_thread = false;

  Rgba of_missing(std::size_t which, Element element) const {
    const MatricesView::Matrix& matrix = view.matrices()[which];
    if (view.sum(which, element)) return mix(theme.panel, theme.line, 0.6);  // of undefined value
    const bool undefined = is_undefined(matrix, element.row * matrix.columns + element.column);
    return undefined ? mix(theme.panel, theme.wrong, 0.35) : theme.panel;
  }
  Rgba of_value(std::size_t which, double value) const {
    const MatricesView::Scale& scale = view.scale_of(which);
    const double range = scale.highest - scale.lowest;
    return quantity(range > 0 ? (value - scale.lowest) / range : 0.5);
  }
};

// Of step x step elements from (r, c) on: their mean, of what is written and of sums in registers.
Rgba pixel(const PixelColours& colours, std::size_t which, std::int64_t step, std::int64_t r,
           std::int64_t c) {
  const MatricesView& view = colours.view;
  const MatricesView::Matrix& matrix = view.matrices()[which];
  double total = 0;
  std::int64_t count = 0;
  const std::int64_t row_end = std::min(r + step, matrix.rows);
  const std::int64_t column_end = std::min(c + step, matrix.columns);
  for (std::int64_t i = r; i < row_end; ++i) {
    for (std::int64_t j = c; j < column_end; ++j) {
      double value = 0;
      if (!is_missing(matrix, i * matrix.columns + j)) {
        value = load_element(matrix.values->dtype, at(*matrix.values, i * matrix.columns + j));
      } else if (const RegisterSums::Sum* sum = view.sum(which, {i, j})) {
        if (colours.sums_by_thread) return owner_colour(*sum, colours.theme);
        if (sum->undefined) continue;
        value = sum->value;
      } else {
        continue;
      }
      if (!std::isfinite(value)) return colours.theme.wrong;
      total += value;
      ++count;
    }
  }
  if (count == 0) return colours.of_missing(which, {r, c});
  return colours.of_value(which, total / static_cast<double>(count));
}

Image image_of(const PixelColours& colours, std::size_t which, const Seen& part) {
  Image out;
  out.columns = static_cast<int>((part.columns + part.step - 1) / part.step);
  out.rows = static_cast<int>((part.rows + part.step - 1) / part.step);
  out.rgba.reserve(static_cast<std::size_t>(out.columns) * static_cast<std::size_t>(out.rows));
  for (std::int64_t r = part.row; r < part.row + part.rows; r += part.step) {
    for (std::int64_t c = part.column; c < part.column + part.columns; c += part.step) {
      out.rgba.push_back(pixel(colours, which, part.step, r, c));
    }
  }
  out.version = new_image_version();
  return out;
}

std::shared_ptr<const Image> stored_image(RasterStore* store, std::vector<double> key,
                                          const auto& make) {
  constexpr std::size_t kept = 8;
  if (!store) return std::make_shared<const Image>(make());
  for (const RasterStore::Entry& entry : store->entries) {
    if (entry.key == key) return entry.image;
  }
  auto image = std::make_shared<const Image>(make());
  if (store->entries.size() >= kept) store->entries.erase(store->entries.begin());
  store->entries.push_back({std::move(key), image});
  return image;
}

// The part of a matrix that is seen, in whole pixels of a step that is as fine as the screen.
Seen seen_part(const MatricesView::Matrix& matrix, const Box& map, const Box& clip,
               const Viewport& viewport) {
  Seen part;
  while (static_cast<double>(part.step) * viewport.cell * viewport.pixel_scale < 0.75)
    part.step *= 2;
  const auto step = static_cast<double>(part.step);
  const auto first = [&](double from) {
    return static_cast<std::int64_t>(std::max(0.0, std::floor(from / viewport.cell / step))) *
           part.step;
  };
  const auto last = [&](double to, std::int64_t limit) {
    return std::min(limit,
                    static_cast<std::int64_t>(std::ceil(to / viewport.cell / step)) * part.step);
  };
  part.row = first(clip.y - map.y);
  part.column = first(clip.x - map.x);
  part.rows = std::max<std::int64_t>(0, last(clip.bottom() - map.y, matrix.rows) - part.row);
  part.columns =
      std::max<std::int64_t>(0, last(clip.right() - map.x, matrix.columns) - part.column);
  return part;
}

Box element_box(const Box& map, const Viewport& viewport, Element element) {
  return {map.x + static_cast<double>(element.column) * viewport.cell,
          map.y + static_cast<double>(element.row) * viewport.cell, viewport.cell, viewport.cell};
}

void add_values(Scene& scene, const PixelColours& colours, std::size_t which, const Box& map,
                const Seen& part, const Viewport& viewport) {
  const MatricesView::Matrix& matrix = colours.view.matrices()[which];
  for (std::int64_t r = part.row; r < part.row + part.rows; ++r) {
    for (std::int64_t c = part.column; c < part.column + part.columns; ++c) {
      const bool missing = is_missing(matrix, r * matrix.columns + c);
      const RegisterSums::Sum* sum = missing ? colours.view.sum(which, {r, c}) : nullptr;
      if (missing && (!sum || sum->undefined)) continue;
      Text text;
      text.at = element_box(map, viewport, {r, c}).centre();
      const double value =
          sum ? sum->value
              : load_element(matrix.values->dtype, at(*matrix.values, r * matrix.columns + c));
      text.text = fmt::format("{:.3g}", value);
      text.family = Family::mono;
      text.across = Across::centre;
      text.ink = text_on(pixel(colours, which, 1, r, c));
      scene.add(text);
    }
  }
}

// The frame of what belongs to an element; one about the pointer is thinner.
void add_mark(Scene& scene, const MatricesView& view, const MatricesFrame& frame, std::size_t which,
              std::optional<MatricesView::Part> part, bool pointer) {
  if (!part) return;
  const double cell = frame.viewport.cell;
  const Box& map = frame.maps[which];
  Box box{map.x + static_cast<double>(part->column) * cell,
          map.y + static_cast<double>(part->row) * cell, static_cast<double>(part->columns) * cell,
          static_cast<double>(part->rows) * cell};
  if (box.cut(frame.slots[which]).empty()) return;
  if (cell < 8) box = box.grown(part->single() ? 4 : 2);  // small ones are found by larger frames
  // An edge of the matrix does not cut it.
  scene.begin(fmt::format("mark in {}", view.matrices()[which].name), frame.slots[which].grown(8));
  if (pointer) {
    scene.add(Rectangle{box, {}, {Role::text, 1, false}, 0});
  } else {
    draw_selection(scene, box);
  }
  scene.end();
}

void add_text(Scene& scene, Point where, std::string words, double size, Family family,
              FontWeight weight, Role role) {
  Text text;
  text.at = where;
  text.text = std::move(words);
  text.size = size;
  text.family = family;
  text.weight = weight;
  text.ink = role;
  scene.add(text);
}

// A scale in so much room: whose it is, its ends and the colours between.
void add_scale(Scene& scene, const MatricesView& view, const MatricesView::Scale& scale,
               const Box& room) {
  std::string names;
  for (const std::size_t i : scale.matrices) {
    names += (names.empty() ? "" : ", ") + view.matrices()[i].name;
  }
  const double y = room.centre().y;
  const std::string low = scale.known ? fmt::format("{:.3g}", scale.lowest) : "no values yet";
  const std::string high = scale.known ? fmt::format("{:.3g}", scale.highest) : "";
  const double ends =
      text_width(low, small_text, Family::mono) + text_width(high, small_text, Family::mono);
  constexpr double least_bar = 24, most_bar = 192;
  names = fitted(names, std::max(24.0, room.width - ends - least_bar - 3 * inside), small_text,
                 Family::sans);
  add_text(scene, {room.x, y}, names, small_text, Family::sans, FontWeight::regular, Role::quiet);
  double x = room.x + text_width(names, small_text, Family::sans) + inside;
  const Family family = scale.known ? Family::mono : Family::sans;
  add_text(scene, {x, y}, low, small_text, family, FontWeight::regular, Role::text);
  if (!scale.known) return;
  x += text_width(low, small_text, Family::mono) + inside;
  constexpr int stops = 64;
  std::vector<Rgba> colours;
  for (int i = 0; i < stops; ++i) colours.push_back(quantity(i / double{stops - 1}));
  const double left = room.right() - x - text_width(high, small_text, Family::mono) - inside;
  const Box bar{x, y - 8, std::clamp(left, least_bar, most_bar), 16};
  scene.add(Raster{bar, ramp_image(std::move(colours))});
  add_text(scene, {bar.right() + inside, y}, high, small_text, Family::mono, FontWeight::regular,
           Role::text);
}

// What elements are coloured by that nobody has written yet.
void add_sums_legend(Scene& scene, const MatricesView& view, const Box& room, bool by_thread) {
  std::string names;
  for (std::size_t i = 0; i < view.matrices().size(); ++i) {
    if (view.matrices()[i].sums) names = view.matrices()[i].name;
  }
  if (names.empty()) return;
  const std::string what =
      by_thread
          ? "which thread has the sum so far in its registers: hue its warp, lightness its lane"
          : "sums so far, in registers; not written yet";
  const std::string words = fmt::format("{}, dashed frame: {}", names, what);
  const std::string shown = fitted(words, room.width, small_text, Family::sans);
  add_text(scene, {room.x, room.centre().y}, shown, small_text, Family::sans, FontWeight::regular,
           Role::quiet);
  if (shown != words) scene.hints.push_back({room, words});
}

void add_legend(Scene& scene, const MatricesView& view, const MatricesFrame& frame,
                bool sums_by_thread) {
  scene.begin("legend");
  const Box& body = frame.body;
  double y = body.y;
  for (const Box& slot : frame.slots) y = std::max(y, slot.bottom());
  y += between_groups;
  const auto count = static_cast<double>(view.scales().size());
  const double width = std::min(360.0, (body.width - (count - 1) * between_groups) / count);
  Box room{body.x, y - 10, width, 20};
  for (const MatricesView::Scale& scale : view.scales()) {
    add_scale(scene, view, scale, room);
    room.x += width + between_groups;
  }
  add_sums_legend(scene, view, {body.x, y + 12, body.width, 20}, sums_by_thread);
  scene.end();
}

double fitting_cell(const MatricesView& view, Box body, std::size_t across) {
  const std::size_t down = (view.matrices().size() + across - 1) / across;
  double cell = kLargestCell;
  for (const MatricesView::Matrix& matrix : view.matrices()) {
    const double width = (body.width - between_groups * static_cast<double>(across - 1)) /
                         static_cast<double>(across);
    const double height = body.height / static_cast<double>(down) - kHeading - between;
    cell = std::min({cell, width / static_cast<double>(std::max<std::int64_t>(1, matrix.columns)),
                     height / static_cast<double>(std::max<std::int64_t>(1, matrix.rows))});
  }
  return std::max(cell, 1e-6);
}

std::size_t best_across(const MatricesView& view, Box body) {
  std::size_t best = 1;
  for (std::size_t across = 2; across <= view.matrices().size(); ++across) {
    if (fitting_cell(view, body, across) > fitting_cell(view, body, best) * 1.02) best = across;
  }
  return best;
}

}  // namespace

std::string register_text(const RegisterSums& sums, const RegisterSums::Sum& sum) {
  return fmt::format("{}{}, warp {}, lane {}", sums.names[sum.name],
                     sum.byte ? " (upper half)" : "", sum.warp, sum.lane);
}

MatricesView::MatricesView(std::string title, std::vector<Matrix> matrices)
    : title_(std::move(title)), matrices_(std::move(matrices)) {
  make_scales();
}

void MatricesView::make_scales() {
  // Values of two inputs are alike where each uses at least this share of what both use.
  constexpr double alike = 0.5;
  for (std::size_t i = 0; i < matrices_.size(); ++i) {
    const Matrix& matrix = matrices_[i];
    Scale own{std::numeric_limits<double>::infinity(),
              -std::numeric_limits<double>::infinity(),
              false,
              {i}};
    for (std::int64_t e = 0; e < matrix.rows * matrix.columns; ++e) {
      double value = 0;
      if (!is_missing(matrix, e)) {
        value = load_element(matrix.values->dtype, at(*matrix.values, e));
      } else {
        const RegisterSums::Sum* held = sum(i, {e / matrix.columns, e % matrix.columns});
        if (!held || held->undefined) continue;
        value = held->value;
      }
      if (!std::isfinite(value)) continue;
      own.lowest = std::min(own.lowest, value);
      own.highest = std::max(own.highest, value);
    }
    own.known = own.lowest <= own.highest;
    if (!own.known) own.lowest = own.highest = 0;
    const auto joins = [&](const Scale& scale) {
      if (matrices_[scale.matrices.front()].result != matrix.result) return false;
      if (matrix.result) return true;
      const double all = std::max(own.highest, scale.highest) - std::min(own.lowest, scale.lowest);
      return own.known && scale.known && own.highest - own.lowest >= alike * all &&
             scale.highest - scale.lowest >= alike * all;
    };
    auto scale = std::find_if(scales_.begin(), scales_.end(), joins);
    if (scale == scales_.end()) {
      scale = scales_.insert(scale, own);
    } else {
      const bool first = !scale->known;
      if (own.known) {
        scale->lowest = first ? own.lowest : std::min(scale->lowest, own.lowest);
        scale->highest = first ? own.highest : std::max(scale->highest, own.highest);
      }
      scale->known = scale->known || own.known;
      scale->matrices.push_back(i);
    }
    scale_of_.push_back(static_cast<std::size_t>(scale - scales_.begin()));
  }
}

namespace {

// How many there are of the output's rows, or of its columns, as the matrices' extents say.
std::int64_t extent_of(const MatricesView& view, MatricesView::From what) {
  std::int64_t out = 0;
  for (const MatricesView::Matrix& matrix : view.matrices()) {
    const bool by_rows = matrix.rows_from == what, by_columns = matrix.columns_from == what;
    if (by_rows) out = std::max(out, matrix.rows);
    if (by_columns) out = std::max(out, matrix.columns);
    if (matrix.result && (by_rows || by_columns)) return by_rows ? matrix.rows : matrix.columns;
  }
  return out;
}

}  // namespace

std::int64_t MatricesView::rows() const {
  return extent_of(*this, From::row);
}

std::int64_t MatricesView::columns() const {
  return extent_of(*this, From::column);
}

std::optional<MatricesView::Part> MatricesView::part_of(std::size_t matrix, Element element,
                                                        std::optional<std::size_t> pointed) const {
  const Matrix& m = matrices_[matrix];
  Part part{element.row, element.column, 1, 1};
  if (pointed && *pointed < matrices_.size() && !same_place(*pointed)) {
    // Of a factor: itself, and the row or column of the output that it goes into.
    if (matrix != *pointed) {
      if (!m.result) return {};
      const Element unknown{-1, -1}, at = output_of(*pointed, element, unknown);
      part = {std::max<std::int64_t>(0, at.row), std::max<std::int64_t>(0, at.column),
              at.row < 0 ? m.rows : 1, at.column < 0 ? m.columns : 1};
    }
  } else {
    const auto along = [&](From from, std::int64_t all, std::int64_t& begin, std::int64_t& count) {
      begin = from == From::row ? element.row : from == From::column ? element.column : 0;
      count = from == From::all ? all : 1;
    };
    along(m.rows_from, m.rows, part.row, part.rows);
    along(m.columns_from, m.columns, part.column, part.columns);
  }
  const bool within =
      part.row >= 0 && part.column >= 0 && part.row < m.rows && part.column < m.columns;
  return within ? std::optional(part) : std::nullopt;
}

Element MatricesView::output_of(std::size_t matrix, Element element, Element otherwise) const {
  const Matrix& m = matrices_[matrix];
  for (const auto& [from, number] :
       {std::pair(m.rows_from, element.row), std::pair(m.columns_from, element.column)}) {
    if (from == From::row) otherwise.row = number;
    if (from == From::column) otherwise.column = number;
  }
  return otherwise;
}

const RegisterSums::Sum* MatricesView::sum(std::size_t matrix, Element element) const {
  const Matrix& m = matrices_[matrix];
  const bool within = m.sums && element.row >= 0 && element.column >= 0 && element.row < m.rows &&
                      element.column < m.columns;
  if (!within) return nullptr;
  const std::int32_t at =
      m.sums->at[static_cast<std::size_t>(element.row * m.columns + element.column)];
  return at < 0 ? nullptr : &m.sums->all[static_cast<std::size_t>(at)];
}

bool MatricesView::has_sums() const {
  return std::any_of(matrices_.begin(), matrices_.end(),
                     [](const Matrix& each) { return each.sums != nullptr; });
}

std::string MatricesView::value(std::size_t matrix, Element element) const {
  const Matrix& m = matrices_[matrix];
  if (element.row < 0 || element.column < 0 || element.row >= m.rows ||
      element.column >= m.columns) {
    return "";
  }
  const std::int64_t index = element.row * m.columns + element.column;
  if (is_undefined(m, index)) return "undefined";
  if (const RegisterSums::Sum* held = sum(matrix, element)) {
    return held->undefined           ? "undefined so far"
           : std::isnan(held->value) ? "nan so far"
                                     : fmt::format("{:.6g} so far", held->value);
  }
  if (is_missing(m, index)) return "not written yet";
  return element_text(m.values->dtype, at(*m.values, element.row * m.columns + element.column));
}

// "0.5"; of more than one element which they are, and the first few.
std::string MatricesView::part_text(std::size_t matrix, const Part& part) const {
  if (part.single()) return value(matrix, {part.row, part.column});
  const bool across = part.columns > 1;
  const std::int64_t count = across ? part.columns : part.rows;
  std::string out =
      across ? fmt::format("row {}:", part.row) : fmt::format("column {}:", part.column);
  constexpr std::int64_t few = 3;
  for (std::int64_t i = 0; i < std::min(count, few); ++i) {
    const std::int64_t r = part.row + (across ? 0 : i), c = part.column + (across ? i : 0);
    const Matrix& m = matrices_[matrix];
    out += fmt::format(" {:.4g}", load_element(m.values->dtype, at(*m.values, r * m.columns + c)));
  }
  return count > few ? fmt::format("{} ... ({})", out, count) : out;
}

Lines MatricesView::inspect(Element element, std::optional<std::size_t> pointed) const {
  Lines lines;
  lines.emplace_back("row", fmt::format("{}", element.row));
  lines.emplace_back("column", fmt::format("{}", element.column));
  if (pointed && *pointed < matrices_.size() && !same_place(*pointed)) {
    const Element unknown{-1, -1}, into = output_of(*pointed, element, unknown);
    std::string output = "the result";
    for (const Matrix& each : matrices_) {
      if (each.result) output = each.name;
      if (each.result) break;
    }
    lines.emplace_back(matrices_[*pointed].name, value(*pointed, element));
    if (into.row >= 0)
      lines.emplace_back("goes into", fmt::format("row {} of {}", into.row, output));
    if (into.column >= 0)
      lines.emplace_back("goes into", fmt::format("column {} of {}", into.column, output));
    return lines;
  }
  for (std::size_t i = 0; i < matrices_.size(); ++i) {
    if (const auto part = part_of(i, element)) {
      lines.emplace_back(matrices_[i].name, part_text(i, *part));
      const RegisterSums::Sum* held = part->single() ? sum(i, {part->row, part->column}) : nullptr;
      if (held) lines.emplace_back("in", register_text(*matrices_[i].sums, *held));
    }
  }
  return lines;
}

MatricesFrame arrange(const MatricesView& view, const Viewport& viewport) {
  MatricesFrame frame;
  frame.viewport = viewport;
  frame.body = {between_groups, 56, std::max(1.0, viewport.size.width - 2 * between_groups),
                std::max(1.0, viewport.size.height - 56 - (viewport.legend ? kLegend : kBare))};
  const std::size_t across = best_across(view, frame.body);
  const std::size_t down = (view.matrices().size() + across - 1) / across;
  frame.fit = fitting_cell(view, frame.body, across);
  const double cell = frame.viewport.cell = std::max(frame.fit, viewport.cell);
  const double width = (frame.body.width - between_groups * static_cast<double>(across - 1)) /
                       static_cast<double>(across);
  const double height = frame.body.height / static_cast<double>(down);
  const Size room{width, std::max(1.0, height - kHeading - between)};
  // No matrix is moved further than until its last element is in the corner of its room.
  Point most;
  for (const MatricesView::Matrix& matrix : view.matrices()) {
    most.x = std::max(most.x, static_cast<double>(matrix.columns) * cell - room.width);
    most.y = std::max(most.y, static_cast<double>(matrix.rows) * cell - room.height);
  }
  Point& pan = frame.viewport.pan;
  pan = {std::clamp(pan.x, 0.0, most.x), std::clamp(pan.y, 0.0, most.y)};
  for (std::size_t i = 0; i < view.matrices().size(); ++i) {
    const MatricesView::Matrix& matrix = view.matrices()[i];
    const Point at{frame.body.x + static_cast<double>(i % across) * (width + between_groups),
                   frame.body.y + static_cast<double>(i / across) * height + kHeading};
    frame.rooms.push_back({at.x, at.y, room.width, room.height});
    frame.maps.push_back({at.x - pan.x, at.y - pan.y, static_cast<double>(matrix.columns) * cell,
                          static_cast<double>(matrix.rows) * cell});
    frame.slots.push_back(frame.rooms[i].cut(frame.maps[i]));
  }
  return frame;
}

namespace {

// What the pointer is at of a sum in registers.
void add_sum_hint(Scene& scene, const MatricesView& view, const MatricesFrame& frame,
                  std::size_t which, Element at) {
  const RegisterSums::Sum* sum = view.sum(which, at);
  const Box box = element_box(frame.maps[which], frame.viewport, at).cut(frame.slots[which]);
  if (!sum || box.empty()) return;
  const MatricesView::Matrix& matrix = view.matrices()[which];
  scene.hints.push_back(
      {box, fmt::format("{} [{}, {}]: {}, in {}", matrix.name, at.row, at.column,
                        view.value(which, at), register_text(*matrix.sums, *sum))});
}

// Name and detail over a matrix; what is cut can be read whole under the pointer.
void add_heading(Scene& scene, const MatricesView::Matrix& matrix, const Box& clip, double width) {
  const std::string name = fitted(matrix.name, width, heading_text, Family::sans, FontWeight::bold);
  const std::string detail = fitted(matrix.detail, width, small_text, Family::sans);
  add_text(scene, {clip.x, clip.y - 32}, name, heading_text, Family::sans, FontWeight::bold,
           Role::text);
  add_text(scene, {clip.x, clip.y - 12}, detail, small_text, Family::sans, FontWeight::regular,
           Role::quiet);
  if (name != matrix.name || detail != matrix.detail) {
    scene.hints.push_back(
        {{clip.x, clip.y - 42, width, 42}, fmt::format("{}: {}", matrix.name, matrix.detail)});
  }
}

}  // namespace

Scene build_scene(const MatricesView& view, std::optional<Element> hover,
                  std::optional<Element> selected, const Theme& theme, const MatricesFrame& frame,
                  RasterStore* store, std::optional<std::size_t> pointed, bool sums_by_thread) {
  const PixelColours colours{view, theme, sums_by_thread};
  Scene scene;
  scene.size = frame.viewport.size;
  scene.theme = theme;
  scene.title = view.title();
  scene.add(Rectangle{{0, 0, scene.size.width, scene.size.height}, Ink(Role::paper), {}, 0});
  draw_title(scene, scene.title, {frame.body.x, 32});
  for (std::size_t i = 0; i < view.matrices().size(); ++i) {
    const MatricesView::Matrix& matrix = view.matrices()[i];
    const Box& map = frame.maps[i];
    const Box& clip = frame.slots[i];
    scene.begin(fmt::format("matrix {}", matrix.name));
    add_heading(scene, matrix, clip, frame.rooms[i].width);
    scene.begin("elements", clip);
    const Seen part = seen_part(matrix, map, clip, frame.viewport);
    if (part.rows > 0 && part.columns > 0) {
      std::vector<double> key;
      for (std::int64_t k :
           {static_cast<std::int64_t>(i), part.step, part.row, part.column, part.rows, part.columns,
            std::int64_t{theme.dark}, std::int64_t{sums_by_thread}}) {
        key.push_back(static_cast<double>(k));
      }
      const Box box{map.x + static_cast<double>(part.column) * frame.viewport.cell,
                    map.y + static_cast<double>(part.row) * frame.viewport.cell,
                    static_cast<double>(part.columns) * frame.viewport.cell,
                    static_cast<double>(part.rows) * frame.viewport.cell};
      scene.add(Raster{
          box, stored_image(store, std::move(key), [&] { return image_of(colours, i, part); })});
      if (part.step == 1 && frame.viewport.cell >= kLabelCell) {
        add_values(scene, colours, i, map, part, frame.viewport);
      }
    }
    scene.end();
    scene.add(Rectangle{clip, {}, {Role::line, 1, false}, 0});
    if (hover) add_mark(scene, view, frame, i, view.part_of(i, *hover, pointed), true);
    if (hover && (!pointed || *pointed == i)) add_sum_hint(scene, view, frame, i, *hover);
    if (selected) add_mark(scene, view, frame, i, view.part_of(i, *selected), false);
    scene.end();
  }
  if (frame.viewport.legend) add_legend(scene, view, frame, sums_by_thread);
  return scene;
}

std::optional<std::size_t> matrix_at(const MatricesFrame& frame, Point at) {
  for (std::size_t i = 0; i < frame.slots.size(); ++i) {
    if (frame.slots[i].contains(at)) return i;
  }
  return {};
}

std::optional<Element> element_at(const MatricesView& view, const MatricesFrame& frame, Point at) {
  for (std::size_t i = 0; i < frame.maps.size() && i < view.matrices().size(); ++i) {
    if (!frame.slots[i].contains(at)) continue;
    const Element element{
        static_cast<std::int64_t>((at.y - frame.maps[i].y) / frame.viewport.cell),
        static_cast<std::int64_t>((at.x - frame.maps[i].x) / frame.viewport.cell)};
    const MatricesView::Matrix& matrix = view.matrices()[i];
    if (element.row < matrix.rows && element.column < matrix.columns) return element;
  }
  return {};
}

Viewport zoomed(const MatricesView&, const MatricesFrame& frame, Point at, double factor) {
  Viewport viewport = frame.viewport;
  if (frame.rooms.empty()) return viewport;
  viewport.cell = std::clamp(viewport.cell * factor, frame.fit, std::max(frame.fit, kLargestCell));
  const double ratio = viewport.cell / frame.viewport.cell;
  // What is under the pointer stays there, in this matrix and alike in the others. A pointer
  // beside all of them zooms at the middle.
  Point held{frame.slots[0].width / 2, frame.slots[0].height / 2};
  for (const Box& slot : frame.slots) {
    if (slot.contains(at)) held = {at.x - slot.x, at.y - slot.y};
  }
  viewport.pan = {(held.x + viewport.pan.x) * ratio - held.x,
                  (held.y + viewport.pan.y) * ratio - held.y};
  return viewport;
}

Viewport panned(const MatricesView& view, const MatricesFrame& frame, double dx, double dy) {
  Viewport viewport = frame.viewport;
  viewport.pan = {viewport.pan.x - dx, viewport.pan.y - dy};
  return arrange(view, viewport).viewport;
}

}  // namespace tilescope
