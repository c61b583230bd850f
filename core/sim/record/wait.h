// What a warp that stands at an instruction waits for, as records say it.
#pragma once

#include "core/sim/record/event.h"
#include "core/sim/state.h"

namespace tilescope::sim {

Stall stall_of(Wait wait);

}  // namespace tilescope::sim
