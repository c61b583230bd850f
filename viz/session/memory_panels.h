// What is around the memory views: the inspector's lines of a byte and of a cell, and the
// choices over the view.
#pragma once

#include <vector>

#include "viz/session/panels.h"

namespace tilescope {

// A byte of the block's shared memory: where, which element of which tensor, its value, who wrote
// it, what in flight uses it.
Lines byte_lines(const Session& session, std::uint32_t byte);
Lines cell_lines(const Session& session, RunCursor::Cell cell);

// Under the pointer, selected, and how it all is, in the memory and TMEM views: before what else is
// told of the machine, but after a fault.
void inspect_memory(const Session& session, std::vector<InspectorSection>& all);
void add_memory_choices(const Session& session, std::vector<Choice>& out);

}  // namespace tilescope
