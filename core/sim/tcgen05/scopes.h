// How far what is heard of the other block of a pair goes by the scopes on the way.
//
// A TensorClock has of each warp of the pair what another can have heard of, whatever the scopes;
// and behind these, from `reached_from` on, the same once more as far as every scope on the way
// includes the two. An arrival in the scope of its CTA at another CTA's mbarrier, or a wait in that
// scope, takes nothing of the other block there.
#pragma once

#include "core/sim/tcgen05/unit.h"

namespace tilescope::sim {

constexpr std::uint32_t reached_from = 2 * most_warps;

// Of the block of the pair that is on this side (TensorUnit::side): nothing of it reaches.
void forget_reached(TensorClock& clock, std::uint32_t side);

}  // namespace tilescope::sim
