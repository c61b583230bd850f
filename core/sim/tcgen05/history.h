// What warps did with which cells of TMEM: for those who come later to the same cells and ask
// whether they are in order with it.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/sim/order/vector_clock.h"
#include "core/sim/tcgen05/tensor_memory.h"

namespace tilescope::sim {

// A ld or st, or an mma with its D or its A.
struct TensorEvent {
  std::uint64_t at = 0;  // in events of the block; the last time
  std::uint32_t warp = 0, pc = 0;
  bool product = false, writes = false;
  std::vector<CellRange> cells;
  bool by_peer = false;  // the warp is one of the other block of the pair
  // The warp, and of a product what it completes on: others that have seen this epoch have seen it.
  Agent agent, pipe;
  std::uint32_t epoch = 0, pipe_epoch = 0;
};

class TensorHistory {
 public:
  // In the place of the last of the same warp and kind with the same cells: as many are kept as a
  // kernel has places in TMEM.
  void remember(const TensorEvent& event);
  // Columns that were freed: who gets them next has nothing to do with those before.
  void forget(std::uint32_t column, std::uint32_t columns);
  // Those that touch these cells, each once.
  std::vector<const TensorEvent*> touching(const std::vector<CellRange>& cells) const;

 private:
  // By the columns in which an allocation is counted, so that a kernel with many places looks
  // through few of them; what is in several of these is in each.
  std::array<std::vector<TensorEvent>, TensorMemory::columns / TensorMemory::unit> past_;
};

}  // namespace tilescope::sim
