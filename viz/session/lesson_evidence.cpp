#include "viz/session/lesson_evidence.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/run/deadlock_cause.h"
#include "viz/session/seek.h"
#include "viz/theatre/theatre_now.h"

namespace tilescope {
namespace {

void add_result(const DiffView& view, std::shared_ptr<const DiffView> kept, RunEvidence& out) {
  const DifferenceSource& source = view.source();
  out.done = true;
  out.rows = source.rows();
  out.columns = source.columns();
  out.wrong = view.wrong_count();
  const std::vector<Element> first = view.wrong_bins(1, 0, 0, out.rows, out.columns, 1);
  if (!first.empty()) out.first_wrong = first[0].row * out.columns + first[0].column;
  out.at = [kept = std::move(kept)](std::int64_t row, std::int64_t column) {
    float difference = 0;
    std::uint8_t wrong = 0;
    kept->source().read(row, column, {&difference, 1}, {&wrong, 1});
    return RunEvidence::Element{wrong != 0, kept->source().got(row, column),
                                kept->source().want(row, column)};
  };
}

std::optional<std::int64_t> stage_number(const sim::Pipeline& pipeline, std::size_t stage) {
  for (const sim::Ring& ring : pipeline.rings) {
    const auto at = std::find(ring.stages.begin(), ring.stages.end(), stage);
    if (at != ring.stages.end()) return at - ring.stages.begin();
  }
  return {};
}

RunFacts::Moment moment_of(const TheatreView& view, std::uint64_t cycle) {
  const sim::Pipeline& pipeline = view.pipeline();
  const TheatreNow now = theatre_at(view, static_cast<double>(cycle));
  RunFacts::Moment out;
  for (const TheatreProduct& product : now.products) {
    if (product.rank != 0) continue;
    out.step = product.step;
    if (!product.stages.empty()) out.stage = stage_number(pipeline, product.stages.front());
  }
  for (std::size_t w = 0; w < pipeline.warps.size(); ++w) {
    const TheatreWarp& warp = now.warps[w];
    if (pipeline.warps[w].rank != 0 || warp.state != TheatreWarp::State::waits || !warp.barrier) {
      continue;
    }
    out.waits.push_back({pipeline.warps[w].index,
                         barrier_text(view.record(), pipeline.barriers[*warp.barrier], 0)});
  }
  for (std::size_t b = 0; b < pipeline.barriers.size(); ++b) {
    if (pipeline.barriers[b].rank != 0) continue;
    out.phases.emplace_back(barrier_text(view.record(), pipeline.barriers[b], 0),
                            now.barriers[b].phase);
  }
  return out;
}

// What copies brought to a phase from `since` on, until it was complete.
std::uint64_t bytes_brought(const sim::Record& record, const sim::BarrierPhases& of,
                            const sim::Event& phase, sim::Cycle since) {
  std::uint64_t bytes = 0;
  for (const sim::EventId id : of.arrivals) {
    const sim::Event e = record.events[id];
    if (e.bytes && e.phase == phase.phase && since <= e.begin && e.begin <= phase.end) {
      bytes += e.amount;
    }
  }
  return bytes;
}

// The bytes that each phase waits for are those that its copies bring: a phase that is complete had
// all that it expected. One that never is expects what another had.
void add_pipeline(std::shared_ptr<const TheatreView> view, RunFacts& out) {
  const sim::Pipeline& pipeline = view->pipeline();
  for (const sim::Ring& ring : pipeline.rings) {
    if (ring.rank == 0) out.stages = std::max<std::uint64_t>(out.stages, ring.stages.size());
  }
  for (std::size_t b = 0; b < pipeline.barriers.size(); ++b) {
    const sim::BarrierPhases& of = pipeline.barriers[b];
    if (of.rank != 0 || of.unit != sim::Unit::mbarrier) continue;
    RunFacts::Barrier barrier{barrier_text(view->record(), of, 0), 0, {}};
    sim::Cycle since = 0;
    for (const sim::EventId phase : of.phases) {
      const sim::Event event = view->record().events[phase];
      const double middle = (static_cast<double>(event.begin) + static_cast<double>(event.end)) / 2;
      const TheatreBarrier now = theatre_at(*view, middle).barriers[b];
      barrier.arrivals = std::max(barrier.arrivals, now.arrivals_of);
      const bool complete = event.end != sim::never_ends;
      barrier.bytes.push_back(complete ? bytes_brought(view->record(), of, event, since)
                                       : now.bytes_of);
      since = event.end;
    }
    out.barriers.push_back(std::move(barrier));
  }
  if (!view->record().timed) return;
  out.at = [view = std::move(view)](std::uint64_t cycle) { return moment_of(*view, cycle); };
}

// "load latency" of "Bound by load latency: ..."
std::string bound_in(std::string_view verdict) {
  constexpr std::string_view kBegin = "Bound by ";
  if (verdict.substr(0, kBegin.size()) != kBegin) return "";
  verdict.remove_prefix(kBegin.size());
  return std::string(verdict.substr(0, verdict.find(':')));
}

// Whether all others are waited for because of it: the first, or all that go round; if not, who
// would bring it and waits instead.
void tell_cause(const DeadlockCause& all, std::size_t b, RunFacts::Stuck& out) {
  out.cause = all.cycle.empty()
                  ? b == 0
                  : std::find(all.cycle.begin(), all.cycle.end(), b) != all.cycle.end();
  if (out.cause) return;
  for (const DeadlockCause::Source& source : all.barriers[b].sources) {
    for (const DeadlockCause::NotCome& why : source.not_come) {
      if (why.why != DeadlockCause::Why::waits || why.waits_for >= all.barriers.size()) continue;
      out.because = fmt::format("{} would bring it, and {} for {}", warps_text(all, why),
                                is_one(why) ? "waits" : "wait", all.barriers[why.waits_for].name);
      return;
    }
  }
}

void add_reports(const RunResult& result, RunFacts& out) {
  const auto worst =
      std::max_element(result.reports.begin(), result.reports.end(),
                       [](const Report& a, const Report& b) { return a.weight < b.weight; });
  if (worst != result.reports.end() && worst->weight != Weight::note) {
    const Site& site = worst->site;
    out.told_line = site.caller_line != 0 ? site.caller_line : site.source_line;
    out.told = worst->sentence;
  }
  for (const Report& report : result.reports) {
    if (!report.deadlock) continue;
    for (std::size_t b = 0; b < report.deadlock->barriers.size(); ++b) {
      RunFacts::Stuck stuck{report.deadlock->barriers[b].name, {}};
      for (const DeadlockCause::Waiting& waiting : report.deadlock->waiting) {
        if (waiting.waits_for != b) continue;
        for (std::uint32_t warp = 0; warp < 64; ++warp) {
          if (waiting.warps.mask >> warp & 1) stuck.warps.push_back(warp);
        }
      }
      tell_cause(*report.deadlock, b, stuck);
      if (!stuck.warps.empty()) out.stuck.push_back(std::move(stuck));
    }
  }
}

// PTX that runs in a kernel's place says by itself which .cu it was made from.
void add_source(const ViewState& state, RunFacts& out) {
  out.source = state.result->source;
  out.source_name = state.result->kernel.source;
  if (!out.source.empty() || !state.live) return;
  for (const auto& [name, lines] : state.live->sources) {
    if (!std::string_view(name).ends_with(".cu")) continue;
    out.source = lines;
    out.source_name = name;
    return;
  }
}

std::shared_ptr<const RunFacts> facts_of(const ViewState& state) {
  if (!state.result) return nullptr;
  auto out = std::make_shared<RunFacts>();
  add_reports(*state.result, *out);
  add_source(state, *out);
  if (state.timeline) {
    out->end = state.timeline->record().end;
    out->bound_says = state.timeline->statistics().verdict;
    out->bound = bound_in(out->bound_says);
    add_pipeline(std::make_shared<const TheatreView>(
                     state.timeline->shared_record(), state.timeline->shared_timeline(),
                     state.timeline->roles(), sim::cluster_of(state.timeline->record().launch, 0)),
                 *out);
  }
  return out;
}

}  // namespace

RunEvidence evidence_of(const Session& session, Backend& backend) {
  RunEvidence evidence;
  if (session.state.diff) add_result(*session.state.diff, session.state.diff, evidence);
  evidence.facts = facts_of(session.state);
  evidence.workshop.run_kernel = [&backend](std::string_view kernel) {
    return backend.try_kernel(kernel);
  };
  evidence.workshop.run_program = [&backend](std::string_view ptx, std::string_view launch) {
    return backend.try_program(ptx, launch);
  };
  evidence.workshop.file = [&backend](std::string_view name) { return backend.lesson_file(name); };
  return evidence;
}

std::string judge_answer(Session& session, Backend& backend) {
  const LessonPlace& place = session.state.lesson;
  LessonState& work = lesson_state(session);
  work.verdict = judge(*place.sheet->step.exercise, work.answer, evidence_of(session, backend));
  if (work.verdict->is != Judgement::Is::right || !work.told.empty()) return work.verdict->sentence;
  const Lesson& lesson = *place.open();
  session.progress.lessons[lesson.name].solved.insert(lesson.steps[place.step].title);
  return work.verdict->sentence + keep_progress(session, backend);
}

std::string judge_kept_answer(Session& session, Backend& backend) {
  const std::optional<Judgement>& verdict = lesson_state(std::as_const(session)).verdict;
  if (!verdict || verdict->is != Judgement::Is::kept || !session.state.result) return "";
  return judge_answer(session, backend);
}

std::string keep_progress(Session& session, Backend& backend) {
  const std::optional<Error> problem = backend.keep_progress(progress_text(session.progress));
  const bool told = session.progress_told;
  session.progress_told = problem.has_value();
  if (!problem || told) return "";
  return fmt::format(" This is not saved: {} The next step tries again.", problem->sentence);
}

}  // namespace tilescope
