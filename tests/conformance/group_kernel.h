// A kernel around one wgmma.mma_async: a warpgroup a block fills shared memory with A and B, issues
// it, and stores D. How the operands lie, signs, transposes, and the selector of .sp are drawn by
// the spelling's key; whether D is added to, by the block.
#pragma once

#include <optional>

#include "tests/conformance/kernel.h"

namespace tilescope::conformance {

// Nothing for the other wgmma instructions.
std::optional<Kernel> group_kernel_for(const Spelling& spelling);

}  // namespace tilescope::conformance
