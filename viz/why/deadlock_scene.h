// Why nobody goes on, as a picture: a row for each barrier that is waited for. At the left the
// warps that wait, with an arrow to it; at the right the instructions that could have completed it,
// with a dashed arrow, as it did not come, and why. Where that is because a warp waits itself, a
// line at the right edge leads to the barrier that it waits for: red where the waits go round.
#pragma once

#include "core/run/deadlock_cause.h"
#include "viz/scene/describe.h"
#include "viz/scene/scene.h"

namespace tilescope {

// How high it is at this width, without its heading.
double deadlock_height(const DeadlockCause& cause, double width);
// Drawn from `from` down to where it is cut, `scrolled` pixels up.
void draw_deadlock(Scene& scene, const DeadlockCause& cause, const Box& room, double scrolled = 0);

Json describe_deadlock(const DeadlockCause& cause);

}  // namespace tilescope
