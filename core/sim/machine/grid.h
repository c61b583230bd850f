// A grid that runs: its program and launch, its memory, the blocks that are resident, and how far
// it has come. Plain values, to which the parts of a Model (core/sim/machine/model.h) keep what
// only they need; and where in it things are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/ptx/program.h"
#include "core/run/job.h"
#include "core/sim/machine/code.h"
#include "core/sim/machine/options.h"
#include "core/sim/machine/state.h"
#include "core/sim/machine/stops.h"
#include "core/sim/memory/device_memory.h"
#include "core/sim/order/access_log.h"
#include "core/sim/order/order_log.h"
#include "core/sim/time/clock.h"

namespace tilescope::sim {

class LateReads;

// Why a warp's turn ended: something was issued; it wants no more.
enum class Pause : std::uint8_t { none, look, turn };

// When a launch has, by the clock: cycles from its beginning.
struct DependentTimes {
  static constexpr double never = -1;
  double waits = never;  // first executed griddepcontrol.wait, in any CTA
  double tells = never;  // executed griddepcontrol.launch_dependents in the last CTA to do so
  std::uint64_t blocks_tell = 0;  // CTAs that have
};

// An entry as machines run it, which never changes.
struct Image {
  ptx::Program program;
  std::vector<Bound> bound;                     // for each rank in a cluster
  std::shared_ptr<const LateReads> late_reads;  // null: the program has none
};

struct Grid {
  std::shared_ptr<const Image> image;
  std::shared_ptr<const BarrierNames> barriers;  // the job's
  std::string kernel;
  Launch launch;
  Options options;
  std::vector<Buffer> shells;   // the job's buffers without their bytes
  std::vector<Region> regions;  // parameters, variables, buffers: by ascending address
  std::size_t first_buffer = 0;
  // The memory outlives the launch: what is undefined in it at the end, a later one may write.
  bool memory_stays = false;
  std::shared_ptr<const AllFreed> freed;                 // with it: what was, before; or null
  std::shared_ptr<const DeviceMemory::Outside> outside;  // and what lies beside it; or null
  std::vector<Texture> textures;                         // of the launch, by their handles
  Dim3 cluster;
  std::uint32_t cluster_size = 1;

  // Who has seen what, beyond one block (core/sim/order): operations, and accesses of global memory
  // that synchronise, by address.
  Completions completions;
  std::map<std::uint64_t, Token> flags;
  bool lanes_tell = false;       // some lanes of a warp have told something for themselves alone
  std::vector<Shadow> accesses;  // of the regions that are watched
  std::optional<OrderLog> order_log;                               // with Options::logs_order
  std::map<std::uint64_t, std::vector<FlagAccess>> flag_accesses;  // with it: of each flag, by warp
  std::optional<AccessLog> access_log;                             // with Options::logs_accesses
  DependentTimes dependents;                                       // with a clock
  std::vector<bool> unread_waits;  // by instruction (core/sim/checks/unread.h)
  std::vector<bool> unread_atomics;
  std::map<std::uint32_t, bool> told_before_use;  // of loads (core/sim/checks/unread.h)
  std::vector<Block> blocks;  // clusters one after the other, their blocks by rank
  std::uint64_t instructions = 0, moments = 0;
  std::size_t threads = 1;  // that have run clusters, where each could as well have come first
  Executed last;
  Stops stops;
  std::string printed;  // by the kernel (vprintf), in the order in which its lanes did
  std::optional<Clock> clock;
  double ended = 0;  // when the run was over
  Pause pause = Pause::none;
  RunState state = RunState::running;
  bool compares_stores = false;  // does one that writes what was there change nothing?
  // It is asked what would be (core/sim/time/what_if.h): where nobody can go on it asks no further.
  bool supposes = false;
  // What undefined predicates have decided so far, by the guarded instruction.
  std::map<std::uint32_t, std::shared_ptr<const ptx::Choice>> choices;

  const ptx::Program& program() const { return image->program; }
  const BarrierNames& barrier_names() const { return *barriers; }
  bool faulted() const { return state == RunState::fault; }
  std::uint64_t position() const { return instructions + moments + (state == RunState::done); }
  bool is_behind_instruction() const { return last.mask && last.moments == moments; }

  // Cycles since the launch, of the moment at hand; without a clock, instructions.
  double now() const;
  // %clock and %globaltimer of a warp.
  std::uint64_t clock_of(const Core& x, ptx::Special special) const;

  // ---- memory ----
  // The region of the grid that holds an address; null: there is none. The nearest one.
  Region* region_of(std::uint64_t address);
  const Region* nearest_region(std::uint64_t address) const;
  const Region& buffer(std::size_t index) const { return regions[first_buffer + index]; }
  // Who accessed a region when; from the first access on.
  Shadow& accesses_of(const Region& region);
  std::vector<Buffer> buffers() const;  // of the job, with their bytes of now
  std::uint32_t local_bytes() const;    // of one thread
  std::size_t register_stride() const;  // bytes of one warp's registers in Block::registers
  std::uint64_t bytes() const;          // that a copy takes, about

  // ---- places ----
  Site site(const Block& block, std::uint32_t thread, std::uint32_t pc) const;
  // The same of what a thread does now: of a function that was called, with where (Site::caller).
  Site site_now(const Block& block, const Warp& warp, int lane, std::uint32_t pc) const;
  Site site_of(Writer writer) const;
  // Who wrote this byte of this buffer last.
  std::optional<Site> writer(std::size_t buffer, std::size_t byte) const;

  // A few CTAs that may tell each other something in global memory (machine/side_by_side.h).
  bool blocks_meet = false;
  const Block* resident(std::uint64_t number) const;  // null: the block is not
  // The instruction of a warp that is executing.
  RunStep step_of(const Block& block, std::uint32_t warp, std::uint32_t pc) const;

  // ---- clusters ----
  // A block of the cluster of `block`, by its rank; null: there is none. All of them are resident
  // together, and stay until the last of their threads has exited.
  Block* member(const Block& block, std::uint32_t rank);
  const Block* member(const Block& block, std::uint32_t rank) const;
  // The block whose thread issued an operation that is in flight in `block`.
  const Block& issuer(const Block& block, const AsyncOperation& operation) const;
  // The cluster that a block of the grid belongs to, counted as the blocks of a grid of clusters
  // are.
  std::uint64_t cluster_number(std::uint64_t block) const;
};

// Whether a program has bulk copies, or others that read or write through the async proxy.
bool goes_through_async_proxy(const ptx::Program& program);
// "ld.global.f32" of "@%p1 ld.global.f32 %f1, [%rd4];"
std::string_view opcode_text(std::string_view text);
// "lanes 0-3, 8"
std::string lanes_text(Mask m);

}  // namespace tilescope::sim
