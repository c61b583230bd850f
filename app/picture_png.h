// Pixels as a PNG file and back: pictures of the window, and the references they are compared with.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "app/offscreen.h"
#include "core/error.h"

namespace tilescope {

// 8-bit RGB; the alpha of a window is of no interest.
Outcome<std::vector<std::byte>> png_of(const Pixels& pixels);
Outcome<Pixels> pixels_of_png(std::span<const std::byte> png);

}  // namespace tilescope
