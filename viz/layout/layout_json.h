// A layout's view as JSON for --describe: its grids, the choice of colour, the cell under the
// pointer.
#pragma once

#include "viz/layout/layout_view.h"
#include "viz/scene/describe.h"

namespace tilescope {

Json describe(const CellInfo& info);
Json describe(const LayoutView& view, const LayoutChoice& choice, const Scene& scene);

}  // namespace tilescope
