// From an element of the output to the moment that made it.
#pragma once

#include <optional>
#include <string>

#include "viz/session/backend.h"
#include "viz/session/session.h"

namespace tilescope {

// Brings the machine to just after the write that made the selected element's last value; where it
// is behind such a write already, to the one before. `next`: forward, from where it is.
// What wrote it is looked at then. Refused: no run, no element of its output.
Outcome<std::string> go_to_write(Session& session, Backend& backend, bool next);

// After a way to a write: block, warp, lane and line are those of the thread that wrote the
// selected element, and the answer says what its value is now. Nothing where it was another's
// write.
std::optional<std::string> look_at_writer(Session& session);

}  // namespace tilescope
