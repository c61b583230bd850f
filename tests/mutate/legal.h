// Kernels of the ladders written otherwise, and as right: other fences, waits, counts and stages.
// Of these nothing may be told, in any order, and they compute the same bits. Each kind with its
// reason; it is done at all of its places in the text at once.
#pragma once

#include <string>
#include <vector>

#include "tests/kernels/mutator.h"
#include "tests/mutate/cases.h"

namespace tilescope::test {

// As a Mutation: `sentence` says why PTX allows it. Those that have a place in this kernel.
std::vector<Mutation> legal_variants(const Case& c);

}  // namespace tilescope::test
