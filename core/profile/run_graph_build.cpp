// The points and edges of a run's graph, out of its record.
#include "core/profile/run_graph.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "core/profile/pipeline.h"
#include "core/profile/statistics.h"

namespace tilescope::sim {
namespace {

PathKind kind_of(Unit unit) {
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

PathKind kind_of(Stall stall) {
  switch (stall) {
    case Stall::shared:
    case Stall::global:
    case Stall::tmem:
      return PathKind::memory;
    default:
      return PathKind::other;
  }
}

bool one_after_another(Unit unit) {
  return unit == Unit::tensor || unit == Unit::copy_in || unit == Unit::copy_out ||
         unit == Unit::tensor_copy;
}

}  // namespace

// Points and edges, before they are put in order.

class RunGraph::Builder {
 public:
  explicit Builder(const Timeline& timeline) : timeline_(timeline), record_(timeline.record()) {}

  void build(RunGraph& graph) {
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
  void edge(Point from, Point to, PathKind kind, EventId of, double cycles, double latency = 0) {
    if (from == none || to == none || from == to) return;
    if (at_[from] > at_[to]) return;
    edges_.push_back({from, to, kind, of, std::min(cycles, at_[to] - at_[from]), latency});
  }
  // All that lies between.
  void spent(Point from, Point to, PathKind kind, EventId of, double latency = 0) {
    if (from == none || to == none) return;
    edge(from, to, kind, of, at_[to] - at_[from], latency);
  }
  void behind(Point from, Point to, PathKind kind = PathKind::other, EventId of = no_event) {
    edge(from, to, kind, of, 0);
  }

  void add_points() {
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

  // A unit of an SM, which the CTAs on it share.
  std::uint64_t unit_key(const Event& e) const {
    const Track& t = record_.tracks[e.track];
    return std::uint64_t{t.processor} << 8 | static_cast<std::uint64_t>(t.unit);
  }

  // It happened in the middle of a run, or behind it.
  void in_run(EventId run, Point at) {
    if (!kept(run) || points_[run].begin == none) return;
    if (at_[at] <= at_[points_[run].end]) {
      inside_[run].push_back(at);
    } else {
      spent(points_[run].end, at, PathKind::wakes, run);
    }
  }

  // What a warp did one after the other, and what its waits were for.
  void add_warps() {
    // The first and last points of CTAs, of which others begin when these are over.
    struct Life {
      Point first = none, last = none;
      std::uint32_t processor = 0;
    };
    std::map<std::uint64_t, Life> lives;
    for (const auto& [track, events] : warps_) {
      Life& life = lives[record_.tracks[track].block];
      life.processor = record_.tracks[track].processor;
      for (std::size_t i = 0; i < events.size(); ++i) {
        const EventId id = events[i];
        const Event e = event(id);
        if (i > 0) {
          const Points& before = points_[events[i - 1]];
          if (at_[before.end] <= at_[points_[id].begin]) {
            spent(before.end, points_[id].begin, PathKind::other, id);
          } else if (event(events[i - 1]).kind == EventKind::run) {
            inside_[events[i - 1]].push_back(points_[id].begin);  // it ends with what it waits for
          } else {
            spent(before.begin, points_[id].begin, PathKind::other, id);
          }
        }
        if (e.kind == EventKind::wait) add_wait(id, e);
      }
      const Point first = points_[events.front()].begin, last = points_[events.back()].end;
      if (life.first == none || at_[first] < at_[life.first]) life.first = first;
      if (life.last == none || at_[last] > at_[life.last]) life.last = last;
    }
    for (const auto& [block, life] : lives) {
      Point before = start_;
      for (const auto& [other, earlier] : lives) {
        if (earlier.processor == life.processor && other != block &&
            at_[earlier.last] <= at_[life.first] && at_[earlier.last] >= at_[before]) {
          before = earlier.last;
        }
      }
      for (const auto& [track, events] : warps_) {
        if (record_.tracks[track].block != block) continue;
        spent(before, points_[events.front()].begin, PathKind::start, no_event);
      }
    }
  }

  void add_wait(EventId id, const Event& e) {
    const Points& p = points_[id];
    bool told = false;
    if (kept(e.cause)) {
      const Event cause = event(e.cause);
      const Points& by = points_[e.cause];
      if (cause.kind == EventKind::run && cause.track != e.track) {
        const Cycle ended = std::min(end_of(cause), end_of(e));
        if (ended > e.begin) {
          const Point there = point(ended);
          in_run(e.cause, there);
          spent(there, p.end, PathKind::wakes, e.cause);
          told = true;
        }
      } else if (cause.kind != EventKind::run && by.end != none && at_[by.end] <= at_[p.end]) {
        told = end_of(cause) > e.begin;
        if (told) {
          spent(by.end, p.end, PathKind::wakes, e.cause);
        } else {
          behind(by.end, p.end, PathKind::wakes, e.cause);
        }
      }
      // All who come to a barrier of threads complete it together.
      if (cause.kind == EventKind::phase && unit_of(cause) != Unit::mbarrier) {
        behind(p.begin, by.end);
      }
    }
    if (told) {
      behind(p.begin, p.end, PathKind::other, id);
    } else {
      spent(p.begin, p.end, kind_of_wait(e), id);
    }
  }
  // Of one whose cause is not known.
  PathKind kind_of_wait(const Event& e) const {
    if (e.stall == Stall::products) return PathKind::products;
    if (e.stall == Stall::group && e.pc < record_.lines.size()) {
      const bool bulk = record_.lines[e.pc].text.find("cp.async.bulk") != std::string::npos;
      return bulk ? PathKind::copies_out : PathKind::copies_in;
    }
    return kind_of(e.stall);
  }

  // What is known of a unit from its operations, in the order of their begins.
  struct UnitTimes {
    double lag = 0;         // from issue to begin where it is free: the shortest
    double first_byte = 0;  // of a copy: the shortest one
    // By amount and instruction: from an operation's begin to that of the next one, where this had
    // to wait for it; the shortest.
    std::map<std::pair<std::uint64_t, std::uint32_t>, double> work;
  };
  double lag_of(EventId id) const {
    const Event e = event(id);
    const Points& p = points_[id];
    double from = at_[p.issue];
    if (unit_of(e) == Unit::commit && kept(e.cause) && points_[e.cause].end != none) {
      from = std::clamp(at_[points_[e.cause].end], from, at_[p.begin]);
    }
    return at_[p.begin] - from;
  }
  // Of all units of a kind: one that is never free has an issue that waited each time.
  std::map<Unit, double> lags() const {
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
  UnitTimes times_of(const std::vector<EventId>& operations, Unit unit, double lag) const {
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
        auto [known, fresh] =
            found.try_emplace(std::pair(e.amount, e.pc), at_[p.end] - at_[p.begin]);
        known->second = std::min(known->second, between);
      }
      out.work.merge(found);
    }
    return out;
  }

  void add_operations() {
    const std::map<Unit, double> shortest = lags();
    for (const auto& [key, operations] : operations_) {
      const auto unit = static_cast<Unit>(key & 0xff);
      const PathKind kind = kind_of(unit);
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

  // The run of the warp that issued an operation. A commit is caused by a product: by the warp that
  // issued that. no_event: not known.
  EventId issued_by(const Event& e) const {
    Event by = e;
    while (kept(by.cause) && event(by.cause).kind == EventKind::operation) by = event(by.cause);
    if (!kept(by.cause) || event(by.cause).kind != EventKind::run) return no_event;
    if (by.issue == e.issue) return by.cause;
    const std::vector<EventId>& on = warps_.at(event(by.cause).track);
    const auto behind = std::upper_bound(
        on.begin(), on.end(), e.issue, [&](Cycle at, EventId id) { return at < event(id).begin; });
    for (auto at = behind; at != on.begin() && behind - at < 3;) {
      --at;
      if (event(*at).kind == EventKind::run) return *at;
    }
    return no_event;
  }

  void add_barriers() {
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
              spent(p.begin, at, kind_of(unit_of(by)), e.cause);
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

  // From a run's begin through what happens in it to its end.
  void add_runs() {
    for (EventId id = 0; id < points_.size(); ++id) {
      if (event(id).kind != EventKind::run) continue;
      std::vector<Point>& in = inside_[id];
      std::stable_sort(in.begin(), in.end(), [&](Point a, Point b) { return at_[a] < at_[b]; });
      Point last = points_[id].begin;
      for (const Point p : in) {
        spent(last, p, PathKind::runs, id);
        if (at_[p] >= at_[last]) last = p;
      }
      spent(last, points_[id].end, PathKind::runs, id);
    }
  }

  // Who fills a stage waits until it is free, and who reads it until it is full, whether or not
  // they had to.
  void add_stages() {
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

  // A CTA is over when its warps have exited and what they left on its way is there; of stores that
  // is known by the run's end alone.
  void add_end() {
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

  // Each point is where its latest edge has it: one of which no cause is known keeps its time.
  void make_exact() {
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

  void put_in_order(RunGraph& graph) {
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

RunGraph::RunGraph(const Timeline& timeline) {
  Builder(timeline).build(*this);
}

}  // namespace tilescope::sim
