// Points, sizes and boxes of a scene. The unit is one pixel at 100% (1/96 inch); y grows downwards.
#pragma once

#include <algorithm>
#include <cmath>

namespace tilescope {

struct Point {
  double x = 0, y = 0;
  friend bool operator==(Point, Point) = default;
};

struct Size {
  double width = 0, height = 0;
  friend bool operator==(Size, Size) = default;
};

struct Box {
  double x = 0, y = 0, width = 0, height = 0;

  double right() const { return x + width; }
  double bottom() const { return y + height; }
  Point centre() const { return {x + width / 2, y + height / 2}; }
  bool empty() const { return !(width > 0 && height > 0); }
  bool contains(Point p) const { return p.x >= x && p.x < right() && p.y >= y && p.y < bottom(); }
  // The part in both; empty where they do not meet.
  Box cut(const Box& other) const {
    const double left = std::max(x, other.x), top = std::max(y, other.y);
    return {left, top, std::min(right(), other.right()) - left,
            std::min(bottom(), other.bottom()) - top};
  }
  Box grown(double by) const { return {x - by, y - by, width + 2 * by, height + 2 * by}; }
  friend bool operator==(const Box&, const Box&) = default;
};

}  // namespace tilescope
