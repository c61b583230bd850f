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
// What a warp can have heard of goes the ways that the kernel makes: barriers carry clocks
// (TensorClock), to which those who arrive add what they did and have heard, and from which those
// who pass take it. A warp that has passed something else, which the other one never reached, has
// heard nothing of it.
#pragma once

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

// Of a warp, what another can have heard of: events of its block, 0 for never.
struct Heard {
  std::uint64_t arrived = 0;  // it arrived somewhere, for others to pass
  std::uint64_t told = 0;     // the last fence::before_thread_sync before an arrival
  void take(const Heard& other) {
    if (other.arrived > arrived) arrived = other.arrived;
    if (other.told > told) told = other.told;
  }
};

// What those who pass a barrier hear: of each warp of the pair of blocks, those of the even one
// first. Empty: of nothing.
using TensorClock = std::vector<Heard>;
inline void take(TensorClock& to, const TensorClock& from) {
  if (to.size() < from.size()) to.resize(from.size());
  for (std::size_t i = 0; i < from.size(); ++i) to[i].take(from[i]);
}

// What a warp was last told, and has told: events of the block, 0 for never.
struct TensorOrder {
  std::uint64_t synchronised = 0;  // passed a barrier, or an mbarrier's phase
  std::uint64_t covered = 0;       // the last of these before a fence::after_thread_sync
  std::uint64_t before = 0;        // fence::before_thread_sync
  std::uint64_t arrived = 0;       // arrived somewhere, for others to pass
  std::uint64_t told = 0;          // the last fence::before_thread_sync before an arrival
  std::uint64_t awaited = 0;       // wait::st
  std::uint64_t came = 0;          // arrived somewhere itself, and not by a commit

  TensorClock heard;  // at the barriers that it has passed

  // Something that another did at `event`: did a barrier since then pass without a fence after it?
  bool misses_fence(std::uint64_t event) const { return event > covered && event < synchronised; }
};

// What a warp of a pair has done of the steps that both blocks take together.
struct PairStep {
  std::uint32_t thread = 0, pc = 0;
  std::uint32_t arrivals = 0, waits = 0;  // at the cluster's barrier, before
  std::uint64_t at = 0, peer_at = 0;      // in events of the block, and of the other one
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
  bool listens = false;                      // the kernel has tcgen05 instructions
  std::uint32_t side = 0;                    // of the pair: 1 in the odd block
  std::map<std::uint64_t, TensorClock> met;  // of synchronising accesses, by their address
  std::uint64_t events = 0;
  TensorHistory past;
  // The first product that read what nobody had written, and what: "; the tcgen05.mma at ... read".
  std::string undefined_read;

  // A warp arrives at a barrier of whatever kind, or lets others know in another way: what it did
  // up to its last fence::before_thread_sync may be ordered for them now.
  void arrive(std::uint32_t warp, bool by_commit = false) {
    order[warp].arrived = ++events;
    if (!by_commit) order[warp].came = events;
    order[warp].told = order[warp].before;
  }
  // After arrive(): those who pass what has this clock hear of what this warp did, and heard.
  void tell(std::uint32_t warp, TensorClock& clock) const;
  // A warp has passed a barrier of whatever kind, which has this clock: what others did may be
  // ordered before it now.
  void synchronise(std::uint32_t warp, const TensorClock& clock);
  // What warp `warp` has heard of another one of the pair's: of this block's, or of the other's.
  Heard heard(std::uint32_t warp, std::uint32_t other, bool of_peer = false) const;
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
