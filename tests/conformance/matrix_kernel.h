// A kernel around one wmma instruction: each warp fills four matrices in memory, loads A, B and C,
// multiplies, stores D, and tells what lies there then, the gaps between D's lines included. Which
// lane holds what is the machine's own choice (PTX ISA 9.7.14.4.1), so only what is stored again
// counts.
#pragma once

#include <optional>

#include "tests/conformance/kernel.h"

namespace tilescope::conformance {

std::optional<Kernel> matrix_kernel_for(const Spelling& spelling);

}  // namespace tilescope::conformance
