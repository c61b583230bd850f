// An image as a PNG of 8-bit RGBA pixels or, with at most 256 colours, of palette indices: for
// pictures inside an SVG, where no image library is available.
//
// The deflate stream uses the fixed Huffman codes and looks back one place by hash: repeated rows
// and runs, which grids of cells are made of, shrink well; photographs would not.
// Sources: PNG specification (W3C), RFC 1950 (zlib), RFC 1951 (deflate).
#pragma once

#include <string>

#include "viz/scene/scene.h"

namespace tilescope {

std::string small_png(const Image& image);
std::string base64(const std::string& bytes);

}  // namespace tilescope
