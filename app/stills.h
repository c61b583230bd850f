// A layout as a still picture, from what a user asked for: `tilescope draw` and the Python package.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/error.h"
#include "viz/layout/layout_view.h"

namespace tilescope {

// As the command line says it. Empty words: what suits the layout, and as large as it needs.
struct StillOptions {
  // F.svg, F.png, F.pdf, F.tex, F.txt, or - for text: the name says the format. Nothing is written.
  std::string output;
  std::string colour;  // ColourBy, by name
  std::string size;    // "1600x1000"
  std::string theme = "light";
};

// "preset NAME", or an expression.
Outcome<LayoutView> still_view(const std::string& what);

// The bytes of the picture. Refused: a word that is none of those there are, a size in which
// nothing would be seen, a colour that the view cannot have.
Outcome<std::vector<std::byte>> still_of(const LayoutView& view, const StillOptions& options);
// The view is only made where the words are right.
Outcome<std::vector<std::byte>> still_of(const std::string& what, const StillOptions& options);

}  // namespace tilescope
