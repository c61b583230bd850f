#include "viz/session/timeline_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <utility>

#include "viz/scene/command_text.h"
#include "viz/scene/number_words.h"
#include "viz/session/seek.h"
#include "viz/session/theatre_session.h"
#include "viz/session/timeline_spot.h"
#include "viz/timeline/timeline_search.h"
#include "viz/timeline/timeline_steps.h"
#include "viz/timeline/timeline_words.h"

namespace tilescope {

using sim::EventId;

namespace {

// The moment that is dragged, and what goes on then in the cluster that is looked at.
void put_playhead(const Session& session, TimelineChoice& choice) {
  if (!session.timeline_playhead) return;
  choice.moment = session.timeline_playhead;
  choice.moment_dragged = true;
  const auto theatre = theatre_of(session);
  if (!theatre) return;
  choice.said = theatre_at(*theatre, *choice.moment, theatre_rank(session, *theatre)).sentence;
}

}  // namespace

TimelineChoice timeline_choice_of(const Session& session) {
  TimelineChoice out = session.state.timeline_choice;
  out.hovered = session.hovered.event;
  if (session.timeline_dragged) out.totals = session.timeline_dragged;
  out.warp = track_looked_at(session.state);
  const sim::Machine* machine = machine_of(session);
  if (!machine) {
    put_playhead(session, out);
    return out;
  }
  // At the end of the run that of its record, a little behind the last moment.
  const bool over = machine->state() == RunState::done && session.state.timeline;
  out.moment = over ? run_end(*session.state.timeline) : time_of(*machine);
  put_playhead(session, out);
  return out;
}

// ---- The baseline above -------------------------------------------------------------------------

namespace {

std::string name_of_baseline(const ViewState& state) {
  return state.comparison ? state.comparison->name_of_baseline() : state.baseline->kernel.name;
}

bool is_another(const ViewState& state) {
  return state.baseline && state.baseline_timeline && state.timeline &&
         state.baseline != state.result;
}

// What is chosen of both is of the one above, too.
TimelineChoice baseline_choice_of(const Session& session, const TimelineChoice& below) {
  TimelineChoice out = session.state.baseline_rows;
  out.totals = below.totals;
  out.search = below.search;
  out.arrows = below.arrows;
  out.hovered = session.hovered.baseline;
  return out;
}

}  // namespace

std::string why_apart(const ViewState& state) {
  if (!state.beside_baseline || !is_another(state)) return "";
  return why_apart(*state.baseline_timeline, *state.timeline, name_of_baseline(state));
}

std::optional<TimelinePair> timeline_pair(const Session& session) {
  const ViewState& state = session.state;
  if (!state.beside_baseline || !is_another(state) || !why_apart(state).empty()) return {};
  TimelinePair out;
  out.below = {state.timeline.get(), timeline_choice_of(session), state.result->kernel.name};
  out.above = {state.baseline_timeline.get(), baseline_choice_of(session, out.below.choice),
               name_of_baseline(state)};
  return out;
}

std::optional<ComparedWith> timeline_baseline(const ViewState& state) {
  if (!is_another(state)) return {};
  return ComparedWith{state.baseline_timeline.get(), state.baseline_rows, name_of_baseline(state)};
}

double timeline_span(const Session& session) {
  const auto pair = timeline_pair(session);
  const double own = session.state.timeline->end();
  return pair ? std::max(own, pair->above.view->end()) : own;
}

namespace {

TimelineViewport revealing(const TimelinePair::Run& run, const TimelineFrame& frame,
                           const TimelineReveal& what) {
  return what.track ? showing_row(*run.view, run.choice, frame, *what.track)
                    : showing(*run.view, run.choice, frame, what.event);
}

// The one above scrolls by itself; what of time is seen is of both.
void bring_into_view(Session& session, const TimelineReveal& what) {
  if (!what.above) {
    const TimelinePair::Run below{session.state.timeline.get(), timeline_choice_of(session), ""};
    session.timeline_viewport = revealing(below, timeline_frame(session), what);
    return;
  }
  const auto pair = timeline_pair(session);
  if (!pair) return;
  TimelineViewport viewport = session.timeline_viewport;
  if (!(viewport.size.width > 0)) viewport.size = {1024, 640};
  const PairFrame frame = arrange(*pair, viewport, session.baseline_scroll);
  const TimelineViewport shown = revealing(pair->above, frame.above, what);
  session.timeline_viewport.range = shown.range;
  session.baseline_scroll = shown.scroll;
}

// Now, as later commands begin from what is seen, and by the next picture, whose size counts.
void reveal(Session& session, const TimelineReveal& what) {
  bring_into_view(session, what);
  session.timeline_viewport.reveal = what;
}

}  // namespace

namespace {

// Of the cluster that is looked at; null: its record tells none.
std::shared_ptr<const TimelineSteps> steps_of(Session& session) {
  const auto theatre = theatre_of(session);
  if (!theatre) return nullptr;
  if (session.timeline_steps_of == theatre) return session.timeline_steps;
  auto out = std::make_shared<TimelineSteps>();
  add_steps(theatre->pipeline(), *out);
  session.timeline_steps_of = theatre;
  session.timeline_steps = std::move(out);
  return session.timeline_steps;
}

}  // namespace

void draw_timeline(Session& session, Picture& picture, Size size, double pixel_scale,
                   bool stands_alone, bool legend) {
  TimelineViewport& viewport = session.timeline_viewport;
  viewport.steps = steps_of(session);
  viewport.size = size;
  viewport.pixel_scale = pixel_scale;
  viewport.title = stands_alone;
  viewport.legend = legend;
  viewport.notice = why_apart(session.state);
  if (const auto asked = std::exchange(viewport.reveal, {})) bring_into_view(session, *asked);
  if (const auto pair = timeline_pair(session)) {
    PairFrame frame = arrange(*pair, viewport, session.baseline_scroll);
    picture.scene = build_scene(*pair, session.theme(), frame, &session.baseline_rasters,
                                &session.timeline_rasters);
    picture.timeline_above = std::move(frame.above);
    picture.timeline = std::move(frame.below);
    return;
  }
  viewport.span = 0;
  const TimelineChoice choice = timeline_choice_of(session);
  picture.timeline = arrange(*session.state.timeline, choice, viewport);
  picture.scene = build_scene(*session.state.timeline, choice, session.theme(), *picture.timeline,
                              &session.timeline_rasters);
}

const TimelineFrame& timeline_part(const Picture& picture, Point at) {
  const bool above = picture.timeline_above && at.y < picture.timeline_above->lanes.bottom();
  return above ? *picture.timeline_above : *picture.timeline;
}

namespace {

// The run that a frame is of.
TimelinePair::Run run_of(const Session& session, const TimelineFrame& frame) {
  const TimelineChoice below = timeline_choice_of(session);
  if (frame.whose.empty()) return {session.state.timeline.get(), below, ""};
  return {session.state.baseline_timeline.get(), baseline_choice_of(session, below), ""};
}

}  // namespace

void pan_timeline(Session& session, const Picture& picture, double dx, double dy,
                  std::optional<Point> at) {
  const TimelineFrame& part = at ? timeline_part(picture, *at) : *picture.timeline;
  const TimelineViewport viewport = panned(*run_of(session, part).view, part, dx, dy);
  session.timeline_viewport.range = viewport.range;
  (part.whose.empty() ? session.timeline_viewport.scroll : session.baseline_scroll) =
      viewport.scroll;
}

sim::EventId event_at(const Session& session, const TimelineFrame& frame, Point at) {
  const TimelinePair::Run run = run_of(session, frame);
  return run.view ? hit(*run.view, run.choice, frame, at).event : sim::no_event;
}

std::optional<UnitIdle> idle_at(const Session& session, const TimelineFrame& frame, Point at) {
  const TimelinePair::Run run = run_of(session, frame);
  return run.view ? hit(*run.view, run.choice, frame, at).idle : std::nullopt;
}

std::string range_text(const TimelineView& view, CycleRange range) {
  std::string out =
      fmt::format("{} to {}", grouped(static_cast<std::uint64_t>(std::max(0.0, range.from))),
                  cycles_text(view, range.to));
  if (view.known_time()) out += fmt::format(" ({})", seconds_text(view, range.length()));
  return out;
}

void bring_moment_into_view(Session& session) {
  if (!session.state.timeline) return;
  CycleRange& seen = session.timeline_viewport.range;
  const double length = seen.length();
  const auto moment = timeline_choice_of(session).moment;
  if (!(length > 0) || !moment || (seen.from <= *moment && *moment <= seen.to)) return;
  const double from =
      std::clamp(*moment - length / 2, 0.0, std::max(0.0, session.state.timeline->end() - length));
  seen = {from, from + length};
}

std::string timeline_zoom(Session& session, double factor) {
  const TimelineView& view = *session.state.timeline;
  const TimelineFrame frame = timeline_frame(session);
  Point at = frame.lanes.centre();
  for (const sim::EventId id : {session.state.timeline_choice.selected, session.hovered.event}) {
    if (const auto box = box_of(view, frame, id)) at = box->centre();
  }
  session.timeline_viewport = zoomed(view, frame, at, factor);
  return fmt::format("Shown: {}.", range_text(view, session.timeline_viewport.range));
}

std::optional<std::string> timeline_back(ViewState& state) {
  TimelineChoice& choice = state.timeline_choice;
  if (choice.totals) {
    choice.totals.reset();
    return "No range is added up.";
  }
  if (choice.selected != sim::no_event || state.baseline_rows.selected != sim::no_event) {
    choice.selected = state.baseline_rows.selected = sim::no_event;
    return "Nothing is selected.";
  }
  if (!choice.search.empty()) {
    choice.search.clear();
    return "Nothing is looked for.";
  }
  return {};
}

TimelineFrame timeline_frame(const Session& session) {
  TimelineViewport viewport = session.timeline_viewport;
  if (!(viewport.size.width > 0)) viewport.size = {1024, 640};
  if (const auto pair = timeline_pair(session)) {
    return arrange(*pair, viewport, session.baseline_scroll).below;
  }
  viewport.span = 0;
  return arrange(*session.state.timeline, timeline_choice_of(session), viewport);
}

namespace {

void add_links(const TimelineView& view, std::string_view whose, sim::EventId event,
               InspectorSection& section) {
  for (TimelineLink& link : links_of(view, event, whose)) {
    section.links.push_back(
        {std::move(link.label), std::move(link.value), std::move(link.command)});
  }
}

// What is pointed at and what is selected, in either run.
void inspect_events(const Session& session, std::vector<InspectorSection>& out) {
  const ViewState& state = session.state;
  const auto pair = timeline_pair(session);
  const TimelineView& view = *state.timeline;
  const bool above = pair && session.hovered.baseline < pair->above.view->record().events.size();
  if (above) {
    out.push_back({fmt::format("Under the pointer, {}", pair->above.name),
                   inspect(*pair->above.view, session.hovered.baseline), ""});
  } else if (session.hovered.event < view.record().events.size()) {
    out.push_back({"Under the pointer", inspect(view, session.hovered.event), ""});
  } else if (session.hovered.idle) {
    out.push_back({"Under the pointer", inspect(view, *session.hovered.idle), ""});
  } else if (state.view == ViewName::timeline) {
    out.push_back({"Under the pointer",
                   {},
                   "Point at a box to see its numbers, between two of a unit to see what it was "
                   "idle for; click to see what caused it."});
  }
  const auto selected = [&](const TimelineView& of, sim::EventId event, std::string title,
                            std::string_view whose) {
    if (event >= of.record().events.size()) return;
    InspectorSection section{std::move(title), inspect(of, event), ""};
    // What brought it about is a click away: not told twice.
    section.lines.erase(std::remove_if(section.lines.begin(), section.lines.end(),
                                       [](const auto& line) { return line.first == "because"; }),
                        section.lines.end());
    add_links(of, whose, event, section);
    out.push_back(std::move(section));
  };
  selected(view, state.timeline_choice.selected, "Selected", "");
  if (!pair) return;
  selected(*pair->above.view, state.baseline_rows.selected,
           fmt::format("Selected in {}", pair->above.name), of_baseline);
}

}  // namespace

void inspect_timeline(const Session& session, std::vector<InspectorSection>& out) {
  const ViewState& state = session.state;
  if (!state.timeline) return;
  const TimelineView& view = *state.timeline;
  TimelineChoice range = state.timeline_choice;
  if (session.timeline_dragged) range.totals = session.timeline_dragged;
  // Other views tell of events too, and have no lanes to drag over.
  const bool lanes = state.view == ViewName::timeline;
  if (!lanes) range.totals.reset();
  const auto baseline = timeline_baseline(state);
  const auto pair = timeline_pair(session);
  // What was dragged over stands first: it is what was asked for last.
  if (!range.totals) inspect_events(session, out);
  if (range.totals && pair) {
    out.push_back({"Range", totals_beside(view, range, *baseline), ""});
  } else if (range.totals) {
    out.push_back({"Range", totals_of(view, range), ""});
  } else if (lanes) {
    out.push_back({"Range", {}, "Drag over the lanes to add up what each row did in that time."});
  }
  if (range.totals) inspect_events(session, out);
  out.push_back({"Run", figure_lines(view, baseline ? &*baseline : nullptr), ""});
  if (state.timeline_choice.search.empty()) return;
  InspectorSection found{"Search", {}, ""};
  found.lines.emplace_back("for", state.timeline_choice.search);
  if (const auto filter = search_of(view, state.timeline_choice.search)) {
    const std::size_t hits = hits_in(view, *filter, timeline_frame(session).viewport.range);
    found.lines.emplace_back(
        "in view", fmt::format("{}{}", grouped(hits), hits == most_hits ? " or more" : ""));
  }
  found.links.push_back({"previous", "before the selected one", "find previous"});
  found.links.push_back({"next", "after the selected one", "find next"});
  out.push_back(std::move(found));
}

namespace {

// "baseline 17" is of the run above: nothing where there is none.
bool take_whose(std::string_view& text) {
  const bool above = text.substr(0, of_baseline.size()) == of_baseline;
  if (above) text.remove_prefix(of_baseline.size());
  return above;
}

Outcome<sim::EventId> event_in(const TimelineView& view, std::string_view number) {
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
  return static_cast<sim::EventId>(id);
}

}  // namespace

Outcome<std::string> pick_event(Session& session, std::string_view number) {
  ViewState& state = session.state;
  if (!state.timeline) {
    return Error{ErrorKind::usage, "There is no timeline to pick from: run a kernel first.", ""};
  }
  number = trimmed(number);
  const bool above = take_whose(number);
  if (above && !state.baseline_timeline) return no_baseline_timeline();
  const TimelineView& view = above ? *state.baseline_timeline : *state.timeline;
  const auto event = event_in(view, number);
  if (!event) return event.error();
  TimelineChoice& choice = above ? state.baseline_rows : state.timeline_choice;
  choice = view.unfolded_to(choice, view.record().events.track(*event));
  choice.selected = *event;
  if (!above) look_at_selected(session);
  reveal(session, {*event, {}, above});
  return fmt::format("Selected {}.", sentence_of(view, *event));
}

Outcome<std::string> move_event(Session& session, std::string_view direction) {
  const ViewState& state = session.state;
  const EventId from = state.timeline_choice.selected;
  const TimelineView& view = *state.timeline;
  if (from >= view.record().events.size()) {
    const EventId first = view.timeline().next(
        {}, static_cast<sim::Cycle>(std::max(0.0, session.timeline_viewport.range.from)));
    return pick_event(session, fmt::format("{}", first));
  }
  const sim::Event event = view.record().events[from];
  sim::EventFilter of_row;
  of_row.track = event.track;
  EventId to = sim::no_event;
  if (direction == "left") {
    to = previous_hit(view, of_row, from, 0);
  } else if (direction == "right") {
    to = next_hit(view, of_row, from, 0);
  } else {
    std::vector<sim::TrackId> rows;
    for (const TimelineRow& row : view.rows(state.timeline_choice)) {
      if (!row.place.group && view.timeline().events_of(row.place.index) > 0) {
        rows.push_back(row.place.index);
      }
    }
    const auto at = std::find(rows.begin(), rows.end(), event.track);
    const bool up = direction == "up";
    if (at != rows.end() && (up ? at != rows.begin() : at + 1 != rows.end())) {
      of_row.track = up ? *(at - 1) : *(at + 1);
      to = view.timeline().previous(of_row, event.begin + 1);
      if (to == sim::no_event) to = view.timeline().next(of_row, event.begin);
    }
  }
  return pick_event(session, fmt::format("{}", to == sim::no_event ? from : to));
}

Error no_baseline_timeline() {
  return Error{ErrorKind::usage,
               "No run is pinned as the baseline: `run` a kernel, then `baseline`, and run another "
               "one; `timeline beside on` draws both on one scale.",
               ""};
}

std::string timeline_click(const Session& session, const TimelineFrame& frame, Point at) {
  const TimelinePair::Run run = run_of(session, frame);
  if (!run.view) return "";
  const TimelineView& view = *run.view;
  const TimelineHit found = hit(view, run.choice, frame, at);
  if (found.event != sim::no_event) {
    if (found.event != run.choice.selected) {
      return fmt::format("pick event {}{}", frame.whose, found.event);
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
    return fmt::format("timeline unfold {}{}", frame.whose, view.name_of(found.row->place));
  }
  if (found.on != TimelineHit::On::lane) return "";
  if (found.idle && found.idle->next != sim::no_event) {
    return fmt::format("pick event {}{}", frame.whose, found.idle->next);
  }
  if (run.choice.totals) return "timeline totals off";
  return run.choice.selected != sim::no_event ? "pick nothing" : "";
}

bool drags_playhead(const Session& session, const TimelineFrame& frame, Point from) {
  return session.state.timeline && session.state.timeline->known_time() &&
         frame.axis.contains(from);
}

bool drags_minimap(const TimelineFrame& frame, Point from) {
  return frame.minimap.contains(from);
}

void drag_playhead(Session& session, const TimelineFrame& frame, double x) {
  const double at = frame.cycle_of(std::clamp(x, frame.axis.x, frame.axis.right()));
  session.timeline_playhead = std::round(std::clamp(at, 0.0, run_end(*session.state.timeline)));
}

std::string drop_playhead(Session& session) {
  const auto at = std::exchange(session.timeline_playhead, {});
  return at ? fmt::format("go {:.0f}", *at) : "";
}

void drag_minimap(Session& session, const TimelineFrame& frame, Point from, Point to, double dx,
                  bool pressed) {
  const TimelineView& view = *session.state.timeline;
  const auto cycle = [&](double x) {
    return std::clamp(frame.minimap_cycle_of(x), 0.0, frame.whole);
  };
  if (frame.shows_all() || session.timeline_dragged) {
    const double a = cycle(from.x), b = cycle(to.x);
    session.timeline_dragged = CycleRange{std::min(a, b), std::max(a, b)};
    return;
  }
  const CycleRange& seen = frame.viewport.range;
  const double at = cycle(to.x);
  if (pressed && (at < seen.from || at > seen.to)) {
    session.timeline_viewport.range = centred(view, frame, at).range;
  } else if (dx != 0) {
    const double middle =
        (seen.from + seen.to) / 2 + dx / std::max(1.0, frame.minimap.width) * frame.whole;
    session.timeline_viewport.range = centred(view, frame, middle).range;
  }
}

std::string drop_minimap(Session& session) {
  const auto range = std::exchange(session.timeline_dragged, {});
  if (!range || range->length() < 8) return "";
  return fmt::format("timeline range {:.0f} {:.0f}", range->from, range->to);
}

std::string timeline_drag(const Session& session, const TimelineFrame& frame, Point from,
                          Point to) {
  if (!session.state.timeline) return "";
  const double end = timeline_span(session);
  const double a = std::clamp(frame.cycle_of(from.x), 0.0, end);
  const double b = std::clamp(frame.cycle_of(to.x), 0.0, end);
  const double low = std::round(std::min(a, b)), high = std::round(std::max(a, b));
  return high > low ? fmt::format("timeline totals {:.0f} {:.0f}", low, high) : "";
}

namespace {

// How the rows of one run are folded, where they would be as in `before`; and which are pinned.
void add_row_lines(const TimelineView& view, const TimelineChoice& before,
                   const TimelineChoice& choice, std::string_view whose,
                   std::vector<std::string>& out) {
  std::vector<std::uint32_t> turned;
  std::set_symmetric_difference(choice.turned.begin(), choice.turned.end(), before.turned.begin(),
                                before.turned.end(), std::back_inserter(turned));
  for (const std::uint32_t group : turned) {
    out.push_back(fmt::format("timeline {} {}{}", view.is_open(choice, group) ? "unfold" : "fold",
                              whose, view.name_of({true, group})));
  }
  for (const TimelinePlace& place : choice.pinned) {
    out.push_back(fmt::format("timeline pin {}{}", whose, view.name_of(place)));
  }
}

bool is_picked(const TimelineView& view, const TimelineChoice& choice) {
  return choice.selected < view.record().events.size();
}

// As it is at first, but for what a pick has opened.
TimelineChoice as_picked(const TimelineView& view, const TimelineChoice& choice) {
  if (!is_picked(view, choice)) return {};
  return view.unfolded_to({}, view.record().events.track(choice.selected));
}

}  // namespace

std::vector<std::string> timeline_picks(const ViewState& state) {
  std::vector<std::string> out;
  const auto add = [&](const TimelineView* view, const TimelineChoice& choice,
                       std::string_view whose) {
    if (view && is_picked(*view, choice)) {
      out.push_back(fmt::format("pick event {}{}", whose, choice.selected));
    }
  };
  if (!state.timeline) return out;
  add(state.timeline.get(), state.timeline_choice, "");
  add(state.baseline_timeline.get(), state.baseline_rows, of_baseline);
  return out;
}

std::vector<std::string> timeline_lines(const ViewState& state) {
  std::vector<std::string> out;
  if (!state.timeline) return out;
  const TimelineView& view = *state.timeline;
  const TimelineChoice& choice = state.timeline_choice;
  // First, since it says how far a range may go.
  if (state.beside_baseline && state.baseline_timeline) {
    out.emplace_back("timeline beside on");
  }
  add_row_lines(view, unfolded_to_spot(state, as_picked(view, choice)), choice, "", out);
  if (const TimelineView* above = state.baseline_timeline.get()) {
    add_row_lines(*above, as_picked(*above, state.baseline_rows), state.baseline_rows, of_baseline,
                  out);
  }
  if (choice.totals) {
    out.push_back(fmt::format("timeline totals {} {}", choice.totals->from, choice.totals->to));
  }
  if (choice.search != search_of_line(state)) {
    out.push_back(choice.search.empty() ? "find nothing"
                                        : fmt::format("find mark {}", choice.search));
  }
  if (choice.arrows) out.emplace_back("timeline arrows on");
  if (choice.steps) out.emplace_back("timeline colour step");
  return out;
}

}  // namespace tilescope
