// What pictures of layouts on axes share. Inside viz/scene only.
#pragma once

#include <vector>

#include "core/layout/layout.h"

namespace tilescope {

// The axes of a layout in the order in which its strides name them, "none" among them.
std::vector<Axis> axes_in(const Layout& layout);

// What a layout gives to one axis, as a plain layout.
Layout along(const Layout& layout, Axis axis);

bool all_known(const Layout& layout);

}  // namespace tilescope
