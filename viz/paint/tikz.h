// A scene as LaTeX: a document of its own that pdflatex, lualatex and xelatex compile, or whose
// tikzpicture is copied into another. It needs TikZ, geometry and inputenc, nothing else.
//
// Neighbouring cells of one colour are one rectangle. TeX holds a whole picture in memory, so a
// raster of more than 2^14 pixels is made coarser; a comment in the text says so.
#pragma once

#include <string>

#include "viz/scene/scene.h"

namespace tilescope {

std::string paint_tikz(const Scene& scene);

}  // namespace tilescope
