// --describe: every shown label and value of a view as a JSON tree, for tests and screen readers.
//
// The tree follows the scene's groups: {"name", "texts": [...], "groups": [...]}; the labels of a
// grid's cells are row by row under "rows". What a view knows beyond its picture (the cell under
// the pointer, the choice of colour) is beside it. Equal views give equal bytes.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "viz/scene/lines.h"
#include "viz/scene/scene.h"

namespace tilescope {

using Json = nlohmann::ordered_json;

Json describe(const Scene& scene);
Json lines_of(const Lines& lines);

}  // namespace tilescope
