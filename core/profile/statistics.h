// Where a run's time went: the figures of a record (core/record/record.h), added up.
//
// Shares are of 1. Times are in the record's unit, cycles where it is timed. What needs time is 0
// where there is none, and known_time says so. Counters count everything that was simulated, also
// what was folded; the figures of roles and of asynchronous units are of the events that are kept.
//
// A role is the warps of a block that issue the same kinds of asynchronous work: it is named by
// that ("copies in", "products"), so a kernel without such roles has one.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/profile/run_time.h"
#include "core/record/record.h"

namespace tilescope::sim {

// What something waited for: the cause of its stall and, of an mbarrier, the unit that completed
// the phase: copies in, the tensor core's commit, a warp that arrived; Unit::count_: not known.
struct WaitKey {
  Stall stall = Stall::none;
  Unit by = Unit::count_;
  bool operator==(const WaitKey& o) const { return stall == o.stall && by == o.by; }
};
// "an mbarrier that copies in complete", "global memory"
std::string text(const WaitKey& key);

struct Waited {
  WaitKey key;
  double share = 0;  // of the time that the table it is in is about
};

struct PipeUse {
  Pipe pipe = Pipe::issue;
  double busy = 0;    // share of the time of all its copies together
  double cycles = 0;  // that this makes of one copy
};

struct Role {
  std::string name;                  // "copies in"
  std::vector<std::uint32_t> warps;  // of a block
  std::uint64_t instructions = 0;    // by the warps of all blocks that were looked at
  double cycles = 0;                 // that one of these warps was there, on average
  double running = 0;                // shares of these
  std::vector<Waited> waits;         // the longest first
};

// What one kind of asynchronous unit did, of all blocks that were looked at.
struct UnitUse {
  Unit unit = Unit::copy_in;
  std::uint64_t operations = 0;
  std::uint64_t amount = 0;  // bytes, or multiply-adds
  bool bytes = false;
  double busy = 0;       // share of the blocks' time in which it worked on at least one operation
  double in_flight = 0;  // operations, from their issue to their end, on average over that time
  double queued = 0, worked = 0;  // of one operation: from issue to begin, from begin to end
  // Before a block's first operation and after its last one: a share of the blocks' time.
  double outside = 0;
  // While it had nothing to do between these: what the warps that feed it did. Shares of the
  // blocks' time.
  double idle_running = 0;
  std::vector<Waited> idle;
};

// What moved at one level of memory.
struct Traffic {
  std::uint64_t bytes = 0;
  double rate = 0;   // bytes in a cycle: of one SM, of all for L2 and memory
  double limit = 0;  // what the device can do; 0: not known
  double share() const { return limit > 0 ? rate / limit : 0; }
};

// A line of the source, or of the PTX where the source is not known, with all its instructions.
struct LineUse {
  std::string file;            // empty: a line of the PTX
  std::uint32_t line = 0;      // of the file
  std::uint32_t ptx_line = 0;  // its first
  std::string ptx;             // the text of the instruction there that waited most
  std::uint64_t stalls = 0;    // cycles of warps, all causes together
  LineCounters counters;
};

struct Statistics {
  // What the record is of.
  std::string kernel, what, device;
  bool known_time = false;
  std::uint64_t blocks = 0, blocks_simulated = 0;
  std::uint32_t warps = 0;  // of a block
  Cycle end = 0;
  double seconds = 0, uncertain = 0, clock = 0;  // GHz
  double launch = 0;                             // seconds, of these, that a launch costs
  double work = 0, rate = 0;                     // floating point operations; in a second
  double peak = 0;                               // of the chip, for what the kernel multiplies with
  std::string peak_of;                           // "f16 products"

  std::vector<PipeUse> pipes;  // the busiest first; those that were never used are left out
  std::vector<Role> roles;
  std::vector<UnitUse> units;
  std::vector<Waited> stalls;  // of warps: shares of all cycles that warps stalled, most first
  std::uint64_t stalled = 0;   // these cycles
  LineCounters sum;            // of all lines
  Traffic shared, l2, memory, tensor;

  // Occupancy: what an SM has room for, or where the record does not say, had at once.
  std::uint32_t resident_blocks = 0, resident_warps = 0, warps_at_most = 0;
  std::string limited_by;
  std::uint32_t processors = 0, processors_used = 0;
  double occupied = 0;  // share of the time of all SMs with a block on them

  std::vector<LineUse> lines;  // the worst first
  std::uint64_t blocks_looked_at = 0;
  // Where the record has no block whole: the cycles of which it has events. Roles and units are
  // about these.
  std::optional<Cycle> kept_from;
  Cycle kept_to = 0;
  std::uint64_t folded = 0;  // events that were not kept
  std::uint64_t faults = 0, hazards = 0;

  RunTime time() const { return {end, clock, seconds, launch}; }

  // One or two sentences: what bounds the kernel, and the figures that say so.
  std::string verdict;
};

Statistics statistics_of(const Record& record);

// The text of a line of a source file; empty where it is not available.
using SourceText = std::string (*)(const std::string& file, std::uint32_t line);

// For people: the verdict, then aligned tables; the worst `lines` lines.
std::string text(const Statistics& statistics, SourceText source, std::size_t lines = 10);

// An instruction's text, with one blank where PTX has tabs.
std::string text(const RecordedLine& line);

// The parts of statistics_of: core/profile/roles.cpp and bounds.cpp.
void look_at_events(const Record& record, Statistics& statistics);
std::string verdict_of(const Statistics& statistics);
const PipeUse* find(const Statistics& statistics, Pipe pipe);
const UnitUse* find(const Statistics& statistics, Unit unit);

}  // namespace tilescope::sim
