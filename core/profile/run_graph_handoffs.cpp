// Who hands what on: arrivals and phases of barriers, stages and sums.
#include <algorithm>

#include "core/profile/pipeline.h"
#include "core/profile/run_graph_builder.h"
#include "core/profile/statistics.h"

namespace tilescope::sim {

void RunGraph::Builder::add_barriers() {
  for (const auto& [key, arrivals] : arrivals_) {
    const auto phase = phases_.find(key);
    for (const EventId id : arrivals) {
      const Event e = event(id);
      const Point at = points_[id].begin;
      if (kept(e.cause)) {
        const Event by = event(e.cause);
        if (by.kind == EventKind::run) {
          in_run(e.cause, at);
        } else if (by.kind == EventKind::operation) {
          const Points& p = points_[e.cause];
          if (at_[p.end] <= at_[at]) {
            spent(p.end, at, PathKind::wakes, id);
          } else {
            spent(p.begin, at, path_kind(unit_of(by)), e.cause);
          }
        }
      }
      if (phase == phases_.end()) continue;
      const Event p = event(phase->second);
      if (p.cause == e.cause) {
        spent(at, points_[phase->second].end, PathKind::wakes, phase->second);
      } else {
        behind(at, points_[phase->second].end, PathKind::wakes, phase->second);
      }
    }
  }
  for (const auto& [key, id] : phases_) {
    const Event e = event(id);
    if (!kept(e.cause)) continue;
    const Event by = event(e.cause);
    if (by.kind == EventKind::run) {
      if (!arrivals_.contains(key)) in_run(e.cause, points_[id].end);
    } else if (points_[e.cause].end != none) {
      spent(points_[e.cause].end, points_[id].end, PathKind::wakes, id);
    }
  }
}

void RunGraph::Builder::add_stages() {
  const std::vector<Role> roles = statistics_of(record_).roles;
  std::vector<std::uint64_t> clusters;
  for (const TrackGroup& group : timeline_.groups()) {
    if (group.block != many_blocks) clusters.push_back(group.cluster);
  }
  std::sort(clusters.begin(), clusters.end());
  clusters.erase(std::unique(clusters.begin(), clusters.end()), clusters.end());
  for (const std::uint64_t cluster : clusters) {
    const Pipeline pipeline = pipeline_of(timeline_, roles, cluster);
    const auto phase_at = [&](const std::optional<std::size_t>& barrier, Cycle at) {
      if (!barrier || at == never_ends) return none;
      const std::vector<EventId>& phases = pipeline.barriers[*barrier].phases;
      const auto found =
          std::lower_bound(phases.begin(), phases.end(), at,
                           [&](EventId id, Cycle c) { return end_of(event(id)) < c; });
      return found != phases.end() && end_of(event(*found)) == at ? points_[*found].end : none;
    };
    for (const RingStage& stage : pipeline.stages) {
      for (std::size_t i = 0; i < stage.fillings.size(); ++i) {
        const Filling& f = stage.fillings[i];
        const Point full = phase_at(stage.full, f.full);
        const Point free = phase_at(stage.free, f.freed);
        for (const EventId id : f.readers) {
          behind(full, points_[id].issue);
          behind(points_[id].end, free);
        }
        if (i + 1 == stage.fillings.size()) continue;
        for (const EventId id : stage.fillings[i + 1].copies) behind(free, points_[id].issue);
      }
    }
    for (const Accumulator& accumulator : pipeline.accumulators) {
      for (std::size_t i = 0; i < accumulator.sums.size(); ++i) {
        const Accumulation& sum = accumulator.sums[i];
        const Point complete = phase_at(accumulator.complete, sum.complete);
        for (const EventId id : sum.products) behind(points_[id].end, complete);
        for (const EventId id : sum.loads) behind(complete, points_[id].issue);
        if (i + 1 == accumulator.sums.size() || accumulator.sums[i + 1].products.empty()) {
          continue;
        }
        behind(phase_at(accumulator.drained, sum.drained),
               points_[accumulator.sums[i + 1].products.front()].issue);
      }
    }
  }
}

}  // namespace tilescope::sim
