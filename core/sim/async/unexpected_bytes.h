// Bytes that come to an mbarrier which did not expect them.
#pragma once

#include "core/sim/async/mbarrier.h"

namespace tilescope::sim {

// A phase is complete, and bytes are under way to its mbarrier that were sent before: it expected
// fewer than were sent. Had they come in time, its tx-count would have kept it from completing
// (9.7.13.15.2), so that no order makes this right.
void look_for_unexpected_bytes(Model& machine, Block& block, std::uint32_t offset,
                               const Mbarrier& b, Actor who);

}  // namespace tilescope::sim
