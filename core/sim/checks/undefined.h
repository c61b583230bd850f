// Undefined values in registers: a shadow bit for each register bit, 1 where it means nothing.
//
// The shadow exists from the first undefined value of a block on. While none of a warp's registers
// has one, instructions run as if there were none; from then on each goes through run_carefully(),
// which looks at what it reads and works out what it writes.
#pragma once

#include "core/sim/machine/code.h"

namespace tilescope::sim {

// Executes one instruction of a warp that has undefined registers: `all` are the lanes of the
// split, `m` those that the guard lets through.
Flow run_carefully(Core& x, const Code& c, Mask all, Mask m);

// The shadow of a register of the warp in x: 32 times `width` bytes. Made if it is not there yet.
std::uint8_t* shadow(Core& x, Reference r);
// To be called when the shadow of a register of `width` bytes has changed.
void recount(Core& x, Reference r, int width);
bool has_undefined(const Core& x, Reference r, int width);
void define(Core& x, Reference r, int width, Mask m);
void undefine(Core& x, Reference r, int width, Mask m);
void undefine_predicate(Core& x, std::uint32_t p, Mask lanes, Mask m);  // sets exactly `lanes` of m
// The registers of a function that may be read before it writes them.
void undefine_registers(Core& x, const ptx::Routine& routine, Mask m);
// "%r5 was read from shared memory byte 12, which nobody has written"
std::string origin_text(const Core& x);

// At the end of a launch whose memory stays: what it has left undefined in buffers and variables
// although it wrote it says so to the launches that follow. `as`: "launch 3".
void sign_undefined(Model& machine, std::string_view as);

}  // namespace tilescope::sim
