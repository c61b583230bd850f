// What would be if somebody who is missing had come: asked of a copy of the machine, which goes on
// from there.
#pragma once

#include <cstdint>
#include <vector>

#include "core/sim/async/mbarrier.h"

namespace tilescope::sim {

class Model;
struct Block;

// A warp of a cluster.
struct Member {
  std::uint32_t rank = 0, warp = 0;
  bool operator==(const Member&) const = default;
};

// Who else would go on, sooner or later, than the waiters there themselves; and whether what
// nobody has written would be multiplied or stored then, so that something else was meant to come
// first.
struct Consequence {
  std::vector<Member> go_on;
  std::size_t waits_over = 0;  // of theirs: different mbarriers, and one for all else
  bool uses_undefined = false;
};

// Nobody in the cluster of `block` can go on, and some wait for the current phase of its mbarrier
// at `offset`: if that were complete?
Consequence if_complete(const Model& machine, const Block& block, std::uint32_t offset);

// What came to an mbarrier.
struct Brought {
  std::uint32_t rank = 0, offset = 0;  // the mbarrier's
  Visits by;
};
// If the phase of the mbarrier at `offset` were complete: what would come to those of the cluster,
// that one included, before much else has happened.
std::vector<Brought> brought_if_complete(const Model& machine, const Block& block,
                                         std::uint32_t offset);

}  // namespace tilescope::sim
