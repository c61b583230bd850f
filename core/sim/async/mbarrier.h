// mbarriers (PTX ISA 9.7.13.15): barriers in shared memory that count arrivals and bytes, phase
// after phase.
//
// A phase is complete when no arrival is pending and the tx-count is 0; then the next one begins,
// with as many pending arrivals as are expected (9.7.13.15.6). The 64 bits are opaque to programs;
// here they are
//
//   bits 0-19   pending arrivals of the current phase
//   bits 20-39  expected arrivals of the next
//   bits 40-60  tx-count + 2^20: bytes that are still to come
//   bit  61     parity of the current phase
//   bits 62-63  0b10: a valid mbarrier
//
// The bits in memory are what counts. Beside them the block keeps a history that explains: who made
// the barrier, which phase it is in, who has arrived, who waits, and what the arrivals have seen.
//
// The state that an arrival answers (and that a wait takes) holds the number of its phase and the
// arrivals that were pending before it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/sim/order/block_order.h"
#include "core/sim/tcgen05/unit.h"

namespace tilescope::sim {

class Model;
struct Block;

struct MbarrierBits {
  static constexpr std::uint32_t most = (1u << 20) - 1;  // of each count (9.7.13.15.2)
  std::uint32_t pending = 0, expected = 0;
  std::int32_t transactions = 0;
  bool odd = false;
};
std::uint64_t pack(const MbarrierBits& bits);
bool unpack(std::uint64_t word, MbarrierBits& out);  // false: no valid mbarrier

std::uint64_t mbarrier_state(std::uint64_t phase, std::uint32_t pending);
std::uint64_t phase_of_state(std::uint64_t state);
std::uint32_t pending_of_state(std::uint64_t state);

// Lanes of a warp that arrived or wait, at one instruction.
struct Attendance {
  std::uint32_t warp = 0, mask = 0, pc = 0;
  std::uint64_t phase = 0;  // that they arrived in, or wait for
  bool asleep = false;      // they wait in a try_wait, and have not gone on since
  std::uint32_t rank = 0;   // in the cluster, of the block of those who arrived
};

// What a warp's instruction has done to an mbarrier so far: to tell why it does not come again.
struct Visits {
  std::uint32_t rank = 0, warp = 0, pc = 0;  // whose
  std::uint32_t ever = 0, last = 0;          // its lanes: of all phases, and of the last
  std::uint64_t phases = 0;                  // in how many it came
  std::uint64_t phase = 0;                   // the last of these
  // When it first came in that one, and in the one before: as Block::signals counts.
  std::uint64_t when = 0, when_before = 0;
  std::uint64_t times = 0, times_before = 0;  // in that one, and in the one before that it came in
  std::uint64_t bytes = 0, bytes_before = 0;  // likewise: expected, or brought
  bool arrives = false, expects = false, brings = false;
};

// Who does something to an mbarrier: a lane, or an operation for the lane that issued it.
struct Actor {
  std::uint32_t thread = 0, pc = 0;
  bool operation = false;  // an operation in flight, as it completes
  // The rank of the thread's block in its cluster, where that may be another one than the
  // mbarrier's.
  static constexpr std::uint32_t here = ~0u;
  std::uint32_t rank = here;
};

// That an agent knew in this epoch that so many phases of an mbarrier were complete.
struct Knowledge {
  Agent agent;
  std::uint32_t epoch = 0;
  std::uint64_t phases = 0;
};

// That a warp has found so many phases of an mbarrier complete by a wait of its own; the last one.
struct PassedWait {
  Agent agent;
  std::uint32_t epoch = 0;
  std::uint64_t phases = 0;
  std::uint32_t thread = 0, pc = 0;
  std::uint32_t lanes = 0, turn = 0;  // which of its lanes have, the last of them when
};

struct Mbarrier {
  std::uint64_t phase = 0;                   // the current one, which is incomplete
  std::uint64_t word = 0;                    // its bits, as the last operation left them
  std::uint32_t count = 0;                   // that it was made with
  std::uint32_t maker = 0, made_at = 0;      // thread, instruction
  std::uint32_t made_when = 0;               // the maker's epoch
  std::uint32_t spoiler = 0, spoilt_at = 0;  // thread and instruction that stored over it
  bool spoilt = false;
  std::vector<Attendance> arrived, arrived_before;  // in this phase, and in the one before
  std::vector<Attendance> waiting;
  std::vector<Visits> visits;  // of at most most_visits
  static constexpr std::size_t most_visits = 96;
  Token arriving, completed;  // what those who arrive tell; of the phase before
  std::uint64_t place = 0;    // among those of Observer::acquire()
  // What completes in this phase, as an agent of the block, and its epoch.
  Agent agent;
  std::uint32_t round = 0, round_before = 0;
  // Where orders are logged: the threads that arrived in this phase and in the one before, whether
  // nobody else did, and who completed that.
  std::vector<BlockOrder::Arrival> came, came_before;
  std::vector<BlockOrder::Arrival> raised;  // the count of this phase, with no arrival
  std::vector<VectorClock> needed;          // what each arrival that it waited for came behind
  std::uint64_t bytes_expected = 0, bytes_come = 0;  // in this phase
  bool by_threads = true, by_threads_before = true;
  RunStep completed_by;
  Actor completer;                  // of the phase before
  std::vector<Knowledge> known;     // the last of each agent
  std::vector<PassedWait> waited;   // the last of each warp
  std::vector<Attendance> refused;  // with Options::first_waits_fail
};
// Of a block, by their offset in shared memory.
using Mbarriers = std::map<std::uint32_t, Mbarrier>;

// One thing done to an mbarrier, in this order: bytes expected, bytes that came, arrivals.
struct Signal {
  std::uint32_t expected_bytes = 0;
  std::uint32_t complete_bytes = 0;
  std::uint32_t arrivals = 0;
  std::uint32_t further =
      0;               // arrivals that this phase waits for besides (cp.async.mbarrier.arrive)
  bool drops = false;  // and the later phases expect `arrivals` fewer
  bool no_complete = false;  // it must not complete the phase
  bool releases = true;      // what the actor did before is seen by the waiters
  Scope scope = Scope::cta;  // of a thread's
  // Of an operation: what its thread had done and seen when it issued it, for the waiters too;
  // null: nothing. What it comes behind, and as whom it knows of what it completes.
  const Token* seen = nullptr;
  const VectorClock* behind = nullptr;
  Knowledge by;
};

// The block of the thread that does something to an mbarrier of `block`; and is it another one?
const Block& home_of(const Model& machine, const Block& block, const Actor& who);
bool is_remote(const Block& block, const Actor& who);

// Each answers false after it has reported a fault.
bool init_mbarrier(Model& machine, Block& block, std::uint32_t offset, std::uint32_t count,
                   Actor who);
bool invalidate_mbarrier(Model& machine, Block& block, std::uint32_t offset, Actor who);
// `state`: what mbarrier.arrive answers; may be null.
bool signal_mbarrier(Model& machine, Block& block, std::uint32_t offset, const Signal& what,
                     Actor who, std::uint64_t* state = nullptr);
// Of a machine that asks what would be (core/sim/time/what_if.h): the current phase is complete, as
// if all who are missing had come with all that is missing, and whoever waits for it had been told
// of everything that was done until now. False after a fault.
bool suppose_complete(Model& machine, Block& block, std::uint32_t offset, Actor who);
// The mbarrier at `offset`, fit to be used by `who`; null after a fault.
Mbarrier* use_mbarrier(Model& machine, Block& block, std::uint32_t offset, Actor who);

// A warp has found the phase before the current one complete. And whether it can know that, having
// found it so or heard, however doubtfully, from somebody who had, or who completed it.
void note_completion(Mbarrier& b, Agent agent, std::uint32_t epoch);
// The same of all mbarriers of the block, by way of what others had done and seen.
void hear_completions(Block& block, const Observer& who, const View& view);
bool knows_completion(const Mbarrier& b, const Observer& who);
// The same of so many phases.
bool knows_phases(const Mbarrier& b, const Observer& who, std::uint64_t phases);
// A warp has waited for the phase before the current one. Answers whether it had not done so yet.
bool note_wait(Mbarrier& b, const Observer& who, std::uint32_t thread, std::uint32_t pc);
// A thread waits for phase `phase`, and a later one is complete as well: the waiter is left behind.
// PTX lets only the current phase and the one before it be tested (9.7.13.15.16). Answers false.
bool leave_behind(Model& machine, const Block& block, std::uint32_t offset, const Mbarrier& b,
                  Actor waiter, std::uint64_t phase);
// A thread comes too late to a wait by parity: it means phase `b.phase - 2`. Answers false.
bool come_too_late(Model& machine, const Block& block, std::uint32_t offset, const Mbarrier& b,
                   Actor waiter);

// "mbarrier full (byte 16 of shared memory)"
std::string mbarrier_name(const Model& machine, std::uint32_t offset);
// "phase 2 waits for 1 of 1 arrivals and 4096 bytes; ...": what a barrier that nobody completes
// lacks, and who came in the phase before but not in this.
std::string mbarrier_story(const Model& machine, const Block& block, std::uint32_t offset);
// Of bytes that are on their way to an mbarrier which expects none, as a phase was completed
// without them: how. Empty where it is not so.
std::string unexpected_story(const Model& machine, const Block& block, std::uint32_t offset);

}  // namespace tilescope::sim
