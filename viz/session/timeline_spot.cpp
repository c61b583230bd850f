#include "viz/session/timeline_spot.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/record/issuer.h"
#include "viz/scene/number_words.h"
#include "viz/session/seek.h"
#include "viz/timeline/timeline_search.h"
#include "viz/timeline/timeline_words.h"

namespace tilescope {
namespace {

using sim::Event;
using sim::EventId;
using sim::EventKind;
using sim::Unit;

// The warp that an event is of: its own row's, or who issued it or arrived.
const sim::Track* warp_of(const sim::Record& record, const Event& event) {
  const sim::Track& own = record.tracks[event.track];
  if (own.unit == Unit::warp) return &own;
  EventId run = event.kind == EventKind::operation ? sim::issuer_of(record, event) : event.cause;
  if (run >= record.events.size()) return nullptr;
  const Event cause = record.events[run];
  if (cause.kind == EventKind::operation) run = sim::issuer_of(record, cause);
  if (run >= record.events.size()) return nullptr;
  const sim::Track& track = record.tracks[record.events.track(run)];
  return track.unit == Unit::warp ? &track : nullptr;
}

// Events are of the run whose machine is looked at; a record may be of another launch.
bool is_of_machine(const ViewState& state) {
  return state.timeline && state.live &&
         state.timeline->record().launch.grid.count() ==
             state.live->stepper.machine().launch().grid.count();
}

bool is_of_a_line(const Event& event) {
  return event.kind == EventKind::run || event.kind == EventKind::wait ||
         event.kind == EventKind::operation || event.kind == EventKind::arrival ||
         event.kind == EventKind::report;
}

const Event* selected_in(const ViewState& state, Event& out) {
  const EventId id = state.timeline_choice.selected;
  if (!state.timeline || id >= state.timeline->record().events.size()) return nullptr;
  out = state.timeline->record().events[id];
  return &out;
}

bool is_in_the_middle(const Session& session, const Event& event) {
  const sim::Machine* machine = machine_of(session);
  if (!machine || machine->state() == RunState::done) return false;
  const double now = time_of(*machine);
  return static_cast<double>(event.issue) <= now && now <= session.state.timeline->end_of(event);
}

// The first byte of shared memory that a copy uses which is on its way now.
std::optional<std::uint32_t> byte_of_copy(const Session& session, const Event& event) {
  const sim::Record& record = session.state.timeline->record();
  const sim::Track& track = record.tracks[event.track];
  const sim::Track* warp = warp_of(record, event);
  if ((track.unit != Unit::copy_in && track.unit != Unit::copy_out) || !warp ||
      event.pc >= record.lines.size()) {
    return {};
  }
  for (const sim::OperationState& o : sim::operations_of(*machine_of(session), track.block)) {
    const bool same = o.issuer.ptx_line == record.lines[event.pc].ptx_line &&
                      o.issuer.warp == warp->index && o.mbarrier.value_or(0) == event.object;
    const std::vector<sim::Range>& bytes = o.writes.empty() ? o.reads : o.writes;
    if (same && !bytes.empty()) return bytes.front().begin;
  }
  return {};
}

}  // namespace

RunCursor spot_of(const TimelineView& view, EventId id, RunCursor spot) {
  const sim::Record& record = view.record();
  if (id >= record.events.size()) return spot;
  const Event event = record.events[id];
  const sim::Track& track = record.tracks[event.track];
  if (track.block == sim::many_blocks || event.kind == EventKind::folded) return spot;
  RunCursor out;
  out.block = track.block;
  out.warp = track.block == spot.block ? spot.warp : 0;
  out.lane = spot.lane;
  if (const sim::Track* warp = warp_of(record, event); warp && warp->block == track.block) {
    out.warp = warp->index;
  }
  if (is_of_a_line(event) && event.pc < record.lines.size()) {
    out.line = RunCursor::SourceLine{"", record.lines[event.pc].ptx_line};
  }
  const bool on_mbarrier = track.unit == Unit::mbarrier ||
                           (event.kind == EventKind::wait && event.stall == sim::Stall::mbarrier) ||
                           (event.kind == EventKind::operation && event.object);
  if (on_mbarrier) out.barrier = event.object;
  return out;
}

std::optional<sim::TrackId> track_looked_at(const ViewState& state) {
  if (!state.timeline || state.spot == RunCursor{}) return {};
  const std::vector<sim::Track>& tracks = state.timeline->record().tracks;
  const auto found = std::find_if(tracks.begin(), tracks.end(), [&](const sim::Track& t) {
    return t.unit == Unit::warp && t.block == state.spot.block && t.index == state.spot.warp;
  });
  if (found == tracks.end()) return {};
  return static_cast<sim::TrackId>(found - tracks.begin());
}

std::string search_of_line(const ViewState& state) {
  if (!state.timeline || !state.spot.line) return "";
  std::string out = text(*state.spot.line);
  return search_of(*state.timeline, out) ? out : "";
}

TimelineChoice unfolded_to_spot(const ViewState& state, TimelineChoice rows) {
  const auto track = track_looked_at(state);
  return track ? state.timeline->unfolded_to(std::move(rows), *track) : rows;
}

void look_at_selected(Session& session) {
  ViewState& state = session.state;
  Event event;
  if (!is_of_machine(state) || !selected_in(state, event)) return;
  state.spot = spot_of(*state.timeline, state.timeline_choice.selected, state.spot);
  if (is_in_the_middle(session, event)) state.spot.byte = byte_of_copy(session, event);
}

void look_on_at_selected(Session& session) {
  const ViewState& state = session.state;
  Event event;
  if (!is_of_machine(state) || !selected_in(state, event)) return;
  const RunCursor of = spot_of(*state.timeline, state.timeline_choice.selected, state.spot);
  const bool same = of.block == state.spot.block && of.warp == state.spot.warp;
  if (same && is_in_the_middle(session, event)) look_at_selected(session);
}

void show_spot(Session& session, bool line) {
  ViewState& state = session.state;
  if (!state.timeline) return;
  TimelineChoice& rows = state.timeline_choice;
  rows = unfolded_to_spot(state, std::move(rows));
  if (line) rows.search = search_of_line(state);
  if (const auto track = track_looked_at(state)) {
    session.timeline_viewport.reveal = TimelineReveal{sim::no_event, track, false};
  }
}

void select_write(Session& session, const Site& site) {
  ViewState& state = session.state;
  const sim::Machine* machine = machine_of(session);
  if (!is_of_machine(state) || !machine) return;
  const TimelineView& view = *state.timeline;
  const sim::Record& record = view.record();
  sim::EventFilter filter;
  filter.block = state.spot.block;
  filter.kinds = bit(EventKind::operation) | bit(EventKind::run);
  for (std::uint32_t pc = 0; pc < record.lines.size(); ++pc) {
    if (record.lines[pc].ptx_line == site.ptx_line) filter.pcs.push_back(pc);
  }
  if (filter.pcs.empty()) return;
  // A copy rather than the run that issued it; of several the one that is over first.
  const auto now = static_cast<sim::Cycle>(std::max(0.0, time_of(*machine)));
  constexpr std::size_t most = 256;
  EventId best = sim::no_event;
  for (const EventId id : view.timeline().find(filter, now, now + 1, most)) {
    const Event event = record.events[id];
    const sim::Track* warp = warp_of(record, event);
    if (!warp || warp->index != site.warp) continue;
    const auto later = [&](const Event& than) {
      if (event.kind != than.kind) return event.kind == EventKind::run;
      return event.end >= than.end;
    };
    if (best == sim::no_event || !later(record.events[best])) best = id;
  }
  if (best == sim::no_event) return;
  TimelineChoice& rows = state.timeline_choice;
  rows = view.unfolded_to(std::move(rows), record.events.track(best));
  rows.selected = best;
  session.timeline_viewport.reveal = TimelineReveal{best, {}, false};
}

std::optional<SelectedBegin> selected_in_block(const Session& session) {
  Event event;
  if (!selected_in(session.state, event)) return {};
  const TimelineView& view = *session.state.timeline;
  if (view.record().tracks[event.track].block != session.state.spot.block) return {};
  return SelectedBegin{std::min(event.issue, event.begin), view.known_time()};
}

std::optional<SelectedEvent> selected_event(const Session& session) {
  const ViewState& state = session.state;
  Event event;
  if (!selected_in(state, event)) return {};
  const TimelineView& view = *state.timeline;
  if (view.record().tracks[event.track].block != state.spot.block) return {};
  SelectedEvent out;
  out.sentence = sentence_of(view, state.timeline_choice.selected);
  const auto begin = std::min(event.issue, event.begin);
  const auto end = static_cast<std::uint64_t>(view.end_of(event));
  const char* unit = view.known_time() ? "cycle" : "instruction";
  out.when = end > begin ? fmt::format("{}s {} to {}", unit, grouped(begin), grouped(end))
                         : fmt::format("{} {}", unit, grouped(begin));
  if (!is_in_the_middle(session, event)) {
    out.command = fmt::format("go {}{}", view.known_time() ? "" : "instruction ", begin);
  }
  return out;
}

}  // namespace tilescope
