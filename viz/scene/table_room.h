// Which columns of a table a room leaves out, so that whoever draws it can say so.
#pragma once

#include <string>
#include <vector>

#include "viz/scene/table_scene.h"

namespace tilescope {

// Their titles, from left to right.
std::vector<std::string> columns_left_out(const Table& table, double width);

}  // namespace tilescope
