// The operations in flight that touch TMEM: which cells, and which of them keep their order.
//
// In one thread these pairs do (PTX ISA 9.7.16.6.2); so they do in two threads that synchronise
// with tcgen05.fence (9.7.16.6.4.3):
//
//   mma -> mma (same accumulator and shape)   cp -> mma   shift -> mma   mma -> shift
//   shift -> cp.4x256b                        mma, cp, shift -> commit of their thread
#pragma once

#include <vector>

#include "core/sim/async/operation.h"
#include "core/sim/tcgen05/tensor_memory.h"

namespace tilescope::sim {

struct Block;
struct Core;

struct TensorCells {
  std::vector<CellRange> written, read;
};
// Of an mma, a cp or a shift, or of the guard of one in the other block of a pair. False: it is
// none.
bool tensor_cells(const AsyncOperation& operation, TensorCells& out);

// A cp or a shift in flight that these cells are in the way of: whoever only reads them meets those
// that write them; others also those that read them. Null: there is none.
const AsyncOperation* find_transfer(const Block& block, const std::vector<CellRange>& cells,
                                    bool reads);

// Work::keeps_order of cp and shift.
bool is_pipelined(const AsyncOperation& earlier, const AsyncOperation& later);
// An operation about to be issued, and cp and shift in flight, or it itself one of these: comes it
// after those that touch its cells? A hazard where nothing says so, of other threads a fault: then
// false.
bool order_behind_others(Core& x, int lane, AsyncOperation& operation);

}  // namespace tilescope::sim
