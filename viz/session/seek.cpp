#include "viz/session/seek.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "viz/session/diff_walk.h"
#include "viz/session/fault_view.h"
#include "viz/session/theatre_session.h"
#include "viz/session/timeline_session.h"
#include "viz/session/timeline_spot.h"

namespace tilescope {
namespace {

using sim::Arrival;

// Instructions between two looks at the time: the slowest (products of tensor cores) take some
// microseconds each.
constexpr std::uint64_t piece = 512;
// What a command may take before the window draws on.
constexpr double at_once = 30;  // milliseconds
constexpr std::size_t machines_kept = 3;

// Who did what it stopped for is looked at, where nobody else was named.
void follow(Session& session, const sim::Stepper& stepper) {
  RunCursor& spot = session.state.spot;
  const auto& reason = stepper.reason();
  if (!reason) return;
  // A warp may come to a line when another one lets it go.
  if (reason->what == sim::Happening::line && reason->warp != sim::Happened::at_hand) {
    spot.block = reason->block;
    spot.warp = reason->warp;
    return;
  }
  if (reason->what == sim::Happening::instruction || reason->what == sim::Happening::line) {
    const sim::Executed& last = stepper.machine().last_executed();
    spot.block = last.block;
    spot.warp = last.warp;
    return;
  }
  spot.block = reason->block;
  if (reason->what == sim::Happening::phase) {
    spot.barrier = reason->object;
  } else if (reason->warp != sim::Happened::at_hand) {
    spot.warp = reason->warp;
  }
}

// A line that was looked at goes on being so as long as the warp looked at stands there.
bool stands_at_line(const sim::Machine& machine, const RunCursor& spot) {
  const auto warps = sim::warps_of(machine, spot.block);
  if (!spot.line || spot.warp >= warps.size()) return false;
  const ptx::Program& program = machine.program();
  return std::any_of(warps[spot.warp].splits.begin(), warps[spot.warp].splits.end(),
                     [&](const sim::SplitState& split) {
                       return spot.line->file.empty()
                                  ? program.code[split.pc].line == spot.line->line
                                  : line_of(program, split.pc) == *spot.line;
                     });
}

// Was it the fault or hazard that was gone to, or does the run end here with it?
bool led_to_report(const sim::Stepper& stepper, Arrival arrival) {
  if (stepper.machine().state() == RunState::fault) return true;
  const auto& reason = stepper.reason();
  return arrival == Arrival::there &&
         (stepper.stands_before_fault() || (reason && reason->what == sim::Happening::report));
}

// Several may be told at one moment: the one that was looked at there last.
std::size_t report_of_moment(const Session& session, std::size_t told_last) {
  const ViewState& now = session.state;
  for (auto step = session.past.rbegin(); step != session.past.rend(); ++step) {
    const ViewState& then = step->before;
    const bool same = then.live == now.live && then.moment == now.moment;
    if (same && then.spot.report && report_looked_at(*now.live, then.spot)) {
      return *then.spot.report;
    }
  }
  return told_last;
}

// A fault or hazard of this moment, marked where it can be seen: in its own view where one went to
// it, else in the one that is open. Nothing: there is none here.
std::optional<std::string> show_what_is_told(Session& session, Arrival arrival) {
  ViewState& state = session.state;
  const sim::Stepper& stepper = state.live->stepper;
  const sim::Machine& machine = stepper.machine();
  auto number = stepper.report_here();
  const bool led = led_to_report(stepper, arrival);
  if (number && !led) number = report_of_moment(session, *number);
  const auto& told = machine.reports();
  const bool before_fault = number && *number >= told.size();
  if (!number || (before_fault && !stepper.fault())) return {};
  const Report& report = before_fault ? *stepper.fault() : told[*number];
  const ViewName view = state.view;
  show_report(state, report, *number);
  if (!led) state.view = view;
  if (!before_fault) return fmt::format("{}; {}.", report.sentence, moment_text(*state.live));
  return fmt::format("Just before the fault: {}; {}.", report.sentence, moment_text(*state.live));
}

std::string arrive(Session& session, Arrival arrival) {
  ViewState& state = session.state;
  const sim::Stepper& stepper = state.live->stepper;
  state.moment = stepper.position();
  session.scrolls.clear();  // lists show where it stands
  bring_moment_into_view(session);
  state.theatre.at.reset();  // it shows where the machine stands
  if (arrival == Arrival::there) follow(session, stepper);
  if (!stands_at_line(stepper.machine(), state.spot)) state.spot.line.reset();
  state.spot.report.reset();  // what was marked for it was of another moment
  if (!stepper.reason()) look_on_at_selected(session);
  if (const auto told = show_what_is_told(session, arrival)) return *told;
  if (arrival == Arrival::there) {
    if (const auto written = look_at_writer(session)) return *written;
  }
  std::string text = standing_text(*state.live, state.spot);
  if (arrival == Arrival::none && !stepper.story().empty()) {
    std::string story = stepper.story();
    story.front() = static_cast<char>(story.front() - 'a' + 'A');
    text = fmt::format("{}. {}", story, text);
  }
  return text;
}

// `then` is done with where it has begun.
Arrival go_for(sim::Stepper& stepper, double milliseconds,
               std::function<void(sim::Stepper&)>& then) {
  const auto begun = std::chrono::steady_clock::now();
  for (;;) {
    Arrival arrival = stepper.go_on(piece);
    if (arrival != Arrival::going && then) {
      std::exchange(then, {})(stepper);
      arrival = Arrival::going;
    }
    if (arrival != Arrival::going) return arrival;
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begun;
    if (took.count() >= milliseconds) return arrival;
  }
}

// A fault is looked at from before it, in a run of which this machine does not know yet that it
// ends so: it was shared, or comes back by undo. It goes there and back, to know it.
bool must_learn_report(const ViewState& state) {
  return state.spot.report && state.live && !state.live->stepper.ending() &&
         !report_looked_at(*state.live, state.spot);
}

bool stands(const ViewState& state) {
  if (!state.live) return state.moment == 0;
  return state.live->stepper.position() == state.moment && !must_learn_report(state);
}

// Where it stands is where it is to stand; a report that no run tells is none to look at.
void settle(Session& session) {
  ViewState& state = session.state;
  state.moment = state.live->stepper.position();
  if (!report_looked_at(*state.live, state.spot)) state.spot.report.reset();
  session.scrolls.clear();
}

}  // namespace

const sim::Machine* machine_of(const Session& session) {
  const ViewState& state = session.state;
  if (!state.live || seeking(session)) return nullptr;
  return &state.live->stepper.machine();
}

Outcome<std::shared_ptr<LiveRun>> live_run(Session& session, Backend& backend) {
  ViewState& state = session.state;
  if (!state.kernel) {
    return Error{ErrorKind::usage,
                 "There is no kernel to step through: open one first, for example `open hgemm_v7`.",
                 ""};
  }
  if (state.live) return state.live;
  if (auto error = not_built(session)) return *error;
  auto made = backend.live(*state.kernel, state.options);
  if (made) state.live = *made;
  if (made && state.timeline) state.live->clock = state.timeline->clock();
  return made;
}

bool seeking(const Session& session) {
  return session.seek.has_value() || (session.state.kernel && !stands(session.state));
}

bool busy(const Session& session) {
  return session.running || session.edit.building.has_value() || seeking(session);
}

Outcome<std::string> begin_seek(Session& session, Backend& backend, std::string line,
                                const std::function<void(sim::Stepper&)>& begin,
                                std::function<void(sim::Stepper&)> then) {
  const auto live = live_run(session, backend);
  if (!live) return live.error();
  sim::Stepper& stepper = (*live)->stepper;
  // On its way to elsewhere (undo): it begins from there.
  if (stepper.position() != session.state.moment) {
    stepper.go_to(session.state.moment);
    (void)stepper.arrive();
  }
  session.seek.reset();
  session.stands_at_end = false;
  session.edit.failed.reset();  // it is the machine that is looked at, not what does not compile
  begin(stepper);
  const Arrival arrival = go_for(stepper, at_once, then);
  if (arrival != Arrival::going) return arrive(session, arrival);
  session.seek = PendingSeek{std::move(line), session.state.moment, false, std::move(then)};
  return std::string("Going there...");
}

std::optional<Outcome<std::string>> leave_end(Session& session, Backend& backend,
                                              std::string line) {
  const ViewState& state = session.state;
  const bool at_end = session.stands_at_end && state.live && state.result && !session.running &&
                      state.moment == state.result->moment;
  if (!at_end) return {};
  if (const auto event = selected_in_block(session)) {
    return begin_seek(session, backend, std::move(line), [&](sim::Stepper& stepper) {
      event->timed ? stepper.go_to_cycle(static_cast<double>(event->begin))
                   : stepper.go_to_instruction(event->begin);
    });
  }
  const auto theatre = theatre_of(session);
  if (theatre && theatre->record().timed) {
    const double cycle = theatre_time(session, *theatre);
    return begin_seek(session, backend, std::move(line),
                      [cycle](sim::Stepper& stepper) { stepper.go_to_cycle(cycle); });
  }
  const std::uint64_t middle = state.result->moment / 2;  // by no clock
  return begin_seek(session, backend, std::move(line),
                    [middle](sim::Stepper& stepper) { stepper.go_to(middle); });
}

bool seek_on(Session& session, Backend& backend, double milliseconds) {
  if (!seeking(session)) return false;
  ViewState& state = session.state;
  const auto live = live_run(session, backend);
  if (!live) {
    session.seek.reset();
    state.moment = 0;
    session.message = {live.error().sentence, true};
    return true;
  }
  sim::Stepper& stepper = (*live)->stepper;
  if (session.seek && session.seek->from != state.moment) session.seek.reset();
  if (!session.seek) {
    stepper.go_to(state.moment);
    session.seek = PendingSeek{"", state.moment, true};
  }
  const Arrival arrival = go_for(stepper, milliseconds, session.seek->then);
  if (arrival == Arrival::going) return true;
  if (session.seek->to_chosen && must_learn_report(state)) {
    stepper.step({sim::StepBy::fault});
    session.seek->then = [to = state.moment](sim::Stepper& s) { s.go_to(to); };
    return true;
  }
  const PendingSeek way = std::exchange(session.seek, {}).value();
  if (way.to_chosen) {
    settle(session);
    return true;
  }
  const ViewState before = state;
  const std::string text = arrive(session, arrival);
  if (!(state == before) && !session.script.joins) {
    session.past.push_back({way.line, before, false});
    session.future.clear();
  }
  session.message = {text, stepper.machine().state() == RunState::fault};
  return true;
}

std::string stop_seek(Session& session) {
  ViewState& state = session.state;
  session.seek.reset();
  settle(session);
  return "Stopped. " + standing_text(*state.live, state.spot);
}

std::optional<double> seek_share(const Session& session) {
  if (!session.state.live || !session.seek) return {};
  const auto progress = session.state.live->stepper.progress();
  if (!progress.target || *progress.target == 0) return {};
  return std::min(1.0,
                  static_cast<double>(progress.position) / static_cast<double>(*progress.target));
}

void let_old_machines_go(Session& session) {
  std::vector<const LiveRun*> kept;
  if (session.state.live) kept.push_back(session.state.live.get());
  const auto look_at = [&](ViewState& state) {
    if (!state.live) return;
    const bool known = std::find(kept.begin(), kept.end(), state.live.get()) != kept.end();
    if (!known && kept.size() >= machines_kept) return state.live.reset();
    if (!known) kept.push_back(state.live.get());
  };
  for (auto step = session.past.rbegin(); step != session.past.rend(); ++step) {
    look_at(step->before);
  }
  for (auto step = session.future.rbegin(); step != session.future.rend(); ++step) {
    look_at(step->before);
  }
}

}  // namespace tilescope
