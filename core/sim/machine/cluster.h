// What blocks of a cluster tell each other of what they have done (core/sim/machine/cluster.cpp).
#pragma once

namespace tilescope::sim {

struct Core;

// The current warp may let others of the cluster know by what follows, be it a relaxed arrival
// after a fence or an operation that completes at theirs: what its block did in the memory of the
// others counts as known to all of them. What it did in its own memory does not.
void release_elsewhere(Core& x);

}  // namespace tilescope::sim
