// What a warpgroup's wgmma.mma_async add up, as its registers hold it: the matrix by value and,
// beside it, by the thread whose register each element is in. The elements of the lane looked at
// are framed and lead to their registers; the rows of the other warps lead to those.
#pragma once

#include "viz/machine/machine_scene.h"

namespace tilescope {

// In the upper part of the room; answers how high that is. 0: the warpgroup has none that is wanted
// where it stands. Where the room is too small for it a line says that it is there.
double draw_accumulators(Scene& scene, const MachineShown& shown, const Box& room);

}  // namespace tilescope
