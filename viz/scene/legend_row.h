// The legend of a picture in one line: a swatch and a word each. What has no room is counted at its
// end, and named under the pointer there: a colour is never left unexplained without a sign.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "viz/scene/scene.h"

namespace tilescope {

struct LegendItem {
  std::optional<Ink> fill;
  std::string text;
  bool hatched = false;
  Ink edge = Role::line;
};

// From x to `right` about the height y. Answers where it ends.
double draw_legend_row(Scene& scene, double x, double y, double right,
                       const std::vector<LegendItem>& items);
// How wide all of them are together.
double legend_row_width(const std::vector<LegendItem>& items);

}  // namespace tilescope
