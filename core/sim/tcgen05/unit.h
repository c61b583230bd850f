// The tensor core's side of a block: its TMEM, what is under way to and from it, and who has been
// told of what (PTX ISA 9.7.16.6).
//
// tcgen05.ld and .st take effect when they are issued here, which is one of the legal moments;
// until their warp's tcgen05.wait they count as under way, and who gets in their way is at fault. A
// tcgen05.mma is an AsyncOperation (core/sim/async/operation.h): it reads its operands at one
// moment and writes TMEM at another, in a pipe with the others of its thread and their commits.
//
// Across threads tcgen05 operations are ordered by fence::before_thread_sync in front of, and
// fence::after_thread_sync behind, whatever synchronises the threads. A missing one is a hazard:
// the order is not promised, and here is as if it were. Time is counted in events of the block.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/sim/races.h"
#include "core/sim/tcgen05/tensor_memory.h"

namespace tilescope::sim {

struct Block;
struct Core;
class Machine;

// Cells of TMEM: lanes x columns.
struct CellRange {
  std::uint32_t lane = 0, lanes = 0, column = 0, columns = 0;
  friend bool operator==(const CellRange& a, const CellRange& b) {
    return a.lane == b.lane && a.lanes == b.lanes && a.column == b.column && a.columns == b.columns;
  }
  bool meets(const CellRange& o) const {
    return lane < o.lane + o.lanes && o.lane < lane + lanes && column < o.column + o.columns &&
           o.column < column + columns;
  }
};
std::string cells_text(const CellRange& cells);  // "lanes 32-63, columns 0-31 of TMEM"

// A tcgen05.ld or .st that its warp has not waited for.
struct TensorMove {
  std::uint32_t warp = 0, pc = 0;
  bool store = false;
  std::vector<CellRange> cells;
};

// What a warp was last told: events of the block, 0 for never.
struct TensorOrder {
  std::uint64_t synchronised = 0;  // passed a barrier, or an mbarrier's phase
  std::uint64_t covered = 0;       // the last of these before a fence::after_thread_sync
  std::uint64_t before = 0;        // fence::before_thread_sync

  // Something that another did at `event`: did a barrier since then pass without a fence behind it?
  bool misses_fence(std::uint64_t event) const { return event > covered && event < synchronised; }
};

// What a warp did with cells of TMEM: a ld or st, or an mma with its D or its A.
struct TensorEvent {
  std::uint64_t at = 0;  // the last time
  std::uint32_t warp = 0, pc = 0;
  bool product = false, writes = false;
  std::vector<CellRange> cells;
};

struct TensorUnit {
  TensorMemory memory;
  bool relinquished = false;
  std::uint32_t relinquished_at = 0;              // instruction
  std::uint32_t largest = TensorMemory::columns;  // that may still be allocated
  std::vector<TensorMove> moves;
  std::array<TensorOrder, Races::most_warps> order{};
  std::uint64_t events = 0;
  // The last of each kind with the same cells: as many as a kernel has places in TMEM.
  std::vector<TensorEvent> past;

  void remember(TensorEvent event);
  // A warp has passed a barrier of whatever kind: what others did may be ordered before it now.
  void synchronise(std::uint32_t warp) { order[warp].synchronised = ++events; }
};

// What a tcgen05 instruction is about to do with cells: moves of warps; D of a product, and A;
// giving them back.
enum class TensorUse : std::uint8_t { load, store, product, operand, release };

// May it, with what is under way? False after a fault. Notes hazards of order.
bool check_tensor_use(Core& x, int lane, TensorUse use, const std::vector<CellRange>& cells);
// A product in flight that these cells are in the way of: whoever only reads them meets those that
// write them, D; others also those that read them, A.
struct ProductInFlight {
  std::uint32_t thread = 0, pc = 0;
  bool writes = false;
};
bool find_product(const Block& block, const std::vector<CellRange>& cells, bool reads,
                  ProductInFlight& out);

// All of a block's threads have exited: what it allocated must be free. False after a fault.
bool leave_tensor_memory(Machine& machine, Block& block);

}  // namespace tilescope::sim
