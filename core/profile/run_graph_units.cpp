// What units did: how long an operation waits for the one before it, and how long it works.
#include <algorithm>
#include <limits>

#include "core/profile/run_graph_builder.h"

namespace tilescope::sim {
namespace {

bool one_after_another(Unit unit) {
  return unit == Unit::tensor || unit == Unit::copy_in || unit == Unit::copy_out ||
         unit == Unit::tensor_copy;
}

}  // namespace

PathKind path_kind(Unit unit) {
  switch (unit) {
    case Unit::copy_in:
    case Unit::async_copy:
    case Unit::remote:
    case Unit::launch:
      return PathKind::copies_in;
    case Unit::copy_out:
      return PathKind::copies_out;
    case Unit::tensor:
      return PathKind::products;
    case Unit::commit:
      return PathKind::commit;
    default:
      return PathKind::moves;
  }
}

double RunGraph::Builder::lag_of(EventId id) const {
  const Event e = event(id);
  const Points& p = points_[id];
  double from = at_[p.issue];
  if (unit_of(e) == Unit::commit && kept(e.cause) && points_[e.cause].end != none) {
    from = std::clamp(at_[points_[e.cause].end], from, at_[p.begin]);
  }
  return at_[p.begin] - from;
}

std::map<Unit, double> RunGraph::Builder::lags() const {
  std::map<Unit, double> out;
  const DeviceTimes& times = record_.device.times;
  if (record_.timed && times.known()) out[Unit::tensor] = times.tensor_issue;
  for (const auto& [key, operations] : operations_) {
    for (const EventId id : operations) {
      const auto [known, fresh] = out.try_emplace(static_cast<Unit>(key & 0xff), lag_of(id));
      known->second = std::min(known->second, lag_of(id));
    }
  }
  return out;
}

RunGraph::Builder::UnitTimes RunGraph::Builder::times_of(const std::vector<EventId>& operations,
                                                         Unit unit, double lag) const {
  UnitTimes out;
  out.lag = lag;
  double least = std::numeric_limits<double>::infinity();
  for (const EventId id : operations) {
    const Points& p = points_[id];
    least = std::min(least, at_[p.end] - at_[p.begin]);
  }
  if (unit == Unit::copy_in || unit == Unit::copy_out) out.first_byte = least;
  for (const bool waited : {true, false}) {
    // Those that nobody waited for: no longer than from begin to end.
    std::map<std::pair<std::uint64_t, std::uint32_t>, double> found;
    for (std::size_t i = 0; i + 1 < operations.size(); ++i) {
      const Event e = event(operations[i]);
      const Points &p = points_[operations[i]], &next = points_[operations[i + 1]];
      if (waited && lag_of(operations[i + 1]) <= out.lag) continue;
      const double between = at_[next.begin] - at_[p.begin];
      auto [known, fresh] = found.try_emplace(std::pair(e.amount, e.pc), at_[p.end] - at_[p.begin]);
      known->second = std::min(known->second, between);
    }
    out.work.merge(found);
  }
  return out;
}

void RunGraph::Builder::add_operations() {
  const std::map<Unit, double> shortest = lags();
  for (const auto& [key, operations] : operations_) {
    const auto unit = static_cast<Unit>(key & 0xff);
    const PathKind kind = path_kind(unit);
    const UnitTimes known = times_of(operations, unit, shortest.at(unit));
    for (std::size_t i = 0; i < operations.size(); ++i) {
      const EventId id = operations[i];
      const Event e = event(id);
      const Points& p = points_[id];
      if (unit == Unit::commit && kept(e.cause)) {
        edge(points_[e.cause].end, p.begin, PathKind::commit, id, known.lag);
      } else if (one_after_another(unit) && i > 0) {
        const EventId before = operations[i - 1];
        const Event other = event(before);
        const auto work = known.work.find({other.amount, other.pc});
        edge(points_[before].begin, p.begin, kind, before,
             work == known.work.end() ? 0 : work->second);
      }
      edge(p.issue, p.begin, PathKind::queued, id, known.lag, known.lag);
      spent(p.begin, p.end, kind, id, std::min(known.first_byte, at_[p.end] - at_[p.begin]));
      in_run(issued_by(e), p.issue);
    }
  }
}

}  // namespace tilescope::sim
