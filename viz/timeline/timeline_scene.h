// From a timeline to a scene: which rows are where, what of time is seen, what is drawn.
//
//     TimelineFrame frame = arrange(view, choice, viewport);
//     Scene scene = build_scene(view, choice, theme, frame, &store);
//     TimelineHit at = hit(view, choice, frame, pointer);
//
// All lanes are one raster at the pixels of the display, so that a million events cost what their
// pixels cost. What is too short to draw by itself is drawn as shares: of a pixel's time, so much
// of its height has the colour of a doing. Labels, letters, arrows and marks are over it.
//
// Solid: a warp runs, or a unit works. Half: issued and not begun yet. Hatched: a wait, in the
// colour of what it waits for, with the letter of sim::letter_of where it fits.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "viz/scene/scene.h"
#include "viz/scene/viewport.h"
#include "viz/timeline/timeline_idle.h"
#include "viz/timeline/timeline_view.h"

namespace tilescope {

// What the next picture scrolls to: an event, or the row of a track. A command that asks for it
// does not know how large that picture will be.
struct TimelineReveal {
  sim::EventId event = sim::no_event;
  std::optional<sim::TrackId> track;
  bool above = false;  // of the baseline's run
};

// The steps of K of copies and products, as core/profile/pipeline.h has them of a cluster.
using TimelineSteps = std::unordered_map<sim::EventId, std::uint32_t>;

struct TimelineViewport {
  Size size{};
  CycleRange range;   // empty: all of the run
  double scroll = 0;  // pixels of rows that are above what is seen
  double pixel_scale = 1;
  bool title = true, legend = true;
  double span = 0;     // time goes on so far at least: another run is on the same scale
  std::string notice;  // a line above the axis; empty: none
  std::optional<TimelineReveal> reveal;
  std::shared_ptr<const TimelineSteps> steps;  // null: nothing is known of them
  std::optional<std::uint32_t> step_of(sim::EventId event) const {
    if (!steps) return {};
    const auto at = steps->find(event);
    return at == steps->end() ? std::nullopt : std::optional(at->second);
  }
};

struct TimelineFrame {
  TimelineViewport viewport;  // as used: range and scroll resolved
  bool by_step = false;       // TimelineChoice::steps, where steps are known
  struct Place {
    TimelineRow row;
    double y = 0;  // its top
    bool pinned = false;
  };
  std::vector<Place> rows;  // that are seen; pinned ones first
  Box labels, axis, lanes;  // lanes: pinned rows and the others
  Box minimap;              // all of the run, [0, whole); empty: it has no room
  double whole = 1;
  // Of one of several runs: where it is called by its name; and what is before the names of
  // its rows and events in commands, "baseline ".
  Box heading;
  std::string whose;
  double scrolled_from = 0;  // y below which rows are scrolled
  double all_rows = 0;       // height of all rows that scroll
  Point title, legend;       // left ends

  double x_of(double cycle) const {
    return lanes.x + (cycle - viewport.range.from) / viewport.range.length() * lanes.width;
  }
  double cycle_of(double x) const {
    return viewport.range.from + (x - lanes.x) / lanes.width * viewport.range.length();
  }
  double cycles_of_pixel() const { return viewport.range.length() / lanes.width; }
  double minimap_x_of(double cycle) const { return minimap.x + cycle / whole * minimap.width; }
  double minimap_cycle_of(double x) const { return (x - minimap.x) / minimap.width * whole; }
  bool shows_all() const { return viewport.range.length() >= whole * 0.999; }
  // Where lines through the lanes begin.
  double lines_top() const { return heading.empty() ? axis.y : lanes.y; }
};
constexpr double timeline_row_height = 22;

TimelineFrame arrange(const TimelineView& view, const TimelineChoice& choice,
                      const TimelineViewport& viewport);
Scene build_scene(const TimelineView& view, const TimelineChoice& choice, const Theme& theme,
                  const TimelineFrame& frame, RasterStore* store = nullptr);

struct TimelineHit {
  enum class On : std::uint8_t { nothing, label, lane, axis, minimap };
  On on = On::nothing;
  std::optional<TimelineRow> row;
  double cycle = 0;
  sim::EventId event = sim::no_event;
  std::optional<sim::Span> span;  // several events too short to tell apart
  std::optional<UnitIdle> idle;   // between the operations of a unit
};
TimelineHit hit(const TimelineView& view, const TimelineChoice& choice, const TimelineFrame& frame,
                Point at);
// Where an event is seen; nothing where it is not: folded, or not in the range.
std::optional<Box> box_of(const TimelineView& view, const TimelineFrame& frame, sim::EventId event);

// Zoom about a point of the picture, and drag; what is shown stays within the run and the rows.
TimelineViewport zoomed(const TimelineView& view, const TimelineFrame& frame, Point at,
                        double factor);
TimelineViewport panned(const TimelineView& view, const TimelineFrame& frame, double dx, double dy);
// The viewport that shows as much as the frame does about a time of the minimap.
TimelineViewport centred(const TimelineView& view, const TimelineFrame& frame, double cycle);
// The viewport that shows a range, or an event with what is around it.
TimelineViewport showing(const TimelineView& view, const TimelineFrame& frame, CycleRange range);
TimelineViewport showing(const TimelineView& view, const TimelineChoice& choice,
                         const TimelineFrame& frame, sim::EventId event);
TimelineViewport showing_row(const TimelineView& view, const TimelineChoice& choice,
                             const TimelineFrame& frame, sim::TrackId track);

}  // namespace tilescope
