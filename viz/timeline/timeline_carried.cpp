// What the arrows of a timeline carry from causes to effects.
#include <fmt/format.h>

#include "viz/timeline/timeline_words.h"

namespace tilescope {
namespace {

using sim::Event;
using sim::EventId;
using sim::EventKind;
using sim::Unit;

std::string amount_of(const Event& event) {
  if (!event.bytes) return "";
  if (event.amount % 1024 == 0 && event.amount > 0)
    return fmt::format("{} KiB", event.amount >> 10);
  return fmt::format("{} bytes", event.amount);
}

// "full[1]", "barrier 1", "the cluster's barrier": of an event on its row.
std::string barrier_of(const TimelineView& view, const Event& event) {
  const sim::Track& track = view.record().tracks[event.track];
  switch (track.unit) {
    case Unit::mbarrier:
      return barrier_name(view.barriers(), track.index);
    case Unit::barrier:
      return fmt::format("barrier {}", track.index);
    case Unit::cluster:
      return "the cluster's barrier";
    default:
      return "";
  }
}

bool on_barrier(const TimelineView& view, const Event& event) {
  if (view.record().tracks[event.track].unit == Unit::async_copy) return false;
  return event.kind == EventKind::phase || event.kind == EventKind::arrival;
}

}  // namespace

std::string carried_text(const TimelineView& view, EventId cause_id, EventId effect_id) {
  const sim::EventList& events = view.record().events;
  if (cause_id >= events.size() || effect_id >= events.size()) return "";
  const Event cause = events[cause_id], effect = events[effect_id];
  // From a barrier: which phase is complete.
  if (on_barrier(view, cause)) {
    return fmt::format("{} phase {}", barrier_of(view, cause), cause.phase);
  }
  // To one: what comes to it.
  if (on_barrier(view, effect)) {
    const std::string what = cause.kind == EventKind::operation ? amount_of(cause) : "";
    return fmt::format("{} to {} phase {}", what.empty() ? "arrival" : what,
                       barrier_of(view, effect), effect.phase);
  }
  if (effect.kind == EventKind::operation) {
    if (cause.kind == EventKind::operation) {
      return view.record().tracks[effect.track].unit == Unit::commit ? "products done" : "done";
    }
    const std::string what = amount_of(effect);
    return what.empty() ? "issues" : "issues " + what;
  }
  if (effect.kind == EventKind::wait) {
    return cause.kind == EventKind::operation ? "done" : "lets it go on";
  }
  return "";
}

}  // namespace tilescope
