// What is done about a guard that is undefined. PTX says nothing of a value that nobody wrote, so
// what such a guard decides may happen or not.
//
// The lanes go on by the bits that are there, and what the guard decides becomes undefined: the
// registers that a guarded instruction, or either side of a branch, writes, from where the sides
// meet again; and the bytes that a store there writes. So a result that does not depend on the
// guard is right, and one that does is told where it reaches an address, an operand that decides,
// or an output. A store of the side that was not taken is not known: it is told as a hazard that
// there is one. What cannot become undefined afterwards is a fault: barriers, arrivals, atomics,
// copies, calls, exits, what a warp does together, and whether a loop goes round again.
#pragma once

#include "core/sim/machine/code.h"

namespace tilescope::sim {

// Lanes `all` of a warp stand before x.pc: what sides that meet here have written becomes
// undefined, and x.unsure the lanes that are still on one.
void meet_undecided(Core& x, Mask all);

// The guard of the instruction at hand is undefined in lanes `bad`. False: that is a fault, which
// is reported.
bool decide(Core& x, Mask bad);

// The instruction at hand may have been executed by lanes m, or not: what it writes is undefined.
void undefine_written(Core& x, const ptx::Choice& choice, Mask m);
const ptx::Choice& choice_at(Core& x);

}  // namespace tilescope::sim
