#include "viz/scene/matrices_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/numeric/number_text.h"
#include "viz/scene/palette.h"

namespace tilescope {
namespace {

constexpr double kHeading = 48;      // name and detail above a map
constexpr double kLegend = 64;       // the scale below all maps
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
struct Part {
  std::int64_t row = 0, column = 0, rows = 0, columns = 0, step = 1;
};

Rgba pixel(const MatricesView& view, const MatricesView::Matrix& matrix, const Part& part,
           std::int64_t r, std::int64_t c, const Theme& theme) {
  double sum = 0;
  std::int64_t count = 0;
  const std::int64_t row_end = std::min(r + part.step, matrix.rows);
  const std::int64_t column_end = std::min(c + part.step, matrix.columns);
  for (std::int64_t i = r; i < row_end; ++i) {
    for (std::int64_t j = c; j < column_end; ++j) {
      if (is_missing(matrix, i * matrix.columns + j)) continue;
      const double value =
          load_element(matrix.values->dtype, at(*matrix.values, i * matrix.columns + j));
      if (!std::isfinite(value)) return theme.wrong;
      sum += value;
      ++count;
    }
  }
  if (count == 0) {
    const bool undefined = is_undefined(matrix, r * matrix.columns + c);
    return undefined ? mix(theme.panel, theme.wrong, 0.35) : theme.panel;
  }
  const double range = view.highest() - view.lowest();
  const double mean = sum / static_cast<double>(count);
  return quantity(range > 0 ? (mean - view.lowest()) / range : 0.5);
}

Image image_of(const MatricesView& view, std::size_t which, const Part& part, const Theme& theme) {
  const MatricesView::Matrix& matrix = view.matrices()[which];
  Image out;
  out.columns = static_cast<int>((part.columns + part.step - 1) / part.step);
  out.rows = static_cast<int>((part.rows + part.step - 1) / part.step);
  out.rgba.reserve(static_cast<std::size_t>(out.columns) * static_cast<std::size_t>(out.rows));
  for (std::int64_t r = part.row; r < part.row + part.rows; r += part.step) {
    for (std::int64_t c = part.column; c < part.column + part.columns; c += part.step) {
      out.rgba.push_back(pixel(view, matrix, part, r, c, theme));
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
Part seen_part(const MatricesView::Matrix& matrix, const Box& map, const Box& clip,
               const Lens& lens) {
  Part part;
  while (static_cast<double>(part.step) * lens.cell * lens.pixel_scale < 0.75) part.step *= 2;
  const auto step = static_cast<double>(part.step);
  const auto first = [&](double from) {
    return static_cast<std::int64_t>(std::max(0.0, std::floor(from / lens.cell / step))) *
           part.step;
  };
  const auto last = [&](double to, std::int64_t limit) {
    return std::min(limit, static_cast<std::int64_t>(std::ceil(to / lens.cell / step)) * part.step);
  };
  part.row = first(clip.y - map.y);
  part.column = first(clip.x - map.x);
  part.rows = std::max<std::int64_t>(0, last(clip.bottom() - map.y, matrix.rows) - part.row);
  part.columns =
      std::max<std::int64_t>(0, last(clip.right() - map.x, matrix.columns) - part.column);
  return part;
}

Box element_box(const Box& map, const Lens& lens, Element element) {
  return {map.x + static_cast<double>(element.column) * lens.cell,
          map.y + static_cast<double>(element.row) * lens.cell, lens.cell, lens.cell};
}

void add_values(Scene& scene, const MatricesView& view, std::size_t which, const Box& map,
                const Part& part, const Lens& lens, const Theme& theme) {
  const MatricesView::Matrix& matrix = view.matrices()[which];
  Part one = part;
  one.step = 1;
  for (std::int64_t r = part.row; r < part.row + part.rows; ++r) {
    for (std::int64_t c = part.column; c < part.column + part.columns; ++c) {
      if (is_missing(matrix, r * matrix.columns + c)) continue;
      Text text;
      text.at = element_box(map, lens, {r, c}).centre();
      const double value =
          load_element(matrix.values->dtype, at(*matrix.values, r * matrix.columns + c));
      text.text = fmt::format("{:.3g}", value);
      text.family = Family::mono;
      text.across = Across::centre;
      text.ink = text_on(pixel(view, matrix, one, r, c, theme));
      scene.add(text);
    }
  }
}

void add_mark(Scene& scene, const Box& box, const Ink& ink, double width) {
  Rectangle mark;
  mark.box = box.grown(box.width < 8 ? 4 : 0);  // a small element is found by a larger frame
  mark.stroke = {ink, width, false};
  scene.add(mark);
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

void add_legend(Scene& scene, const MatricesView& view, const MatricesFrame& frame) {
  scene.begin("legend");
  const Box& body = frame.body;
  double y = body.y;
  for (const Box& slot : frame.slots) y = std::max(y, slot.bottom());
  y += between_groups;
  constexpr int stops = 64;
  Image scale;
  scale.columns = stops;
  scale.rows = 1;
  for (int i = 0; i < stops; ++i) scale.rgba.push_back(quantity(i / double{stops - 1}));
  scale.version = 0x7363616c65;  // one content for ever
  add_text(scene, {body.x, y}, "value", small_text, Family::sans, FontWeight::regular, Role::quiet);
  const double x = body.x + 56;
  const std::string low = fmt::format("{:.3g}", view.lowest());
  const double low_width = text_width(low, small_text, Family::mono);
  add_text(scene, {x, y}, low, small_text, Family::mono, FontWeight::regular, Role::text);
  const std::string high = fmt::format("{:.3g}", view.highest());
  const double others = x + low_width + 2 * inside + text_width(high, small_text, Family::mono);
  const Box bar{x + low_width + inside, y - 8, std::clamp(body.right() - others, 24.0, 192.0), 16};
  scene.add(Raster{bar, std::make_shared<const Image>(std::move(scale))});
  add_text(scene, {bar.right() + inside, y}, high, small_text, Family::mono, FontWeight::regular,
           Role::text);
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

MatricesView::MatricesView(std::string title, std::vector<Matrix> matrices)
    : title_(std::move(title)), matrices_(std::move(matrices)) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const Matrix& matrix : matrices_) {
    for (std::int64_t i = 0; i < matrix.rows * matrix.columns; ++i) {
      if (is_missing(matrix, i)) continue;
      const double value = load_element(matrix.values->dtype, at(*matrix.values, i));
      if (!std::isfinite(value)) continue;
      low = std::min(low, value);
      high = std::max(high, value);
    }
  }
  if (low <= high) {
    lowest_ = low;
    highest_ = high;
  }
}

std::string MatricesView::value(std::size_t matrix, Element element) const {
  const Matrix& m = matrices_[matrix];
  if (element.row < 0 || element.column < 0 || element.row >= m.rows ||
      element.column >= m.columns) {
    return "";
  }
  const std::int64_t index = element.row * m.columns + element.column;
  if (is_undefined(m, index)) return "undefined";
  if (is_missing(m, index)) return "not written yet";
  return element_text(m.values->dtype, at(*m.values, element.row * m.columns + element.column));
}

Lines MatricesView::inspect(Element element) const {
  Lines lines;
  lines.emplace_back("row", fmt::format("{}", element.row));
  lines.emplace_back("column", fmt::format("{}", element.column));
  for (std::size_t i = 0; i < matrices_.size(); ++i) {
    lines.emplace_back(matrices_[i].name, value(i, element));
  }
  return lines;
}

MatricesFrame arrange(const MatricesView& view, const Lens& lens) {
  MatricesFrame frame;
  frame.lens = lens;
  frame.body = {between_groups, 56, std::max(1.0, lens.size.width - 2 * between_groups),
                std::max(1.0, lens.size.height - 56 - kLegend)};
  const std::size_t across = best_across(view, frame.body);
  const std::size_t down = (view.matrices().size() + across - 1) / across;
  frame.fit = fitting_cell(view, frame.body, across);
  const double cell = frame.lens.cell = std::max(frame.fit, lens.cell);
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
  Point& pan = frame.lens.pan;
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
                  RasterStore* store) {
  Scene scene;
  scene.size = frame.lens.size;
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
    const Part part = seen_part(matrix, map, clip, frame.lens);
    if (part.rows > 0 && part.columns > 0) {
      std::vector<double> key;
      for (std::int64_t k : {static_cast<std::int64_t>(i), part.step, part.row, part.column,
                             part.rows, part.columns, std::int64_t{theme.dark}}) {
        key.push_back(static_cast<double>(k));
      }
      const Box box{map.x + static_cast<double>(part.column) * frame.lens.cell,
                    map.y + static_cast<double>(part.row) * frame.lens.cell,
                    static_cast<double>(part.columns) * frame.lens.cell,
                    static_cast<double>(part.rows) * frame.lens.cell};
      scene.add(Raster{box, stored_image(store, std::move(key),
                                         [&] { return image_of(view, i, part, theme); })});
      if (part.step == 1 && frame.lens.cell >= kLabelCell) {
        add_values(scene, view, i, map, part, frame.lens, theme);
      }
    }
    if (hover) add_mark(scene, element_box(map, frame.lens, *hover), Role::text, 1);
    if (selected) add_mark(scene, element_box(map, frame.lens, *selected), Role::accent, 2);
    scene.end();
    scene.add(Rectangle{clip, {}, {Role::line, 1, false}, 0});
    scene.end();
  }
  add_legend(scene, view, frame);
  return scene;
}

std::optional<Element> element_at(const MatricesView& view, const MatricesFrame& frame, Point at) {
  for (std::size_t i = 0; i < frame.maps.size() && i < view.matrices().size(); ++i) {
    if (!frame.slots[i].contains(at)) continue;
    const Element element{static_cast<std::int64_t>((at.y - frame.maps[i].y) / frame.lens.cell),
                          static_cast<std::int64_t>((at.x - frame.maps[i].x) / frame.lens.cell)};
    const MatricesView::Matrix& matrix = view.matrices()[i];
    if (element.row < matrix.rows && element.column < matrix.columns) return element;
  }
  return {};
}

Lens zoomed(const MatricesView&, const MatricesFrame& frame, Point at, double factor) {
  Lens lens = frame.lens;
  if (frame.rooms.empty()) return lens;
  lens.cell = std::clamp(lens.cell * factor, frame.fit, std::max(frame.fit, kLargestCell));
  const double ratio = lens.cell / frame.lens.cell;
  // What is under the pointer stays there, in this matrix and alike in the others. A pointer
  // beside all of them zooms at the middle.
  Point held{frame.slots[0].width / 2, frame.slots[0].height / 2};
  for (const Box& slot : frame.slots) {
    if (slot.contains(at)) held = {at.x - slot.x, at.y - slot.y};
  }
  lens.pan = {(held.x + lens.pan.x) * ratio - held.x, (held.y + lens.pan.y) * ratio - held.y};
  return lens;
}

Lens panned(const MatricesView& view, const MatricesFrame& frame, double dx, double dy) {
  Lens lens = frame.lens;
  lens.pan = {lens.pan.x - dx, lens.pan.y - dy};
  return arrange(view, lens).lens;
}

}  // namespace tilescope
