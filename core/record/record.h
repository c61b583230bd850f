// What happened in a run, when, and what waited for what. Timeline, statistics, traces and the
// comparison of two runs are views of it; a saved one is opened without a machine
// (core/io/record_file.h).
//
// Time is cycles of an SM's clock since the launch, as the device description has them
// (core/sim/time); of a randomised schedule (--schedule, --lazy, holds) there is none, and the
// unit is instructions that the whole grid had executed.
//
// A track is something that does one thing after another, or several at once: a warp, a unit of an
// SM as one block uses it, a barrier. Everything on it is an Event. The events of a warp
// follow one another without overlap: it runs, waits, runs. Those of a unit are operations, which
// may overlap. Those of a barrier are its phases, one after the other.
//
// An event says what it was caused by: a wait by the phase that let it go on; a phase by the
// arrival or the operation that completed it; an operation by the run of the warp that issued it, a
// commit by the last product or transfer that it waited for. These are the arrows.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/record/cached.h"
#include "core/record/event.h"
#include "core/record/event_list.h"
#include "core/record/memory_use.h"
#include "core/record/warp_access.h"
#include "core/run/device_description.h"
#include "core/run/job.h"
#include "core/run/product_type.h"

namespace tilescope::sim {

// What became of one instruction, all its executions together.
struct LineCounters {
  std::uint64_t issued = 0;  // by warps
  std::uint64_t lanes = 0;   // that took part, all together
  std::array<std::uint64_t, static_cast<std::size_t>(Stall::count_)> stalled{};  // cycles of warps
  std::uint64_t shared_bytes = 0;  // asked of shared memory by lanes, copies and tensor cores
  std::uint64_t global_bytes = 0;  // asked of global memory: L2's traffic
  std::uint64_t memory_bytes = 0;  // that L2 fetched for these, in its own pieces: may be more
  std::uint64_t tensor_bytes = 0;  // of TMEM
  std::uint64_t wavefronts = 0, ideal_wavefronts = 0;  // of shared memory: 128 bytes each
  std::uint64_t sectors = 0, ideal_sectors = 0;        // of global memory: 32 bytes each
};

// How long a unit of the grid's SMs was busy, all of them together.
enum class Pipe : std::uint8_t {
  issue,
  integer,
  floating,
  half,
  wide,
  special,
  load_store,
  shared,
  tensor,
  tensor_memory,
  copies,
  l2,
  memory,
  count_
};
std::string_view name_of(Pipe pipe);

struct PipeCounters {
  double busy = 0;    // cycles, of all its copies together
  double copies = 0;  // how many of them: 4 schedulers of 148 SMs are 592
};

// An instruction as a view shows it: a record is read without its PTX available.
struct RecordedLine {
  std::string text;  // of the PTX
  std::uint32_t ptx_line = 0;
  std::uint32_t file = 0, line = 0;  // of the source: index into Record::sources; line 0: not known
  // Of a function that was inlined: where it is called, in the kernel itself. Line 0: it was not.
  std::uint32_t caller_file = 0, caller_line = 0;
  ProductType product = ProductType::none;  // what it has tensor cores multiply
};

struct Record {
  // The run. launch.cluster says how blocks were taken together.
  std::string kernel;  // as it was asked for
  std::string what;    // "M = 1024, N = 1024, K = 1024, f16"
  Launch launch;
  DeviceDescription device;
  bool timed = false;  // the unit of time is cycles
  double work = 0;     // floating point operations that the result asks for; 0: not known
  std::vector<RecordedLine> lines;  // by pc
  std::vector<std::string> sources;
  std::vector<Report> reports;
  BarrierNames barriers;  // what its mbarriers are called, as far as that is known

  // When all blocks had exited, with what a launch costs besides.
  Cycle end = 0;
  double seconds = 0;  // predicted; 0 where there is no time
  // Where only some of the blocks were simulated: how many, and by how much the time may be wrong
  // (a share of it), as these differ among themselves.
  std::uint64_t blocks_simulated = 0;
  double uncertain = 0;

  std::vector<RecordedBuffer> buffers;

  std::vector<Track> tracks;
  EventList events;
  // What operations read and write, of those that are kept whole; in the order of their events.
  std::vector<MemoryUse> uses;
  std::vector<WarpAccess> accesses;         // in about the order of their begin
  std::vector<std::uint32_t> lane_offsets;  // of those whose lanes follow no rule
  // What came into L2, of a timed run; and whether so much came that L2 had to let some of it go.
  std::vector<CachedBuffer> cached;
  bool cache_overflowed = false;
  std::vector<LineCounters> counters;  // by pc
  std::array<PipeCounters, static_cast<std::size_t>(Pipe::count_)> pipes{};
  // Blocks and warps that an SM had room for at once, and what set the limit: "shared
  // memory".
  std::uint32_t resident_blocks = 0, resident_warps = 0;
  std::string limited_by;
};

// The cluster of a block, counted like blocks: x first. Without clusters, the block itself.
std::uint64_t cluster_of(const Launch& launch, std::uint64_t block);

}  // namespace tilescope::sim
