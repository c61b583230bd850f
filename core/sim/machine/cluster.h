// What blocks of a cluster tell each other of what they have done (core/sim/machine/cluster.cpp).
#pragma once

#include "core/sim/machine/code.h"

namespace tilescope::sim {

// May the warp at hand reach the shared memory of the block of this rank now? Null after a fault,
// which says why not.
Block* reach(Core& x, int lane, std::uint32_t rank);
// The barrier of the cluster, after arrivals and exits.
void finish_cluster_barrier(Model& machine, Block& block);

// The block of the warp at hand, seen by those of the others who wait for something that it does to
// one of theirs.
void release_to_cluster(Core& x);
// What an operation of a block has done is seen by those of the others who ask.
void release_operations(Model& machine, Block& block, std::uint32_t warp);
// Lanes m tell the async proxy of what they wrote into the memory of the others.
void tell_cluster(Core& x, Mask m);

// The current warp may let others of the cluster know by what follows, be it a relaxed arrival
// after a fence or an operation that completes at theirs: what its block did in the memory of the
// others counts as known to all of them. What it did in its own memory does not.
void release_elsewhere(Core& x);

}  // namespace tilescope::sim
