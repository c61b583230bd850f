// From a timeline to a scene: the raster of its lanes, and what lies over it and around it.
#include "viz/scene/timeline_scene.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/sim/record/text.h"
#include "viz/scene/number_words.h"
#include "viz/scene/timeline_paint.h"
#include "viz/scene/timeline_search.h"
#include "viz/scene/timeline_words.h"

namespace tilescope {
namespace {

using sim::Event;
using sim::EventId;
using sim::EventKind;
using sim::Unit;

constexpr double least_label = 14;  // pixels that a box needs to be lettered
constexpr std::size_t most_marks = 400;

Text words(Point at, std::string text, Ink ink, Family family = Family::sans,
           Across across = Across::left) {
  Text out;
  out.at = at;
  out.text = std::move(text);
  out.ink = ink;
  out.family = family;
  out.across = across;
  return out;
}

Line straight(Point from, Point to, Ink ink, double width) {
  Line out;
  out.points = {from, to};
  out.stroke = {ink, width, false};
  return out;
}

void draw_head(Scene& scene, const TimelineView& view, const TimelineFrame& frame) {
  if (!frame.lens.title) return;
  draw_title(scene, view.title(), frame.title);
  const sim::Record& record = view.record();
  std::string line = cycles_text(view, view.end());
  if (view.known_time()) line += ", " + seconds_text(view, view.end());
  if (!record.device.name.empty() && view.known_time()) line += " on " + record.device.name;
  line += fmt::format("; {} events", grouped(record.events.size()));
  const double room = scene.size.width - frame.title.x - between;
  scene.begin("totals");
  scene.add(words({frame.title.x, frame.title.y + 26}, fitted(line, room, small_text, Family::sans),
                  Role::quiet));
  scene.end();
}

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
  const CycleRange& range = frame.lens.range;
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

// Where the moment is told, above the lanes; nothing where it is out of sight.
std::optional<Box> plate_of(const TimelineFrame& frame, std::optional<double> moment) {
  if (!moment || *moment < frame.lens.range.from || *moment > frame.lens.range.to) return {};
  const double wide = text_width(number_text(*moment, 1), small_text, Family::mono) + inside;
  const double x = std::round(frame.x_of(*moment)) - wide / 2;
  return Box{std::clamp(x, frame.axis.x, std::max(frame.axis.x, frame.axis.right() - wide)),
             frame.axis.y, wide, 20};
}

void draw_axis(Scene& scene, const TimelineView& view, const TimelineFrame& frame,
               std::optional<double> moment) {
  const std::optional<Box> plate = plate_of(frame, moment);
  const double x = frame.axis.x - inside;
  scene.begin("axis");
  scene.add(words({x, frame.axis.y + 10}, view.known_time() ? "cycles" : "instructions",
                  Role::quiet, Family::sans, Across::right));
  draw_ticks(scene, frame, frame.axis.y + 10, {"cycles", 1}, true, plate);
  if (view.known_time() && view.clock() > 0) {
    const TimeUnit unit = unit_of(view, frame.lens.range.to);
    scene.add(words({x, frame.axis.y + 30}, std::string(unit.name), Role::quiet, Family::sans,
                    Across::right));
    draw_ticks(scene, frame, frame.axis.y + 30, unit, false, plate);
  }
  scene.end();
}

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
  const std::string label = row.pinned ? view.name_of(place) : view.label_of(place);
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

void draw_labels(Scene& scene, const TimelineView& view, const TimelineChoice& choice,
                 const TimelineFrame& frame) {
  const double right = frame.labels.right() - inside;
  for (const bool pinned : {false, true}) {
    const double from = pinned ? frame.lanes.y : frame.scrolled_from;
    const double to = pinned ? frame.scrolled_from : frame.lanes.bottom();
    scene.begin(pinned ? "pinned rows" : "rows", Box{0, from, right, to - from});
    for (const TimelineFrame::Place& row : frame.rows) {
      if (row.pinned != pinned) continue;
      draw_label(scene, view, row, right);
      const TimelinePlace place = row.row.place;
      const double height = height_of(view, row.row);
      const std::string detail = view.detail_of(place);
      Box box{0, std::max(row.y, from), right, 0};
      box.height = std::min(row.y + height, to) - box.y;
      const std::string name = view.name_of(place);
      const bool is_pinned = std::count(choice.pinned.begin(), choice.pinned.end(), place) > 0;
      if (place.group && !pinned) {
        scene.targets.push_back(
            {box, fmt::format("timeline {} {}", row.row.open ? "fold" : "unfold", name),
             fmt::format("{} {}", row.row.open ? "fold" : "unfold", name)});
      } else {
        scene.targets.push_back({box,
                                 fmt::format("timeline {} {}", is_pinned ? "unpin" : "pin", name),
                                 is_pinned ? "let this row scroll again" : "keep this row on top"});
      }
      scene.hints.push_back(
          {box, detail.empty() ? view.label_of(place) : fmt::format("{}, {}", name, detail)});
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
  scene.add(straight({frame.lanes.x, frame.axis.y}, {frame.lanes.x, frame.lanes.bottom()},
                     Role::line, 1));
}

// ---- Words in boxes -----------------------------------------------------------------------------

std::string line_text(const TimelineView& view, std::uint32_t pc) {
  const sim::Record& record = view.record();
  if (pc >= record.lines.size()) return "";
  const sim::RecordedLine& line = record.lines[pc];
  const std::uint32_t number = line.caller_line ? line.caller_line : line.line;
  return number ? fmt::format("line {}", number) : "";
}

std::string bytes_text(std::uint64_t bytes) {
  if (bytes % (1 << 20) == 0 && bytes > 0) return fmt::format("{} MiB", bytes >> 20);
  if (bytes % (1 << 10) == 0 && bytes > 0) return fmt::format("{} KiB", bytes >> 10);
  return fmt::format("{} bytes", bytes);
}

std::string barrier_text(const TimelineView& view, const Event& event) {
  if (event.stall == sim::Stall::mbarrier) {
    const auto name = view.barriers().find(event.object);
    const std::string barrier =
        name != view.barriers().end() ? name->second : fmt::format("mbarrier {}", event.object);
    return fmt::format("{} phase {}", barrier, event.phase);
  }
  if (event.stall == sim::Stall::barrier) {
    return fmt::format("barrier {} phase {}", event.object, event.phase);
  }
  return "";
}

// What a box says, the longest first: what fits is taken.
std::vector<std::string> sayings(const TimelineView& view, const Event& event) {
  std::vector<std::string> out;
  switch (event.kind) {
    case EventKind::wait: {
      const std::string letter(1, sim::letter_of(event.stall));
      const std::string what = sim::text(sim::WaitKey{event.stall, view.doing(event).unit});
      const std::string barrier = barrier_text(view, event);
      if (event.stall == sim::Stall::barrier) {
        out.push_back(fmt::format("{}  waits for {}", letter, barrier));
      } else {
        const std::string_view join = barrier.empty() ? "" : ": ";
        out.push_back(fmt::format("{}  waits for {}{}{}", letter, what, join, barrier));
        out.push_back(fmt::format("{}  {}", letter, what));
      }
      if (!barrier.empty()) out.push_back(fmt::format("{}  {}", letter, barrier));
      out.push_back(letter);
      break;
    }
    case EventKind::run: {
      const std::string line = line_text(view, event.pc);
      if (!line.empty()) {
        out.push_back(fmt::format("{}, {} instructions", line, grouped(event.amount)));
        out.push_back(line);
      }
      break;
    }
    case EventKind::operation: {
      const std::string line = line_text(view, event.pc);
      if (event.bytes && event.amount) {
        if (!line.empty()) {
          out.push_back(fmt::format("{}, {}", bytes_text(event.amount), line));
        }
        out.push_back(bytes_text(event.amount));
      }
      if (!line.empty()) out.push_back(line);
      break;
    }
    case EventKind::phase:
      out.push_back(fmt::format("phase {}", event.phase));
      out.push_back(fmt::format("{}", event.phase));
      break;
    default:
      break;
  }
  return out;
}

// The colour under a box's words.
Rgba under(const TimelineView& view, const Event& event, const Theme& theme) {
  if (event.kind == EventKind::phase) return phase_colour(event.phase, theme);
  const Doing doing = view.doing(event);
  return doing.waits() ? ground_of(doing, theme) : colour_of(doing, theme);
}

// `limit`: where the next box of its lane begins and covers it.
void draw_saying(Scene& scene, const TimelineView& view, const TimelineFrame& frame,
                 const TimelineFrame::Place& row, EventId id, double limit) {
  const Event event = view.record().events[id];
  Box box = box_of(view, frame, row, event, id);
  const double left = std::max(box.x, frame.lanes.x);
  box.width = std::min({box.right(), frame.lanes.right(), limit}) - left;
  box.x = left;
  const double room = box.width - 6;
  for (std::string& saying : sayings(view, event)) {
    const double wide = text_width(saying, small_text, Family::sans);
    if (wide > room) continue;
    const Rgba ground = under(view, event, scene.theme);
    if (event.kind == EventKind::wait) {  // a quiet place among the stripes
      Rectangle plate;
      plate.box = {box.x + 1, box.y + 1, wide + 6, box.height - 2};
      plate.fill = Ink(ground);
      scene.add(plate);
    }
    const Ink ink = event.kind == EventKind::wait || event.kind == EventKind::phase
                        ? Ink(scene.theme.text)
                        : Ink(text_on(ground));
    scene.add(words({box.x + 4, box.y + box.height / 2}, std::move(saying), ink));
    return;
  }
}

void draw_sayings(Scene& scene, const TimelineView& view, const TimelineFrame& frame, bool pinned) {
  for (const TimelineFrame::Place& row : frame.rows) {
    if (row.row.place.group || row.pinned != pinned) continue;
    const sim::TrackId track = row.row.place.index;
    const Seen seen = seen_of(view, frame, track, least_label);
    const std::vector<sim::Span> spans =
        view.timeline().spans(track, seen.from, seen.to, seen.pixels);
    std::array<double, 8> covered{};  // by lane: where the box to the right begins
    covered.fill(frame.lanes.right());
    std::vector<std::pair<EventId, double>> said;
    for (auto span = spans.rbegin(); span != spans.rend(); ++span) {
      if (span->event == sim::no_event) continue;
      const double x = frame.x_of(static_cast<double>(span->begin));
      double& limit = covered[static_cast<std::size_t>(view.lane_of(span->event)) % covered.size()];
      if (frame.x_of(static_cast<double>(span->end)) - x >= least_label) {
        said.emplace_back(span->event, limit);
      }
      if (span->kind != EventKind::arrival && span->kind != EventKind::report) limit = x;
    }
    scene.begin(view.name_of(row.row.place));
    for (auto each = said.rbegin(); each != said.rend(); ++each) {
      draw_saying(scene, view, frame, row, each->first, each->second);
    }
    scene.end();
  }
}

// ---- Marks over the lanes -----------------------------------------------------------------------

// A line in the accent under what was searched for.
void draw_found(Scene& scene, const TimelineView& view, const TimelineChoice& choice,
                const TimelineFrame& frame) {
  const auto filter = search_of(view, choice.search);
  if (choice.search.empty() || !filter) return;
  const auto from = static_cast<sim::Cycle>(std::max(0.0, frame.lens.range.from));
  const auto to = static_cast<sim::Cycle>(std::ceil(frame.lens.range.to)) + 1;
  Segments marks;
  marks.stroke = {Role::accent, 3, false};
  for (const TimelineFrame::Place& row : frame.rows) {
    if (row.row.place.group) continue;
    sim::EventFilter of_row = *filter;
    if (of_row.track && *of_row.track != row.row.place.index) continue;
    of_row.track = row.row.place.index;
    double last = -1;
    for (const EventId id : view.timeline().find(of_row, from, to, most_marks)) {
      const Box box = box_of(view, frame, row, view.record().events[id], id);
      const double left = std::max({box.x, frame.lanes.x, last});
      const double right = std::min(std::max(box.right() - 1, left + 3), frame.lanes.right());
      if (right <= left) continue;
      last = right;
      marks.lines.push_back({{left, box.bottom()}, {right, box.bottom()}});
    }
  }
  if (!marks.lines.empty()) scene.add(std::move(marks));
}

// A fault is a flag that no zoom hides.
void draw_reports(Scene& scene, const TimelineView& view, const TimelineFrame& frame) {
  sim::EventFilter filter;
  filter.kinds = sim::bit(EventKind::report);
  const auto from = static_cast<sim::Cycle>(std::max(0.0, frame.lens.range.from));
  const auto to = static_cast<sim::Cycle>(std::ceil(frame.lens.range.to)) + 1;
  for (const TimelineFrame::Place& row : frame.rows) {
    if (row.row.place.group) continue;
    filter.track = row.row.place.index;
    for (const EventId id : view.timeline().find(filter, from, to, 16)) {
      const Event event = view.record().events[id];
      const Box body = body_of(view, frame, row);
      const double x = std::clamp(frame.x_of(static_cast<double>(event.begin)), frame.lanes.x + 8,
                                  frame.lanes.right() - 8);
      Rectangle flag;
      flag.box = {x - 7, body.centre().y - 8, 14, 16};
      flag.fill = Ink(Role::wrong);
      flag.radius = 3;
      Text mark = words(flag.box.centre(), "!", Ink(text_on(scene.theme.wrong)), Family::sans,
                        Across::centre);
      mark.weight = FontWeight::bold;
      scene.add(flag);
      scene.add(std::move(mark));
      scene.targets.push_back({flag.box, fmt::format("pick event {}", id), "select it"});
      scene.hints.push_back({flag.box, sentence_of(view, id)});
    }
  }
}

void draw_outline(Scene& scene, const TimelineView& view, const TimelineFrame& frame, EventId id,
                  Ink ink, double width) {
  const auto box = box_of(view, frame, id);
  if (!box) return;
  Rectangle outline;
  outline.box = box->grown(1);
  outline.stroke = {ink, width, false};
  scene.add(outline);
}

void draw_range(Scene& scene, const TimelineView& view, const TimelineFrame& frame,
                const CycleRange& range) {
  const double left = std::clamp(frame.x_of(range.from), frame.lanes.x, frame.lanes.right());
  const double right = std::clamp(frame.x_of(range.to), frame.lanes.x, frame.lanes.right());
  Rectangle shade;
  shade.box = {left, frame.lanes.y, right - left, frame.lanes.height};
  shade.fill = Ink(Role::accent, 0.12);
  scene.add(shade);
  for (const double x : {left, right}) {
    scene.add(straight({x, frame.axis.y}, {x, frame.lanes.bottom()}, Role::accent, 1));
  }
  std::string text = cycles_text(view, range.length());
  if (view.known_time()) text += ", " + seconds_text(view, range.length());
  const double wide = text_width(text, small_text, Family::sans) + 2 * inside;
  Rectangle plate;
  plate.box = {std::clamp((left + right - wide) / 2, frame.lanes.x,
                          std::max(frame.lanes.x, frame.lanes.right() - wide)),
               frame.lanes.bottom() - 24, wide, 20};
  plate.fill = Ink(Role::panel);
  plate.stroke = {Role::accent, 1, false};
  plate.radius = 4;
  scene.add(plate);
  scene.add(words(plate.box.centre(), std::move(text), Role::text, Family::sans, Across::centre));
}

void draw_moment(Scene& scene, const TimelineFrame& frame, double moment) {
  const std::optional<Box> box = plate_of(frame, moment);
  if (!box) return;
  const double x = std::round(frame.x_of(moment));
  scene.begin("moment");
  scene.add(straight({x, frame.axis.y}, {x, frame.lanes.bottom()}, Role::accent, 2));
  Rectangle plate;
  plate.box = *box;
  plate.fill = Ink(Role::accent);
  plate.radius = 3;
  scene.add(plate);
  scene.add(words(box->centre(), number_text(moment, 1), Ink(text_on(scene.theme.accent)),
                  Family::mono, Across::centre));
  scene.end();
}

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
      fill.fill = Ink(Role::wrong);
      fill.radius = 3;
      scene.add(fill);
      scene.add(
          words(box.centre(), "!", Ink(text_on(scene.theme.wrong)), Family::sans, Across::centre));
      return;
    case LegendEntry::Kind::hatched:
      break;
  }
  fill.fill = Ink(ground_of(entry.doing, scene.theme));
  scene.add(fill);
  Segments stripes;
  stripes.stroke = {Ink(stripe_of(entry.doing, scene.theme)), 1.5, false};
  for (const double at : {6.0, 12.0, 18.0, 24.0}) {
    const double low = std::max(0.0, at - box.height), high = std::min(at, box.width);
    stripes.lines.push_back({{box.x + low, box.y + at - low}, {box.x + high, box.y + at - high}});
  }
  scene.add(std::move(stripes));
  Rectangle plate;
  plate.box = {box.centre().x - 6, box.y, 12, box.height};
  plate.fill = fill.fill;
  scene.add(plate);
  scene.add(words(box.centre(), entry.letter, Role::text, Family::sans, Across::centre));
}

void draw_legend(Scene& scene, const TimelineView& view, const TimelineFrame& frame) {
  scene.begin("legend");
  double y = frame.legend.y;
  for (const auto& line : legend_of(view, scene.size.width - 2 * frame.legend.x)) {
    double x = frame.legend.x;
    for (const LegendEntry& entry : line) {
      draw_swatch(scene, entry, {x, y - 7, swatch_width, 14});
      scene.add(words({x + swatch_width + inside, y}, entry.text, Role::text));
      x += swatch_width + inside + text_width(entry.text, small_text, Family::sans) + between;
    }
    y += legend_line;
  }
  scene.end();
}

}  // namespace

Scene build_scene(const TimelineView& view, const TimelineChoice& choice, const Theme& theme,
                  const TimelineFrame& frame, RasterStore* store) {
  Scene scene;
  scene.size = frame.lens.size;
  scene.theme = theme;
  scene.title = view.title();
  Rectangle paper;
  paper.box = {0, 0, scene.size.width, scene.size.height};
  paper.fill = Ink(Role::paper);
  scene.add(paper);
  draw_head(scene, view, frame);
  if (view.record().events.empty()) {
    scene.add(words({frame.lanes.x, frame.lanes.y + between},
                    "The record of this run has no events.", Role::quiet));
    return scene;
  }
  scene.begin("lanes", frame.lanes);
  scene.add(Raster{frame.lanes, lanes_image(view, frame, theme, store)});
  for (const bool pinned : {false, true}) {
    const double from = pinned ? frame.lanes.y : frame.scrolled_from;
    const double to = pinned ? frame.scrolled_from : frame.lanes.bottom();
    scene.begin(pinned ? "pinned" : "boxes",
                Box{frame.lanes.x, from, frame.lanes.width, to - from});
    draw_sayings(scene, view, frame, pinned);
    scene.end();
  }
  scene.end();
  draw_rules(scene, view, frame);
  draw_labels(scene, view, choice, frame);
  draw_axis(scene, view, frame, choice.moment);
  scene.begin("marks", frame.lanes.grown(1));
  draw_found(scene, view, choice, frame);
  draw_reports(scene, view, frame);
  draw_arrows(scene, view, choice, frame);
  draw_outline(scene, view, frame, choice.hovered, Role::text, 1);
  draw_outline(scene, view, frame, choice.selected, Role::accent, 3);
  scene.end();
  if (choice.totals) draw_range(scene, view, frame, *choice.totals);
  if (choice.moment) draw_moment(scene, frame, *choice.moment);
  draw_legend(scene, view, frame);
  return scene;
}

}  // namespace tilescope
