// Kernels around what threads wait for each other with: bar, barrier, fence, membar, mbarrier. What
// a thread has stored another one reads behind them; of mbarriers the counts and phases are told
// that a state stands for, never its bits (PTX ISA 9.7.13.15.1).
#pragma once

#include <optional>

#include "tests/conformance/kernel.h"

namespace tilescope::conformance {

std::optional<Kernel> barrier_kernel_for(const Spelling& spelling);

}  // namespace tilescope::conformance
