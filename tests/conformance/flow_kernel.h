// Kernels around what decides where a thread goes on: branches, calls, returns, exits. Each variant
// (the spelling's constant) is another program, drawn by the spelling's key, whose steps leave
// traces in two numbers a lane. What lanes of a warp do together, they do where PTX says which
// lanes take part: by a mask that all of them have (9.7.9.6, 9.7.13.9).
//
// Also the instructions of that unit that only let time pass.
#pragma once

#include <optional>

#include "tests/conformance/kernel.h"

namespace tilescope::conformance {

std::optional<Kernel> flow_kernel_for(const Spelling& spelling);

// How many programs are made for a spelling of this opcode.
std::uint32_t flow_variants(ptx::Op op, const ptx::Modifiers& modifiers);

}  // namespace tilescope::conformance
