// What a warpgroup's wgmma.mma_async add up, as its registers hold it: the matrix by value and,
// beside it, by the thread whose register each element is in. The elements of the lane looked at
// are framed and lead to their registers; the rows of the other warps lead to those. Both matrices
// are zoomed and moved together; where a cell has room for it its value is written there.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "viz/machine/machine_scene.h"
#include "viz/scene/viewport.h"

namespace tilescope {

struct AccumulatorFrame {
  std::shared_ptr<const std::vector<sim::GroupAccumulator>> all;  // of the warpgroup; at least one
  std::size_t which = 0;                                          // that is shown
  Viewport viewport;  // cell: how many times larger than what fits
  Box room;
  // Where the matrix may be seen, by value and by thread. Empty: there is no room for it, and a
  // line says that it is there.
  Box values, owners;
  const sim::GroupAccumulator& shown() const { return (*all)[which]; }
  // All of the matrix, of which one of the two shows a part.
  Box cells(const Box& canvas) const;
};
// In the upper part of the room. Nothing: the warpgroup has none that is wanted where it stands.
std::optional<AccumulatorFrame> arrange_accumulators(const MachineShown& shown, const Box& room,
                                                     const Viewport& viewport = {});
// Answers how high it is.
double draw_accumulators(Scene& scene, const MachineShown& shown, const AccumulatorFrame& frame);
// Is the point on one of the two matrices?
bool is_on_matrix(const AccumulatorFrame& frame, Point at);
Viewport zoomed(const AccumulatorFrame& frame, Point at, double factor);
Viewport panned(const AccumulatorFrame& frame, double dx, double dy);

}  // namespace tilescope
