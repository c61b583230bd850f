// Lanes that must be at one instruction together: .aligned and .sync instructions.
#pragma once

#include "core/sim/machine/code.h"

namespace tilescope::sim {

// Are all of `wanted` (those that have not exited) here? Flow::next: yes, execute for m.
// Flow::moved: lanes that had been waiting here have joined this split; look at it again.
// Flow::yield: the split waits for the others; lanes that the guard kept out have gone on.
// `orders`: what they did in memory counts as ordered from there.
Flow together(Core& x, Mask m, Mask wanted, Wait kind, bool orders = true);

// Lanes m wait here, and execute this instruction again when they are woken; the others of the
// split go on. Answers Flow::yield.
Flow wait_here(Core& x, Mask m, Wait kind);

// The barriers of the block, after arrivals and exits.
void finish_barriers(Model& machine, Block& block);

// bar.red gives its result to lanes that waited: the barrier is complete.
void finish_reduction(Core& x, const Code& c, Mask m, const Barrier& barrier);

// Lanes m of this split end. Flow::yield if none is left in it.
Flow end_lanes(Core& x, Mask m);

}  // namespace tilescope::sim
