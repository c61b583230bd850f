// A layout of which every unknown number is known to come from which number of another layout:
// what the type `((0,(1,?)),0,0)` does not say.
#pragma once

#include <vector>

#include "core/error.h"
#include "core/tensor/tiled_copy.h"

namespace tilescope::lowering {

// One number of a layout: known, or made from the unknown number `source` of the layout before
// (counted through its shape, then its stride): source * factor, or source / factor rounded up.
struct Origin {
  bool known = true;
  std::int64_t number = 0;
  int source = 0;
  std::int64_t factor = 1;
  bool divided = false;
};

struct Followed {
  Layout layout;
  std::vector<Origin> shape, stride;  // one a leaf
};

// The layout itself: every unknown number is its own.
Followed follow(const Layout& layout);

// What the threads of a copy have of a layout: (thread, value...) -> offset, and what thread `thr`
// has. Refused where an unknown extent cannot be followed through the division.
struct FollowedPartition {
  Followed threads;  // mode 0, which a thread's number is split over
  Followed part;     // what is left of the layout
  Place offset;      // of the thread, as far as it is known
};
Outcome<FollowedPartition> follow_partition(const TiledCopy& copy, Side side, const Int& thread,
                                            const Layout& layout);
// The modes at `_`.
Outcome<Followed> follow_slice(const Tuple& coordinate, const Layout& layout);

}  // namespace tilescope::lowering
