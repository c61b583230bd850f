// A grid of a layout view: a panel, and what is known of one of its cells.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/language/language.h"
#include "viz/layout/layout_choice.h"
#include "viz/layout/layout_owners.h"

namespace tilescope {

// Everything the inspector tells about a cell.
struct CellInfo {
  Cell cell;
  bool inside = true;              // false: padding of a division that leaves a remainder
  Tuple coordinate;                // nested, with the structure of the panel's shape
  std::vector<std::int64_t> flat;  // (i, j, k...): one number a top-level mode
  std::int64_t index = 0;          // colexicographic
  std::int64_t offset = 0;
  std::optional<Tuple> input_coordinate;  // divided: where the element is in the input
  std::optional<std::int64_t> tile;       // divided: its tile, counted colexicographically
  std::optional<Tuple> tile_coordinate;   // divided: the tile's coordinate in the rest modes
  std::optional<Tuple> in_tile;           // divided: its coordinate inside the tile
  std::optional<std::int64_t> element;  // where the grid shows coordinates: the offset they lead to
  std::int64_t bits_in_element = 32;    // for the byte address
  bool bits_known = false;              // else taken for granted
  // Of a swizzled layout: the offset before the swizzle, and which bits it reads.
  struct Swizzled {
    std::int64_t before = 0, after = 0;
    Swizzle by;
  };
  std::optional<Swizzled> swizzled;
  std::string place;                 // places: where strides on axes lead
  std::optional<bool> taken;         // parts: whether the next one has it
  bool threads = false;              // thread_value: owners are meant
  std::string thread_mark = "T";     // what counts as a thread: "T", "CTA", "R", "L"
  std::vector<Owner> owners;         // all of them, by thread then value
  std::vector<std::string> regions;  // TMEM: what is there, by owner
  std::int64_t bank = 0;
  // The same as lines for an inspector: {"offset", "59"}...
  std::vector<std::pair<std::string, std::string>> lines() const;
};

// Lines between parts of a nested mode: one every `period` cells; level 1 between the mode's own
// parts, 2 inside these, 3 deeper.
inline constexpr int division_levels = 3;
struct Division {
  std::int64_t period = 1;
  int level = 1;
};

struct Panel {
  std::string title;    // "Input"
  std::string axes;     // what rows and columns are
  std::string formula;  // "(9,(4,8)):(59,(13,1))"
  Layout layout;        // coordinates of the grid -> offset
  std::int64_t rows = 0, columns = 0;
  // Those that are shown, [first_slice, first_slice + slices), of all (viz/layout/layout_slices.h).
  std::int64_t slices = 1, first_slice = 0, all_slices = 1;
  // Where a reader has chosen other modes as rows and columns: `layout` has mode order[i] as its
  // i-th, and was this before.
  std::vector<int> order = {};
  std::optional<Layout> unturned = {};
  std::vector<Division> row_divisions, column_divisions;
  Layout keys;  // divided: coordinates of the grid -> element of the input (see .cpp)
  // A step of a division's derivation that shows coordinates: from these to elements of the input.
  std::optional<Layout> key_through;
  bool column_is_tile = false;  // divided: and its index is the tile's number
  // A derivation: the grid's values are coordinates of this layout; the offsets that it sends them
  // to are those of the other grids.
  std::optional<Layout> through;
  std::optional<Layout> tiles;  // plain: coordinates of the grid -> tile, of a product
  // How many slices make a row of them: all of mode 2 where there are more modes; 0: what fits.
  std::int64_t slices_in_row = 0;
  std::optional<Layout> again;  // not 0 where a stride of 0 brings an element once more
  // By index, where strides overlap otherwise: cells whose offset an earlier one has.
  std::shared_ptr<const std::vector<bool>> overlaps;
  bool repeats() const { return again.has_value() || overlaps != nullptr; }
  std::shared_ptr<const Owners> owners;  // thread_value; of the element at layout's offset
  std::optional<Layout> tv;              // thread_value: (thread, value) -> element of the tile
  Tuple tile;                            // its shape
  int element_bits = 0;                  // of this operand; 0: as the view's, or not known
  using Numbers = std::shared_ptr<const std::vector<std::int64_t>>;
  Numbers elements;  // parts: by index, which of the whole's it is, -1: beyond it; none: the whole
  // In order: what the next part takes, and what the last one does, where that is a further one.
  // Elements of the whole, or offsets where a chain does not say which elements it takes.
  Numbers part, last_part;
  // The rectangle of cells that each of them is, where it is one.
  struct Rectangle {
    std::int64_t row = 0, column = 0, rows = 0, columns = 0;
  };
  std::optional<Rectangle> part_frame, last_part_frame;
};

std::string_view words_for(Memory memory);  // "shared memory"
// What rows, columns and slices of a layout's grid are, in words.
std::string axes_of(const Layout& layout);

}  // namespace tilescope
