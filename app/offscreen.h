// A surface to draw on where there is no display: an EGL pbuffer with an OpenGL 3.3 core context.
//
// Pictures made here must not depend on the machine, so Mesa's software rasteriser is asked for
// (LIBGL_ALWAYS_SOFTWARE; set it to 0 in the environment to draw on the GPU). A machine without
// EGL or without such a context answers ErrorKind::no_device.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/error.h"

namespace tilescope {

// Pixels as they are in memory: top row first, four bytes a pixel: red, green, blue, alpha.
struct Pixels {
  int width = 0, height = 0;
  std::vector<std::uint8_t> rgba;
};

class Offscreen {
 public:
  virtual ~Offscreen() = default;
  // What has been drawn since the context was made current, which it is from open() on.
  virtual Pixels read() const = 0;
  // Waits until all that was asked for is drawn, so that a frame can be timed.
  virtual void finish() const = 0;

  static Outcome<std::unique_ptr<Offscreen>> open(int width, int height);
};

}  // namespace tilescope
