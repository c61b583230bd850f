// What warps did one after the other, and what their waits were for.
#include <algorithm>

#include "core/profile/run_graph_builder.h"

namespace tilescope::sim {
namespace {

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

}  // namespace

void RunGraph::Builder::in_run(EventId run, Point at) {
  if (!kept(run) || points_[run].begin == none) return;
  if (at_[at] <= at_[points_[run].end]) {
    inside_[run].push_back(at);
  } else {
    spent(points_[run].end, at, PathKind::wakes, run);
  }
}

void RunGraph::Builder::add_warps() {
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

void RunGraph::Builder::add_wait(EventId id, const Event& e) {
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

PathKind RunGraph::Builder::kind_of_wait(const Event& e) const {
  if (e.stall == Stall::products) return PathKind::products;
  if (e.stall == Stall::group && e.pc < record_.lines.size()) {
    const bool bulk = record_.lines[e.pc].text.find("cp.async.bulk") != std::string::npos;
    return bulk ? PathKind::copies_out : PathKind::copies_in;
  }
  return kind_of(e.stall);
}

EventId RunGraph::Builder::issued_by(const Event& e) const {
  Event by = e;
  while (kept(by.cause) && event(by.cause).kind == EventKind::operation) by = event(by.cause);
  if (!kept(by.cause) || event(by.cause).kind != EventKind::run) return no_event;
  if (by.issue == e.issue) return by.cause;
  const std::vector<EventId>& on = warps_.at(event(by.cause).track);
  const auto behind = std::upper_bound(on.begin(), on.end(), e.issue,
                                       [&](Cycle at, EventId id) { return at < event(id).begin; });
  for (auto at = behind; at != on.begin() && behind - at < 3;) {
    --at;
    if (event(*at).kind == EventKind::run) return *at;
  }
  return no_event;
}

void RunGraph::Builder::add_runs() {
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

}  // namespace tilescope::sim
