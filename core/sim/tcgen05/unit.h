// The tensor core's side of a block: its TMEM, what is in flight to and from it, and who has been
// told of what (PTX ISA 9.7.16.6).
//
// tcgen05.ld and .st take effect when they are issued here, which is one of the legal moments;
// until their warp's tcgen05.wait they count as in flight, and who gets in their way is at fault. A
// tcgen05.mma is an AsyncOperation (core/sim/async/operation.h): it reads its operands at one
// moment and writes TMEM at another, in a pipe with the others of its thread and their commits.
//
// Across threads tcgen05 operations are ordered by fence::before_thread_sync before, and
// fence::after_thread_sync after, whatever synchronises the threads. A missing one is a hazard:
// the order is not promised, and here is as if it were; so is nothing at all between the two, which
// is a race. Time is counted in events of the block.
//
// A pair of blocks (.cta_group::2, 9.7.16.5.1): a product of one thread uses the TMEM and the
// shared memory of both. It is in flight in the block that issued it, with a guard in the other
// one, and is remembered in both.
//
// Who has synchronised with whom, say the warps' observers (core/sim/order/observer.h), whatever it
// was that they met at.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "core/sim/order/block_order.h"
#include "core/sim/tcgen05/history.h"
#include "core/sim/tcgen05/tensor_memory.h"

namespace tilescope::sim {

struct AsyncOperation;
struct Block;
struct Core;
class Model;

// A tcgen05.ld or .st that its warp has not waited for.
struct TensorMove {
  std::uint32_t warp = 0, pc = 0;
  bool store = false;
  std::vector<CellRange> cells;
  // Of a load: when one of its registers was first used, in events of the block, and where. 0: not
  // yet. It is over then (9.7.16.6.4.5).
  std::uint64_t used = 0;
  std::uint32_t used_by = 0;
};

// The fences of a warp, and what it came to last.
struct TensorOrder {
  std::uint64_t arrived = 0;  // somewhere, for others to pass: in events of the block, 0 for never
  std::uint64_t awaited = 0;  // wait::st: likewise

  std::vector<std::uint32_t> before;  // its epochs that fence::before_thread_sync ended: the last
  VectorClock after;                  // what it had met at its last fence::after_thread_sync

  void fence(std::uint32_t epoch) {
    if (before.size() == most_fences) before.erase(before.begin());
    before.push_back(epoch);
  }
  // Does such a fence lie between what it did at `epoch` and what is known of it, up to `until`? Of
  // fences that are no longer known it is taken that one was there.
  bool has_fenced(std::uint32_t epoch, std::uint32_t until) const {
    const auto f = std::lower_bound(before.begin(), before.end(), epoch);  // they grow
    if (f != before.end() && *f < until) return true;
    return before.size() == most_fences && epoch < before.front();
  }

 private:
  static constexpr std::size_t most_fences = 4096;
};

// What a warp of a pair has done of the steps that both blocks take together.
struct PairStep {
  std::uint32_t thread = 0, pc = 0;
  std::uint32_t arrivals = 0, waits = 0;  // at the cluster's barrier, before
  std::uint32_t epoch = 0;                // of the warp
};

struct TensorUnit {
  TensorMemory memory;
  // Of .cta_group::2: allocations that the other block has made for both, and this one has still to
  // make; and what this block has done, in order.
  std::vector<Allocation> promised;
  std::vector<PairStep> pair_allocations, pair_releases;
  bool relinquished = false;
  std::uint32_t relinquished_at = 0;              // instruction
  std::uint32_t largest = TensorMemory::columns;  // that may still be allocated
  std::vector<TensorMove> moves;
  std::array<TensorOrder, most_warps> order{};
  std::uint64_t events = 0;
  TensorHistory past;
  // Of the products of a thread, by its pipe: what others' the tensor core has done before them,
  // with no commit between (9.7.16.6.4.3). Its commits tell of these, too.
  std::map<std::uint32_t, View> pipelined;
  // The first product that read what nobody had written, and what: "; the tcgen05.mma at ... read".
  std::string undefined_read;

  // A warp arrives at a barrier of whatever kind, or lets others know in another way.
  void arrive(std::uint32_t warp) { order[warp].arrived = ++events; }
  void remember(TensorEvent event);  // now
};

// What a tcgen05 instruction is about to do with cells: moves of warps; D of a product, and A;
// giving them back.
enum class TensorUse : std::uint8_t { load, store, product, operand, release };

// May it, with what is in flight? False after a fault. Notes hazards of order.
bool check_tensor_use(Core& x, int lane, TensorUse use, const std::vector<CellRange>& cells);
// The same of a product and the cells of the other block of the pair.
bool check_peer_tensor_use(Core& x, int lane, Block& peer, TensorUse use,
                           const std::vector<CellRange>& cells);
// A product in flight that these cells are in the way of: whoever only reads them meets those that
// write them, D; others also those that read them, A.
struct ProductInFlight {
  std::uint32_t thread = 0, pc = 0;
  std::uint32_t issuer = 0;  // rank of the thread's block
  bool writes = false;
  const AsyncOperation* operation = nullptr;
};
bool find_product(const Block& block, const std::vector<CellRange>& cells, bool reads,
                  ProductInFlight& out);

// All of a block's threads have exited: what it allocated must be free. False after a fault.
bool leave_tensor_memory(Model& machine, Block& block);

}  // namespace tilescope::sim
