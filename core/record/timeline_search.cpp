// Finding events by what they are, and what brought them about.
#include <algorithm>
#include <utility>

#include "core/record/timeline.h"
#include "core/record/timeline_walk.h"

namespace tilescope::sim {
namespace {

// Has a run executed what lies between its first instruction and its last? It may have jumped, and
// nobody wrote down where to: it then executed fewer than lie there. Instructions that need no
// issue slot are not counted among its own.
bool went_through(const Event& run, const Record& record) {
  std::uint64_t between = record.timed ? 0 : run.until - run.pc;
  const auto end = std::min<std::size_t>(record.timed ? run.until : 0, record.counters.size());
  for (std::size_t pc = run.pc; pc < end; ++pc) between += record.counters[pc].issued > 0;
  return run.amount >= between;
}

// Instructions that an event is of.
bool has_pc(const Event& event, const std::vector<std::uint32_t>& pcs, const Record& record) {
  if (event.kind == EventKind::folded) return false;
  const auto has = [&](std::uint32_t pc) { return std::binary_search(pcs.begin(), pcs.end(), pc); };
  if (has(event.pc)) return true;
  if (event.kind != EventKind::run) return false;
  // Without a clock a run ends before `until`.
  if (record.timed && has(event.until)) return true;
  const auto inside = std::upper_bound(pcs.begin(), pcs.end(), event.pc);
  return inside != pcs.end() && *inside < event.until && went_through(event, record);
}

std::uint32_t bits_of(const std::vector<std::uint32_t>& pcs) {
  std::uint32_t bits = 0;
  for (const std::uint32_t pc : pcs) bits |= 1u << pc % 32;
  return bits;
}

}  // namespace

bool Timeline::matches(const EventFilter& filter, const Event& event) const {
  if (!(filter.kinds & bit(event.kind))) return false;
  if (filter.barrier) {
    const bool of_barrier = event.kind == EventKind::wait || event.kind == EventKind::arrival ||
                            event.kind == EventKind::phase;
    const bool of_group = record_.tracks[event.track].unit == Unit::async_copy;
    if (!of_barrier || of_group || event.object != *filter.barrier) return false;
  }
  if (event.kind == EventKind::wait && !(filter.stalls >> static_cast<int>(event.stall) & 1)) {
    return false;
  }
  return filter.pcs.empty() || has_pc(event, filter.pcs, record_);
}

bool Timeline::track_matches(const EventFilter& filter, TrackId t) const {
  const Track& track = record_.tracks[t];
  return (!filter.track || *filter.track == t) && (!filter.unit || *filter.unit == track.unit) &&
         (!filter.block || *filter.block == track.block) &&
         (filter.tracks.empty() || (t < filter.tracks.size() && filter.tracks[t]));
}

bool Timeline::may_match(const EventFilter& filter, std::uint32_t pcs, const Node& node) const {
  if (!(node.kinds & filter.kinds)) return false;
  if (!filter.pcs.empty() && !(node.pcs & pcs)) return false;
  return !filter.barrier || (node.objects & 1u << (*filter.barrier * 0x9e3779b9u >> 27));
}

EventId Timeline::next(const EventFilter& filter, Cycle at) const {
  const std::uint32_t pcs = bits_of(filter.pcs);
  EventId best = no_event;
  Cycle best_begin = never_ends;
  for (TrackId t = 0; t < rows_.size(); ++t) {
    if (!track_matches(filter, t)) continue;
    const Row& row = rows_[t];
    const std::size_t skipped = before(row, at);
    if (skipped == row.count) continue;
    const Cycle first = record_.events[order_[row.first + skipped]].begin;
    if (first > best_begin) continue;
    const auto enter = [&](const Node& node) {
      return node.begin <= best_begin && (node.begin >= at || node.end >= at) &&
             may_match(filter, pcs, node);
    };
    const auto visit = [&](EventId id) {
      const Event event = record_.events[id];
      if (event.begin < at) return true;
      if (event.begin > best_begin || (event.begin == best_begin && id > best)) return false;
      if (!matches(filter, event)) return true;
      best = id;
      best_begin = event.begin;
      return false;
    };
    walk(row, enter, visit);
  }
  return best;
}

EventId Timeline::previous(const EventFilter& filter, Cycle at) const {
  const std::uint32_t pcs = bits_of(filter.pcs);
  EventId best = no_event;
  Cycle best_begin = 0;
  for (TrackId t = 0; t < rows_.size(); ++t) {
    if (!track_matches(filter, t)) continue;
    const auto enter = [&](const Node& node) {
      return node.begin < at && (best == no_event || node.end >= best_begin) &&
             may_match(filter, pcs, node);
    };
    const auto visit = [&](EventId id) {
      const Event event = record_.events[id];
      if (event.begin >= at) return true;
      if (best != no_event &&
          (event.begin < best_begin || (event.begin == best_begin && id < best)))
        return false;
      if (!matches(filter, event)) return true;
      best = id;
      best_begin = event.begin;
      return false;
    };
    walk_back(rows_[t], enter, visit);
  }
  return best;
}

std::vector<EventId> Timeline::find(const EventFilter& filter, Cycle from, Cycle to,
                                    std::size_t limit) const {
  const std::uint32_t pcs = bits_of(filter.pcs);
  // The smallest (begin, id) of all tracks, as a heap whose greatest goes first.
  std::vector<std::pair<Cycle, EventId>> found;
  if (limit == 0 || from >= to) return {};
  const auto full = [&] { return found.size() == limit; };
  for (TrackId t = 0; t < rows_.size(); ++t) {
    if (!track_matches(filter, t)) continue;
    const auto enter = [&](const Node& node) {
      return node.begin < to && node.end >= from &&
             (!full() || node.begin <= found.front().first) && may_match(filter, pcs, node);
    };
    const auto visit = [&](EventId id) {
      const Event event = record_.events[id];
      if (event.begin >= to || (full() && event.begin > found.front().first)) return false;
      if (!in_range(event, from, to) || !matches(filter, event)) return true;
      if (full()) {
        if (std::pair(event.begin, id) > found.front()) return true;
        std::pop_heap(found.begin(), found.end());
        found.pop_back();
      }
      found.emplace_back(event.begin, id);
      std::push_heap(found.begin(), found.end());
      return true;
    };
    walk(rows_[t], enter, visit);
  }
  std::sort_heap(found.begin(), found.end());
  std::vector<EventId> out;
  for (const auto& [begin, id] : found) out.push_back(id);
  return out;
}

std::vector<std::uint32_t> Timeline::pcs_of_line(std::uint32_t file, std::uint32_t line) const {
  std::vector<std::uint32_t> out;
  for (std::uint32_t pc = 0; pc < record_.lines.size(); ++pc) {
    if (record_.lines[pc].file == file && record_.lines[pc].line == line) out.push_back(pc);
  }
  return out;
}

Arrows Timeline::arrows(const std::vector<TrackId>& tracks, Cycle from, Cycle to,
                        std::size_t limit) const {
  Arrows out;
  std::vector<bool> asked(rows_.size());
  for (const TrackId track : tracks) {
    if (track < asked.size()) asked[track] = true;
  }
  std::size_t looks = 16 * limit;
  const auto add = [&](const Arrow& arrow) {
    if (out.arrows.size() == limit) {
      out.more = true;
      return false;
    }
    out.arrows.push_back(arrow);
    return true;
  };
  for (const TrackId track : tracks) {
    if (track >= rows_.size()) continue;
    const auto enter = [&](const Node& node) { return node.begin < to && node.end >= from; };
    const auto visit = [&](EventId id) {
      const Event event = record_.events[id];
      if (event.begin >= to) return false;
      if (!in_range(event, from, to)) return true;
      if (looks-- == 0) {
        out.more = true;
        return false;
      }
      if (event.cause != no_event && !add({event.cause, id})) return false;
      auto at = std::partition_point(arrows_.begin(), arrows_.end(),
                                     [&](const Arrow& arrow) { return arrow.cause < id; });
      for (; at != arrows_.end() && at->cause == id; ++at) {
        // One whose effect is asked for, too, is told by that one.
        const Event effect = record_.events[at->effect];
        if (asked[effect.track] && in_range(effect, from, to)) continue;
        if (!add(*at)) return false;
      }
      return true;
    };
    walk(rows_[track], enter, visit);
    if (out.more) break;
  }
  return out;
}

}  // namespace tilescope::sim
