// A launch that may begin before the one before it has ended (programmatic dependent launch), as
// its griddepcontrol.wait allows (PTX ISA 9.7.13.13).
#pragma once

#include "core/sim/machine/code.h"

namespace tilescope::sim {

class Machine;

// From its beginning on, with Options::logs_accesses: it is kept what it accesses before it waits.
void tell_early(Machine& machine);
// Whether what happens here is early.
bool is_early(const Core& x);
// The current warp executes griddepcontrol.wait.
void note_wait(Core& x);
// It executes griddepcontrol.launch_dependents.
void note_dependents(Core& x);

}  // namespace tilescope::sim
