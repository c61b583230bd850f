// The picture of a kernel's page: the output in the parts that CTAs make, and the rows and columns
// of its inputs that one of them needs.
#pragma once

#include "viz/machine/kernel_card.h"

namespace tilescope {

// Answers how many pixels of the room's height it took; 0: there is nothing to draw.
double draw_kernel_tiles(Scene& scene, const KernelCard& card, const KernelRun* run,
                         const Box& room);

}  // namespace tilescope
