// Several commands one after the other. A run takes its time: what is behind it waits until its
// result is there, and whoever shows the window or works without one goes on then.
//
//     start_script(session, backend, {"open elementwise_add", "run", "pick 3 5"});
//     ... take_result(session, backend) ...
//     continue_script(session, backend);
//
// The first command that is refused ends it; its sentence is the session's message.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "viz/session/backend.h"
#include "viz/session/session.h"

namespace tilescope {

// An earlier script is given up. Answers the last message so far, or the refusal.
Outcome<std::string> start_script(Session& session, Backend& backend,
                                  std::vector<std::string> lines);
// Goes on if there is something to go on with and no run in progress; true if it did.
bool continue_script(Session& session, Backend& backend);
// Waits until what commands began has ended: a run, the machine's way to a place, and the lines
// that wait for them (`compare` leaves some). Answers what such a line was refused with; how a run
// ended is in Session.
std::optional<Error> finish_commands(Session& session, Backend& backend);

}  // namespace tilescope
