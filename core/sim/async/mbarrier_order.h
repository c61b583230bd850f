// Which orders of what happens at an mbarrier would have meant something else: for those who ask
// for every order (core/sim/order/order_log.h).
#pragma once

#include <cstdint>

#include "core/sim/async/mbarrier.h"

namespace tilescope::sim {

// An arrival, or bytes that are expected or have come, in the phase that is open.
void log_signal(Model& machine, Block& block, std::uint32_t offset, Mbarrier& b, const Signal& what,
                Actor who);
// A phase is complete, by `who`, and the next one has begun.
void log_completion(Model& machine, const Block& block, Mbarrier& b, Actor who);

}  // namespace tilescope::sim
