// Every block has exited: what lies in the buffers is the result, so it must mean something.
#pragma once

#include <cstddef>

#include "core/sim/machine/code.h"

namespace tilescope::sim {

// The run is done, or ends with a fault.
void finish_grid(Model& machine);

// tiles.cpp. True: there is one, and it was reported.
bool find_missing_tile(Model& machine, std::size_t buffer);
void tell_of_tiles_written_twice(Model& machine, std::size_t buffer);

}  // namespace tilescope::sim
