// Words with code between backquotes, in lines: what a paragraph is in a scene.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "viz/scene/scene.h"

namespace tilescope {

// A stretch of a line in one kind of letters, `x` pixels from its begin.
struct RichPiece {
  std::string text;
  Family family = Family::sans;
  double x = 0;
};

// Of small letters, broken at blanks, none wider than `width` but where one word is.
std::vector<std::vector<RichPiece>> rich_lines(std::string_view text, double width);

// The same at `at`, one line `apart` below the other; answers how high they are.
double draw_rich(Scene& scene, std::string_view text, Point at, double width, double apart,
                 const Ink& ink);

}  // namespace tilescope
