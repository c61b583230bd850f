// Calls, returns, and the functions that CUDA provides.
#pragma once

#include "core/sim/machine/code.h"

namespace tilescope::sim {

// call (PTX ISA 9.7.12.5): Code::target is the ptx::Call; Code::a holds the address of an indirect
// one.
Flow call(Core& x, const Code& c, Mask m);
// ret (9.7.12.6): back to where each lane was called from; in the entry the lanes end.
Flow leave(Core& x, const Code& c, Mask m);

// alloca, stacksave, stackrestore (9.7.17): Code::d a place on the stack, Code::a bytes or a place,
// Code::immediate an alignment. Here the stack grows upwards, and addresses are of the .local
// space.
Handler stack_handler(const ptx::Instruction& i);

// A function that CUDA provides, for the lanes of m, each with its parameters in local memory from
// `frame[lane]` on. Results go there too.
Flow run_builtin(Core& x, const ptx::Routine& routine, Mask m, const std::uint32_t* frame);

// Where byte `offset` of a thread's own local memory is in the block's.
std::uint64_t local_offset(const Core& x, int lane, std::uint32_t offset);

}  // namespace tilescope::sim
