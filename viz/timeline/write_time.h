// When an element was written, as far as the record of the run knows it.
//
// The record has stretches: of a store, in which the warp ran through the instruction; of a copy,
// from when the unit began until it was done. The moment itself is found by `go write`, which runs
// the machine there.
#pragma once

#include "core/run/job.h"
#include "viz/scene/lines.h"
#include "viz/timeline/timeline_view.h"

namespace tilescope {

// "written in cycles": "6,746 to 7,335 (3.44 us to 3.74 us)". Empty: the record does not know.
Lines write_time(const TimelineView& view, const Site& writer);

}  // namespace tilescope
