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
// ", which the block gave back at k, PTX line 9, ...", where it did.
std::string given_back_text(const Core& x, std::uint32_t column, std::uint32_t columns);

}  // namespace tilescope::sim
