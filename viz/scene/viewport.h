// What part of a view is looked at and how large, and what was rasterised for it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "viz/scene/scene.h"

namespace tilescope {

// The same in the data's own terms (viz/session/look.h): pixels a cell, and what is in the middle.
struct ViewportPlace {
  double cell = 0, row = 0, column = 0;
  int grid = 0;
  std::int64_t slice = 0;
};

// What part of the view is looked at, and how large.
struct Viewport {
  Size size{};             // of the picture; 0 x 0: as large as the content wants to be
  double cell = 0;         // pixels a cell; 0: what fits the size
  Point pan{};             // how far the content is moved to the left and up
  double pixel_scale = 1;  // device pixels for one pixel at 100%, for the fineness of rasters
  bool title = true, legend = true;
  bool formulas = true;                    // under the panels' titles
  std::string advice = {};                 // one more note under the picture
  std::optional<ViewportPlace> look = {};  // asked for; the next picture brings it about
  // Found by arrange(): what a panel's words widen it to at most, what narrow operands are drawn
  // out to, and how many notes there is room for.
  double heading = 0, side = 0;
  std::size_t notes = 0;
};

// Drag of content that is larger than the picture: it keeps half of `body`, or as much of it as
// there is. `home`: where it is at no pan. Answers the pan.
Point dragged(const Viewport& viewport, const Box& home, const Box& body, double dx, double dy);
// Zoom and drag of a canvas whose content fills it at cell 1, the least: what is under `at` stays
// there, and no edge of the content comes inside.
Viewport magnified(const Viewport& viewport, const Box& canvas, Point at, double factor,
                   double most);
Viewport dragged_inside(const Viewport& viewport, const Box& canvas, double dx, double dy);

// Cells a raster was made for are kept here between frames, so that a texture is made once a
// change. Plain value without a lifetime of its own; the window keeps one a view.
struct RasterStore {
  struct Entry {
    std::vector<double> key;
    std::shared_ptr<const Image> image;
  };
  std::vector<Entry> entries;  // at most a few; the oldest goes first
  // What they were made from, which stays the same while the pointer lights other cells.
  struct Base {
    std::vector<double> key;
    std::shared_ptr<void> painted;  // what the view that paints keeps
  };
  std::vector<Base> bases;
  std::vector<Rgba> colours;  // room for a grid's, used again
};

}  // namespace tilescope
