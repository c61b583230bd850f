#include "viz/timeline/timeline_idle.h"

#include <fmt/format.h>

#include <algorithm>

#include "viz/scene/number_words.h"
#include "viz/timeline/timeline_words.h"

namespace tilescope {
namespace {

// Operations of a unit that are under way together: no more than so many are looked at.
constexpr std::size_t most_together = 64;

bool is_unit(sim::Unit unit) {
  return unit != sim::Unit::warp && unit != sim::Unit::barrier && unit != sim::Unit::mbarrier &&
         unit != sim::Unit::cluster;
}

// The warp among what brought an event about.
std::optional<sim::TrackId> issuer_of(const TimelineView& view, sim::EventId event) {
  for (const sim::EventId cause : causes_of(view, event, 2)) {
    const sim::TrackId track = view.record().events[cause].track;
    if (view.record().tracks[track].unit == sim::Unit::warp) return track;
  }
  return {};
}

}  // namespace

std::optional<UnitIdle> idle_at(const TimelineView& view, sim::TrackId track, double cycle) {
  if (!is_unit(view.record().tracks[track].unit) || cycle < 0 || cycle >= view.end()) return {};
  sim::EventFilter filter;
  filter.kinds = sim::bit(sim::EventKind::operation) | sim::bit(sim::EventKind::folded);
  filter.track = track;
  const sim::EventList& events = view.record().events;
  UnitIdle out;
  out.track = track;
  const auto at = static_cast<sim::Cycle>(cycle);
  // What ended last need not be what began last.
  sim::EventId event = view.timeline().previous(filter, at + 1);
  for (std::size_t i = 0; event != sim::no_event && i < most_together; ++i) {
    const double end = view.end_of(events[event]);
    if (end > cycle) return {};
    if (out.before == sim::no_event || end > out.from) out.from = end, out.before = event;
    event = view.timeline().previous(filter, events[event].begin);
  }
  out.next = view.timeline().next(filter, at + 1);
  out.to = out.next == sim::no_event ? view.end() : static_cast<double>(events[out.next].begin);
  if (out.next != sim::no_event) out.issued_by = issuer_of(view, out.next);
  return out;
}

Lines inspect(const TimelineView& view, const UnitIdle& idle) {
  Lines out;
  const TimelinePlace place{false, idle.track};
  out.emplace_back("row", view.title_of(place));
  const double length = idle.to - idle.from;
  out.emplace_back("idle", view.known_time() ? fmt::format("{}, {}", cycles_text(view, length),
                                                           seconds_text(view, length))
                                             : cycles_text(view, length));
  out.emplace_back("from", cycles_text(view, idle.from));
  if (idle.before != sim::no_event) out.emplace_back("after", sentence_of(view, idle.before));
  if (idle.next == sim::no_event) {
    out.emplace_back("then", "nothing more to do");
    return out;
  }
  out.emplace_back("until", sentence_of(view, idle.next));
  const sim::Event next = view.record().events[idle.next];
  const double queued = static_cast<double>(next.begin) - static_cast<double>(next.issue);
  if (next.issue < next.begin) {
    out.emplace_back("issued", fmt::format("{} before that", cycles_text(view, queued)));
  }
  for (const sim::EventId cause : causes_of(view, idle.next, 5)) {
    out.emplace_back("because", sentence_of(view, cause));
  }
  if (idle.issued_by) {
    const TimelinePlace warp{false, *idle.issued_by};
    out.emplace_back("meanwhile " + view.title_of(warp),
                     shares_of(view, warp, {idle.from, std::max(idle.to, idle.from + 1)}));
  }
  return out;
}

}  // namespace tilescope
