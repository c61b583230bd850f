// `explain why KERNEL --variants`: the same problem by other forms of the kernel, run by a chip's
// clock: tiles, clusters and consumers of one that has them by option, the other rungs of a ladder.
#pragma once

#include "app/handoffs.h"

namespace tilescope {

// Answers the exit code.
int explain_variants(const HandoffsOptions& options, Terminal& terminal);

}  // namespace tilescope
