// A record made by hand: two blocks of four warps, in which warp 0 copies three tiles into two
// stages, warp 1 multiplies them, and warps 2 and 3 write the result back. Times are small numbers
// that a reader can add up; the figures that tests expect were added up by hand.
#pragma once

#include "core/record/record.h"

namespace tilescope::test {

// Times are of one block; the second block does the same 100 cycles later on the next processor.
sim::Record pipeline_record();

// What its operations use: tiles 0 and 2 of A [0:16, 0:48] go into bytes 0-4095 of shared memory,
// tile 1 into bytes 4096-8191, 16 columns each; products read them and B, which is the same in all,
// from registers, and add to columns 0-31 of TMEM, which the loads read.
void add_uses(sim::Record& record);

}  // namespace tilescope::test
