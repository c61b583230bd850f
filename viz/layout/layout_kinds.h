// What a layout view keeps beside its grids, by kind.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/language/language.h"

namespace tilescope {

// Divided, and of a product its copies: which tile a cell belongs to, and which element of the
// input it is. Of parts: whether some cells are beyond the whole, and what tells elements apart.
struct LayoutTiles {
  // A stretch of bits of a key that holds the input's coordinate in one part of its shape. Parts
  // are kept apart so that padding of a division is never mistaken for another element.
  struct KeyPart {
    int shift = 0;
    std::int64_t mask = 0, extent = 1, weight = 1;  // weight: of one step, in elements of the input
  };

  std::int64_t tiles = 0, tile_size = 1;
  bool padded = false;      // some cells are beyond the input, or the whole
  bool by_element = false;  // parts: told by elements, not by offsets
  bool by_mode = false;     // each mode cut on its own
  Tuple input_shape, tile_shape, rest_shape;
  std::vector<KeyPart> key_parts;
  std::vector<std::uint32_t> place_of;  // by element of the input
  // With grids of a derivation: (offset, element of the input), in order.
  std::shared_ptr<const std::vector<std::pair<std::int64_t, std::int64_t>>> element_at;
};

// Strides on axes, or unknown numbers: a cell shows places.
struct LayoutPlaces {
  // A scale, such as an axis of the strides, and each cell's number on it.
  struct OnAxis {
    std::string title;  // "axis TLane"
    std::int64_t lowest = 0, highest = 0;
    std::vector<std::int64_t> numbers;  // by index
  };

  std::shared_ptr<const std::vector<std::vector<std::string>>> texts;  // by index
  std::shared_ptr<const std::vector<OnAxis>> on_axes;                  // in order of the strides
  std::size_t longest = 0;                                             // in characters
  std::int64_t most = 1;                                               // of one element
};

// Threads and values, and what is in TMEM.
struct LayoutOwnership {
  std::int64_t threads = 0, values = 0;
  std::int64_t most_owners = 0;          // of one cell
  std::string thread_mark = "T";         // what counts as a thread
  std::vector<std::string> value_names;  // what values are, where they are more than numbers
  // TMEM: values of one region, such as its copies, share a colour.
  std::vector<int> group_of_value;
  std::vector<std::string> group_names;
};

}  // namespace tilescope
