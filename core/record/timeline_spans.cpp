// What is drawn of a track, and how its time adds up.
#include <algorithm>

#include "core/record/timeline.h"
#include "core/record/timeline_walk.h"

namespace tilescope::sim {

std::vector<Span> Timeline::spans(TrackId track, Cycle from, Cycle to, std::uint32_t pixels) const {
  std::vector<Span> out;
  if (from >= to || track >= rows_.size()) return out;
  // Rounded up, so that there are no more spans of folded events than pixels.
  const Cycle pixel = (to - from - 1) / std::max(pixels, 1u) + 1;
  out.reserve(std::min<std::size_t>(rows_[track].count, std::min(pixels, 4096u)));
  Node open;  // what is being taken together; of no events: nothing
  EventId single = no_event;
  const auto close = [&] {
    if (open.count == 0) return;
    Span span;
    span.begin = open.begin;
    span.end = open.end;
    span.count = open.count;
    span.event = single;
    span.kind = static_cast<EventKind>(open.kind);
    span.stall = static_cast<Stall>(open.stall);
    span.report = open.kinds & bit(EventKind::report);
    out.push_back(span);
    open.count = 0;
  };
  const auto take = [&](const Node& node, EventId event) {
    if (open.count && node.begin - open.begin < pixel) {
      open = joined(open, node);
      single = no_event;
      return;
    }
    close();
    open = node;
    single = event;
  };
  bool past = false;
  const auto enter = [&](const Node& node) {
    if (past || node.begin >= to) {
      past = true;
      return false;
    }
    if (node.end < from) return false;
    // Wholly in the range, all short and close together: it need not be looked into. One event is,
    // to be told by its number.
    if (node.count > 1 && node.begin >= from && node.end < to && node.longest < pixel &&
        node.end - node.begin < pixel) {
      take(node, no_event);
      return false;
    }
    return true;
  };
  const auto visit = [&](EventId id) {
    const Event event = record_.events[id];
    if (event.begin >= to) return false;
    if (!in_range(event, from, to)) return true;
    const Node node = node_of(event);
    if (node.longest >= pixel) {
      close();
      open = node;
      single = id;
      close();
    } else {
      take(node, id);
    }
    return true;
  };
  walk(rows_[track], enter, visit);
  close();
  return out;
}

std::size_t Timeline::before(const Row& row, Cycle at) const {
  std::size_t low = 0, high = row.count;
  if (row.count > fanout) {
    // The last node that begins before, then its events.
    const auto first = nodes_.begin() + static_cast<std::ptrdiff_t>(row.nodes);
    const auto last = first + static_cast<std::ptrdiff_t>((row.count + fanout - 1) / fanout);
    const auto node =
        std::partition_point(first, last, [&](const Node& n) { return n.begin < at; });
    if (node == first) return 0;
    low = static_cast<std::size_t>(node - first - 1) * fanout;
    high = std::min(low + fanout, row.count);
  }
  while (low < high && record_.events[order_[row.first + low]].begin < at) ++low;
  return low;
}

Totals Timeline::totals_until(const Row& row, Cycle at) const {
  const std::size_t count = before(row, at);
  if (count == 0) return {};
  const std::size_t block = std::min(count / stretch, (row.count - 1) / stretch);
  Sum sum = sums_[row.sums + block];
  for (std::size_t i = block * stretch; i < count; ++i) {
    add_to(sum, record_.events[order_[row.first + i]]);
  }
  // What goes on behind `at` is of events that began before it, so all of it is theirs.
  Totals& totals = sum.totals;
  if (sum.busy_until > at) totals.busy -= sum.busy_until - at;
  if (sum.folded_until > at) totals.folded -= sum.folded_until - at;
  if (sum.stalled_until > at) {
    totals.stalled[static_cast<std::size_t>(sum.stall)] -= sum.stalled_until - at;
  }
  return totals;
}

Totals Timeline::totals(TrackId track, Cycle from, Cycle to) const {
  if (from >= to || track >= rows_.size()) return {};
  Totals out = totals_until(rows_[track], to);
  const Totals start = totals_until(rows_[track], from);
  out.busy -= start.busy;
  for (std::size_t i = 0; i < out.stalled.size(); ++i) out.stalled[i] -= start.stalled[i];
  out.folded -= start.folded;
  out.folded_busy -= start.folded_busy;
  out.folded_stalled -= start.folded_stalled;
  return out;
}

}  // namespace tilescope::sim
