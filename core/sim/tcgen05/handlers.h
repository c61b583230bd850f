// The handlers of tcgen05 instructions, a file for each kind. Code: a and immediate the address in
// brackets; for what else is where see the files.
#pragma once

#include "core/sim/code.h"
#include "core/sim/tcgen05/unit.h"

namespace tilescope::sim {

Handler tensor_allocation_handler(ptx::TensorStep step);  // allocation.cpp
Handler tensor_move_handler(const ptx::Instruction& i);   // moves.cpp
Handler multiplication_handler(ptx::TensorStep step);     // handlers.cpp: mma, commit, fence

// Are these cells the block's? A fault where they are not; `what` for the sentence.
bool owns_cells(Core& x, int lane, const std::vector<CellRange>& cells, std::string_view what);

}  // namespace tilescope::sim
