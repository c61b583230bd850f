// Kernels around conversions of addresses (cvta, mapa, getctarank) and hints to caches (prefetch,
// applypriority, discard, createpolicy). An address is the machine's own: what is told are
// differences of addresses, what lies there, and in which spaces they are.
#pragma once

#include <optional>

#include "tests/conformance/kernel.h"

namespace tilescope::conformance {

std::optional<Kernel> address_kernel_for(const Spelling& spelling);
std::optional<Kernel> cache_kernel_for(const Spelling& spelling);

}  // namespace tilescope::conformance
