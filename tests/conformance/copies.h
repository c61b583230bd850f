// Tensor copies with parameters drawn at random (tests/sim/random_copy.h) on a chip: does it leave
// the memory that the model says?
#pragma once

#include <cstdint>

#include "tests/sim/random_copy.h"

namespace tilescope::conformance {

using CopyOf = test::RandomCopy (*)(std::uint64_t number);

// Numbers 0 to count - 1. Prints those that differ, each with the first byte. 0: none; 4: no GPU.
// A fault takes the process's device with it: another process goes on behind it.
int copies(std::uint64_t count, CopyOf copy_of);

}  // namespace tilescope::conformance
