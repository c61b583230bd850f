// A timeline of the synthetic pipeline (tests/sim/record/synthetic_record.h): clusters of blocks
// with a warp that copies, one that multiplies and four that write back.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/sim/record/synthetic_record.h"
#include "viz/timeline/timeline_scene.h"
#include "viz/timeline/timeline_view.h"

namespace tilescope::test {

inline std::shared_ptr<const TimelineView> timeline_of(const sim::SyntheticPipeline& pipeline) {
  auto record = std::make_shared<sim::Record>(sim::synthetic_record(pipeline));
  record->timed = true;
  record->seconds = 0;
  record->device.times.clock = 2;  // GHz: two cycles are a nanosecond
  auto timeline = std::make_shared<const sim::Timeline>(*record);
  return std::make_shared<const TimelineView>(std::move(record), std::move(timeline));
}

inline std::shared_ptr<const TimelineView> small_timeline() {
  sim::SyntheticPipeline pipeline;
  pipeline.cluster = 2;
  return timeline_of(pipeline);
}

inline TimelineViewport lens_of(double width = 1280, double height = 800) {
  TimelineViewport viewport;
  viewport.size = {width, height};
  return viewport;
}

// The first event of a kind, on a unit's track.
inline sim::EventId first_of(const TimelineView& view, sim::EventKind kind, sim::Unit unit) {
  sim::EventFilter filter;
  filter.kinds = sim::bit(kind);
  filter.unit = unit;
  filter.block = 0;
  return view.timeline().next(filter, 0);
}

inline std::vector<std::string> texts_of(const Scene& scene) {
  std::vector<std::string> out;
  for (const Item& item : scene.items) {
    if (const Text* text = std::get_if<Text>(&item)) out.push_back(text->text);
  }
  return out;
}

}  // namespace tilescope::test
