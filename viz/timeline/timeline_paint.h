// What the files that draw a timeline share: colours of doings, and the lanes as pixels. Who uses a
// timeline includes timeline_scene.h.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "viz/scene/items.h"
#include "viz/scene/scene.h"
#include "viz/timeline/timeline_scene.h"

namespace tilescope {

// Units are Okabe-Ito's: copies in orange, copies out the darker orange, tensor core blue, TMEM
// yellow, warps green, barriers purple, words sent through the cluster sky blue; commits, which
// only pass on that products are done, grey. A wait has the colour of what it waits for, loads of
// the warp's own vermilion; what only the warp itself is the cause of is grey. No other thing is
// blue but the accent: what is pointed at, selected, or now.
Rgba colour_of(Doing doing, const Theme& theme);
// Of a hatched wait: the ground, on which letters are read, and the stripes.
Rgba ground_of(Doing doing, const Theme& theme);
Rgba stripe_of(Doing doing, const Theme& theme);
// How its stripes run: causes that share a colour differ in it.
enum class Hatch : std::uint8_t { rising, falling, upright };
Hatch hatch_of(Doing doing);
// Of the phases of a barrier, which alternate.
Rgba phase_colour(std::uint32_t phase, const Theme& theme);

// Red is for faults alone; hazards and notes have the colour of text.
bool is_fault(const sim::Record& record, const sim::Event& report);

Line straight(Point from, Point to, Ink ink, double width);

// ---- What a scene is made of, in this order ----
void draw_paper(Scene& scene, const TimelineFrame& frame);
void draw_head(Scene& scene, const TimelineView& view, const TimelineFrame& frame);
// The lanes with the words in their boxes, lines between rows, labels.
void draw_lanes(Scene& scene, const TimelineView& view, const TimelineChoice& choice,
                const TimelineFrame& frame, RasterStore* store);
void draw_labels(Scene& scene, const TimelineView& view, const TimelineChoice& choice,
                 const TimelineFrame& frame);
void draw_rules(Scene& scene, const TimelineView& view, const TimelineFrame& frame);
// Cycles, and seconds where asked; the plate of the moment is left free.
void draw_axis(Scene& scene, const TimelineView& view, const TimelineFrame& frame,
               std::optional<double> moment, bool seconds);
// The lines of an axis that is above another run.
void draw_grid(Scene& scene, const TimelineFrame& frame);
// All of the run, with what of it is seen.
void draw_minimap(Scene& scene, const TimelineView& view, const TimelineFrame& frame,
                  const TimelineChoice& choice, RasterStore* store);
// What was found, faults, arrows, what is pointed at and selected; the range that is added up, and
// the moment.
void draw_marks(Scene& scene, const TimelineView& view, const TimelineChoice& choice,
                const TimelineFrame& frame);
void draw_moment(Scene& scene, const TimelineFrame& frame, const TimelineChoice& choice);
// Where the moment is told; nothing where it is out of sight.
std::optional<Box> plate_of(const TimelineFrame& frame, std::optional<double> moment);

// How high a row is: operations of a unit that overlap need room under each other.
double height_of(const TimelineView& view, const TimelineRow& row);
// The part of a row that holds its boxes, and the lane of it that an event has.
Box body_of(const TimelineView& view, const TimelineFrame& frame, const TimelineFrame::Place& row);
Box box_of(const TimelineView& view, const TimelineFrame& frame, const TimelineFrame::Place& row,
           const sim::Event& event, sim::EventId id);

// A span in whole cycles that holds what is seen; a little more to the right, for what is in
// flight there.
struct SeenTime {
  sim::Cycle from = 0, to = 0;
  std::uint32_t pixels = 1;
};
SeenTime seen_of(const TimelineView& view, const TimelineFrame& frame, sim::TrackId track,
                 double pixel);

// All lanes of the frame in pixels of the display.
std::shared_ptr<const Image> lanes_image(const TimelineView& view, const TimelineFrame& frame,
                                         const Theme& theme, RasterStore* store);

// Arrows from causes to effects: of the selected event, and of all that is seen where asked.
void draw_arrows(Scene& scene, const TimelineView& view, const TimelineChoice& choice,
                 const TimelineFrame& frame);

// The legend as lines of entries, in a picture of this size. It takes a quarter of the height at
// most: what has no room is counted by a last entry, whose hint names it.
struct LegendEntry {
  enum class Kind : std::uint8_t { solid, hatched, phase, flight, report, hazard, more };
  Kind kind = Kind::solid;
  Doing doing;
  std::string letter, text, hint;
  double width() const;
};
using TimelineViews = std::vector<const TimelineView*>;
std::vector<std::vector<LegendEntry>> legend_of(const TimelineViews& views, Size size);
double legend_height(const TimelineViews& views, Size size);
void draw_legend(Scene& scene, const TimelineViews& views, const TimelineFrame& frame);
constexpr double legend_line = 20, swatch_width = 24;

// Puts the boxes of axis, lanes and labels into a frame of this room, with so much height for what
// an axis takes; then its rows into the lanes.
constexpr double timeline_margin = 16, axis_line = 20;
double labels_width(Size size);
void place_rows(const TimelineView& view, const TimelineChoice& choice, TimelineFrame& frame);
// Above the axis, where there is room for it: so high, with what is between.
double minimap_height(Size size);
CycleRange range_within(const TimelineView& view, const TimelineViewport& viewport,
                        CycleRange range);

}  // namespace tilescope
