// Nobody can go on.
#pragma once

#include "core/sim/machine/code.h"

namespace tilescope::sim {

// `last`: the block that was looked at last, of a cluster of which nobody can go on.
void report_deadlock(Model& machine, const Block& last);

}  // namespace tilescope::sim
