// TMEM of a block as one picture: allocations, who wrote what, what is in flight.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "viz/machine/fault_scene.h"
#include "viz/machine/pipeline_now.h"
#include "viz/machine/tensor_view.h"
#include "viz/scene/items.h"
#include "viz/scene/legend_row.h"
#include "viz/scene/palette.h"

namespace tilescope {
namespace {

using u32 = std::uint32_t;

constexpr double warps_axis = 136, top = 16, allocations_height = 56, legend_height = 40;
constexpr double tight = 260, tight_top = 4, tight_allocations = 40;  // in a low room: one line
constexpr double most_zoom = 64, label_width = 40, label_height = 14, hatch_step = 8;

// An instruction of a warp has a hue, in the order in which they first wrote: two consumers that
// execute the same code have accumulators of their own.
using Hue = std::pair<u32, u32>;  // instruction, warp
Hue hue_of(const TensorNow::Writer& writer) {
  return {writer.pc, writer.warp};
}
std::map<Hue, int> hues_of(const TensorNow& now) {
  std::map<Hue, int> out;
  for (const TensorNow::Writer& each : now.writers) {
    const int next = static_cast<int>(out.size());
    out.emplace(hue_of(each), next + next / 7);
  }
  return out;
}

struct Paint {
  const TensorFrame& frame;
  const MemoryChoice& choice;
  const Theme& theme;
  std::map<Hue, int> hues;
  const PipelineNow* pipeline = nullptr;
  double low = 0, high = 0;
  bool has_values = false;

  const TensorNow& now() const { return *frame.now; }
  bool by_value() const { return choice.tensor == MemoryChoice::Tensor::value; }
  bool by_step() const {
    return choice.tensor == MemoryChoice::Tensor::step && pipeline && !pipeline->sums.empty();
  }
  Rgba undefined() const { return mix(theme.panel, theme.line, 0.6); }
  Rgba colour(u32 lane, u32 column) const {
    const TensorNow& n = now();
    if (!n.owns(column)) return theme.paper;
    return owned(lane, column);
  }
  Rgba owned(u32 lane, u32 column) const {
    const TensorNow& n = now();
    const bool known = n.undefined[n.index(lane, column)] == 0;
    if (by_value()) {
      if (!known) return undefined();
      const double value = n.value(lane, column);
      if (!std::isfinite(value)) return theme.text;  // no quantity has it, and red is for faults
      return quantity(high > low ? (value - low) / (high - low) : 0.5);
    }
    if (by_step()) {
      const SumNow* sum = pipeline->sum_at(lane, column);
      if (!sum) return known ? theme.quiet : undefined();
      if (!sum->step) return undefined();
      return sum->read ? faint_step(*sum->step, theme).own : step_colour(*sum->step, theme);
    }
    const TensorNow::Writer* by = n.writer_of(lane, column);
    if (!by) return known ? theme.quiet : undefined();
    const Rgba hue = category(hues.at(hue_of(*by)), theme.dark);
    return known ? hue : mix(undefined(), hue, 0.35);
  }
};

void find_range(Paint& paint) {
  double low = 1e300, high = -1e300;
  const TensorNow& now = paint.now();
  for (const sim::Allocation& each : now.allocations) {
    for (u32 lane = 0; lane < TensorNow::lanes; ++lane) {
      for (u32 c = each.column; c < each.column + each.columns; ++c) {
        const double value = now.value(lane, c);
        if (now.undefined[now.index(lane, c)] || !std::isfinite(value)) continue;
        low = std::min(low, value);
        high = std::max(high, value);
      }
    }
  }
  paint.has_values = low <= high;
  if (paint.has_values) paint.low = low, paint.high = high;
}

std::shared_ptr<const Image> image_of(const Paint& paint, RasterStore& store) {
  std::vector<double> key = {-1, static_cast<double>(paint.choice.tensor),
                             paint.theme.dark ? 1.0 : 0.0};
  if (paint.by_step()) {
    for (const SumNow& sum : paint.pipeline->sums) {
      key.push_back(sum.step ? *sum.step * 2.0 + (sum.read ? 1 : 0) : -1);
    }
  }
  for (const RasterStore::Entry& entry : store.entries) {
    if (entry.key == key) return entry.image;
  }
  Image out;
  out.columns = TensorNow::columns;
  out.rows = TensorNow::lanes;
  out.rgba.assign(std::size_t{TensorNow::lanes} * TensorNow::columns, paint.theme.paper);
  for (const sim::Allocation& each : paint.now().allocations) {
    for (u32 lane = 0; lane < TensorNow::lanes; ++lane) {
      for (u32 c = each.column; c < each.column + each.columns; ++c) {
        out.rgba[paint.now().index(lane, c)] = paint.owned(lane, c);
      }
    }
  }
  out.version = new_image_version();
  auto image = std::make_shared<const Image>(std::move(out));
  store.entries.push_back({key, image});
  return image;
}

Box box_of(const TensorFrame& frame, const sim::CellRange& cells) {
  return {frame.cells.x + cells.column * frame.cell_width(),
          frame.cells.y + cells.lane * frame.cell_height(), cells.columns * frame.cell_width(),
          cells.lanes * frame.cell_height()};
}

void add_allocations(Scene& scene, const Paint& paint) {
  const TensorFrame& frame = paint.frame;
  scene.begin("allocations", Box{frame.room.x - 1, frame.body.y, frame.room.width + 2,
                                 frame.room.y - frame.body.y});
  for (std::size_t i = 0; i < paint.now().allocations.size(); ++i) {
    const sim::Allocation& each = paint.now().allocations[i];
    const Box box = box_of(frame, {0, TensorNow::lanes, each.column, each.columns});
    const double y = frame.room.y - 16;
    Line bracket;
    bracket.points = {{box.x + 0.5, frame.room.y - 4},
                      {box.x + 0.5, y},
                      {box.right() - 0.5, y},
                      {box.right() - 0.5, frame.room.y - 4}};
    bracket.stroke = {Role::quiet, 1, false};
    scene.add(bracket);
    const std::string first =
        fmt::format("columns {} to {}", each.column, each.column + each.columns - 1);
    // As far as the next one's words.
    double end = frame.room.right();
    for (const sim::Allocation& other : paint.now().allocations) {
      const double x = frame.cells.x + other.column * frame.cell_width();
      if (x > box.x) end = std::min(end, x);
    }
    const double width = std::max(24.0, end - box.x - inside);
    const bool one_line = frame.room.y - frame.body.y < allocations_height;
    scene.add(words({box.x + 4, one_line ? y - 11 : y - 28},
                    fitted(first, width, small_text, Family::sans, FontWeight::bold), Role::text,
                    Family::sans, Across::left, FontWeight::bold));
    if (!one_line) {
      scene.add(words({box.x + 4, y - 11},
                      fitted("by " + paint.now().allocators[i], width, small_text, Family::sans),
                      Role::quiet));
    }
    scene.targets.push_back({{box.x, y - 40, box.width, 40},
                             fmt::format("look cell 0,{}", each.column),
                             "looks at its first cell"});
  }
  scene.end();
}

// "warp 2 loads", of the lanes of a quarter that tcgen05.ld is under way for; empty: none.
std::string loads_text(const PipelineNow* pipeline, u32 quarter) {
  if (!pipeline) return "";
  for (const PipelineNow::Load& load : pipeline->loads) {
    const u32 from = load.cells.row, end = from + load.cells.rows;
    if (from >= quarter * 32 + 32 || quarter * 32 >= end) continue;
    return load.warp ? fmt::format("warp {} loads", *load.warp) : "loaded now";
  }
  return "";
}

// The cells that warps are loading.
void add_loads(Scene& scene, const Paint& paint) {
  if (!paint.pipeline) return;
  scene.begin("loads");
  for (const PipelineNow::Load& load : paint.pipeline->loads) {
    const sim::MemoryUse& c = load.cells;
    const Box box = box_of(paint.frame, {c.row, c.rows, c.column, c.columns}).cut(paint.frame.room);
    if (!box.empty()) scene.add(Rectangle{box, {}, {Role::accent, 2, true}, 0});
  }
  scene.end();
}

// Which lanes a warp reaches: those of its number modulo 4.
void add_warps(Scene& scene, const Paint& paint, const MachineShown& shown) {
  const TensorFrame& frame = paint.frame;
  const u32 warps = static_cast<u32>((shown.machine().launch().block.count() + 31) / 32);
  scene.begin("warps that reach the lanes",
              Box{frame.body.x, frame.room.y, warps_axis, frame.room.height});
  for (u32 quarter = 0; quarter < 4; ++quarter) {
    const Box rows = box_of(frame, {quarter * 32, 32, 0, 1});
    const double right = frame.room.x - inside;
    Line bracket;
    bracket.points = {{right, rows.y + 1},
                      {right - 4, rows.y + 1},
                      {right - 4, rows.bottom() - 1},
                      {right, rows.bottom() - 1}};
    const bool own = shown.spot.warp % 4 == quarter;
    bracket.stroke = {own ? Role::accent : Role::line, own ? 2.0 : 1.0, false};
    scene.add(bracket);
    std::string who;
    u32 count = 0;
    for (u32 warp = quarter; warp < warps; warp += 4, ++count) {
      if (count < 3) who += fmt::format("{}{}", who.empty() ? "" : ", ", warp);
    }
    if (count > 3) who += "...";
    const double middle = rows.cut({0, frame.room.y, 1e6, frame.room.height}).centre().y;
    const std::string lanes = fmt::format("lanes {} to {}", quarter * 32, quarter * 32 + 31);
    const std::string loading = loads_text(paint.pipeline, quarter);
    const std::string reached = !loading.empty() ? loading
                                : who.empty()    ? std::string("no warp")
                                : count == 1     ? "warp " + who
                                                 : "warps " + who;
    const bool both = rows.height >= 36;
    if (rows.height >= 16) {
      scene.add(words({frame.body.x + between, both ? middle - 9 : middle}, lanes, Role::text));
    }
    if (both) {
      scene.add(words({frame.body.x + between, middle + 9},
                      fitted(reached, warps_axis - between - 14, small_text, Family::sans),
                      loading.empty() ? Role::quiet : Role::accent));
    }
    scene.hints.push_back({Box{frame.body.x, rows.y, warps_axis, rows.height}.cut(
                               {frame.body.x, frame.room.y, warps_axis, frame.room.height}),
                           lanes + ": " + reached});
    if (quarter < warps) {
      scene.targets.push_back({Box{frame.body.x, rows.y, warps_axis, rows.height}.cut(
                                   {frame.body.x, frame.room.y, warps_axis, frame.room.height}),
                               fmt::format("look warp {}", quarter), "looks at this warp"});
    }
  }
  scene.end();
}

// Operations in flight that use the same cells in the same way, in the order of issue.
struct Flight {
  std::vector<sim::CellRange> cells;
  bool writes = false;
  std::vector<const sim::OperationState*> operations;
  Box box;  // of the first cells that are seen
};

std::vector<Flight> flights_of(const Paint& paint) {
  std::vector<Flight> out;
  for (const sim::OperationState& o : paint.now().operations) {
    const bool writes = !o.cells.written.empty() && o.stage < sim::Stage::written;
    const auto& cells = writes ? o.cells.written : o.cells.read;
    const auto alike = std::find_if(out.begin(), out.end(), [&](const Flight& each) {
      return each.writes == writes && each.cells == cells;
    });
    if (alike != out.end()) {
      alike->operations.push_back(&o);
      continue;
    }
    Flight flight{cells, writes, {&o}, {}};
    for (auto each = cells.rbegin(); each != cells.rend(); ++each) {
      const Box box = box_of(paint.frame, *each).cut(paint.frame.room);
      if (!box.empty()) flight.box = box;
    }
    out.push_back(std::move(flight));
  }
  return out;
}

// "tcgen05.mma 25 reads its operands"
std::string flight_text(const sim::OperationState& o, bool writes) {
  const char* does = o.stage == sim::Stage::issued ? "is issued"
                     : !writes                     ? "reads"
                     : o.stage == sim::Stage::read ? "has read, writes its result"
                                                   : "has written";
  return fmt::format("{} {} {}", o.name, o.number, does);
}

// What is told stands beside its cells, where others that fly have none; else on them.
double note_left(const std::vector<Flight>& flights, const Flight& flight, const Box& room,
                 double width) {
  const auto free = [&](double x) {
    const Box note{x, room.y, width, room.height};
    return x >= room.x && note.right() <= room.right() &&
           std::all_of(flights.begin(), flights.end(),
                       [&](const Flight& each) { return each.box.cut(note).empty(); });
  };
  const double right = room.right() - width - inside, left = room.x + inside;
  if (free(right)) return right;
  if (free(left)) return left;
  return std::clamp(flight.box.x + inside, left, std::max(left, right));
}

void add_flight(Scene& scene, const Paint& paint) {
  scene.begin("in flight");
  const std::vector<Flight> flights = flights_of(paint);
  for (const Flight& flight : flights) {
    for (const sim::CellRange& cells : flight.cells) {
      const Box box = box_of(paint.frame, cells).cut(paint.frame.room);
      if (box.empty()) continue;
      hatch(scene, box, Ink(Role::text, 0.25), hatch_step);
      scene.add(Rectangle{box, {}, {Role::accent, 2, true}, 0});
    }
  }
  const Box& room = paint.frame.room;
  constexpr std::size_t most = 4;
  std::vector<Box> notes;
  for (const Flight& flight : flights) {
    if (flight.box.empty()) continue;
    std::vector<std::string> lines;
    for (const sim::OperationState* o : flight.operations) {
      if (lines.size() == most) break;
      lines.push_back(fitted(flight_text(*o, flight.writes), room.width - 4 * inside, small_text,
                             Family::sans));
    }
    const std::size_t more = flight.operations.size() - lines.size();
    if (more > 0) lines.push_back(fmt::format("and {} more", more));
    double width = 0;
    for (const std::string& line : lines) {
      width = std::max(width, text_width(line, small_text, Family::sans) + 2 * inside);
    }
    const double high = 22.0 * static_cast<double>(lines.size());
    Box note{note_left(flights, flight, room, width), room.y + std::min(10.0, room.height / 4),
             width, high};
    for (std::size_t i = 0; i < notes.size(); ++i) {
      if (note.cut(notes[i]).empty()) continue;
      note.y = notes[i].bottom() + 2;
      i = static_cast<std::size_t>(-1);
    }
    if (note.y + 22 > room.bottom()) continue;
    notes.push_back(note);
    scene.add(Rectangle{note, Ink(Role::paper, 0.9), {}, 4});
    double y = note.y + 11;
    for (const std::string& line : lines) {
      scene.add(words({note.x + inside, y}, line, Role::accent));
      y += 22;
    }
  }
  scene.end();
}

void add_values(Scene& scene, const Paint& paint) {
  const TensorFrame& frame = paint.frame;
  const double w = frame.cell_width(), h = frame.cell_height();
  if (w < label_width || h < label_height) return;
  const auto index = [](double pixels, double cell) {
    return static_cast<u32>(std::max(0.0, std::floor(pixels / cell)));
  };
  const u32 first_lane = index(frame.room.y - frame.cells.y, h);
  const u32 first_column = index(frame.room.x - frame.cells.x, w);
  const TensorNow& now = paint.now();
  for (u32 lane = first_lane; lane < TensorNow::lanes; ++lane) {
    const double y = frame.cells.y + (lane + 0.5) * h;
    if (y > frame.room.bottom() + h) break;
    for (u32 c = first_column; c < TensorNow::columns; ++c) {
      const double x = frame.cells.x + (c + 0.5) * w;
      if (x > frame.room.right() + w) break;
      if (!now.owns(c) || now.undefined[now.index(lane, c)]) continue;
      scene.add(words({x, y}, fmt::format("{:.3g}", now.value(lane, c)),
                      text_on(paint.colour(lane, c)), Family::mono, Across::centre));
    }
  }
}

void add_mark(Scene& scene, const TensorFrame& frame, RunCursor::Cell cell, bool selected) {
  Rectangle mark;
  mark.box = box_of(frame, {cell.lane, 1, cell.column, 1});
  if (mark.box.width < 8 || mark.box.height < 8) {
    const Point middle = mark.box.centre();
    const double w = std::max(8.0, mark.box.width), h = std::max(8.0, mark.box.height);
    mark.box = {middle.x - w / 2, middle.y - h / 2, w, h};
  }
  if (selected) return draw_selection(scene, mark.box);
  draw_pointed(scene, mark.box);
}

bool meets_tensor(const Evidence& evidence, std::uint64_t block) {
  return evidence.place.of == Evidence::Place::Of::tensor && evidence.place.block == block;
}

// Those who have a part in a report, on their cells; and where nobody has, the cells that it is
// about.
void add_parties(Scene& scene, const TensorFrame& frame, const Evidence& evidence) {
  std::vector<std::pair<std::size_t, Point>> numbers;  // over all edges
  const auto mark = [&](const Evidence::Place& place, std::size_t party) {
    const sim::CellRange cells{place.lane, place.lanes, place.column, place.columns};
    const double inset = 1 + 3.0 * static_cast<double>(party);
    Box box = box_of(frame, cells).grown(-inset);
    if (box.width < 4 || box.height < 4) box = box_of(frame, cells).grown(3);
    scene.add(Rectangle{box, {}, stroke_of_party(evidence, party), 0});
    const Box seen = box.cut(frame.room);
    if (seen.empty() || evidence.parties.empty()) return;
    const double x = seen.x + 4 + 20.0 * static_cast<double>(party);
    const double most = std::max(frame.room.x, frame.room.right() - 20);
    numbers.push_back({party, {std::min(x, most), seen.y + 4}});
  };
  scene.begin("marks of the report");
  if (evidence.parties.empty()) mark(evidence.place, 0);
  for (std::size_t i = evidence.parties.size(); i-- > 0;) {
    const Evidence::Place& place = evidence.parties[i].place;
    if (place.of != Evidence::Place::Of::tensor || place.block != evidence.place.block) continue;
    scene.begin(fmt::format("{}: {}", i + 1, evidence.parties[i].does));
    mark(place, i);
    scene.end();
  }
  for (const auto& number : numbers) draw_party_number(scene, number.first, number.second);
  scene.end();
}

void add_column_axis(Scene& scene, const TensorFrame& frame) {
  scene.begin("columns", Box{frame.room.x - 16, frame.room.bottom(), frame.room.width + 32, 24});
  u32 every = 64;
  while (every < TensorNow::columns && every * frame.cell_width() < 40) every *= 2;
  while (every > 1 && every / 2 * frame.cell_width() >= 64) every /= 2;
  for (u32 c = 0; c < TensorNow::columns; c += every) {
    const double x = frame.cells.x + c * frame.cell_width();
    if (x < frame.room.x - 1 || x > frame.room.right() - 24) continue;
    scene.add(
        words({x, frame.room.bottom() + 12}, fmt::format("{}", c), Role::quiet, Family::mono));
  }
  scene.end();
}

void add_legend(Scene& scene, const Paint& paint) {
  const Box& room = paint.frame.legend;
  scene.begin("legend");
  Line above;
  above.points = {{paint.frame.body.x, room.y + 0.5}, {paint.frame.body.right(), room.y + 0.5}};
  above.stroke = {Role::line, 1, false};
  scene.add(above);
  double x = room.x;
  const double y = room.y + room.height / 2;
  std::vector<LegendItem> items;
  if (paint.by_step()) {
    std::set<std::uint32_t> steps;
    for (const SumNow& sum : paint.pipeline->sums) {
      if (sum.step) steps.insert(*sum.step);
    }
    for (const std::uint32_t step : steps) {
      items.push_back({Ink(step_colour(step, paint.theme)), fmt::format("k{} was added last", step),
                       false, Role::line});
    }
  } else if (paint.by_value() && !paint.has_values) {
    scene.add(words({x, y}, "no values yet", Role::quiet));
    x += text_width("no values yet", small_text, Family::sans) + between_groups;
  } else if (paint.by_value()) {
    std::vector<Rgba> colours;
    for (int i = 0; i < 32; ++i) colours.push_back(quantity(i / 31.0));
    const std::string low = fmt::format("value as f32: {:.3g}", paint.low);
    scene.add(words({x, y}, low, Role::quiet));
    x += text_width(low, small_text, Family::sans) + inside;
    scene.add(Raster{{x, y - 7, 128, 14}, ramp_image(std::move(colours))});
    const std::string high = fmt::format("{:.3g}", paint.high);
    scene.add(words({x + 136, y}, high, Role::quiet));
    x += 136 + text_width(high, small_text, Family::sans) + between_groups;
  } else {
    std::map<Hue, const TensorNow::Writer*> told;
    for (const TensorNow::Writer& each : paint.now().writers) told[hue_of(each)] = &each;
    for (const auto& each : told) {
      items.push_back({Ink(category(paint.hues.at(each.first), paint.theme.dark)),
                       each.second->name, false, Role::line});
    }
  }
  items.push_back({Ink(paint.undefined()), "undefined", false, Role::line});
  if (!paint.now().operations.empty()) items.push_back({{}, "in flight", true, Role::quiet});
  draw_legend_row(scene, x, y, room.right(), items);
  scene.end();
}

}  // namespace

TensorFrame arrange(std::shared_ptr<const TensorNow> now, const Box& room,
                    const Viewport& viewport) {
  TensorFrame frame;
  frame.now = std::move(now);
  const double legend = viewport.legend ? legend_height : 0;
  frame.body = {room.x, room.y, room.width, std::max(1.0, room.height - legend)};
  frame.legend = {room.x + between, frame.body.bottom(), room.width - 2 * between, legend};
  const double above =
      room.height < tight ? tight_top + tight_allocations : top + allocations_height;
  frame.room = {room.x + warps_axis, room.y + above,
                std::max(1.0, room.width - warps_axis - between),
                std::max(1.0, frame.body.height - above - 32)};
  frame.viewport = viewport;
  frame.viewport.cell = std::clamp(viewport.cell, 1.0, most_zoom);
  frame.viewport = dragged_inside(frame.viewport, frame.room, 0, 0);
  frame.cells = {frame.room.x - frame.viewport.pan.x, frame.room.y - frame.viewport.pan.y,
                 frame.room.width * frame.viewport.cell, frame.room.height * frame.viewport.cell};
  return frame;
}

void draw_tensor_memory(Scene& scene, const TensorFrame& frame, const MachineShown& shown,
                        const MemoryChoice& choice, std::optional<RunCursor::Cell> hover,
                        RasterStore& rasters) {
  const TensorNow& now = *frame.now;
  scene.begin("tensor memory");
  const Report* report = report_looked_at(shown.run, shown.spot);
  const bool marked = report && meets_tensor(report->evidence, now.block);
  if (now.allocations.empty() && !marked) {
    std::string sentence =
        !now.has_unit ? "This kernel has no tcgen05 instructions, so its CTAs have no TMEM."
        : now.state != "resident" ? nothing_of_block(shown.machine(), now.block, "TMEM")
                                  : "The CTA has allocated no TMEM here: step to a tcgen05.alloc.";
    draw_sentence(scene, {frame.body.x + between, frame.body.y + 32},
                  frame.body.width - 2 * between, sentence);
    scene.end();
    return;
  }
  Paint paint{frame, choice, shown.theme, hues_of(now), shown.pipeline};
  if (paint.by_value()) find_range(paint);
  add_allocations(scene, paint);
  if (now.allocations.empty()) {
    scene.add(words({frame.room.x, frame.room.y - 28},
                    now.state == "resident" ? "The CTA has no columns of TMEM now."
                                            : fmt::format("CTA {} {}.", now.block, now.state),
                    Role::quiet));
  }
  add_warps(scene, paint, shown);
  scene.begin("cells", frame.room);
  scene.add(Raster{frame.cells, image_of(paint, rasters)});
  Segments quarters;
  quarters.stroke = {Ink(Role::paper, 0.7), 1, false};
  for (u32 lane = 32; lane < TensorNow::lanes; lane += 32) {
    const double y = frame.cells.y + lane * frame.cell_height();
    quarters.lines.push_back({{frame.room.x, y}, {frame.room.right(), y}});
  }
  scene.add(std::move(quarters));
  add_values(scene, paint);
  add_flight(scene, paint);
  add_loads(scene, paint);
  for (const sim::Allocation& each : now.allocations) {
    scene.add(Rectangle{box_of(frame, {0, TensorNow::lanes, each.column, each.columns}),
                        {},
                        {Role::quiet, 1, false},
                        0});
  }
  if (marked) add_parties(scene, frame, report->evidence);
  if (hover) add_mark(scene, frame, *hover, false);
  if (shown.spot.cell) add_mark(scene, frame, *shown.spot.cell, true);
  scene.end();
  scene.add(Rectangle{frame.room, {}, {Role::line, 1, false}, 0});
  add_column_axis(scene, frame);
  if (frame.viewport.legend) add_legend(scene, paint);
  scene.end();
}

std::optional<RunCursor::Cell> cell_at(const TensorFrame& frame, Point at) {
  if (frame.now->allocations.empty() || !frame.room.contains(at)) return {};
  const auto lane = static_cast<u32>((at.y - frame.cells.y) / frame.cell_height());
  const auto column = static_cast<u32>((at.x - frame.cells.x) / frame.cell_width());
  if (lane >= TensorNow::lanes || column >= TensorNow::columns) return {};
  return RunCursor::Cell{lane, column};
}

Viewport zoomed(const TensorFrame& frame, Point at, double factor) {
  return magnified(frame.viewport, frame.room, at, factor, most_zoom);
}

Viewport panned(const TensorFrame& frame, double dx, double dy) {
  return dragged_inside(frame.viewport, frame.room, dx, dy);
}

}  // namespace tilescope
