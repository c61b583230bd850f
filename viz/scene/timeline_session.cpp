#include "viz/scene/timeline_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>

#include "viz/scene/command_text.h"
#include "viz/scene/number_words.h"
#include "viz/scene/standing.h"
#include "viz/scene/timeline_search.h"
#include "viz/scene/timeline_words.h"

namespace tilescope {

TimelineChoice timeline_choice_of(const Session& session) {
  TimelineChoice out = session.choices.timeline_choice;
  out.hovered = session.hover_event;
  if (session.timeline_dragged) out.totals = session.timeline_dragged;
  if (const sim::Machine* machine = machine_of(session)) out.moment = machine->now();
  return out;
}

TimelineFrame timeline_frame(Session& session, Size size, double pixel_scale, bool stands_alone) {
  TimelineLens& lens = session.timeline_lens;
  lens.size = size;
  lens.pixel_scale = pixel_scale;
  lens.title = stands_alone;
  return arrange(*session.choices.timeline, timeline_choice_of(session), lens);
}

sim::EventId event_at(const Session& session, const TimelineFrame& frame, Point at) {
  if (!session.choices.timeline) return sim::no_event;
  return hit(*session.choices.timeline, timeline_choice_of(session), frame, at).event;
}

std::string range_text(const TimelineView& view, CycleRange range) {
  std::string out =
      fmt::format("{} to {}", grouped(static_cast<std::uint64_t>(std::max(0.0, range.from))),
                  cycles_text(view, range.to));
  if (view.known_time()) out += fmt::format(" ({})", seconds_text(view, range.length()));
  return out;
}

std::string timeline_zoom(Session& session, double factor) {
  const TimelineView& view = *session.choices.timeline;
  const TimelineFrame frame = timeline_frame(session);
  Point at = frame.lanes.centre();
  for (const sim::EventId id : {session.choices.timeline_choice.selected, session.hover_event}) {
    if (const auto box = box_of(view, frame, id)) at = box->centre();
  }
  session.timeline_lens = zoomed(view, frame, at, factor);
  return fmt::format("Shown: {}.", range_text(view, session.timeline_lens.range));
}

std::optional<std::string> timeline_back(Choices& choices) {
  TimelineChoice& choice = choices.timeline_choice;
  if (choice.totals) {
    choice.totals.reset();
    return "No range is added up.";
  }
  if (choice.selected != sim::no_event) {
    choice.selected = sim::no_event;
    return "Nothing is selected.";
  }
  if (!choice.search.empty()) {
    choice.search.clear();
    return "Nothing is looked for.";
  }
  return {};
}

TimelineFrame timeline_frame(const Session& session) {
  TimelineLens lens = session.timeline_lens;
  if (!(lens.size.width > 0)) lens.size = {1024, 640};
  return arrange(*session.choices.timeline, timeline_choice_of(session), lens);
}

namespace {

void add_links(const TimelineView& view, sim::EventId event, InspectorSection& section) {
  for (TimelineLink& link : links_of(view, event)) {
    section.links.push_back(
        {std::move(link.label), std::move(link.value), std::move(link.command)});
  }
}

}  // namespace

void inspect_timeline(const Session& session, std::vector<InspectorSection>& out) {
  const Choices& choices = session.choices;
  if (!choices.timeline) return;
  const TimelineView& view = *choices.timeline;
  const std::size_t events = view.record().events.size();
  if (session.hover_event < events) {
    out.push_back({"Under the pointer", inspect(view, session.hover_event), ""});
  } else {
    out.push_back({"Under the pointer",
                   {},
                   "Point at a box to see its numbers; click to see what brought it about."});
  }
  const sim::EventId selected = choices.timeline_choice.selected;
  if (selected < events) {
    InspectorSection section{"Selected", inspect(view, selected), ""};
    add_links(view, selected, section);
    out.push_back(std::move(section));
  }
  if (choices.timeline_choice.totals) {
    out.push_back({"Range", totals_of(view, choices.timeline_choice), ""});
  } else {
    out.push_back({"Range", {}, "Drag over the lanes to add up what each row did in that time."});
  }
  if (choices.timeline_choice.search.empty()) return;
  InspectorSection found{"Search", {}, ""};
  found.lines.emplace_back("for", choices.timeline_choice.search);
  if (const auto filter = search_of(view, choices.timeline_choice.search)) {
    const std::size_t hits = hits_in(view, *filter, timeline_frame(session).lens.range);
    found.lines.emplace_back(
        "in view", fmt::format("{}{}", grouped(hits), hits == most_hits ? " or more" : ""));
  }
  found.links.push_back({"previous", "before the selected one", "find previous"});
  found.links.push_back({"next", "after the selected one", "find next"});
  out.push_back(std::move(found));
}

Outcome<std::string> pick_event(Session& session, std::string_view number) {
  Choices& choices = session.choices;
  if (!choices.timeline) {
    return Error{ErrorKind::usage, "There is no timeline to pick from: run a kernel first.", ""};
  }
  const TimelineView& view = *choices.timeline;
  number = trimmed(number);
  std::uint64_t id = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), id);
  if (error != std::errc() || end != number.data() + number.size() || number.empty()) {
    return Error{
        ErrorKind::usage,
        fmt::format("`pick event` takes an event's number, as the inspector tells it; `{}` "
                    "is none.",
                    number),
        ""};
  }
  if (id >= view.record().events.size()) {
    return Error{ErrorKind::mismatch,
                 fmt::format("There is no event {}: the record has {}, counted from 0.", id,
                             grouped(view.record().events.size())),
                 ""};
  }
  const auto event = static_cast<sim::EventId>(id);
  TimelineChoice& choice = choices.timeline_choice;
  choice = view.unfolded_to(choice, view.record().events.track(event));
  choice.selected = event;
  session.timeline_lens = showing(view, choice, timeline_frame(session), event);
  return fmt::format("Selected {}.", sentence_of(view, event));
}

std::string timeline_click(const Session& session, const TimelineFrame& frame, Point at) {
  if (!session.choices.timeline) return "";
  const TimelineView& view = *session.choices.timeline;
  const TimelineHit found = hit(view, timeline_choice_of(session), frame, at);
  if (found.event != sim::no_event) {
    if (found.event != session.choices.timeline_choice.selected) {
      return fmt::format("pick event {}", found.event);
    }
    const sim::Event event = view.record().events[found.event];
    const double begin = static_cast<double>(std::min(event.issue, event.begin));
    const double end = event.end == sim::never_ends ? view.end() : static_cast<double>(event.end);
    const double around = std::max((end - begin) / 4, 8.0);
    return fmt::format("timeline range {:.0f} {:.0f}", std::max(0.0, begin - around), end + around);
  }
  if (found.span) {
    const double begin = static_cast<double>(found.span->begin);
    const double length = std::max(static_cast<double>(found.span->end) - begin, 8.0);
    return fmt::format("timeline range {:.0f} {:.0f}", std::max(0.0, begin - length / 2),
                       begin + length * 1.5);
  }
  if (found.on == TimelineHit::On::lane && found.row && found.row->place.group &&
      !found.row->open) {
    return fmt::format("timeline unfold {}", view.name_of(found.row->place));
  }
  if (found.on != TimelineHit::On::lane) return "";
  if (session.choices.timeline_choice.totals) return "timeline totals off";
  return session.choices.timeline_choice.selected != sim::no_event ? "pick nothing" : "";
}

std::string timeline_drag(const Session& session, const TimelineFrame& frame, Point from,
                          Point to) {
  if (!session.choices.timeline) return "";
  const double end = session.choices.timeline->end();
  const double a = std::clamp(frame.cycle_of(from.x), 0.0, end);
  const double b = std::clamp(frame.cycle_of(to.x), 0.0, end);
  const double low = std::round(std::min(a, b)), high = std::round(std::max(a, b));
  return high > low ? fmt::format("timeline totals {:.0f} {:.0f}", low, high) : "";
}

std::vector<std::string> timeline_lines(const Choices& choices) {
  std::vector<std::string> out;
  if (!choices.timeline) return out;
  const TimelineView& view = *choices.timeline;
  const TimelineChoice& choice = choices.timeline_choice;
  // What is picked is brought to light, so that folds come after it.
  if (choice.selected < view.record().events.size()) {
    out.push_back(fmt::format("pick event {}", choice.selected));
    // What is folded around it all the same.
    const TimelineChoice lit =
        view.unfolded_to(choice, view.record().events.track(choice.selected));
    std::vector<std::uint32_t> folded;
    std::set_symmetric_difference(choice.turned.begin(), choice.turned.end(), lit.turned.begin(),
                                  lit.turned.end(), std::back_inserter(folded));
    for (const std::uint32_t group : folded) {
      out.push_back(fmt::format("timeline fold {}", view.name_of({true, group})));
    }
  }
  for (const std::uint32_t group : choice.turned) {
    out.push_back(fmt::format("timeline {} {}", view.is_open(choice, group) ? "unfold" : "fold",
                              view.name_of({true, group})));
  }
  for (const TimelinePlace& place : choice.pinned) {
    out.push_back(fmt::format("timeline pin {}", view.name_of(place)));
  }
  if (choice.totals) {
    out.push_back(fmt::format("timeline totals {} {}", choice.totals->from, choice.totals->to));
  }
  if (!choice.search.empty()) out.push_back(fmt::format("find mark {}", choice.search));
  if (choice.arrows) out.emplace_back("timeline arrows on");
  return out;
}

}  // namespace tilescope
