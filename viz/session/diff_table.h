// The worst elements of the open comparison, worst first: as a table to click, and for files.
#pragma once

#include "viz/session/session.h"
#include "viz/session/value_table.h"

namespace tilescope {

// By the measure that is shown, with who wrote each. A click selects.
Table worst_table(const Session& session);
// Which of its columns a room leaves out, as a sentence; empty: none.
std::string left_out_words(const Table& table, double width);
ValueTable worst_values(const Session& session);

}  // namespace tilescope
