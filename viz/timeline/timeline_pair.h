// Two runs on one scale of time: the baseline above, the run below, so many cycles as many pixels
// in both, and cycle 0 of both at the same place.
//
//     PairFrame frame = arrange(pair, viewport, scroll_above);
//     Scene scene = build_scene(pair, theme, frame, stores);
//
// Each run has its own rows, folded and scrolled by themselves; range, search and the range that is
// added up are of both. Which it is a frame says: TimelineFrame::whose.
#pragma once

#include <string>

#include "viz/timeline/timeline_scene.h"
#include "viz/timeline/timeline_view.h"

namespace tilescope {

struct TimelinePair {
  struct Run {
    const TimelineView* view = nullptr;
    TimelineChoice choice;
    std::string name;  // "hgemm_v7 --m 512"
  };
  Run above, below;  // the baseline, and the run
};
struct PairFrame {
  TimelineFrame above, below;
};

// In commands, before the name of a row or the number of an event of the baseline.
inline constexpr std::string_view of_baseline = "baseline ";

// Why they cannot be on one scale; empty: they can.
std::string why_apart(const TimelineView& above, const TimelineView& below,
                      const std::string& name_above);

// `viewport`: its range is of both, its scroll of the lower one.
PairFrame arrange(const TimelinePair& pair, const TimelineViewport& viewport, double scroll_above);
Scene build_scene(const TimelinePair& pair, const Theme& theme, const PairFrame& frame,
                  RasterStore* store_above = nullptr, RasterStore* store_below = nullptr);

}  // namespace tilescope
