// How far a machine has come, in cycles: to the one that it was sent to, where it was sent to one.
// Else its clock is where warps last met; after an instruction the time of the warp that
// executed it may be further. Clusters have their turns one after the other, so that it may go back
// by a turn from one to the next. Without a clock: its moments.
#pragma once

namespace tilescope::sim {

class Machine;
double time_reached(const Machine& machine);

}  // namespace tilescope::sim
