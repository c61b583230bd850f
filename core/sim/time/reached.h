// How far a machine has come, in cycles. Its clock stands where warps last met; behind an
// instruction the time of the warp that executed it may be further. Without a clock: its moments.
#pragma once

namespace tilescope::sim {

class Machine;
double time_reached(const Machine& machine);

}  // namespace tilescope::sim
