// What the inspector tells of a machine that is stopped: what has just happened, what each warp
// of the block is about to do or waits for, and of what is looked at every number.
#pragma once

#include <vector>

#include "viz/session/panels.h"
#include "viz/session/session.h"

namespace tilescope {

void inspect_machine(const Session& session, std::vector<InspectorSection>& out);

// Where the machine is, for the strip below: steps both ways as buttons.
Strip machine_strip(const Session& session);

}  // namespace tilescope
