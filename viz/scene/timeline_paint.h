// What the files that draw a timeline share: colours of doings, and the lanes as pixels. Who uses a
// timeline includes timeline_scene.h.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "viz/scene/scene.h"
#include "viz/scene/timeline_scene.h"

namespace tilescope {

// Units are Okabe-Ito's: copies in orange, tensor core blue, TMEM yellow, copies out sky blue,
// warps green, barriers purple. A wait has the colour of what it waits for; what only the warp
// itself is the cause of is grey.
Rgba colour_of(Doing doing, const Theme& theme);
// Of a hatched wait: the ground, on which letters are read, and the stripes.
Rgba ground_of(Doing doing, const Theme& theme);
Rgba stripe_of(Doing doing, const Theme& theme);
// Of the phases of a barrier, which alternate.
Rgba phase_colour(std::uint32_t phase, const Theme& theme);

// How high a row is: operations of a unit that overlap need room under each other.
double height_of(const TimelineView& view, const TimelineRow& row);
// The part of a row that holds its boxes, and the lane of it that an event has.
Box body_of(const TimelineView& view, const TimelineFrame& frame, const TimelineFrame::Place& row);
Box box_of(const TimelineView& view, const TimelineFrame& frame, const TimelineFrame::Place& row,
           const sim::Event& event, sim::EventId id);

// A span in whole cycles that holds what is seen; a little more to the right, for what is in
// flight there.
struct Seen {
  sim::Cycle from = 0, to = 0;
  std::uint32_t pixels = 1;
};
Seen seen_of(const TimelineView& view, const TimelineFrame& frame, sim::TrackId track,
             double pixel);

// All lanes of the frame in pixels of the display.
std::shared_ptr<const Image> lanes_image(const TimelineView& view, const TimelineFrame& frame,
                                         const Theme& theme, RasterStore* store);

// Arrows from causes to effects: of the selected event, and of all that is seen where asked.
void draw_arrows(Scene& scene, const TimelineView& view, const TimelineChoice& choice,
                 const TimelineFrame& frame);

// The legend as lines of entries; and its height in a picture of this width.
struct LegendEntry {
  enum class Kind : std::uint8_t { solid, hatched, phase, flight, report };
  Kind kind = Kind::solid;
  Doing doing;
  std::string letter, text;
};
std::vector<std::vector<LegendEntry>> legend_of(const TimelineView& view, double width);
constexpr double legend_line = 20, swatch_width = 24;

}  // namespace tilescope
