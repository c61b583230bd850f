// What happens in a run, piece by piece: tracks, and the events on them. Record (record.h) says how
// they hang together.
#pragma once

#include <cstdint>
#include <string_view>

namespace tilescope::sim {

using Cycle = std::uint64_t;
constexpr Cycle never_ends = ~Cycle{0};  // still going on where the record stops

// What a warp waits for, or what its next instruction does.
enum class Stall : std::uint8_t {
  none,
  issue,       // others of its scheduler had the slot
  dependency,  // the result of an instruction of fixed latency
  pipe,        // the unit that executes it is taken (math or load/store)
  shared,      // what a load from shared memory brings
  global,      // what a load from global memory brings
  tmem,        // what tcgen05.ld brings, or a wait for tcgen05.ld and st
  barrier,     // bar.sync: the other threads
  mbarrier,    // the phase of an mbarrier
  group,       // copies: cp.async.wait_group, cp.async.bulk.wait_group
  products,    // wgmma.wait_group
  cluster,     // barrier.cluster
  columns,     // of TMEM that others have
  registers,   // setmaxnreg
  pair,        // the other block of the pair
  siblings,    // other lanes of the warp
  fence,       // what it has written, until others can see it: fence, membar, a release
  count_
};
// "waits for an mbarrier"; and a letter by which a timeline of text shows it.
std::string_view name_of(Stall stall);
char letter_of(Stall stall);

enum class Unit : std::uint8_t {
  warp,
  copy_in,       // TMA and bulk copies into shared memory
  copy_out,      // out of shared memory
  async_copy,    // cp.async
  tensor,        // wgmma, tcgen05.mma
  tensor_copy,   // tcgen05.cp, shift
  tensor_load,   // tcgen05.ld
  tensor_store,  // tcgen05.st
  commit,        // tcgen05.commit
  remote,        // st.async, red.async, multimem: words sent through the cluster
  launch,        // clusterlaunchcontrol
  barrier,       // a named barrier of the block: bar.sync
  mbarrier,      // one in shared memory
  cluster,       // barrier.cluster
  count_
};
std::string_view name_of(Unit unit);

// The block of a track on which the events of many blocks of its SM were folded together:
// where a grid has so many blocks that a track for each is too much.
constexpr std::uint64_t many_blocks = ~std::uint64_t{0};

struct Track {
  std::uint64_t block = 0;  // x + y * grid.x + z * grid.x * grid.y
  Unit unit = Unit::warp;
  std::uint32_t index = 0;  // warp; barrier's number; mbarrier's offset in shared memory; else 0
  std::uint32_t processor = 0;  // that the block was on; a unit's of many_blocks: this one's
  bool operator==(const Track&) const = default;
};

using TrackId = std::uint32_t;
using EventId = std::uint32_t;  // place in the record, in no order of time
constexpr EventId no_event = ~EventId{0};

enum class EventKind : std::uint8_t {
  run,   // a warp executes `amount` instructions, from `pc` to `until`
  wait,  // a warp is at `pc`: `stall` says for what, `object` and `phase` for which
  // A unit works on what `pc` issued: amount bytes, or products (multiply-adds). A warp's group of
  // cp.async is one, from its first copy on: `pc` has committed it, `phase` is its number.
  operation,
  // An instant on a barrier's track: `amount` arrivals, or bytes (transactions). On that of
  // cp.async: a warp has waited at `pc` for `amount` groups, of which all have a number below
  // `phase`.
  arrival,
  phase,   // a barrier's phase, from its first moment to its completion
  report,  // an instant on a warp's track: a fault, hazard or note; object: which of the reports
  folded,  // what was not kept: `amount` events of the track, between begin and end (below)
};
std::string_view name_of(EventKind kind);

// A stall in the middle of a run is a wait of its own from so many cycles on: what comes from
// memory, not what an instruction of fixed latency takes. Shorter ones are told with the run:
// `object` cycles in all, `phase` of them for `stall`, which took most.
constexpr Cycle least_wait = 100;

// Of a folded event, `until` are the cycles that its events ran or worked, added up, and `pc` those
// that they waited; `stall` is what most of these were spent on, `phase` how many of them.
struct Event {
  Cycle issue = 0;           // of an operation: when it was issued; else begin
  Cycle begin = 0, end = 0;  // [begin, end)
  std::uint64_t amount = 0;
  std::uint32_t object = 0;  // the barrier: its number, or its offset in shared memory
  std::uint32_t phase = 0;   // counted from 0
  std::uint32_t pc = 0, until = 0;
  TrackId track = 0;
  EventId cause = no_event;  // what caused it
  EventKind kind = EventKind::run;
  Stall stall = Stall::none;
  bool bytes = false;  // amount counts bytes, and not products or arrivals
  bool operator==(const Event&) const = default;
};

}  // namespace tilescope::sim
