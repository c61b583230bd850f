// What is in a block's shared memory while the machine is stopped: the model behind its
// picture, made once for a moment and read by picture, hit tests, inspector and matrices alike.
//
// Memory falls into parts, in the order of their addresses and without gaps: tiles that TMA has
// brought, takes or is bringing; mbarriers; variables of the program; and what threads wrote, cut
// where another line of the source wrote it. A tile's rows are at `pitch`, its 16-byte chunks moved
// by the swizzle of its tensor map (PTX ISA 5.5.7):
//
//     place of row r, byte b   swizzled(first + r * pitch + b)      byte_of()
//     and back                 the same again: a swizzle undoes itself   place_of()
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/sim/stepping/inspect.h"
#include "viz/machine/live_run.h"

namespace tilescope {

// A byte of a tile as the tensor map means it.
struct TilePlace {
  std::uint32_t row = 0, byte = 0;  // byte of the row
  friend bool operator==(TilePlace, TilePlace) = default;
};
std::uint32_t byte_of(const sim::Box& box, TilePlace at);
// Nothing: the byte is not the box's, or is between its rows.
std::optional<TilePlace> place_of(const sim::Box& box, std::uint32_t byte);

// An element of a job's buffer as a matrix: the last index is the column, the others the row.
struct TensorElement {
  std::size_t buffer = 0;
  std::int64_t row = 0, column = 0;
  friend bool operator==(TensorElement, TensorElement) = default;
};

struct MemoryTile {
  sim::TileState state;
  std::vector<sim::BoxRow> rows;
  std::string name;                   // "A [0:128, 64:128]"
  std::uint32_t slot = 0, slots = 1;  // which of the places that boxes of this tensor have
  // Of a pipeline's: N where the copy completes on full[N].
  std::optional<std::uint32_t> stage;
  bool written_over = false;  // by others, since it was brought

  const sim::Box& box() const { return state.tile.box; }
  DType type() const { return box().map.dtype; }
  bool coming() const { return state.in_flight && !state.tile.stored; }
  bool leaving() const { return state.in_flight && state.tile.stored; }
  // "stage 1"; "place 1", counted by address, where no barrier says which; "": there is but one.
  std::string where() const;
};

struct MemoryPart {
  enum class Kind : std::uint8_t { tile, written, mbarrier, untouched };
  Kind kind = Kind::untouched;
  std::uint32_t begin = 0, end = 0;
  std::string name, detail;
  std::string state;  // of a tile: "coming, issued"
  int category = -1;  // its colour, of a tile and of what threads wrote
  // Of a tile in a stage: the step of K, whose hue it has then (viz/machine/pipeline_now.h).
  std::optional<std::uint32_t> step = {};
  std::optional<std::size_t> there, coming;  // of a tile: what is there, what is in flight
  std::uint32_t bytes() const { return end - begin; }
};

struct MemoryNow {
  std::uint64_t block = 0;
  std::string state;              // "resident", or why there is nothing
  std::uint32_t threads = 0;      // of the block
  std::vector<MemoryTile> tiles;  // as sim::tiles_of
  std::vector<MemoryPart> parts;
  std::vector<sim::MbarrierState> mbarriers;
  std::vector<sim::OperationState> operations;  // in flight
  DType type = DType::f32;  // what memory that no tile covers is read as: the inputs' type
  // By byte, and by word of 4 bytes.
  std::vector<std::byte> values;
  std::vector<bool> undefined;
  std::vector<sim::Writer> writers;

  std::uint32_t bytes() const { return static_cast<std::uint32_t>(values.size()); }
  const MemoryPart* part_at(std::uint32_t byte) const;
  // The tile that a part shows: what is coming, else what is there; null: it is none.
  const MemoryTile* tile_in(const MemoryPart& part) const;
  // The element of a tensor whose byte this is. Nothing: none, or one outside of the tensor, for
  // which TMA fills in.
  std::optional<TensorElement> element_at(const MemoryTile& tile, std::uint32_t byte) const;
  // Its value, as the tile's type, or as `type`; "undefined".
  std::string value_at(std::uint32_t byte) const;
  DType type_at(std::uint32_t byte) const;

  // Elements of a row in each buffer: its last extent.
  std::vector<std::int64_t> row_lengths;
  std::vector<std::uint64_t> bases;  // of the buffers
};

std::shared_ptr<const MemoryNow> memory_now(const sim::Machine& machine, std::uint64_t block);

// "rows 0 to 127" of a tensor, innermost last: "[0:128, 64:128]".
std::string extent_text(const sim::Box& box);

}  // namespace tilescope
