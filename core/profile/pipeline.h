// How the CTAs of a cluster hand data on, read out of a record: places of shared memory that copies
// fill again and again, the mbarriers that say when one is full and when it is free, accumulators
// and who reads them. Of any kernel: nothing is known of it but what it did.
//
//     copies -> RingStage (full) -> products -> Accumulator (complete) -> loads -> copies out
//                 ^  (free) <-----'             ^  (drained) <---------'
//
// A RingStage is a stretch of shared memory that one or more copies fill for one phase of an
// mbarrier, or that warps fill by one group each of cp.async; stages of the same size that hold
// parts of the same tensors are a Ring. What reads a stage is known of products, tcgen05.cp and
// copies out; of loads by threads where groups of cp.async fill it, as far as the record has
// accesses.
//
// The mbarriers of a stage are found by their times: that which its copies complete on is its
// `full`; its `free` is one of which a phase is completed after each use and before the next copy
// into the stage is issued. Where several fit, one that whoever copies was seen to wait for, then
// that which is completed soonest behind the last read. Those of sums likewise.
//
// Groups complete on no mbarrier: each warp waits for its own (cp.async.wait_group), and a barrier
// behind that tells the others. `full` is then one of which a phase is completed after all these
// waits and before the first read; without one, a filling is full when the waits are over.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/profile/statistics.h"
#include "core/record/timeline.h"

namespace tilescope::sim {

// One use of a stage. Times are cycles, as the record has them; never_ends: it did not come to
// that.
struct Filling {
  static constexpr std::size_t no_sum = ~std::size_t{0};
  Cycle issued = never_ends;  // its first copy
  Cycle begin = never_ends;   // the first copy is under way
  Cycle full = never_ends;    // the phase that its copies complete
  // Of groups of cp.async: all bytes are there; all warps have waited for theirs.
  Cycle landed = never_ends, awaited = never_ends;
  // By threads: from the issue of the first load to that of the last.
  Cycle read_begin = never_ends, read_end = never_ends;
  Cycle freed = never_ends;  // the phase that lets the next copies go
  std::uint32_t phase = 0;   // of `full`; of groups of cp.async: their number in each warp
  std::uint32_t step = 0;    // of K: that of the products that read it; else its number in the ring
  std::size_t sum = no_sum;  // that they add to: its number among those of the cluster
  std::vector<EventId> copies, readers;  // copies by their addresses, `parts` with them
  std::vector<std::uint32_t> loads;      // by threads: of Record::accesses
  std::uint64_t bytes = 0;
  std::vector<MemoryUse> parts;  // of buffers: what is brought
};

// Bytes [begin, end) of a CTA's shared memory.
struct ByteSpan {
  std::uint32_t begin = 0, end = 0;
  friend bool operator==(const ByteSpan&, const ByteSpan&) = default;
};

struct RingStage {
  std::uint8_t rank = 0;  // of the CTA in its cluster
  // In the order of their addresses, neighbours put together: A's part may be far from B's.
  std::vector<ByteSpan> spans;
  std::optional<std::size_t> full, free;  // of Pipeline::barriers
  bool by_threads = false;                // cp.async fills it
  bool groups = false;                    // and its threads wait for groups, not for an mbarrier
  std::vector<std::uint32_t> waits;       // pc of each instruction that waited for these groups
  bool own = false;                       // who fills it are among those whose operations read it
  std::vector<Filling> fillings;          // in the order of their copies
  // The one that is there or coming at a time: the last whose copies were issued. Null: none yet.
  const Filling* at(Cycle time) const;
  std::uint32_t bytes() const;
  bool meets(const MemoryUse& use) const;
};
// "0-16383, 65536-81919"
std::string spans_text(const std::vector<ByteSpan>& spans);

struct Ring {
  std::string holds;  // "A, B": the tensors, in the order of their addresses
  std::uint8_t rank = 0;
  std::vector<std::size_t> stages;  // of Pipeline::stages, by address
};

// A sum, from its first product until it was read.
struct Accumulation {
  Cycle begin = never_ends, end = 0;                     // of its products
  Cycle complete = never_ends;                           // the phase that says so
  Cycle read_begin = never_ends, read_end = never_ends;  // by tcgen05.ld
  Cycle drained = never_ends;
  std::vector<EventId> products, loads;
  std::vector<std::uint32_t> steps;  // of each product, the step of K: 0, 1, ...
  std::uint32_t last_step = 0;
  std::size_t number = 0;  // among all sums of the cluster, by their first product
  // Of the output, as the product's A and B say it; nothing where these are not known.
  std::optional<MemoryUse> tile;
};
struct Accumulator {
  MemoryUse where;                               // cells of TMEM, or registers of a warpgroup
  std::optional<std::size_t> complete, drained;  // of Pipeline::barriers
  std::vector<Accumulation> sums;
  // The one that grows, waits or is read at a time. Null: none has begun.
  const Accumulation* at(Cycle time) const;
};

// An mbarrier of a CTA, one of bar.sync, or the cluster's, and what is known of its phases.
struct BarrierPhases {
  Unit unit = Unit::mbarrier;  // or Unit::barrier, Unit::cluster
  std::uint8_t rank = 0;
  std::uint32_t object = 0;  // offset in shared memory; number
  TrackId track = 0;
  std::vector<EventId> phases, arrivals;  // by time
};

struct PipelineWarp {
  std::uint8_t rank = 0;
  std::uint32_t index = 0;
  TrackId track = 0;
  std::size_t role = 0;  // index into Pipeline::roles
};

struct Pipeline {
  std::uint64_t cluster = 0;
  std::vector<std::uint64_t> blocks;  // by rank
  Cycle begin = 0, end = 0;           // of their events
  std::vector<std::string> roles;     // "copies in"
  std::vector<PipelineWarp> warps;    // by rank, then index
  std::vector<RingStage> stages;
  std::vector<Ring> rings;
  std::vector<Accumulator> accumulators;
  std::vector<BarrierPhases> barriers;
  std::vector<EventId> products, loads, copies_out;  // by begin

  // The mbarrier of a CTA, as an index into `barriers`.
  std::optional<std::size_t> mbarrier(std::uint8_t rank, std::uint32_t offset) const;
};

// What whoever reads a stage waits for: "full[1]"; of groups of cp.async "wait_group 2, bar 0", or
// "wait_group 0" where no barrier is behind it. "none seen".
std::string full_text(const Record& record, const Pipeline& pipeline, const RingStage& stage);

// "full[1]", "mbarrier 98312", "bar 0"; of another CTA than `rank`: "full[1] of CTA 0".
std::string barrier_text(const Record& record, const BarrierPhases& barrier, std::uint8_t rank);

// Roles of warps are those of the record's statistics.
Pipeline pipeline_of(const Timeline& timeline, const std::vector<Role>& roles,
                     std::uint64_t cluster);

// The parts of tensors that a filling has brought, "A [0:128, 64:128], B [0:256, 64:128]".
std::string parts_text(const Record& record, const std::vector<MemoryUse>& parts);
// "A [0:128, 64:128]"
std::string part_text(const Record& record, const MemoryUse& part);

}  // namespace tilescope::sim
