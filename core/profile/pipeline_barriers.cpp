// Barriers of stages and sums, found by their times (pipeline.h).
#include <algorithm>
#include <optional>

#include "core/profile/pipeline_parts.h"

namespace tilescope::sim::pipeline_parts {
namespace {

// Of several barriers that fit the times of a stage or a sum, the closest.
struct Candidate {
  const BarrierPhases* barrier = nullptr;
  std::vector<EventId> phases;  // for each use; no_event: none was needed
  double gap = 0;               // cycles behind what it waits for, all uses together
};

// The first phase of a barrier that is complete at a time or later; its number of phases: none.
std::size_t first_phase(const Finding& f, const BarrierPhases& barrier, Cycle at) {
  const auto found = std::partition_point(barrier.phases.begin(), barrier.phases.end(),
                                          [&](EventId id) { return f.event(id).end < at; });
  return static_cast<std::size_t>(found - barrier.phases.begin());
}

// For each use i < count a phase of `barrier` that is complete from from(i) on and not after
// to(i).
template <class From, class To>
std::optional<Candidate> fits(const Finding& f, const BarrierPhases& barrier, std::size_t count,
                              From from, To to) {
  Candidate out{&barrier, {}, 0};
  for (std::size_t i = 0; i < count; ++i) {
    const Cycle least = from(i), most = to(i);
    const std::size_t phase =
        least == never_ends ? barrier.phases.size() : first_phase(f, barrier, least);
    const bool complete =
        phase < barrier.phases.size() && f.event(barrier.phases[phase]).end != never_ends;
    if (complete && f.event(barrier.phases[phase]).end <= most) {
      out.phases.push_back(barrier.phases[phase]);
      out.gap += static_cast<double>(f.event(barrier.phases[phase]).end - least);
    } else if (most == never_ends) {
      out.phases.push_back(no_event);  // the last use: nobody waits for it
    } else {
      return {};
    }
  }
  return out;
}

// Of those that fit, first one that these warps have waited for, then the one completed soonest.
template <class From, class To, class Usable>
std::optional<Candidate> closest(const Finding& f, std::size_t count, const Warps& waiters,
                                 From from, To to, Usable usable) {
  std::optional<Candidate> best;
  bool best_awaited = false;
  for (std::size_t i = 0; i < f.out.barriers.size(); ++i) {
    if (!usable(f.out.barriers[i])) continue;
    const auto found = fits(f, f.out.barriers[i], count, from, to);
    if (!found) continue;
    const bool awaited = std::any_of(f.waiters[i].begin(), f.waiters[i].end(),
                                     [&](const auto& warp) { return waiters.count(warp) != 0; });
    if (best && (best_awaited != awaited ? best_awaited : best->gap <= found->gap)) continue;
    best = found;
    best_awaited = awaited;
  }
  return best;
}

template <class Use>
void note_phases(const Finding& f, const Candidate& found, std::vector<Use>& uses, Cycle Use::*at) {
  for (std::size_t i = 0; i < uses.size(); ++i) {
    if (found.phases[i] != no_event) uses[i].*at = f.event(found.phases[i]).end;
  }
}

std::size_t number_of(const Finding& f, const BarrierPhases& barrier) {
  return static_cast<std::size_t>(&barrier - f.out.barriers.data());
}
// A barrier of threads that hands groups of cp.async on may do much else besides.
bool is_full(const Finding& f, const BarrierPhases& barrier) {
  return std::any_of(f.out.stages.begin(), f.out.stages.end(), [&](const RingStage& s) {
    return !s.groups && s.full == number_of(f, barrier);
  });
}
bool is_free(const Finding& f, const BarrierPhases& barrier) {
  return std::any_of(f.out.stages.begin(), f.out.stages.end(), [&](const RingStage& s) {
    return !s.groups && s.free == number_of(f, barrier);
  });
}

// Behind the waits for groups: a barrier of threads before any other.
void find_full(const Finding& f, RingStage& stage) {
  std::vector<Filling>& uses = stage.fillings;
  Warps read;
  for (const Filling& use : uses) {
    for (const EventId id : use.readers) f.add_issuers(id, read);
  }
  const auto awaited = [&](std::size_t i) { return uses[i].awaited; };
  const auto before = [&](std::size_t i) {
    if (uses[i].read_begin != never_ends) return uses[i].read_begin;
    return i + 1 < uses.size() ? uses[i + 1].issued : never_ends;
  };
  auto found = closest(f, uses.size(), read, awaited, before,
                       [](const BarrierPhases& b) { return b.unit == Unit::barrier; });
  if (!found) {
    found = closest(f, uses.size(), read, awaited, before,
                    [](const BarrierPhases& b) { return b.unit != Unit::barrier; });
  }
  // One that completed for none of them is none.
  if (!found || std::all_of(found->phases.begin(), found->phases.end(),
                            [](EventId phase) { return phase == no_event; })) {
    return;
  }
  stage.full = number_of(f, *found->barrier);
  note_phases(f, *found, uses, &Filling::full);
}

void find_free(const Finding& f, RingStage& stage) {
  std::vector<Filling>& uses = stage.fillings;
  if (uses.size() < 2) return;
  // When its readers are not known, a barrier behind the waits says nothing of them.
  if (stage.groups && std::any_of(uses.begin(), uses.end() - 1,
                                  [](const Filling& use) { return use.read_end == never_ends; })) {
    return;
  }
  Warps fill;
  for (const Filling& use : uses) {
    for (const EventId id : use.copies) f.add_issuers(id, fill);
  }
  const auto done = [&](std::size_t i) {
    if (uses[i].read_end != never_ends) return uses[i].read_end;
    return stage.groups ? never_ends : uses[i].full;
  };
  const auto next = [&](std::size_t i) {
    return i + 1 < uses.size() ? uses[i + 1].issued : never_ends;
  };
  const auto found = closest(f, uses.size(), fill, done, next, [&](const BarrierPhases& b) {
    return stage.groups || !is_full(f, b);
  });
  if (!found) return;
  stage.free = number_of(f, *found->barrier);
  note_phases(f, *found, uses, &Filling::freed);
}

void find_barriers_of(const Finding& f, Accumulator& accumulator) {
  std::vector<Accumulation>& sums = accumulator.sums;
  if (accumulator.where.of != MemoryUse::Of::tensor) return;
  // Behind a sum that nobody has read any barrier would fit.
  if (std::all_of(sums.begin(), sums.end(),
                  [](const Accumulation& sum) { return sum.read_begin == never_ends; })) {
    return;
  }
  Warps read_by, added_by;
  for (const Accumulation& sum : sums) {
    for (const EventId id : sum.loads) f.add_issuers(id, read_by);
    for (const EventId id : sum.products) f.add_issuers(id, added_by);
  }
  const auto ready = [&](std::size_t i) { return sums[i].end; };
  const auto read = [&](std::size_t i) { return sums[i].read_begin; };
  const auto usable = [&](const BarrierPhases& b) { return !is_free(f, b) && !is_full(f, b); };
  const auto complete = closest(f, sums.size(), read_by, ready, read, usable);
  if (complete) {
    accumulator.complete = number_of(f, *complete->barrier);
    note_phases(f, *complete, sums, &Accumulation::complete);
  }
  if (sums.size() < 2) return;
  const auto drained = closest(
      f, sums.size(), added_by, [&](std::size_t i) { return sums[i].read_end; },
      [&](std::size_t i) { return i + 1 < sums.size() ? sums[i + 1].begin : never_ends; },
      [&](const BarrierPhases& b) { return usable(b) && (!complete || &b != complete->barrier); });
  if (!drained) return;
  accumulator.drained = number_of(f, *drained->barrier);
  note_phases(f, *drained, sums, &Accumulation::drained);
}

}  // namespace

void find_barriers(Finding& f) {
  for (RingStage& stage : f.out.stages) {
    if (stage.groups) find_full(f, stage);
  }
  for (RingStage& stage : f.out.stages) find_free(f, stage);
  for (Accumulator& accumulator : f.out.accumulators) find_barriers_of(f, accumulator);
}

}  // namespace tilescope::sim::pipeline_parts
