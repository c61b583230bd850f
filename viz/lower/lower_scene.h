// From layouts to instructions, as a picture: a column for each level, a row for each statement,
// and lines from a statement to those of the next level that came from it.
//
// A statement of the program has a colour of its own, and what became of it has the same. With a
// statement that is followed, what it became and what it came from is framed, and all else is pale.
#pragma once

#include <optional>
#include <vector>

#include "core/lower/lowering.h"
#include "viz/scene/scene.h"

namespace tilescope {

struct LowerSpot {
  int level = 0, statement = 0;
  friend bool operator==(const LowerSpot&, const LowerSpot&) = default;
};

// Where in a picture the statements are: for pointing and clicks.
struct LowerFrame {
  std::vector<std::vector<Box>> rows;  // of each level; none where it is not shown
  double height = 0;                   // of all rows: how far there is to scroll
  std::optional<LowerSpot> at(Point point) const;
};

// In which all is seen, with no operation cut; types may be.
Size lower_size(const lowering::Lowering& lowering);

// What of it is shown.
struct LowerShown {
  std::optional<LowerSpot> followed;
  int first = 0;        // the level at the left, where not all fit beside each other
  double scrolled = 0;  // the rows are so many pixels up
};

// Drawn over the whole size: as many levels as fit with most of their operations uncut. Each row's
// hint is its whole text; a click on it follows it (`lower LEVEL N`, counted from 0), one on the
// levels that are not shown brings them (`lower from TITLE`).
LowerFrame draw_lower(Scene& scene, const lowering::Lowering& lowering, const LowerShown& shown);

// For a file.
Scene lower_scene(const lowering::Lowering& lowering, std::optional<LowerSpot> followed,
                  const Theme& theme);

}  // namespace tilescope
