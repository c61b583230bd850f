// The window as JSON: what its panels show, what is over them, and the view.
#pragma once

#include "viz/scene/describe.h"
#include "viz/session/panels.h"

namespace tilescope {

// All of the window: what --describe writes.
Json describe(const Session& session, const Backend& backend, const Picture& picture);

}  // namespace tilescope
