// Changes beyond those of tests/kernels/mutator.h: of tcgen05's instructions, of loads and stores,
// of guards, of words that the Mutator leaves alone, and of the count at which a ring of stages
// begins anew. `all_changes` is what a score is made of: both, in the order of lines.
#pragma once

#include <string>
#include <vector>

#include "tests/kernels/instructions.h"
#include "tests/kernels/mutator.h"

namespace tilescope::test {

// All instructions that are changed by anybody; longer names before those that they begin with.
const std::vector<std::string>& changed_instructions();

std::vector<Mutation> all_changes(const std::string& ptx, const std::string& entry);

}  // namespace tilescope::test
