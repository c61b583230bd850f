// A scene: what a picture shows, before anything is painted.
//
//     view model -> build_scene(...) -> Scene -> painter: ImGui, SVG, PNG, PDF, TikZ, terminal text
//
// Items are painted in order, later over earlier. Groups nest; they name the parts ("panel Input",
// "rows", "cells") for --describe and for the ids of an SVG, and may clip what they hold. Targets
// say what a click on a place means. Nothing here knows a painter.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "viz/scene/font_metrics.h"
#include "viz/scene/geometry.h"
#include "viz/scene/theme.h"

namespace tilescope {

struct Stroke {
  Ink ink;
  double width = 0;  // 0: none
  bool dashed = false;
};

struct Rectangle {
  Box box;
  std::optional<Ink> fill;
  Stroke stroke;      // centred on the edge
  double radius = 0;  // of the corners
};

struct Line {
  std::vector<Point> points;
  Stroke stroke;
  bool arrow = false;  // a head at the last point
};

// Many separate straight lines of one stroke, such as those of a grid.
struct Segments {
  std::vector<std::pair<Point, Point>> lines;
  Stroke stroke;
};

enum class Across { left, centre, right };

// One line of text. `at` is on the vertical middle of the capital letters, and horizontally at the
// left end, centre or right end of the text.
struct Text {
  Point at;
  std::string text;
  double size = small_text;
  Family family = Family::sans;
  FontWeight weight = FontWeight::regular;
  Across across = Across::left;
  Ink ink;
};

// Image that are not blurred when they are enlarged: each covers an equal part of the box. A grid
// of cells is one raster (a pixel a cell, or coarser), whatever the zoom; a painter makes a
// texture, an image or merged rectangles of it.
struct Image {
  int columns = 0, rows = 0;
  std::vector<Rgba> rgba;     // row by row
  std::uint64_t version = 0;  // differs wherever the content differs: the key of a texture cache
};
struct Raster {
  Box box;
  std::shared_ptr<const Image> image;
};

struct GroupBegin {
  std::string name;
  std::optional<Box> clip;
};
struct GroupEnd {};

using Item = std::variant<Rectangle, Line, Segments, Text, Raster, GroupBegin, GroupEnd>;

// A place that answers a click, with the window command that it means ("colour value").
struct Target {
  Box box;
  std::string command;
  std::string hint;  // what the click does, in words
};

// A place that has more to tell than is written there: a title in an SVG.
struct Hint {
  Box box;
  std::string text;
};

struct Scene {
  Size size;    // what is not inside [0, size) is not painted
  Theme theme;  // resolves the roles
  std::string title;
  std::vector<Item> items;
  std::vector<Target> targets;
  std::vector<Hint> hints;

  void add(Item item) { items.push_back(std::move(item)); }
  void begin(std::string name, std::optional<Box> clip = {}) {
    items.emplace_back(GroupBegin{std::move(name), clip});
  }
  void end() { items.emplace_back(GroupEnd{}); }
};

// The picture's title at `at`, in a group of its own: a size smaller where the picture is too
// narrow for it, then cut in the middle.
void draw_title(Scene& scene, const std::string& title, Point at);

// A version that no other image of this process have.
std::uint64_t new_image_version();
// One row of colours, for a legend. Equal colours have equal versions, whenever they are made.
std::shared_ptr<const Image> ramp_image(std::vector<Rgba> colours);

}  // namespace tilescope
