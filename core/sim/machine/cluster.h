// Blocks of a cluster, to each other (core/sim/machine/cluster.cpp).
#pragma once

#include "core/sim/machine/code.h"

namespace tilescope::sim {

// May the warp at hand reach the shared memory of the block of this rank now? Null after a fault,
// which says why not.
Block* reach(Core& x, int lane, std::uint32_t rank);
// The barrier of the cluster, after arrivals and exits.
void finish_cluster_barrier(Model& machine, Block& block);

}  // namespace tilescope::sim
