// A fault opens at its moment, with the view that explains it.
#pragma once

#include "viz/scene/session.h"

namespace tilescope {

// The barrier and who is missing; the bytes that two met in; columns of TMEM; else the line.
ViewName view_of_fault(const Report& report);
// Looks at the warp and lane of the fault that the run ended with.
void show_fault(Choices& choices);

}  // namespace tilescope
