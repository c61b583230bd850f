// Rasters as textures, without saying whose: OpenGL in the window, nothing in tests.
#pragma once

#include <imgui.h>

#include <cstdint>
#include <span>

namespace tilescope::ui {

class Textures {
 public:
  virtual ~Textures() = default;
  // A texture of width x height pixels, rgba from the top row down, four bytes a pixel. `smooth`
  // mixes neighbouring pixels, for drawing it smaller; otherwise the nearest is taken.
  virtual ImTextureID make(int width, int height, std::span<const std::uint8_t> rgba,
                           bool smooth) = 0;
  virtual void drop(ImTextureID texture) = 0;
  virtual int largest() const = 0;  // pixels in width or height
};

}  // namespace tilescope::ui
