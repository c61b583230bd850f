// Which slice of a grid with more than two modes is looked at.
//
// A grid shows two modes, as rows and columns; of the others it shows every coordinate, a slice
// each, side by side. That is much to look at for many, so a reader may step through them one by
// one, and may choose which modes are the rows and the columns:
//
//     (4,8,16):(1,4,32)     rows 0, columns 1        16 slices (_,_,k) of 4 x 8
//                           rows 0, columns 2         8 slices (_,k,_) of 4 x 16
//
// Slices are counted colexicographically over the modes that are neither, in their order. Grids of
// the same extents, such as what a swizzle is given and what it makes of it, turn together.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "viz/layout/layout_view.h"

namespace tilescope {

struct SliceChoice {
  int grid = -1;  // -1: none was chosen; every slice of every grid is shown
  int rows = 0, columns = 1;
  std::int64_t at = -1;  // -1: all of them
  friend bool operator==(const SliceChoice&, const SliceChoice&) = default;
};

// The last grid that has slices; -1 where none has.
int sliced_grid(const LayoutView& view);
// How many slices a grid has with these rows and columns.
std::int64_t slices_of(const Panel& panel, const SliceChoice& choice);
// "(_,3,_)" as CuTe writes a slice; what `at` is in it.
std::string slice_text(const Panel& panel, const SliceChoice& choice);
// The same read back. Refused: not two `_`, another rank, a coordinate beyond the mode.
Outcome<SliceChoice> slice_in(const Panel& panel, std::string_view text);

// The view with this choice; the same where there is none.
LayoutView sliced(LayoutView view, const SliceChoice& choice);

}  // namespace tilescope
