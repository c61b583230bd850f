// The steps of K of a cluster's copies and products, as a timeline says them in their boxes.
#pragma once

#include "core/profile/pipeline.h"
#include "viz/timeline/timeline_scene.h"

namespace tilescope {

void add_steps(const sim::Pipeline& pipeline, TimelineSteps& out);

}  // namespace tilescope
