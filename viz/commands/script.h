// Several commands one after the other. A run takes its time: what stands behind it waits until its
// result is there, and whoever shows the window or works without one goes on then.
//
//     start_script(session, workshop, {"open elementwise_add", "run", "pick 3 5"});
//     ... take_result(session, workshop) ...
//     continue_script(session, workshop);
//
// The first command that is refused ends it; its sentence is the session's message.
#pragma once

#include <string>
#include <vector>

#include "core/error.h"
#include "viz/session/session.h"
#include "viz/session/workshop.h"

namespace tilescope {

// An earlier script is given up. Answers the last message so far, or the refusal.
Outcome<std::string> start_script(Session& session, Workshop& workshop,
                                  std::vector<std::string> lines);
// Goes on if there is something to go on with and no run in progress; true if it did.
bool continue_script(Session& session, Workshop& workshop);

}  // namespace tilescope
