// What stands around the lanes of a timeline: its title, the axis, labels of rows, the moment at
// which the machine stands, the legend.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "viz/scene/number_words.h"
#include "viz/scene/stage_items.h"
#include "viz/timeline/timeline_paint.h"
#include "viz/timeline/timeline_words.h"

namespace tilescope {

Line straight(Point from, Point to, Ink ink, double width) {
  Line out;
  out.points = {from, to};
  out.stroke = {ink, width, false};
  return out;
}

void draw_paper(Scene& scene, const TimelineFrame& frame) {
  scene.size = frame.viewport.size;
  Rectangle paper;
  paper.box = {0, 0, scene.size.width, scene.size.height};
  paper.fill = Ink(Role::paper);
  scene.add(paper);
}

void draw_head(Scene& scene, const TimelineView& view, const TimelineFrame& frame) {
  if (!frame.viewport.notice.empty()) {
    const double room = scene.size.width - frame.title.x - between;
    scene.begin("notice");
    scene.add(words({frame.title.x, frame.axis.y - inside - 4},
                    fitted(frame.viewport.notice, room, small_text, Family::sans), Role::text));
    scene.end();
  }
  if (!frame.viewport.title) return;
  draw_title(scene, view.title(), frame.title);
  const double room = scene.size.width - frame.title.x - between;
  scene.begin("totals");
  scene.add(words({frame.title.x, frame.title.y + 26},
                  fitted(totals_line(view), room, small_text, Family::sans), Role::quiet));
  scene.end();
}

namespace {

// 1, 2 or 5 times a power of ten, no less than asked for.
double round_step(double least) {
  const double power = std::pow(10, std::floor(std::log10(std::max(least, 1e-12))));
  for (const double times : {1.0, 2.0, 5.0}) {
    if (power * times >= least * 0.9999) return power * times;
  }
  return power * 10;
}

struct TimeUnit {
  std::string_view name;
  double cycles = 1;
};
// The unit in which a range is told: ns where it is short.
TimeUnit unit_of(const TimelineView& view, double cycles) {
  const double nanosecond = view.clock();
  if (cycles < 2000 * nanosecond) return {"ns", nanosecond};
  if (cycles < 2e6 * nanosecond) return {"us", nanosecond * 1e3};
  return {"ms", nanosecond * 1e6};
}

std::string number_text(double value, double step) {
  if (step >= 1) return grouped(static_cast<std::uint64_t>(std::llround(std::max(0.0, value))));
  const int digits = std::min(6, static_cast<int>(std::ceil(-std::log10(step) - 1e-9)));
  return fmt::format("{:.{}f}", std::max(0.0, value), digits);
}

// A line of ticks; the lines go down through the lanes where asked.
// A text that would lie under the moment's plate is left out.
void draw_ticks(Scene& scene, const TimelineFrame& frame, double y, TimeUnit unit, bool down,
                std::optional<Box> plate) {
  constexpr double apart = 96;
  const CycleRange& range = frame.viewport.range;
  const double step = round_step(apart * frame.cycles_of_pixel() / unit.cycles);
  const double whole = unit.cycles == 1 ? std::max(step, 1.0) : step;
  Segments lines;
  lines.stroke = {Ink(Role::quiet, 0.18), 1, false};
  const double first = std::ceil(range.from / unit.cycles / whole - 1e-9);
  scene.begin(std::string(unit.name));
  for (double n = first; n * whole * unit.cycles <= range.to && n < first + 1000; ++n) {
    const double x = std::round(frame.x_of(n * whole * unit.cycles));
    const std::string text = number_text(n * whole, whole);
    const double wide = text_width(text, small_text, Family::mono);
    if (down) lines.lines.push_back({{x, frame.lanes.y}, {x, frame.lanes.bottom()}});
    if (x + 4 + wide > frame.axis.right()) continue;
    if (plate && !plate->cut({x, y - 6, 4 + wide + inside, 12}).empty()) continue;
    scene.add(straight({x, y - 6}, {x, y + 6}, Role::line, 1));
    scene.add(words({x + 4, y}, text, Role::quiet, Family::mono));
  }
  scene.end();
  if (!lines.lines.empty()) scene.add(std::move(lines));
}

}  // namespace

std::optional<Box> plate_of(const TimelineFrame& frame, std::optional<double> moment) {
  if (!moment || *moment < frame.viewport.range.from || *moment > frame.viewport.range.to)
    return {};
  const double wide = text_width(number_text(*moment, 1), small_text, Family::mono) + inside;
  const double x = std::round(frame.x_of(*moment)) - wide / 2;
  const Box& room = frame.heading.empty() ? frame.axis : frame.heading;
  return Box{std::clamp(x, frame.axis.x, std::max(frame.axis.x, frame.axis.right() - wide)),
             frame.heading.empty() ? room.y : room.centre().y - 10, wide, 20};
}

void draw_axis(Scene& scene, const TimelineView& view, const TimelineFrame& frame,
               std::optional<double> moment, bool seconds) {
  const std::optional<Box> plate = plate_of(frame, moment);
  const double x = frame.axis.x - inside;
  scene.begin("axis");
  scene.add(words({x, frame.axis.y + 10}, view.known_time() ? "cycles" : "instructions",
                  Role::quiet, Family::sans, Across::right));
  draw_ticks(scene, frame, frame.axis.y + 10, {"cycles", 1}, true, plate);
  if (seconds && view.known_time() && view.clock() > 0) {
    const TimeUnit unit = unit_of(view, frame.viewport.range.to);
    scene.add(words({x, frame.axis.y + 30}, std::string(unit.name), Role::quiet, Family::sans,
                    Across::right));
    draw_ticks(scene, frame, frame.axis.y + 30, unit, false, plate);
  }
  scene.end();
}

void draw_grid(Scene& scene, const TimelineFrame& frame) {
  TimelineFrame unlettered = frame;
  unlettered.axis.width = 0;  // no text has room
  draw_ticks(scene, unlettered, frame.axis.y, {"cycles", 1}, true, std::nullopt);
}

namespace {

// ---- Labels on the left -------------------------------------------------------------------------

// Where a row's label begins: behind the mark of a group, as far in as the row is nested.
double label_x(const TimelineFrame::Place& row) {
  return inside + 14 + (row.pinned ? 0 : 12 * row.row.level);
}

void draw_label(Scene& scene, const TimelineView& view, const TimelineFrame::Place& row,
                double right) {
  const TimelinePlace place = row.row.place;
  const double y = row.y + height_of(view, row.row) / 2, x = label_x(row);
  if (place.group) {
    const double m = x - 14;
    Line mark;
    mark.points = row.row.open ? std::vector<Point>{{m, y - 2}, {m + 4, y + 2}, {m + 8, y - 2}}
                               : std::vector<Point>{{m + 2, y - 4}, {m + 6, y}, {m + 2, y + 4}};
    mark.stroke = {Role::quiet, 1.5, false};
    scene.add(std::move(mark));
  }
  // A pinned row stands alone, so its block is told; but where one block is all there is.
  const std::string label = row.pinned ? view.title_of(place) : view.label_of(place);
  const FontWeight weight =
      place.group && row.row.level == 0 && !row.pinned ? FontWeight::bold : FontWeight::regular;
  Text text = words({x, y}, fitted(label, right - x, small_text, Family::sans, weight), Role::text);
  text.weight = weight;
  const double end = x + text_width(text.text, small_text, Family::sans, weight) + inside;
  scene.add(std::move(text));
  const std::string detail = row.pinned ? "" : view.detail_of(place);
  if (end + text_width(detail, small_text, Family::sans) <= right) {
    scene.add(words({end, y}, detail, Role::quiet));
  }
}

// The row of the warp that all views look at, as they mark its chip.
void draw_looked_at(Scene& scene, const TimelineView& view, const TimelineFrame& frame,
                    const TimelineFrame::Place& row) {
  Rectangle mark;
  mark.box = {0, row.y, frame.labels.right(), height_of(view, row.row)};
  mark.fill = Ink(Role::accent, 0.14);
  scene.add(mark);
  mark.box.width = 3;
  mark.fill = Ink(Role::accent);
  scene.add(mark);
}

}  // namespace

void draw_labels(Scene& scene, const TimelineView& view, const TimelineChoice& choice,
                 const TimelineFrame& frame) {
  const double right = frame.labels.right() - inside;
  std::optional<TimelinePlace> looked_at;
  if (choice.warp) looked_at = view.shown_as(choice, *choice.warp);
  for (const bool pinned : {false, true}) {
    const double from = pinned ? frame.lanes.y : frame.scrolled_from;
    const double to = pinned ? frame.scrolled_from : frame.lanes.bottom();
    scene.begin(pinned ? "pinned rows" : "rows", Box{0, from, right, to - from});
    for (const TimelineFrame::Place& row : frame.rows) {
      if (row.pinned != pinned) continue;
      if (row.row.place == looked_at) draw_looked_at(scene, view, frame, row);
      draw_label(scene, view, row, right);
      const TimelinePlace place = row.row.place;
      const double height = height_of(view, row.row);
      const std::string detail = view.detail_of(place);
      Box box{0, std::max(row.y, from), right, 0};
      box.height = std::min(row.y + height, to) - box.y;
      const std::string name = view.name_of(place), title = view.title_of(place);
      const bool is_pinned = std::count(choice.pinned.begin(), choice.pinned.end(), place) > 0;
      if (place.group && !pinned) {
        scene.targets.push_back(
            {box,
             fmt::format("timeline {} {}{}", row.row.open ? "fold" : "unfold", frame.whose, name),
             fmt::format("{} {}", row.row.open ? "fold" : "unfold", title)});
      } else {
        scene.targets.push_back(
            {box, fmt::format("timeline {} {}{}", is_pinned ? "unpin" : "pin", frame.whose, name),
             is_pinned ? "let this row scroll again" : "keep this row on top"});
      }
      scene.hints.push_back(
          {box, detail.empty() ? view.label_of(place) : fmt::format("{}, {}", title, detail)});
    }
    scene.end();
  }
}

// Lines between rows, darker above a block.
void draw_rules(Scene& scene, const TimelineView& view, const TimelineFrame& frame) {
  Segments rules;
  rules.stroke = {Role::line, 1, false};
  for (const TimelineFrame::Place& row : frame.rows) {
    const double y = std::round(row.y + height_of(view, row.row));
    if ((!row.pinned && y <= frame.scrolled_from) || y > frame.lanes.bottom()) continue;
    rules.lines.push_back({{0, y}, {frame.lanes.right(), y}});
  }
  rules.lines.push_back({{0, frame.lanes.y}, {frame.lanes.right(), frame.lanes.y}});
  scene.add(std::move(rules));
  if (frame.scrolled_from > frame.lanes.y) {
    scene.add(straight({0, frame.scrolled_from}, {frame.lanes.right(), frame.scrolled_from},
                       Role::quiet, 2));
  }
  scene.add(straight({frame.lanes.x, frame.lines_top()}, {frame.lanes.x, frame.lanes.bottom()},
                     Role::line, 1));
}

void draw_moment(Scene& scene, const TimelineFrame& frame, const TimelineChoice& choice) {
  const std::optional<Box> box = plate_of(frame, choice.moment);
  if (!box) return;
  const double moment = *choice.moment;
  const double x = std::round(frame.x_of(moment));
  scene.begin("moment");
  scene.add(straight({x, frame.lines_top()}, {x, frame.lanes.bottom()}, Role::accent, 2));
  Rectangle plate;
  plate.box = *box;
  plate.fill = Ink(Role::accent);
  plate.radius = 3;
  scene.add(plate);
  scene.add(words(box->centre(), number_text(moment, 1), Ink(text_on(scene.theme.accent)),
                  Family::mono, Across::centre));
  if (frame.heading.empty()) {
    // A handle, where the axis ends: it is dragged.
    Rectangle handle;
    handle.box = {x - 5, frame.axis.bottom() - 8, 10, 8};
    handle.fill = Ink(Role::accent);
    handle.radius = 2;
    scene.add(handle);
  }
  if (!choice.said.empty()) {
    const std::string said = begin_of(choice.said, frame.lanes.width - 2 * inside, Family::sans);
    const double wide = text_width(said, small_text, Family::sans) + 2 * inside;
    Rectangle note;
    note.box = {std::clamp(x - wide / 2, frame.lanes.x,
                           std::max(frame.lanes.x, frame.lanes.right() - wide)),
                frame.lanes.y + 4, wide, 20};
    note.fill = Ink(Role::panel);
    note.stroke = {Role::accent, 1, false};
    note.radius = 4;
    scene.add(note);
    scene.add(words(note.box.centre(), said, Across::centre));
  }
  scene.end();
}

namespace {

// ---- Legend -------------------------------------------------------------------------------------

void draw_swatch(Scene& scene, const LegendEntry& entry, const Box& box) {
  Rectangle fill;
  fill.box = box;
  switch (entry.kind) {
    case LegendEntry::Kind::solid:
      fill.fill = Ink(colour_of(entry.doing, scene.theme));
      scene.add(fill);
      return;
    case LegendEntry::Kind::flight:
      fill.box = {box.x, box.y + box.height / 3, box.width, box.height / 3};
      fill.fill = Ink(mix(scene.theme.paper, colour_of(entry.doing, scene.theme), 0.5));
      scene.add(fill);
      return;
    case LegendEntry::Kind::phase:
      fill.box.width /= 2;
      fill.fill = Ink(phase_colour(0, scene.theme));
      scene.add(fill);
      fill.box.x += fill.box.width;
      fill.fill = Ink(phase_colour(1, scene.theme));
      scene.add(fill);
      return;
    case LegendEntry::Kind::report:
    case LegendEntry::Kind::hazard: {
      const bool fault = entry.kind == LegendEntry::Kind::report;
      fill.fill = Ink(fault ? Role::wrong : Role::text);
      fill.radius = 3;
      scene.add(fill);
      const Rgba under = fault ? scene.theme.wrong : scene.theme.text;
      scene.add(words(box.centre(), "!", Ink(text_on(under)), Family::sans, Across::centre));
      return;
    }
    case LegendEntry::Kind::more:
      return;
    case LegendEntry::Kind::hatched:
      break;
  }
  fill.fill = Ink(ground_of(entry.doing, scene.theme));
  scene.add(fill);
  Segments stripes;
  stripes.stroke = {Ink(stripe_of(entry.doing, scene.theme)), 1.5, false};
  const Hatch hatch = hatch_of(entry.doing);
  for (const double at : {6.0, 12.0, 18.0, 24.0}) {
    const double low = std::max(0.0, at - box.height), high = std::min(at, box.width);
    if (hatch == Hatch::upright) {
      if (at < box.width)
        stripes.lines.push_back({{box.x + at, box.y}, {box.x + at, box.bottom()}});
    } else if (hatch == Hatch::rising) {
      stripes.lines.push_back({{box.x + low, box.y + at - low}, {box.x + high, box.y + at - high}});
    } else {
      stripes.lines.push_back(
          {{box.right() - low, box.y + at - low}, {box.right() - high, box.y + at - high}});
    }
  }
  scene.add(std::move(stripes));
  Rectangle plate;
  plate.box = {box.centre().x - 6, box.y, 12, box.height};
  plate.fill = fill.fill;
  scene.add(plate);
  scene.add(words(box.centre(), entry.letter, Role::text, Family::sans, Across::centre));
}

}  // namespace

namespace {

// Where hues are steps: the first few of them.
void draw_step_legend(Scene& scene, const TimelineFrame& frame) {
  std::uint32_t last = 0;
  for (const auto& [event, step] : *frame.viewport.steps) last = std::max(last, step);
  double x = frame.legend.x;
  const double y = frame.legend.y;
  for (std::uint32_t step = 0; step <= std::min(last, 6u); ++step) {
    scene.add(Rectangle{{x, y - 7, swatch_width, 14}, Ink(step_colour(step, scene.theme)), {}, 0});
    const std::string name = fmt::format("k{}", step);
    scene.add(words({x + swatch_width + inside, y}, name));
    x += swatch_width + inside + text_width(name, small_text, Family::sans) + between;
  }
  const std::string rest = last > 6 ? "and so on, lighter and darker: steps of K of copies and "
                                      "products; grey has none"
                                    : "steps of K of copies and products; grey has none";
  const double room = scene.size.width - timeline_margin - x;
  scene.add(words({x, y}, fitted(rest, room, small_text, Family::sans), Role::quiet));
}

}  // namespace

void draw_legend(Scene& scene, const TimelineViews& views, const TimelineFrame& frame) {
  scene.begin("legend");
  if (frame.by_step) {
    draw_step_legend(scene, frame);
    scene.end();
    return;
  }
  double y = frame.legend.y;
  for (const auto& line : legend_of(views, scene.size)) {
    double x = frame.legend.x;
    for (const LegendEntry& entry : line) {
      const bool more = entry.kind == LegendEntry::Kind::more;
      const double swatch = more ? 0 : swatch_width + inside;
      if (!more) draw_swatch(scene, entry, {x, y - 7, swatch_width, 14});
      scene.add(words({x + swatch, y}, entry.text, more ? Role::quiet : Role::text));
      if (more) scene.hints.push_back({{x, y - 10, entry.width(), 20}, entry.hint});
      x += entry.width();
    }
    y += legend_line;
  }
  scene.end();
}

}  // namespace tilescope
