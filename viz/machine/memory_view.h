// The picture of a block's shared memory, and what is where in it.
//
//     +-- map --+-- canvas ----------------------------------+
//     | 0       |  A [0:128, 0:64]      B [0:128, 0:64]      |   map: all of memory, part by part;
//     | 16384   |  +----------+         +----------+         |   canvas: the parts as grids of
//     cells, | ...     |  | rows x   |         |          |         |   or the one with the byte
//     looked at | 98304   |  | chunks   |         |          |         |   alone, with its
//     coordinates
//     +---------+--------------------------------------------+
//     | legend: what colours mean                            |
//
// A cell of a tile is a 16-byte chunk: in the tile's own order (rows of the box), or in that of
// memory (rows of 128 bytes, which are the 32 banks once), where the swizzle is seen. Elsewhere a
// cell is a word of 4 bytes, that is a bank.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "viz/machine/machine_scene.h"
#include "viz/machine/memory_now.h"
#include "viz/scene/viewport.h"

namespace tilescope {

// How memory is looked at.
struct MemoryChoice {
  enum class Colour : std::uint8_t { tile, writer, value };
  Colour colour = Colour::tile;
  bool physical = false;  // the order of memory, not of the tiles
  bool both = false;      // one beside the other
  enum class Tensor : std::uint8_t { step, writer, value };
  // TMEM: by the step of K that was added last, where a record tells it, else by writer.
  Tensor tensor = Tensor::step;
  bool sums_by_thread = false;  // sums in registers on the matrices, not by value
  friend bool operator==(const MemoryChoice&, const MemoryChoice&) = default;
};
std::string_view name_of(MemoryChoice::Colour colour);
std::string_view name_of(MemoryChoice::Tensor colour);

struct MemoryCard {
  std::size_t part = 0;
  Box grid;  // all of its cells, seen or not
  Box room;  // where they may be seen
  std::uint32_t rows = 0, columns = 0, cell_bytes = 16;
  bool tile = false, physical = true;
  std::uint32_t base = 0;  // in the order of memory: the first row's byte

  double cell_width() const { return grid.width / columns; }
  double cell_height() const { return grid.height / rows; }
  Box cell(std::uint32_t row, std::uint32_t column) const {
    return {grid.x + column * cell_width(), grid.y + row * cell_height(), cell_width(),
            cell_height()};
  }
};

struct MemoryFrame {
  std::shared_ptr<const MemoryNow> now;
  Viewport viewport;  // cell: how many times larger than what fits
  Box body, canvas, legend;
  std::vector<Box> map;  // of each part
  std::vector<MemoryCard> cards;
  std::size_t left_out = 0;  // parts that have no room for a card
  bool alone = false;        // one part, that of the byte looked at

  // Of a card: the byte at a cell; nothing: no byte of the part is there.
  std::optional<std::uint32_t> byte_in(const MemoryCard& card, std::uint32_t row,
                                       std::uint32_t byte_of_row) const;
  // Where a byte is: row, and byte of the row.
  std::optional<TilePlace> place_in(const MemoryCard& card, std::uint32_t byte) const;
};
MemoryFrame arrange(std::shared_ptr<const MemoryNow> now, const RunCursor& spot,
                    const MemoryChoice& choice, const Box& room, const Viewport& viewport);
void draw_memory(Scene& scene, const MemoryFrame& frame, const MachineShown& shown,
                 const MemoryChoice& choice, std::optional<std::uint32_t> hover,
                 RasterStore& rasters);
// Those who have a part in a report, on the bytes of a card; and which of them a part of memory
// belongs to.
void draw_marks(Scene& scene, const MemoryFrame& frame, const MemoryCard& card,
                const Evidence& evidence);
std::vector<std::size_t> parties_in(const MemoryPart& part, const Evidence& evidence,
                                    std::uint64_t block);
// The byte under a point: the first one of a part in the map.
std::optional<std::uint32_t> byte_at(const MemoryFrame& frame, Point at);
Viewport zoomed(const MemoryFrame& frame, Point at, double factor);
Viewport panned(const MemoryFrame& frame, double dx, double dy);

// The colour of a tile's part: a hue each.
Rgba part_colour(const MemoryPart& part, const Theme& theme);

}  // namespace tilescope
