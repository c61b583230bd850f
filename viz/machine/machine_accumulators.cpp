#include "viz/machine/machine_accumulators.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "viz/scene/items.h"
#include "viz/scene/legend_row.h"
#include "viz/scene/palette.h"

namespace tilescope {
namespace {

using sim::GroupAccumulator;
using u32 = std::uint32_t;

constexpr double heading_height = 56, axis_height = 22, legend_height = 30, rows_axis = 72;
constexpr double least_row = 2, most_row = 7, most_column = 24, most_zoom = 64;
constexpr double label_width = 48, label_height = 14;
constexpr u32 rows = GroupAccumulator::rows, warp_rows = 16, threads = 128;

struct Paint {
  const GroupAccumulator& d;
  const Theme& theme;
  double low = 0, high = 0;
  bool has_values = false;

  Rgba undefined() const { return mix(theme.panel, theme.line, 0.6); }
  Rgba by_value(const GroupAccumulator::Element& e) const {
    if (!e.held) return theme.paper;
    if (e.undefined) return undefined();
    if (!std::isfinite(e.value)) return theme.text;  // red is for faults
    return quantity(high > low ? (e.value - low) / (high - low) : 0.5);
  }
  Rgba by_owner(const GroupAccumulator::Element& e) const {
    if (!e.held) return theme.paper;
    return thread_colour(e.warp * 32 + e.lane, threads, theme.dark);
  }
};

void find_range(Paint& paint) {
  for (const GroupAccumulator::Element& e : paint.d.elements) {
    if (!e.held || e.undefined || !std::isfinite(e.value)) continue;
    paint.low = paint.has_values ? std::min(paint.low, e.value) : e.value;
    paint.high = paint.has_values ? std::max(paint.high, e.value) : e.value;
    paint.has_values = true;
  }
}

template <class Colour>
Raster raster(const Paint& paint, const Box& box, Colour colour) {
  Image out;
  out.columns = paint.d.columns;
  out.rows = rows;
  out.rgba.reserve(paint.d.elements.size());
  for (const GroupAccumulator::Element& e : paint.d.elements) out.rgba.push_back(colour(e));
  out.version = new_image_version();
  return {box, std::make_shared<const Image>(std::move(out))};
}

// The one looked at: that of the register, else one that is in use.
std::size_t chosen(const std::vector<GroupAccumulator>& all, const std::string& name) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& names = all[i].registers;
    if (!name.empty() && std::find(names.begin(), names.end(), name) != names.end()) return i;
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].in_use) return i;
  }
  return 0;
}

std::string value_text(const GroupAccumulator::Element& e) {
  return !e.held               ? "no longer held there"
         : e.undefined         ? "undefined"
         : std::isnan(e.value) ? "nan"
                               : fmt::format("{:.6g}", e.value);
}

// Frames the elements of the lane looked at, and says which register each is in.
void add_lane(Scene& scene, const Paint& paint, const Box& canvas, const Box& cells,
              const MachineShown& shown) {
  const RunCursor& spot = shown.spot;
  const double w = cells.width / paint.d.columns, h = cells.height / rows;
  scene.begin(fmt::format("elements of lane {} of warp {}", spot.lane, spot.warp), canvas.grown(2));
  for (u32 row = spot.warp % 4 * warp_rows; row < (spot.warp % 4 + 1) * warp_rows; ++row) {
    for (u32 column = 0; column < paint.d.columns; ++column) {
      const GroupAccumulator::Element& e = paint.d.at(row, column);
      if (e.lane != spot.lane) continue;
      const Box cell{cells.x + column * w, cells.y + row * h, w, h};
      const Box seen = cell.cut(canvas);
      if (seen.empty()) continue;
      const std::string& name = paint.d.registers[e.reg];
      const bool own = name == spot.name;
      scene.add(Rectangle{cell, {}, {own ? Role::accent : Role::text, own ? 2.0 : 1.0, false}, 0});
      std::string hint = fmt::format("D [{}, {}] is in {}{}: {}", row, column, name,
                                     e.byte ? ", its upper half" : "", value_text(e));
      const std::string to =
          e.held && !e.changed && shown.output ? shown.output(paint.d, std::pair(row, column)) : "";
      if (!to.empty()) hint += "; goes to " + to + " of the output";
      scene.targets.push_back(
          {seen.grown(1), fmt::format("look register {}", name), std::move(hint)});
    }
  }
  scene.end();
}

// The elements that have room for it say their values.
void add_values(Scene& scene, const Paint& paint, const Box& canvas, const Box& cells) {
  const double w = cells.width / paint.d.columns, h = cells.height / rows;
  if (w < label_width || h < label_height) return;
  for (u32 row = 0; row < rows; ++row) {
    for (u32 column = 0; column < paint.d.columns; ++column) {
      const GroupAccumulator::Element& e = paint.d.at(row, column);
      const Box cell{cells.x + column * w, cells.y + row * h, w, h};
      if (!e.held || e.undefined || cell.cut(canvas).empty()) continue;
      scene.add(words(cell.centre(), fmt::format("{:.4g}", e.value), text_on(paint.by_value(e)),
                      Family::mono, Across::centre));
    }
  }
}

// Which rows each warp holds; zoomed also their numbers, but none beside the name of a warp, for
// which there is no room.
void add_warps(Scene& scene, const AccumulatorFrame& frame, u32 first_warp, const RunCursor& spot) {
  const Box& canvas = frame.values;
  const Box cells = frame.cells(canvas);
  const double left = frame.room.x + table_edge, right = canvas.x - inside;
  std::vector<double> named;
  for (u32 i = 0; i < 4; ++i) {
    const Box part =
        Box{canvas.x, cells.y + cells.height * i / 4, canvas.width, cells.height / 4}.cut(canvas);
    if (part.height < 8) continue;
    const double y = part.y, end = part.bottom();
    const bool own = spot.warp == first_warp + i;
    Line bracket;
    bracket.points = {{right, y + 1}, {right - 4, y + 1}, {right - 4, end - 1}, {right, end - 1}};
    bracket.stroke = {own ? Role::accent : Role::line, own ? 2.0 : 1.0, false};
    scene.add(bracket);
    named.push_back(part.centre().y);
    scene.add(words({left, part.centre().y}, fmt::format("warp {}", first_warp + i),
                    own ? Role::text : Role::quiet));
    scene.targets.push_back(
        {{left, y, rows_axis, part.height},
         fmt::format("look warp {}", first_warp + i),
         fmt::format("warp {} holds rows {} to {}", first_warp + i, i * 16, i * 16 + 15)});
  }
  if (frame.viewport.cell <= 1) return;
  const double high = cells.height / rows;
  u32 every = 1;
  while (every * high < label_height) every *= 2;
  for (u32 row = 0; row < rows; row += every) {
    const double y = cells.y + (row + 0.5) * high;
    if (y < canvas.y || y >= canvas.bottom()) continue;
    if (std::any_of(named.begin(), named.end(),
                    [&](double at) { return std::abs(at - y) < label_height; })) {
      continue;
    }
    scene.add(
        words({right - 8, y}, fmt::format("{}", row), Role::quiet, Family::mono, Across::right));
  }
}

void add_columns(Scene& scene, const Box& canvas, const Box& cells, u32 columns) {
  u32 every = cells.width / columns >= 32 ? 1 : 8;
  while (every * cells.width / columns < 32) every *= 2;
  for (u32 c = 0; c < columns; c += every) {
    const double x = cells.x + cells.width * c / columns;
    if (x < canvas.x || x >= canvas.right()) continue;
    scene.add(words({x, canvas.bottom() + 11}, fmt::format("{}", c), Role::quiet, Family::mono));
  }
}

// What stands under the heading: whether a product uses it, where it goes, and where lanes that
// have parted stand.
std::string state_text(const GroupAccumulator& d, const MachineShown& shown) {
  std::string out =
      d.in_use ? "In use until each warp has waited for the product." : "Not in use by a product.";
  const std::string to = shown.output ? shown.output(d, {}) : "";
  if (!to.empty()) out += fmt::format(" Goes to {}.", to);
  const u32 splits = d.splits[shown.spot.warp % 4];
  if (splits > 1) {
    out += fmt::format(" Warp {} is in {} splits: of each lane what is wanted where it stands.",
                       shown.spot.warp, splits);
  }
  return out;
}

void add_heading(Scene& scene, const std::vector<GroupAccumulator>& all, std::size_t which,
                 const MachineShown& shown, const Box& room) {
  const GroupAccumulator& d = all[which];
  const double x = room.x + table_edge, wide = room.width - 2 * table_edge;
  const std::string first = fmt::format("D of wgmma.mma_async: {} x {} of {}, at {}", rows,
                                        d.columns, d.type, place_text(d.site));
  scene.add(words({x, room.y + 16}, fitted(first, wide, small_text, Family::sans, FontWeight::bold),
                  Role::text, FontWeight::bold));
  const std::string second = state_text(d, shown);
  double at = x + text_width(second, small_text, Family::sans) + between_groups;
  const std::string told = begin_of(second, wide, Family::sans);
  scene.add(words({x, room.y + 38}, told, d.in_use ? Role::accent : Role::quiet));
  if (told != second) scene.hints.push_back({{x, room.y + 28, wide, 20}, second});
  for (std::size_t i = 0; all.size() > 1 && i < all.size(); ++i) {
    const std::string label = fmt::format("{}: {} on", i + 1, all[i].registers[0]);
    const double w = text_width(label, small_text, Family::sans);
    if (at + w > room.right() - table_edge) break;
    scene.add(words({at, room.y + 38}, label, i == which ? Role::text : Role::accent));
    scene.targets.push_back({{at, room.y + 28, w, 20},
                             fmt::format("look register {}", all[i].registers[0]),
                             "shows this accumulator"});
    at += w + between;
  }
}

void add_legend(Scene& scene, const Paint& paint, double x, double y, double right) {
  if (paint.has_values) {
    const std::string low = fmt::format("value {:.3g}", paint.low);
    scene.add(words({x, y}, low, Role::quiet));
    x += text_width(low, small_text, Family::sans) + inside;
    std::vector<Rgba> colours;
    for (int i = 0; i < 32; ++i) colours.push_back(quantity(i / 31.0));
    scene.add(Raster{{x, y - 7, 128, 14}, ramp_image(std::move(colours))});
    const std::string high = fmt::format("{:.3g}", paint.high);
    scene.add(words({x + 136, y}, high, Role::quiet));
    x += 136 + text_width(high, small_text, Family::sans) + between_groups;
  }
  std::vector<LegendItem> items = {{Ink(paint.undefined()), "undefined", false, Role::line}};
  const auto& all = paint.d.elements;
  if (!std::all_of(all.begin(), all.end(), [](const auto& e) { return e.held; })) {
    items.push_back({Ink(Role::paper), "no longer held", false, Role::line});
  }
  items.push_back({{}, "the lane looked at", false, Role::text});
  draw_legend_row(scene, x, y, right, items);
}

// Where the room is too small for the matrix: that there is one, and what shows it.
double say_there_is_one(Scene& scene, const GroupAccumulator& d, const MachineShown& shown,
                        const Box& room) {
  constexpr double high = 28;
  if (room.height < 2 * high) return 0;  // the list has the rest
  const Box line{room.x + table_edge, room.y + 4, room.width - 2 * table_edge, 20};
  const std::string told = fmt::format("D of wgmma needs a {} window.",
                                       room.width < 2 * room.height ? "larger" : "higher");
  const std::string whole = fmt::format("{} It is {} x {} of {}.", told, rows, d.columns, d.type);
  scene.begin("accumulator", room);
  const std::string link = "On the matrices";
  double width = line.width;
  if (shown.output && !shown.output(d, {}).empty()) {
    const double w = text_width(link, small_text, Family::sans);
    const Box at{line.right() - w, line.y, w, line.height};
    scene.add(words({at.x, line.y + 10}, link, Role::accent));
    scene.targets.push_back(
        {at, "select matrices", fmt::format("shows it where it goes to: {}", shown.output(d, {}))});
    width -= w + between;
  }
  const bool all = text_width(whole, small_text, Family::sans) <= width;
  const std::string fits = begin_of(all ? whole : told, width, Family::sans);
  scene.add(words({line.x, line.y + 10}, fits, Role::quiet));
  if (!all) scene.hints.push_back({{line.x, line.y, width, line.height}, whole});
  scene.end();
  return high;
}

}  // namespace

Box AccumulatorFrame::cells(const Box& canvas) const {
  return {canvas.x - viewport.pan.x, canvas.y - viewport.pan.y, canvas.width * viewport.cell,
          canvas.height * viewport.cell};
}

std::optional<AccumulatorFrame> arrange_accumulators(const MachineShown& shown, const Box& room,
                                                     const Viewport& viewport) {
  AccumulatorFrame frame;
  frame.all =
      std::make_shared<const std::vector<GroupAccumulator>>(shown.run.registers.accumulators(
          shown.machine(), shown.spot.block, shown.spot.warp, shown.spot.lane));
  if (frame.all->empty()) return {};
  frame.which = chosen(*frame.all, shown.spot.name);
  frame.room = room;
  const double around = heading_height + axis_height + (viewport.legend ? legend_height : 0);
  const double row = std::floor(std::min(most_row, (0.6 * room.height - around) / rows));
  const double half = (room.width - rows_axis - 3 * table_edge - between) / 2;
  const double wide = std::min(half, most_column * frame.shown().columns);
  if (row >= least_row && wide >= 32) {
    frame.values = {room.x + rows_axis + table_edge, room.y + heading_height, wide, rows * row};
    frame.owners = {frame.values.right() + between, frame.values.y, wide, frame.values.height};
  }
  frame.viewport = viewport;
  frame.viewport.cell = std::clamp(viewport.cell, 1.0, most_zoom);
  frame.viewport = dragged_inside(frame.viewport, frame.values, 0, 0);
  return frame;
}

double draw_accumulators(Scene& scene, const MachineShown& shown, const AccumulatorFrame& frame) {
  const Box& room = frame.room;
  Paint paint{frame.shown(), shown.theme};
  find_range(paint);
  if (frame.values.empty()) return say_there_is_one(scene, paint.d, shown, room);
  scene.begin("accumulator", room);
  add_heading(scene, *frame.all, frame.which, shown, room);
  add_warps(scene, frame, shown.spot.warp / 4 * 4, shown.spot);
  const Box values = frame.cells(frame.values), owners = frame.cells(frame.owners);
  scene.begin("by value", frame.values);
  scene.add(raster(paint, values, [&](const auto& e) { return paint.by_value(e); }));
  add_values(scene, paint, frame.values, values);
  scene.end();
  scene.begin("by thread", frame.owners);
  scene.add(raster(paint, owners, [&](const auto& e) { return paint.by_owner(e); }));
  scene.end();
  for (const Box& canvas : {frame.values, frame.owners}) {
    scene.add(Rectangle{canvas, {}, {Role::line, 1, false}, 0});
    add_columns(scene, canvas, frame.cells(canvas), paint.d.columns);
    add_lane(scene, paint, canvas, frame.cells(canvas), shown);
  }
  const double below = frame.values.bottom() + axis_height;
  const double legend = frame.viewport.legend ? legend_height : 0;
  if (legend > 0) {
    add_legend(scene, paint, frame.values.x, below + legend / 2, room.right() - table_edge);
  }
  scene.end();
  return below + legend - room.y;
}

bool is_on_matrix(const AccumulatorFrame& frame, Point at) {
  return frame.values.contains(at) || frame.owners.contains(at);
}

Viewport zoomed(const AccumulatorFrame& frame, Point at, double factor) {
  const Box& canvas = frame.owners.contains(at) ? frame.owners : frame.values;
  return magnified(frame.viewport, canvas, at, factor, most_zoom);
}

Viewport panned(const AccumulatorFrame& frame, double dx, double dy) {
  return dragged_inside(frame.viewport, frame.values, dx, dy);
}

}  // namespace tilescope
