// A record made by hand: two blocks of four warps, in which warp 0 copies three tiles into two
// stages, warp 1 multiplies them, and warps 2 and 3 write the result back. Times are small numbers
// that a reader can add up; the figures that tests expect were added up by hand.
#pragma once

#include "core/record/record.h"

namespace tilescope::test {

// Times are of one block; the second block does the same 100 cycles later on the next processor.
sim::Record pipeline_record();

}  // namespace tilescope::test
