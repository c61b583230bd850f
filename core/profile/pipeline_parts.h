// How pipeline_of() finds a Pipeline, part by part: what each finds, the next ones use.
#pragma once

#include <set>
#include <utility>

#include "core/profile/pipeline.h"

namespace tilescope::sim::pipeline_parts {

using Warps = std::set<std::pair<std::uint64_t, std::uint32_t>>;  // block, index

struct Finding {
  const Timeline& timeline;
  const Record& record;
  Pipeline out;
  std::vector<EventId> copies_in, moves;  // bulk copies; tcgen05.cp; by begin
  std::vector<EventId> thread_copies;     // cp.async: groups, and what mbarriers were told of
  std::vector<EventId> group_waits;       // instants: a warp has waited for some of its groups
  std::vector<Warps> waiters;             // by barrier: who waited for one of its phases

  Event event(EventId id) const { return record.events[id]; }
  Cycle end_of(const Event& e) const {
    return e.end == never_ends ? timeline.end() : std::max(e.begin, e.end);
  }
  std::uint8_t rank_of(std::uint64_t block) const;
  // The warps that issue an operation: of a warpgroup's product all four.
  void add_issuers(EventId id, Warps& out) const;
  // The filling that an operation which begins then finds in a stage. Null: none.
  static Filling* filling_for(RingStage& stage, Cycle issue);
};

// pipeline_units.cpp: warps and their roles, barriers, operations of the units.
void find_units(Finding& f, const std::vector<Role>& roles);
// pipeline_stages.cpp: what is filled for a phase of an mbarrier, or (pipeline_groups.cpp) by
// groups of cp.async; who reads it; and which of them are a ring.
void find_stages(Finding& f);
void add_groups(Finding& f);
void add_reads_by_threads(Finding& f);
// Of operations of cp.async: a group, and not what an mbarrier was told of.
bool is_group(const Record& record, const Event& copy);
// The stage of these bytes; `fresh`: it was not there yet, and knows no barrier.
RingStage& stage_of(Finding& f, std::uint8_t rank, const std::vector<ByteSpan>& spans, bool& fresh);
// In order, those that are no further apart than `gap` as one. Rows that threads write may be apart
// by up to `padding` bytes, so that their banks differ.
constexpr std::uint32_t padding = 128;
void put_together(std::vector<ByteSpan>& spans, std::uint32_t gap = 0);
// `together`: of each buffer one part, which spans all that is brought.
void add_part(Filling& filling, const MemoryUse& part, bool together);
// pipeline_sums.cpp: accumulators, and which step of K each product and each filling is of.
void find_sums(Finding& f);
// pipeline_barriers.cpp: which barriers hand stages and sums on.
void find_barriers(Finding& f);

}  // namespace tilescope::sim::pipeline_parts
