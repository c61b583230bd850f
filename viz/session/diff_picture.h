// The diff view as it is in the window: the map, or the worst elements as a table, and below it
// how many elements have which error.
#pragma once

#include "viz/session/session.h"

namespace tilescope {

Picture diff_picture(Session& session, Size size, double pixel_scale, bool stands_alone);

}  // namespace tilescope
