// What a running grid is made of: blocks of warps of splits. Plain values, addressed by index, so
// that copying a Machine is a checkpoint.
//
//   Block   shared memory, barriers, the registers of all its warps
//   Warp    32 lanes; `live` are those that exist and have not exited
//   Split   lanes of a warp that go together: one program counter, one set of lanes. A warp starts
//           with one. A branch that lanes take differently makes two; two at the same instruction
//           become one again.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/ptx/choice.h"
#include "core/ptx/opcodes.h"
#include "core/run/job.h"
#include "core/sim/async/mbarrier.h"
#include "core/sim/async/operation.h"
#include "core/sim/async/shared_tiles.h"
#include "core/sim/checks/undefined_sums.h"
#include "core/sim/machine/copies.h"
#include "core/sim/machine/register_file.h"
#include "core/sim/machine/register_pool.h"
#include "core/sim/memory/memory.h"
#include "core/sim/order/block_order.h"
#include "core/sim/tcgen05/unit.h"
#include "core/sim/time/block_time.h"
#include "core/sim/wgmma/warpgroup.h"

namespace tilescope::sim {

enum class Wait : std::uint8_t {
  none,       // ready to go on
  aligned,    // at an instruction that all live lanes of the warp must reach together
  others,     // at a .sync instruction whose other lanes are still to come
  barrier,    // arrived at a barrier of the block
  mbarrier,   // at an mbarrier.try_wait whose phase is not complete
  group,      // at a cp.async.bulk.wait_group
  products,   // at a wgmma.wait_group, or at an instruction that touches a product's registers
  columns,    // at a tcgen05.alloc, for columns of TMEM that others have
  registers,  // at a setmaxnreg.inc, for registers that others have
  cluster,    // at a barrier.cluster.wait whose threads have not all arrived
  pair,       // at a tcgen05 instruction that the other block of the pair is to execute too
};

struct Split {
  std::uint32_t pc = 0;
  Mask mask = 0;
  Wait wait = Wait::none;
  std::uint8_t barrier = 0;  // which, while Wait::barrier
  Mask wanted = 0;           // lanes it waits for, while Wait::others or Wait::aligned
  bool apart = false;        // it is to execute that without them (core/sim/handlers/control.cpp)
  // While Wait::mbarrier, else of the last passed: its offset in shared memory, and the phase.
  std::uint32_t mbarrier = 0;
  std::uint64_t phase = 0;
  bool timed_out = false;  // the try_wait is to answer that the phase is not complete
  // While Wait::group: how many groups may be left, and whether only their sources have to be read.
  std::uint32_t groups_left = 0;
  bool reads_only = false;
  std::uint64_t products = 0;  // while Wait::products: those before this one, of its warpgroup
  std::uint64_t ran = 0;       // when it last had a turn: the scheduler's fairness
};

// A branch that lanes of a warp took by an undefined predicate, while they are on one of its sides:
// what they write there is undefined from where the sides meet on.
struct Undecided {
  std::shared_ptr<const ptx::Choice> choice;
  std::uint32_t pc = 0;  // the branch
  Mask lanes = 0;
};

// Where an undefined value last came into a warp's registers: for the fault that it may end in.
struct Origin {
  bool known = false;
  std::uint32_t pc = 0;
  std::uint32_t lane = 0;
  std::uint64_t offset = 0;
  Region::Kind kind = Region::Kind::buffer;
  std::uint32_t region = 0;  // index into the machine's global regions, for buffers and variables
  bool in_tensor_memory = false;  // then `offset` is an address of TMEM: lane << 16 | column
};

// The calls that each lane of a warp is in: where it goes back to, and where its frame is in its
// thread's local memory. Lanes keep their own, so that those that came different ways can go
// together through a function.
struct CallStack {
  struct Level {
    std::array<std::uint32_t, 32> back{};     // instruction after the call
    std::array<std::uint32_t, 32> routine{};  // called
    std::array<std::uint32_t, 32> frame{};    // of the routine
    // The registers of a routine that was entered again, as they were: the warp's whole file, of
    // which the lanes' and the routine's part counts.
    std::vector<std::byte> registers;
    std::vector<std::uint8_t> undefined;
    std::vector<std::uint32_t> predicates, undefined_predicates;
  };
  std::vector<Level> levels;
  std::array<std::uint32_t, 32> depth{};  // levels that are a lane's
  std::array<std::uint32_t, 32> top{};    // where its next frame begins
};

// Whether a warp gets on: a moment of it that later ones are compared with
// (core/sim/checks/endless.cpp).
struct Pace {
  std::vector<std::byte> moment;
  std::uint64_t changes = 0;       // of memory, at that moment
  std::uint64_t since = 0;         // instructions of the launch, then
  std::uint64_t instructions = 0;  // since then
  std::uint64_t next = 1;          // of them, when to remember another
  bool goes_round = false;         // the same again, and nothing had changed
  std::uint32_t turns = 0;         // short ones, of which not every one is looked at
};

// The lanes of a warp that have come to an instruction which brings others on (Code::notes_lanes):
// as they did the last time, executed it or were kept from it by its guard. For the cause of a
// deadlock.
struct Visited {
  std::uint32_t pc = 0;
  Mask executed = 0, kept_out = 0;
};

// A load that a warp has executed, and of which not all lanes have stored what they loaded
// (core/sim/checks/late_reads.h).
struct LateRead {
  std::uint32_t pc = 0, mask = 0, bytes = 0;
  std::uint64_t base = 0;  // the region's
  std::array<std::uint64_t, 32> offsets{};
};

// What each turn needs stands first (as in WarpTime).
struct Warp {
  std::uint32_t index = 0;  // in its block
  Mask live = 0;
  std::vector<Split> splits;
  // The split whose turn it is, or -1: kept here so that a run does not depend on how it is cut
  // into calls.
  std::int32_t current = -1;
  // Registers with at least one undefined byte in a lane, and `undecided`: while there are none,
  // instructions run without looking for undefined values.
  std::uint32_t undefined_registers = 0;
  std::uint64_t executed = 0;                 // instructions
  std::uint64_t held_at = ~std::uint64_t{0};  // of them: the next of Options::holds
  // The last of Scheduler::meeting_points(), and what was complete then.
  std::uint32_t noted_pc = ~std::uint32_t{0};
  std::uint64_t noted_meetings = 0;
  bool fair = false;             // chosen because it waited longest, not because it is behind
  std::uint64_t turn_left = 0;   // instructions of the current split's turn
  std::uint64_t unfair_for = 0;  // instructions since the longest waiting one was chosen
  Pace pace;
  std::vector<Undecided> undecided;
  Origin origin;

  CallStack calls;
  Copies copies;
  std::uint32_t registers = 0;         // of a thread (setmaxnreg); 0: not known
  std::uint32_t register_changes = 0;  // how often it has set them
  // barrier.cluster: lanes that have arrived in the round that is open, and those whose round is
  // complete and who have not waited for it yet.
  Mask cluster_arrived = 0, cluster_passed = 0;
  std::uint32_t cluster_arrivals = 0, cluster_waits = 0;  // that its first lane has executed
  std::vector<LateRead> late_reads;
  UndefinedSums undefined_sums;  // of undefined_registers
  std::vector<Visited> visited;  // of at most most_visited instructions: the first that it came to
  static constexpr std::size_t most_visited = 128;
};

// One of a block's 16 barriers (PTX ISA 9.7.13.1).
struct Barrier {
  bool open = false;            // somebody has arrived
  std::uint32_t arrived = 0;    // threads, of the round that is open, warp by warp
  std::uint32_t expected = 0;   // threads; 0: all of the block
  std::uint32_t opened_at = 0;  // instruction that arrived first
  // Lanes of each warp that are there, while others of it that have not exited are not: their warp
  // does not count yet.
  std::array<Mask, most_warps> came{};
  std::uint32_t there() const {  // threads, those included
    std::uint32_t out = arrived;
    for (const Mask m : came) out += static_cast<std::uint32_t>(__builtin_popcount(m));
    return out;
  }
  View view;                               // what those who arrived have done and seen
  Doubts doubts;                           // and what of that PTX does not promise
  ptx::Reduce reduce = ptx::Reduce::none;  // of bar.red: what becomes of the threads' predicates
  std::uint32_t yes = 0, no = 0;           // threads whose predicate held, or did not
};

// Who is slow for a while, as warps, copies and tensor cores of a chip may be: drawn by the seed of
// a schedule, or held (core/sim/machine/schedule.cpp). Slow warps go on only when nobody else of
// the block can.
struct Slowness {
  std::uint32_t warps = 0;                // a bit each
  std::uint32_t held = 0;                 // those of Options::holds
  bool copies = false, products = false;  // operations without a pipe, and with one
  std::uint64_t length = 0, left = 0;     // instructions of the block
  std::uint32_t fruitless = 0;            // turns in a row in which the others only asked in vain
  std::uint32_t rounds = 0;  // turns of all other blocks for which it waits with who is held
};

struct Block {
  std::uint64_t number = 0;  // x + y * grid.x + z * grid.x * grid.y
  Dim3 index;
  std::uint32_t rank = 0;       // in its cluster
  std::uint32_t processor = 0;  // that it is resident on
  std::uint32_t live_threads = 0;
  bool ended = false;  // all have exited, and others of its cluster have not
  std::vector<Warp> warps;
  RegisterFile registers;                 // of all warps
  std::vector<std::uint32_t> predicates;  // masks, likewise
  BlockTime time;                         // with a clock
  Flight flight;

  std::uint32_t heard = 0;                    // ranks that are known to have begun, a bit each
  Token cluster_arriving, cluster_completed;  // of barrier.cluster, as in Mbarrier
  std::uint32_t next_warp = 0;                // whose turn it is
  std::uint64_t warp_turn_left = 0;
  std::uint64_t turn_ran = 0;  // instructions of that turn so far
  std::uint32_t idle = 0;      // turns in a row in which nothing ran
  Slowness slow;
  std::array<Barrier, 16> barriers;
  std::uint64_t meetings = 0;  // barriers that were completed, threads that exited
  // Of these the barriers of the CTA that hand over no value (bar.red does), and when each was met
  // the last time: instructions of the launch.
  std::uint64_t plain_meetings = 0;
  std::array<std::uint64_t, 16> met_at{};
  BlockOrder order;
  Mbarriers mbarriers;
  std::uint64_t signals = 0;  // that came to them: how often anybody did something to one
  SharedTiles tiles;
  TensorUnit tensor;
  std::vector<Warpgroup> warpgroups;  // from the first wgmma on
  RegisterPool registers_free;
  // Who first read a response that says that nothing was cancelled
  // (core/sim/handlers/launch_control.cpp).
  bool lets_dependents_begin = false;  // griddepcontrol.launch_dependents
  bool cancelled_nothing = false;
  std::uint32_t cancelled_at = 0, cancelled_by = 0;
  std::uint64_t timed_out_at = 0;  // meetings and changes when its waits last timed out
  std::uint32_t time_outs = 0;     // since something last changed

  std::vector<std::uint8_t> undefined;        // a byte for each byte of `registers`; empty until
                                              // the first undefined value
  std::vector<std::uint8_t> undefined_units;  // of each 64 bytes of `registers`: any?
  std::vector<std::uint32_t> undefined_predicates;

  Region shared;  // static, then dynamic
  Region local;   // thread after thread
};

}  // namespace tilescope::sim
