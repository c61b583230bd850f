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
// the order is not promised, and here is as if it were; so is nothing at all between the two, which
// is a race. Time is counted in events of the block.
//
// A pair of blocks (.cta_group::2, 9.7.16.5.1): a product of one thread uses the TMEM and the
// shared memory of both. It is in flight in the block that issued it, with a guard in the other
// one, and is remembered in both. Of the other block's threads that block knows what they did to
// its cells, and what they have released to the cluster since (`released`): whoever of the pair
// comes later is ordered behind that, or not.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/sim/races.h"
#include "core/sim/tcgen05/history.h"
#include "core/sim/tcgen05/tensor_memory.h"

namespace tilescope::sim {

struct Block;
struct Core;
class Machine;

// A tcgen05.ld or .st that its warp has not waited for.
struct TensorMove {
  std::uint32_t warp = 0, pc = 0;
  bool store = false;
  std::vector<CellRange> cells;
};

// What a warp was last told, and has told: events of the block, 0 for never.
struct TensorOrder {
  std::uint64_t synchronised = 0;  // passed a barrier, or an mbarrier's phase
  std::uint64_t covered = 0;       // the last of these before a fence::after_thread_sync
  std::uint64_t before = 0;        // fence::before_thread_sync
  std::uint64_t arrived = 0;       // arrived somewhere, for others to pass
  std::uint64_t told = 0;          // the last fence::before_thread_sync in front of an arrival

  // Of each warp, when this one last passed a barrier: what it can have heard of.
  struct Heard {
    std::uint64_t arrived = 0, told = 0;
  };
  std::vector<Heard> heard;  // from the block's first event on

  // Something that another did at `event`: did a barrier since then pass without a fence behind it?
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
  std::array<TensorOrder, Races::most_warps> order{};
  // Of each warp, what other blocks of the cluster can have heard of. Empty: nothing.
  std::vector<TensorOrder::Heard> released;
  std::uint64_t events = 0;
  TensorHistory past;
  // The first product that read what nobody had written, and what: "; the tcgen05.mma at ... read".
  std::string undefined_read;

  // A warp arrives at a barrier of whatever kind, or lets others know in another way: what it did
  // up to its last fence::before_thread_sync may be ordered for them now.
  void arrive(std::uint32_t warp) {
    order[warp].arrived = ++events;
    order[warp].told = order[warp].before;
  }
  // Behind arrive(), where those who are let know are in another block of the cluster: of what this
  // warp did, and of what it has heard.
  void release(std::uint32_t warp);
  // A warp has passed a barrier of whatever kind: what others did may be ordered before it now.
  void synchronise(std::uint32_t warp);
  void remember(TensorEvent event);  // now
};

// What a tcgen05 instruction is about to do with cells: moves of warps; D of a product, and A;
// giving them back.
enum class TensorUse : std::uint8_t { load, store, product, operand, release };

// May it, with what is under way? False after a fault. Notes hazards of order.
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
};
bool find_product(const Block& block, const std::vector<CellRange>& cells, bool reads,
                  ProductInFlight& out);

// All of a block's threads have exited: what it allocated must be free. False after a fault.
bool leave_tensor_memory(Machine& machine, Block& block);

}  // namespace tilescope::sim
