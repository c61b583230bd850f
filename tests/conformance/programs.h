// Runs the text programs of tests/sim/programs on a chip.
#pragma once

#include <string>

namespace tilescope::conformance {

// Those in `folder` whose names contain `part` and that promise memory, some at once, each in a
// process of its own for at most 20 s; prints what differs. Then those with hazards, for at most 8
// s, of which it is only told what they leave. 0: those without are as they say; 1: some differ; 4:
// no GPU.
int programs(const std::string& folder, const std::string& part);

// Runs one on the chip, and prints what its last buffer holds then, as `expect` writes it.
int memory(const std::string& file);

}  // namespace tilescope::conformance
