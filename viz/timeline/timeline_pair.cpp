#include "viz/timeline/timeline_pair.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "viz/timeline/timeline_deltas.h"
#include "viz/timeline/timeline_paint.h"
#include "viz/timeline/timeline_words.h"

namespace tilescope {
namespace {

constexpr double heading_height = 28;

double height_of_rows(const TimelineView& view, const TimelineChoice& choice) {
  double out = 0;
  for (const TimelineRow& row : view.rows(choice)) out += height_of(view, row);
  for (const TimelinePlace& place : choice.pinned) {
    out += height_of(view, {place, 0, place.group && view.is_open(choice, place.index)});
  }
  return out;
}

// Seconds stand for the same cycles in both.
bool same_clock(const TimelinePair& pair) {
  return std::abs(pair.above.view->clock() - pair.below.view->clock()) < 1e-6;
}

// How long it took, the longest words first; `delta` is told before where it ran.
std::vector<std::string> length_texts(const TimelineView& view, const std::string& delta) {
  const std::string cycles = cycles_text(view, run_end(view));
  const sim::RunTime time = view.statistics().time();
  const std::string seconds =
      time.seconds > 0 ? sim::time_text(time.without_launch()) + " without its launch" : "";
  const std::string& device = view.record().device.name;
  const std::string with_time = seconds.empty() ? cycles : cycles + ", " + seconds;
  const std::string end = delta.empty() ? "" : "; " + delta;
  std::vector<std::string> out{with_time + end, cycles + end, delta.empty() ? cycles : delta};
  if (view.known_time() && !device.empty()) {
    out.insert(out.begin(), fmt::format("{} on {}{}", with_time, device, end));
  }
  return out;
}

// The run's name, and how long it took, left of the moment's plate or right of it.
void draw_heading(Scene& scene, const TimelinePair::Run& run, const TimelineFrame& frame,
                  const std::string& title, const std::vector<std::string>& figures) {
  const Box& room = frame.heading;
  const bool quiet = !frame.whose.empty();
  Rectangle paper;
  paper.box = {0, room.y, frame.viewport.size.width, room.height};
  paper.fill = Ink(Role::panel);
  scene.add(paper);
  double right = frame.viewport.size.width - timeline_margin;
  if (const auto plate = plate_of(frame, run.choice.moment)) right = plate->x - inside;
  double x = timeline_margin;
  constexpr double least = 320;
  if (right - x < least && run.choice.moment) {
    x = plate_of(frame, run.choice.moment)->right() + inside;
    right = frame.viewport.size.width - timeline_margin;
  }
  const double y = room.centre().y;
  Text name = words({x, y}, "", quiet ? Role::quiet : Role::text);
  name.weight = quiet ? FontWeight::regular : FontWeight::bold;
  name.text = fitted(title, right - x, small_text, Family::sans, name.weight);
  x += text_width(name.text, small_text, Family::sans, name.weight) + between;
  scene.add(std::move(name));
  for (const std::string& each : figures) {
    if (x + text_width(each, small_text, Family::sans) > right) continue;
    scene.add(words({x, y}, each, Role::quiet));
    return;
  }
}

void place(const TimelinePair::Run& run, const TimelineViewport& viewport, double y, double height,
           double left, TimelineFrame& out) {
  out.viewport = viewport;
  const double width = std::max(viewport.size.width - left - timeline_margin, 1.0);
  out.heading = {left, y, width, heading_height};
  out.lanes = {left, y + heading_height, width, std::max(1.0, height)};
  place_rows(*run.view, run.choice, out);
}

}  // namespace

std::string why_apart(const TimelineView& above, const TimelineView& below,
                      const std::string& name_above) {
  if (above.known_time() == below.known_time()) return "";
  const auto unit = [](const TimelineView& view) {
    return view.known_time() ? "in cycles" : "in instructions, since its schedule was randomised";
  };
  return fmt::format(
      "The baseline {} is not drawn above it: its time is counted {}, that of this run {}.",
      name_above, unit(above), unit(below));
}

PairFrame arrange(const TimelinePair& pair, const TimelineViewport& asked, double scroll_above) {
  PairFrame out;
  TimelineViewport viewport = asked;
  viewport.title = false;  // headings say it
  viewport.span = std::max(pair.above.view->end(), pair.below.view->end());
  viewport.range = range_within(*pair.below.view, viewport, viewport.range);
  const Size size = viewport.size;
  const double left = labels_width(size);
  const bool seconds = pair.below.view->known_time() && same_clock(pair);
  const double axis = seconds ? 2 * axis_line : axis_line;
  const double legend =
      viewport.legend ? legend_height({pair.above.view, pair.below.view}, size) : 0;
  const double map = minimap_height(size);
  const double top = inside + map + axis;
  const double bottom = std::max(size.height - legend - timeline_margin - inside, top + 1);
  // Each gets what its rows need; where that is too much, half of it or what the other one leaves.
  const double room = std::max(2.0, bottom - top - 2 * heading_height);
  const double needs_above = height_of_rows(*pair.above.view, pair.above.choice);
  const double needs_below = height_of_rows(*pair.below.view, pair.below.choice);
  const double above = std::min(needs_above, std::max(std::round(room / 2), room - needs_below));
  TimelineViewport lens_above = viewport;
  lens_above.scroll = scroll_above;
  lens_above.steps.reset();  // these are of the run below
  place(pair.above, lens_above, top, above, left, out.above);
  place(pair.below, viewport, top + heading_height + above, room - above, left, out.below);
  out.above.whose = of_baseline;
  const Box axis_box{left, inside + map, out.below.lanes.width, axis};
  out.above.axis = out.below.axis = axis_box;
  out.above.whole = out.below.whole = viewport.span;
  if (map > 0) {
    out.above.minimap = out.below.minimap = {left, inside, axis_box.width, map - inside};
  }
  out.below.title = out.above.title = {timeline_margin, 28};
  out.below.legend =
      out.above.legend = {timeline_margin, bottom + timeline_margin + legend_line / 2 - inside / 2};
  return out;
}

Scene build_scene(const TimelinePair& pair, const Theme& theme, const PairFrame& frame,
                  RasterStore* store_above, RasterStore* store_below) {
  const TimelineView &above = *pair.above.view, &below = *pair.below.view;
  Scene scene;
  scene.theme = theme;
  scene.title = fmt::format("{}; {}", above.title(), below.title());
  draw_paper(scene, frame.below);
  scene.begin("baseline");
  draw_lanes(scene, above, pair.above.choice, frame.above, store_above);
  scene.end();
  scene.begin("run");
  draw_lanes(scene, below, pair.below.choice, frame.below, store_below);
  scene.end();
  draw_axis(scene, below, frame.above, std::nullopt, same_clock(pair));
  draw_grid(scene, frame.below);
  draw_minimap(scene, below, frame.below, pair.below.choice, store_below);
  scene.begin("baseline");
  draw_heading(scene, pair.above, frame.above, fmt::format("baseline: {}", above.title()),
               length_texts(above, ""));
  draw_marks(scene, above, pair.above.choice, frame.above);
  scene.end();
  scene.begin("run");
  const std::string than = delta_text({"", run_end(below), ""}, run_end(above), pair.above.name);
  draw_heading(scene, pair.below, frame.below, below.title(), length_texts(below, than));
  draw_marks(scene, below, pair.below.choice, frame.below);
  scene.end();
  if (frame.below.viewport.legend) draw_legend(scene, {&above, &below}, frame.below);
  return scene;
}

}  // namespace tilescope
