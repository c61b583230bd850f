// How far a machine has come, in cycles: to the one that it was sent to, where it was sent to one.
// Else its clock is where warps last met, or further: where the furthest warp is of the CTA to
// which it was sent, or else of that which executed last, so that steps within a CTA never go back
// in time. Clusters have their turns one after the other: from one to the next it may go back by a
// turn. Without a clock: its moments.
#pragma once

namespace tilescope::sim {

class Machine;
double time_reached(const Machine& machine);

}  // namespace tilescope::sim
