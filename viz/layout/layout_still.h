// Which size a still picture needs, for what refuses or advises one.
#pragma once

#include <optional>

#include "viz/layout/layout_scene.h"

namespace tilescope {

// The smallest size, neither side less than `from`, at which build_scene of that size writes what
// the colours mean into every grid; nothing where none does that a viewer would open.
std::optional<Size> size_that_tells(const LayoutView& view, const LayoutChoice& choice,
                                    const Theme& theme, Size from, double smallest = 0.7);
// The smallest at which every grid can be made out.
std::optional<Size> size_with_room(const LayoutView& view, Size from);

}  // namespace tilescope
