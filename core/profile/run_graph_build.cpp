// The points of a run's graph, out of its record, and the order of causes.
#include <algorithm>

#include "core/profile/run_graph_builder.h"

namespace tilescope::sim {

RunGraph::RunGraph(const Timeline& timeline) {
  Builder(timeline).build(*this);
}

void RunGraph::Builder::build(RunGraph& graph) {
  add_points();
  add_warps();
  add_operations();
  add_barriers();
  add_runs();
  add_stages();
  add_end();
  make_exact();
  put_in_order(graph);
}

void RunGraph::Builder::edge(Point from, Point to, PathKind kind, EventId of, double cycles,
                             double latency) {
  if (from == none || to == none || from == to) return;
  if (at_[from] > at_[to]) return;
  edges_.push_back({from, to, kind, of, std::min(cycles, at_[to] - at_[from]), latency});
}

void RunGraph::Builder::spent(Point from, Point to, PathKind kind, EventId of, double latency) {
  if (from == none || to == none) return;
  edge(from, to, kind, of, at_[to] - at_[from], latency);
}

void RunGraph::Builder::behind(Point from, Point to, PathKind kind, EventId of) {
  edge(from, to, kind, of, 0);
}

void RunGraph::Builder::add_points() {
  start_ = point(0);
  points_.resize(record_.events.size());
  inside_.resize(record_.events.size());
  for (EventId id = 0; id < points_.size(); ++id) {
    const Event e = event(id);
    Points& p = points_[id];
    switch (e.kind) {
      case EventKind::run:
      case EventKind::wait:
        p.begin = point(e.begin), p.end = point(end_of(e));
        warps_[e.track].push_back(id);
        break;
      case EventKind::operation:
        p.issue = point(std::min(e.issue, e.begin)), p.begin = point(e.begin);
        p.end = point(end_of(e));
        operations_[unit_key(e)].push_back(id);
        break;
      case EventKind::arrival:
        p.begin = p.end = point(e.begin);
        arrivals_[{e.track, e.phase}].push_back(id);
        break;
      case EventKind::phase:
        p.end = point(end_of(e));
        phases_[{e.track, e.phase}] = id;
        break;
      default:
        break;
    }
  }
  const auto by_begin = [&](EventId a, EventId b) {
    return std::pair(event(a).begin, a) < std::pair(event(b).begin, b);
  };
  for (auto& [track, events] : warps_) std::stable_sort(events.begin(), events.end(), by_begin);
  for (auto& [unit, events] : operations_) {
    std::stable_sort(events.begin(), events.end(), by_begin);
  }
}

std::uint64_t RunGraph::Builder::unit_key(const Event& e) const {
  const Track& t = record_.tracks[e.track];
  return std::uint64_t{t.processor} << 8 | static_cast<std::uint64_t>(t.unit);
}

void RunGraph::Builder::add_end() {
  Point last = none;
  for (const auto& [track, events] : warps_) {
    for (const EventId id : events) {
      ends_.push_back(points_[id].end);
      if (last == none || at_[points_[id].end] > at_[last]) last = points_[id].end;
    }
  }
  if (last == none) {
    for (Point p = 1; p < at_.size(); ++p) ends_.push_back(p);
    return;
  }
  const auto over = static_cast<double>(record_.end);
  // Those of a sample stand for all: what lies behind the last of them is no part of theirs.
  if (!record_.timed || over < at_[last] || record_.uncertain > 0) return;
  const Point end = point(record_.end);
  for (const Point p : ends_) edge(p, end, PathKind::drains, no_event, 0, over);
  for (const auto& [key, operations] : operations_) {
    for (const EventId id : operations) {
      if (at_[points_[id].end] > at_[last]) behind(points_[id].end, end, PathKind::drains);
    }
  }
  ends_ = {end};
}

void RunGraph::Builder::make_exact() {
  std::vector<std::size_t> best(at_.size(), ~std::size_t{0});
  const auto reached = [&](std::size_t i) { return at_[edges_[i].from] + edges_[i].cycles; };
  for (std::size_t i = 0; i < edges_.size(); ++i) {
    std::size_t& b = best[edges_[i].to];
    if (b == ~std::size_t{0} || reached(i) > reached(b)) b = i;
  }
  for (Point p = 1; p < at_.size(); ++p) {
    if (best[p] == ~std::size_t{0}) {
      if (at_[p] > 0) {
        spent(start_, p, PathKind::start, no_event);
      }
    } else {
      Edge& e = edges_[best[p]];
      e.cycles = at_[p] - at_[e.from];
    }
  }
}

void RunGraph::Builder::put_in_order(RunGraph& graph) {
  const std::size_t count = at_.size();
  std::stable_sort(edges_.begin(), edges_.end(),
                   [](const Edge& a, const Edge& b) { return a.to < b.to; });
  graph.first_.assign(count + 1, 0);
  for (const Edge& e : edges_) ++graph.first_[e.to + 1];
  for (std::size_t i = 0; i < count; ++i) graph.first_[i + 1] += graph.first_[i];
  std::vector<std::vector<Point>> effects(count);
  std::vector<std::uint32_t> causes(count, 0);
  for (const Edge& e : edges_) effects[e.from].push_back(e.to), ++causes[e.to];
  // Those without a cause that has not come; by time, so that a circle of points at one time,
  // which no run has but a record from elsewhere may, is left by its first.
  std::vector<Point> waiting(count);
  for (Point p = 0; p < count; ++p) waiting[p] = p;
  std::stable_sort(waiting.begin(), waiting.end(),
                   [&](Point a, Point b) { return at_[a] < at_[b]; });
  std::vector<bool> done(count, false);
  graph.order_.reserve(count);
  std::vector<Point> ready;
  const auto take = [&](Point p) {
    ready.push_back(p);
    while (!ready.empty()) {
      const Point next = ready.back();
      ready.pop_back();
      if (done[next]) continue;
      done[next] = true;
      graph.order_.push_back(next);
      for (const Point effect : effects[next]) {
        if (--causes[effect] == 0) ready.push_back(effect);
      }
    }
  };
  for (const Point p : waiting) {
    if (causes[p] == 0) take(p);
  }
  for (const Point p : waiting) {
    if (!done[p]) take(p);
  }
  graph.ends_ = std::move(ends_);
  graph.edges_ = std::move(edges_);
}

}  // namespace tilescope::sim
