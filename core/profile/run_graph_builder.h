// How a RunGraph is built out of a record: points of all events, then the edges between them, part
// by part.
#pragma once

#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/profile/run_graph.h"

namespace tilescope::sim {

// What the time of a unit's operation is.
PathKind path_kind(Unit unit);

class RunGraph::Builder {
 public:
  explicit Builder(const Timeline& timeline) : timeline_(timeline), record_(timeline.record()) {}

  void build(RunGraph& graph);

 private:
  // Points of an event: those it has not are `none`.
  struct Points {
    Point issue = none, begin = none, end = none;
  };
  Event event(EventId id) const { return record_.events[id]; }
  Cycle end_of(const Event& e) const {
    return e.end == never_ends ? timeline_.end() : std::max(e.begin, e.end);
  }
  Unit unit_of(const Event& e) const { return record_.tracks[e.track].unit; }
  bool kept(EventId id) const { return id != no_event && id < points_.size(); }
  Point point(Cycle at) {
    at_.push_back(static_cast<double>(at));
    return static_cast<Point>(at_.size() - 1);
  }
  // An edge that the run's times keep; one that they do not is no cause.
  void edge(Point from, Point to, PathKind kind, EventId of, double cycles, double latency = 0);
  // All that lies between.
  void spent(Point from, Point to, PathKind kind, EventId of, double latency = 0);
  void behind(Point from, Point to, PathKind kind = PathKind::other, EventId of = no_event);

  void add_points();
  // A unit of an SM, which the CTAs on it share.
  std::uint64_t unit_key(const Event& e) const;

  // ---- run_graph_warps.cpp ----
  // It happened in the middle of a run, or behind it.
  void in_run(EventId run, Point at);
  // What a warp did one after the other, and what its waits were for.
  void add_warps();
  void add_wait(EventId id, const Event& e);
  // Of one whose cause is not known.
  PathKind kind_of_wait(const Event& e) const;
  // The run of the warp that issued an operation. A commit is caused by a product: by the warp that
  // issued that. no_event: not known.
  EventId issued_by(const Event& e) const;
  // From a run's begin through what happens in it to its end.
  void add_runs();

  // ---- run_graph_units.cpp ----
  // What is known of a unit from its operations, in the order of their begins.
  struct UnitTimes {
    double lag = 0;         // from issue to begin where it is free: the shortest
    double first_byte = 0;  // of a copy: the shortest one
    // By amount and instruction: from an operation's begin to that of the next one, where this had
    // to wait for it; the shortest.
    std::map<std::pair<std::uint64_t, std::uint32_t>, double> work;
  };
  double lag_of(EventId id) const;
  // Of all units of a kind: one that is never free has an issue that waited each time.
  std::map<Unit, double> lags() const;
  UnitTimes times_of(const std::vector<EventId>& operations, Unit unit, double lag) const;
  void add_operations();

  // ---- run_graph_handoffs.cpp ----
  void add_barriers();
  // Who fills a stage waits until it is free, and who reads it until it is full, whether or not
  // they had to.
  void add_stages();

  // A CTA is over when its warps have exited and what they left on its way is there; of stores that
  // is known by the run's end alone.
  void add_end();
  // Each point is where its latest edge has it: one of which no cause is known keeps its time.
  void make_exact();
  void put_in_order(RunGraph& graph);

  const Timeline& timeline_;
  const Record& record_;
  Point start_ = none;
  std::vector<double> at_;                  // by point, as the record has it
  std::vector<Points> points_;              // by event
  std::vector<std::vector<Point>> inside_;  // by event: of a run
  std::map<TrackId, std::vector<EventId>> warps_;
  std::map<std::uint64_t, std::vector<EventId>> operations_;
  std::map<std::pair<TrackId, std::uint32_t>, std::vector<EventId>> arrivals_;
  std::map<std::pair<TrackId, std::uint32_t>, EventId> phases_;
  std::vector<Edge> edges_;
  std::vector<Point> ends_;
};

}  // namespace tilescope::sim
