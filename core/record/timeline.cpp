// The index of a timeline. Its queries: timeline_spans.cpp, timeline_search.cpp.
#include "core/record/timeline.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "core/record/timeline_walk.h"

namespace tilescope::sim {
namespace {

std::uint32_t saturated(std::uint64_t value) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(value, ~std::uint32_t{0}));
}

// Units in the order in which they are shown: what feeds first.
int place_of(Unit unit) {
  constexpr Unit order[] = {Unit::warp,     Unit::copy_in, Unit::async_copy,  Unit::tensor_copy,
                            Unit::tensor,   Unit::commit,  Unit::tensor_load, Unit::tensor_store,
                            Unit::copy_out, Unit::remote,  Unit::launch,      Unit::mbarrier,
                            Unit::barrier,  Unit::cluster};
  static_assert(std::size(order) == static_cast<std::size_t>(Unit::count_));
  return static_cast<int>(std::find(std::begin(order), std::end(order), unit) - std::begin(order));
}

}  // namespace

Timeline::Timeline(const Record& record) : record_(record) {
  sort_events();
  for (Row& row : rows_) index(row);
  group_tracks();
  sort_causes();
}

Cycle Timeline::end_of(const Event& event) const {
  return std::max(event.begin, event.end == never_ends ? end_ : event.end);
}

bool Timeline::in_range(const Event& event, Cycle from, Cycle to) const {
  const Cycle end = end_of(event);
  return event.begin < to && (end > from || (end == event.begin && end == from));
}

void Timeline::sort_events() {
  const EventList& events = record_.events;
  rows_.resize(record_.tracks.size());
  end_ = record_.end;
  for (const Event& event : events) {
    ++rows_[event.track].count;
    end_ = std::max(end_, event.end == never_ends ? event.begin : std::max(event.begin, event.end));
  }
  std::size_t first = 0;
  for (Row& row : rows_) {
    row.first = first;
    first += std::exchange(row.count, 0);
  }
  order_.resize(first);
  // Of each track's latest event so far, to see whether its events are in order already.
  std::vector<Cycle> latest(rows_.size());
  std::vector<bool> mixed(rows_.size());
  EventId id = 0;
  for (const Event& event : events) {
    Row& row = rows_[event.track];
    order_[row.first + row.count++] = id++;
    if (event.begin < latest[event.track]) mixed[event.track] = true;
    latest[event.track] = event.begin;
  }
  std::vector<std::pair<Cycle, EventId>> sorted;
  for (std::size_t t = 0; t < rows_.size(); ++t) {
    if (!mixed[t]) continue;
    const Row& row = rows_[t];
    sorted.clear();
    for (std::size_t i = row.first; i < row.first + row.count; ++i) {
      sorted.emplace_back(events[order_[i]].begin, order_[i]);
    }
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t i = 0; i < row.count; ++i) order_[row.first + i] = sorted[i].second;
  }
}

Timeline::Node Timeline::node_of(const Event& event) const {
  Node node;
  node.begin = event.begin;
  node.end = end_of(event);
  node.count = event.kind == EventKind::folded ? event.amount : 1;
  node.longest = node.weight = saturated(node.end - node.begin);
  // A run has its instructions one after the other; one that jumps back may have any.
  if (event.kind == EventKind::run) {
    const std::uint64_t count =
        event.until >= event.pc ? std::uint64_t{event.until} - event.pc : 32;
    for (std::uint64_t i = 0; i <= std::min<std::uint64_t>(count, 31); ++i) {
      node.pcs |= 1u << ((event.pc + i) % 32);
    }
  } else if (event.kind != EventKind::folded) {
    node.pcs = 1u << event.pc % 32;
  }
  node.objects = 1u << (event.object * 0x9e3779b9u >> 27);
  node.kind = static_cast<std::uint8_t>(event.kind);
  // A run says with it what most of its short stalls were for: it runs all the same.
  const Stall stall = event.kind == EventKind::run ? Stall::none : event.stall;
  node.stall = static_cast<std::uint8_t>(stall);
  node.kinds = static_cast<std::uint8_t>(bit(event.kind));
  return node;
}

Timeline::Node Timeline::joined(const Node& a, const Node& b) {
  Node out = a;
  out.end = std::max(a.end, b.end);
  out.count += b.count;
  out.longest = std::max(a.longest, b.longest);
  out.pcs |= b.pcs;
  out.objects |= b.objects;
  out.kinds |= b.kinds;
  if (a.kind == b.kind && a.stall == b.stall) {
    out.weight = saturated(std::uint64_t{a.weight} + b.weight);
  } else if (b.weight > a.weight) {
    out.kind = b.kind;
    out.stall = b.stall;
    out.weight = b.weight - a.weight;
  } else {
    out.weight = a.weight - b.weight;
  }
  return out;
}

void Timeline::add_to(Sum& sum, const Event& event) const {
  const Cycle end = end_of(event);
  switch (event.kind) {
    case EventKind::run:
    case EventKind::operation:
      if (end > sum.busy_until) {
        sum.totals.busy += end - std::max(event.begin, sum.busy_until);
        sum.busy_until = end;
      }
      break;
    case EventKind::wait: {
      const auto stall = static_cast<std::size_t>(event.stall);
      if (stall >= sum.totals.stalled.size()) break;
      sum.totals.stalled[stall] += end - event.begin;
      sum.stalled_until = end;
      sum.stall = event.stall;
      break;
    }
    case EventKind::folded:
      if (end > sum.folded_until) {
        sum.totals.folded += end - std::max(event.begin, sum.folded_until);
        sum.folded_until = end;
      }
      sum.totals.folded_busy += event.until;
      sum.totals.folded_stalled += event.pc;
      break;
    default:
      break;
  }
}

void Timeline::index(Row& row) {
  const Levels levels(row.count, fanout);
  row.nodes = nodes_.size();
  row.sums = sums_.size();
  Sum sum;
  for (std::size_t i = 0; i < row.count; ++i) {
    if (row.first + i + 16 < order_.size()) record_.events.prefetch(order_[row.first + i + 16]);
    const Event event = record_.events[order_[row.first + i]];
    if (i % stretch == 0) sums_.push_back(sum);
    add_to(sum, event);
    if (levels.top == 0) continue;
    const Node node = node_of(event);
    if (i % fanout == 0) {
      nodes_.push_back(node);
    } else {
      nodes_.back() = joined(nodes_.back(), node);
    }
  }
  for (std::size_t level = 2; level <= levels.top; ++level) {
    for (std::size_t i = 0; i < levels.count[level - 1]; ++i) {
      const Node node = nodes_[row.nodes + levels.first[level - 1] + i];
      if (i % fanout == 0) {
        nodes_.push_back(node);
      } else {
        nodes_.back() = joined(nodes_.back(), node);
      }
    }
  }
}

void Timeline::group_tracks() {
  std::map<std::tuple<std::uint64_t, std::uint64_t, std::uint32_t>, TrackGroup> groups;
  for (TrackId t = 0; t < rows_.size(); ++t) {
    const Track& track = record_.tracks[t];
    const bool many = track.block == many_blocks;
    const std::uint64_t cluster = many ? many_blocks : cluster_of(record_.launch, track.block);
    TrackGroup& group = groups[{cluster, track.block, track.processor}];
    if (group.tracks.empty()) group = {cluster, track.block, track.processor, never_ends, 0, {}};
    group.tracks.push_back(t);
    const Row& row = rows_[t];
    if (row.count == 0) continue;
    group.begin = std::min(group.begin, record_.events[order_[row.first]].begin);
    const Levels levels(row.count, fanout);
    for (std::size_t i = 0; i < levels.count[levels.top]; ++i) {
      group.end =
          std::max(group.end, levels.top ? nodes_[row.nodes + levels.first[levels.top] + i].end
                                         : end_of(record_.events[order_[row.first + i]]));
    }
  }
  for (auto& entry : groups) {
    TrackGroup& group = entry.second;
    if (group.begin == never_ends) group.begin = 0;
    std::sort(group.tracks.begin(), group.tracks.end(), [&](TrackId a, TrackId b) {
      const Track &left = record_.tracks[a], &right = record_.tracks[b];
      return std::tuple(place_of(left.unit), left.index, a) <
             std::tuple(place_of(right.unit), right.index, b);
    });
    groups_.push_back(std::move(group));
  }
}

void Timeline::sort_causes() {
  // Counted first: what has effects is sorted by its number without comparing.
  std::size_t count = 0;
  for (const Event& event : record_.events) count += event.cause != no_event;
  arrows_.reserve(count);
  EventId id = 0;
  for (const Event& event : record_.events) {
    if (event.cause != no_event) arrows_.push_back({event.cause, id});
    ++id;
  }
  std::stable_sort(arrows_.begin(), arrows_.end(),
                   [](const Arrow& a, const Arrow& b) { return a.cause < b.cause; });
}

}  // namespace tilescope::sim
