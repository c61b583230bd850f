// Streams by the handles that programs use for them.
#pragma once

#include "app/cuda/api.h"

namespace tilescope::standin {

// The legacy default stream is null, and the per-thread default stream a stream of each thread.
CUstream own_stream(CUstream stream);
// Whether it and the legacy default stream wait for each other.
bool is_blocking(CUstream stream);
// Whether an event has been recorded outside of captures.
bool was_recorded(CUevent event);

// What is wrong about a window of L2; success: nothing.
CUresult window_wrong(const CUaccessPolicyWindow& window);

}  // namespace tilescope::standin
