// TMEM: the memory of the tensor cores (PTX ISA 9.7.16.1), as one block sees it.
//
//   128 lanes x 512 columns of 32 bits       address = lane << 16 | column
//
// A block has the columns that it allocated, in blocks of 32 with all their lanes, and no others;
// the 512 of a processor are shared by the blocks that are resident on it (Grid keeps them
// apart). What was never written is undefined, byte by byte.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/sim/machine/pending.h"

namespace tilescope::sim {

struct TensorAddress {
  std::uint32_t lane = 0, column = 0;
  static TensorAddress of(std::uint32_t bits) { return {bits >> 16, bits & 0xffff}; }
};

// Cells of TMEM: lanes x columns.
struct CellRange {
  std::uint32_t lane = 0, lanes = 0, column = 0, columns = 0;
  friend bool operator==(const CellRange&, const CellRange&) = default;
  bool meets(const CellRange& o) const {
    return lane < o.lane + o.lanes && o.lane < lane + lanes && column < o.column + o.columns &&
           o.column < column + columns;
  }
};
std::string cells_text(const CellRange& cells);  // "lanes 32-63, columns 0-31 of TMEM"
// The first of `a` that meets one of `b`, or null.
const CellRange* meeting(const std::vector<CellRange>& a, const std::vector<CellRange>& b);

// Columns that the block has, or had, and the tcgen05.alloc, or dealloc, that says so.
struct Allocation {
  std::uint32_t column = 0, columns = 0;
  std::uint32_t thread = 0, pc = 0;
  std::uint32_t epoch = 0;  // of a dealloc: of its warp
};

class TensorMemory {
 public:
  TensorMemory() = default;
  TensorMemory(const TensorMemory& other) = default;
  TensorMemory(TensorMemory&& other) noexcept { swap(other); }
  TensorMemory& operator=(TensorMemory other) noexcept;
  ~TensorMemory() { pending_.settle(); }

  static constexpr std::uint32_t lanes = 128, columns = 512, unit = 32;  // allocated by `unit`
  // Rows of cells are a little further apart than they are long: rows a power of two apart would
  // share few places of the processor's caches.
  static constexpr std::uint32_t pitch = columns + 16;  // whole cache lines

  const std::vector<Allocation>& allocations() const { return allocations_; }
  // Columns [column, column + columns) are set apart for the block, with undefined cells, and
  // become its own; allocate() does both.
  void reserve(std::uint32_t column, std::uint32_t columns);
  void take(const Allocation& allocation);
  void allocate(const Allocation& allocation) {
    reserve(allocation.column, allocation.columns);
    take(allocation);
  }
  // Frees the allocation that begins at this column with so many, as the tcgen05.dealloc in
  // `by` says. False where there is none.
  bool deallocate(const Allocation& by);
  bool owns(std::uint32_t column, std::uint32_t columns) const;
  // The last to free one of these columns, which the block has not allocated again; or null.
  const Allocation* given_back(std::uint32_t column, std::uint32_t count) const;
  void start() { given_back_.clear(); }  // for another block, which knows nothing of the last

  // Lane by lane; needs owns() of the columns. Waits for what calculate() has begun.
  const std::uint32_t* row(std::uint32_t lane) const {
    pending_.settle();
    return cells_[lane].cells;
  }
  std::uint32_t* row(std::uint32_t lane) {
    pending_.settle();
    return cells_[lane].cells;
  }

  // Has the cells changed by `work`, which is given lane 0's row, the others `pitch` apart; after
  // earlier ones. By the executor while others go on, or at once where there is none.
  void calculate(Executor* executor, std::function<void(std::uint32_t* rows)> work);

  std::uint64_t held() const { return cells_.size() * sizeof cells_[0] + undefined_.size(); }

  // Four bits a cell, one for each undefined byte.
  std::uint8_t undefined(std::uint32_t lane, std::uint32_t column) const {
    return undefined_[lane * columns + column];
  }
  void set_undefined(std::uint32_t lane, std::uint32_t column, std::uint8_t bytes) {
    undefined_[lane * columns + column] = bytes;
  }
  bool any_undefined(std::uint32_t lane, std::uint32_t column, std::uint32_t count) const;
  void define(std::uint32_t lane, std::uint32_t column, std::uint32_t count);

 private:
  void swap(TensorMemory& other) noexcept;

  Pending pending_;  // first: waited for before cells are copied
  std::vector<Allocation> allocations_, given_back_;
  struct alignas(64) Row {  // so that vectors of cells lie in one line of the processor's caches
    std::uint32_t cells[pitch];
  };
  std::vector<Row> cells_;               // from the first allocation on
  std::vector<std::uint8_t> undefined_;  // likewise
};

}  // namespace tilescope::sim
