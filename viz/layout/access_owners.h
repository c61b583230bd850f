// The accesses of warps as a thread/value layout says them: instruction by instruction the lanes of
// a warp move a value each, or as many values as are side by side in memory.
//
//     make_layout_tv((32,1):(1,0), (1,4):(0,1)) over (32,4), row-major memory (32,4):(4,1), 4 bytes
//         16 bytes asked: one instruction a warp, values 0 to 3 of each lane
//     the same through column-major memory (32,4):(1,32)
//         values are 128 bytes apart: 4 bytes a lane, an instruction for each value
//
// A thread/value layout leads to elements of a tile. Where these are in memory another layout says,
// from the tile's coordinates to offsets; where nobody gives one, they are taken to be as they are
// counted, mode 0 fastest, and the picture says so.
#pragma once

#include <optional>
#include <string_view>

#include "viz/layout/access_view.h"
#include "viz/layout/layout_view.h"

namespace tilescope {

// The memory that a tile's elements are in: `through`, or compact in the order of the tile's modes.
// Refused: a layout that does not have the tile's extents, or whose numbers are not all known.
Outcome<Layout> memory_of_tile(const Panel& panel, const std::optional<Layout>& through);

// Of the grid `grid` of a thread/value view. Refused: threads that are no warp's lanes (CTAs, lanes
// of TMEM), an operand that is read by descriptor, more than 2^20 pairs.
Outcome<std::shared_ptr<const AccessView>> accesses_of(const LayoutView& view, int grid,
                                                       const std::optional<Layout>& through,
                                                       const AccessChoice& choice);

// The first grid whose threads move values on their own; 0 where none does.
int first_accessed(const LayoutView& view);

// (thread, value) -> offset as a matrix of bits.
Outcome<BitMatrix> bits_of(const LayoutView& view, int grid, const std::optional<Layout>& through);

}  // namespace tilescope
