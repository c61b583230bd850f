// The handlers of wgmma instructions, and of others that touch a product's registers.
#pragma once

#include "core/sim/machine/code.h"

namespace tilescope::sim {

// Code of a wgmma.mma_async: elements D's registers, then A's where it is in registers; b A's
// descriptor, c B's, r whether D is added to, e the metadata of .sp. Of a wait_group: immediate how
// many groups may be left.
Handler warpgroup_handler(const ptx::Instruction& i);

// Fills Bound::group_registers, followed_registers, touches and touch_of, and gives the
// instructions that touch such registers the handler below.
void find_touches(const ptx::Program& program, Bound& bound);

// Runs an instruction that reads or writes registers of products (Bound::touches), which must not
// be in use, or that writes one that is followed.
Flow touch_group_registers(Core& x, const Code& c, Mask m);

// All of a block's threads have exited: its warpgroups have issued what they began to. False after
// a fault.
bool leave_warpgroups(Model& machine, Block& block);

}  // namespace tilescope::sim
