// What a reader can choose of a layout view: a colour, a cell, a set of cells. Plain values.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace tilescope {

// `axis` is the first axis that a layout's strides name; those after it have names of their own.
enum class ColourBy : std::uint8_t {
  tile,
  thread,
  warp,
  value,
  offset,
  bank,
  axis,
  axis2,
  axis3,
  axis4,
  none
};
std::string_view name_of(ColourBy by);
std::string colour_names(std::string_view separator);     // all of them
Outcome<ColourBy> colour_by_name(std::string_view name);  // a wrong name: the sentence lists all

// A cell of a grid of a view. Row and column count over the flattened modes.
struct Cell {
  int panel = 0;
  std::int64_t slice = 0, row = 0, column = 0;
  friend bool operator==(const Cell&, const Cell&) = default;
};

// A set of cells, as a predicate: all cells of thread 5, of tile 2, with offset 59, in bank 3. A
// phase is what a part of a warp asks shared memory for at once; which offsets these are the choice
// says.
struct Focus {
  enum class On : std::uint8_t { nothing, offset, tile, thread, warp, value, bank, phase };
  On on = On::nothing;
  std::int64_t number = 0;
  // Of an offset: the grid that shows this number, such as a swizzle's input; -1: where the element
  // is in memory at last, which is what most grids show.
  int grid = -1;
  friend bool operator==(Focus, Focus) = default;
};
std::string_view name_of(Focus::On on);
Outcome<Focus::On> focus_name(std::string_view name);
ColourBy colour_telling(Focus::On on);  // the colour that tells such sets apart

// What the reader chose. All of the view's changing state.
struct LayoutChoice {
  std::optional<ColourBy> colour;  // not set: the kind's own first
  std::optional<Cell> hover;
  std::optional<Cell> selected;
  Focus isolate;
  bool coordinates = false;  // labels are coordinates instead of offsets or owners
  int element_bytes = 0;     // for banks; 0: as wide as the value's elements are, else 4
  // Isolating a phase: the offsets that it asks for, in order.
  std::shared_ptr<const std::vector<std::int64_t>> phase;
  int phase_grid = -1;  // the grid that it asks for; -1: any
};

}  // namespace tilescope
