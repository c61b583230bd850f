// Who has called a function of the driver, for sentences about what it made.
#pragma once

#include <string>

namespace tilescope::standin {

// Return addresses up the stack, the innermost first, at most `most_callers`, 8 bytes each.
constexpr int most_callers = 16;
std::string callers();

}  // namespace tilescope::standin
