// The picture of a block's TMEM: its 128 lanes from top to bottom, its 512 columns from left to
// right, a cell of 32 bits each.
//
// Over the cells are the allocations with who made them, and what is in flight; at the left which
// warps reach which lanes (warp w the 32 lanes from 32 * (w % 4) on: PTX ISA 9.7.16.3.1). Cells are
// coloured by who wrote them last, or by their value as f32.
#pragma once

#include <memory>
#include <optional>

#include "viz/machine/memory_view.h"
#include "viz/machine/tensor_now.h"

namespace tilescope {

struct TensorFrame {
  std::shared_ptr<const TensorNow> now;
  Viewport viewport;  // cell: how many times larger than what fits
  Box room;           // where cells may be seen
  Box cells;          // all of them
  Box legend, body;
  double cell_width() const { return cells.width / TensorNow::columns; }
  double cell_height() const { return cells.height / TensorNow::lanes; }
};
TensorFrame arrange(std::shared_ptr<const TensorNow> now, const Box& room,
                    const Viewport& viewport);
void draw_tensor_memory(Scene& scene, const TensorFrame& frame, const MachineShown& shown,
                        const MemoryChoice& choice, std::optional<RunCursor::Cell> hover,
                        RasterStore& rasters);
std::optional<RunCursor::Cell> cell_at(const TensorFrame& frame, Point at);
Viewport zoomed(const TensorFrame& frame, Point at, double factor);
Viewport panned(const TensorFrame& frame, double dx, double dy);

}  // namespace tilescope
