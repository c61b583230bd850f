// Why a unit does nothing: the time between two of its operations, what ended it, and what the warp
// that issued the next one did until then.
#pragma once

#include <optional>

#include "viz/scene/describe.h"
#include "viz/timeline/timeline_view.h"

namespace tilescope {

struct UnitIdle {
  sim::TrackId track = 0;
  double from = 0, to = 0;                  // cycles; to the end of the run where nothing follows
  sim::EventId before = sim::no_event;      // that ended last
  sim::EventId next = sim::no_event;        // that begins then
  std::optional<sim::TrackId> issued_by{};  // the warp that issued the next one
  friend bool operator==(const UnitIdle& a, const UnitIdle& b) {
    return a.track == b.track && a.from == b.from && a.to == b.to;
  }
};

// Of a unit's track; nothing on others, or while it works.
std::optional<UnitIdle> idle_at(const TimelineView& view, sim::TrackId track, double cycle);
// Every number of it with its name.
Lines inspect(const TimelineView& view, const UnitIdle& idle);

}  // namespace tilescope
