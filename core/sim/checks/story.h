// Where what lies in memory came from, for sentences.
#pragma once

#include <cstddef>
#include <string>

namespace tilescope::sim {

class Machine;

// A byte of a buffer is undefined, and the launch wrote it: what of (", the last undefined value
// came from ..."); empty: not known.
std::string story_of_undefined(const Machine& machine, std::size_t buffer, std::size_t byte);

}  // namespace tilescope::sim
