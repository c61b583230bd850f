// A scene as SVG 1.1 text: one file, no script, no outside font or image.
//
// Neighbouring cells of one colour become one path; a raster of more than 2^16 pixels becomes one
// embedded PNG. Text is text (DejaVu Sans and Mono, with the usual families after them).
#pragma once

#include <string>

#include "viz/scene/scene.h"

namespace tilescope {

std::string paint_svg(const Scene& scene);

}  // namespace tilescope
