// What a stream is given behind a host function.
//
// All else is done when it is asked for. A host function runs in a thread of its own, as a driver
// runs it (seen on an H200), so that it may wait for what the calling thread does later, and take
// what that thread holds. So until it has come back its stream is behind: what the stream is given
// meanwhile waits in a row and is done by that thread, in order; and so is what other streams are
// given behind it, by an event or as the legacy default stream waits for those that block (CUDA
// Driver API, "Stream synchronization behavior").
//
// A wait for a value that is not there yet (memory_operations.cpp) is such a function.
#pragma once

#include <functional>

#include "app/cuda/api.h"

namespace tilescope::standin {

using LateWork = std::function<CUresult()>;

// Whether something waits that work of this stream comes behind. Never in a thread of these, which
// does what is next.
bool is_behind(CUstream stream);
// The stream's next work, in a thread of its own from now on.
void do_later(CUstream stream, LateWork work);
// The same of work that is done now where the stream is not behind.
CUresult do_in_order(CUstream stream, LateWork work);

// The calling thread waits until nothing of this stream, or of any, is behind, as it also does
// before modules, memory, arrays and streams end. The first error of what was done late and had
// nobody to tell. Not permitted in a host function.
CUresult catch_up(CUstream stream);
CUresult catch_up_all();

// ---- events that are recorded behind such work ----
void record_later(CUevent event, CUstream stream, LateWork record);
// Whether the last record of the event is yet to be done.
bool is_late(CUevent event);
// The calling thread waits until it is.
CUresult catch_up(CUevent event);
// What `stream` is given from now on comes behind that, too.
void wait_later(CUstream stream, CUevent event, LateWork wait);

}  // namespace tilescope::standin
