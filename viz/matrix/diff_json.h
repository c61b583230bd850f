// A difference as JSON for --describe: its totals, the element under the pointer.
#pragma once

#include "viz/matrix/diff_view.h"
#include "viz/scene/describe.h"

namespace tilescope {

Json describe(const DiffView& view, const DiffChoice& choice, const Scene& scene);

}  // namespace tilescope
