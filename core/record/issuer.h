// Who issued an operation.
#pragma once

#include "core/record/record.h"

namespace tilescope::sim {

// The run of the warp that issued it: its cause, or, of a commit that waited for products, what
// caused these, as a commit waits for what its own thread has issued. no_event: it is not known.
EventId issuer_of(const Record& record, const Event& operation);

}  // namespace tilescope::sim
