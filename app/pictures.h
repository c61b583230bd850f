// A scene in the format that a file's name asks for, with the program's own fonts.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "viz/scene/scene.h"

namespace tilescope {

// By the extension: .svg, .png or .pdf. Another one is a usage error that names these.
Outcome<std::vector<std::byte>> paint_for_file(const Scene& scene, std::string_view path);

}  // namespace tilescope
