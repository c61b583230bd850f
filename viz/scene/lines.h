// What is told of something, a line each: its name, its value.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace tilescope {

using Lines = std::vector<std::pair<std::string, std::string>>;

}  // namespace tilescope
