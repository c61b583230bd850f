#include "viz/scene/viewport.h"

#include <algorithm>

namespace tilescope {

Point dragged(const Viewport& viewport, const Box& home, const Box& body, double dx, double dy) {
  const auto along = [](double pan, double begin, double length, double from, double to) {
    const double half = std::min(length, (to - from) / 2);
    const double least = begin - to + half;
    return std::clamp(pan, least, std::max(least, begin + length - from - half));
  };
  return {along(viewport.pan.x - dx, home.x, home.width, body.x, body.right()),
          along(viewport.pan.y - dy, home.y, home.height, body.y, body.bottom())};
}

Viewport magnified(const Viewport& viewport, const Box& canvas, Point at, double factor,
                   double most) {
  Viewport out = viewport;
  out.cell = std::clamp(viewport.cell * factor, 1.0, most);
  const double ratio = out.cell / viewport.cell;
  const Point held{std::clamp(at.x - canvas.x, 0.0, canvas.width),
                   std::clamp(at.y - canvas.y, 0.0, canvas.height)};
  out.pan = {(held.x + viewport.pan.x) * ratio - held.x,
             (held.y + viewport.pan.y) * ratio - held.y};
  return dragged_inside(out, canvas, 0, 0);
}

Viewport dragged_inside(const Viewport& viewport, const Box& canvas, double dx, double dy) {
  Viewport out = viewport;
  out.pan = {std::clamp(viewport.pan.x - dx, 0.0, canvas.width * (viewport.cell - 1)),
             std::clamp(viewport.pan.y - dy, 0.0, canvas.height * (viewport.cell - 1))};
  return out;
}

}  // namespace tilescope
