#include "core/sim/machine/search.h"

#include <algorithm>
#include <utility>

#include "core/sim/machine/executor.h"
#include "core/sim/machine/model.h"

namespace tilescope::sim {

Search::Search(Machine machine, SearchLimits limits)
    : start_(std::move(machine)),
      limits_(limits),
      last_cluster_(start_.cluster_number(start_.progress().total - 1)) {
  planned_.emplace_back();  // nobody is held: to learn where the warps meet
  Options& options = start_.model().options;
  if (options.executor && options.beside) {
    executor_ = std::exchange(options.executor, nullptr);
    for (std::uint32_t k = 0; k < options.beside; ++k) lines_.push_back(executor_->new_line());
  }
  options.beside = 0;
}

Search::Progress Search::progress() const {
  return {tried_, known_, points_, planned_.empty() ? 0 : planned_.front().size()};
}

void Search::begin(const Holds& holds) {
  running_.push_back(std::make_unique<Run>(Run{start_}));
  Model& model = running_.back()->machine.model();
  model.options.holds = holds;
  // No further points are wanted of a run that holds as many as may be.
  model.scheduler.note_meeting_points(holds.size() < limits_.holds);
}

// With somebody held, only their cluster matters.
bool Search::is_over(const Machine& machine, const Holds& holds) const {
  return !holds.empty() && machine.has_exited(machine.cluster_number(holds.front().block));
}

bool Search::is_wanted(const Hold& place, const Holds& before) const {
  const std::uint64_t cluster = start_.cluster_number(place.block);
  if (before.empty()) return cluster == 0 || cluster == last_cluster_;
  const Hold& last = before.back();
  return cluster == start_.cluster_number(last.block) &&
         (place.block != last.block || place.warp != last.warp);
}

// One more hold behind those of the run that has ended: of another warp than the last one, which
// was already held as long as the others could go on without it.
void Search::plan(Machine& machine, const Holds& before) {
  const Scheduler& scheduler = machine.model().scheduler;
  const std::vector<MeetingPoint>& points = scheduler.meeting_points();
  for (std::size_t i = scheduler.points_before_last_hold(); i < points.size(); ++i) {
    const Hold& place = points[i].place;
    if (!is_wanted(place, before)) continue;
    if (before.empty()) ++points_;
    if (known_ >= limits_.runs) {
      left_out_ = true;
      continue;
    }
    Holds next = before;
    next.push_back(place);
    planned_.push_back(std::move(next));
    ++known_;
  }
}

bool Search::fails(const Run& run, bool held) const {
  const auto is_it = [&](const Report& r) {
    return r.weight == Weight::hazard && r.kind == limits_.kind;
  };
  const std::vector<Report>& reports = run.machine.reports();
  // As in note_hazards().
  if (run.state == RunState::fault) return !held || reports.back().kind != "undefined_predicate";
  return !limits_.kind.empty() && std::any_of(reports.begin(), reports.end(), is_it);
}

void Search::note_hazards(const Machine& machine, const Holds& holds) {
  constexpr std::size_t most = 16;
  for (const Report& r : machine.reports()) {
    // Whether one way or the other of what is undefined matters the usual order has said
    // (core/sim/machine/both_ways.h).
    if (r.weight != Weight::hazard || r.kind == "undefined_store") continue;
    const bool is_new = known_hazards_.emplace(r.kind, r.site.ptx_line, r.pair).second;
    if (is_new && !holds.empty() && hazards_.size() < most) hazards_.push_back({holds, r});
  }
}

void Search::end_first() {
  const Holds holds = std::move(planned_.front());
  const std::unique_ptr<Run> run = std::move(running_.front());
  planned_.pop_front();
  running_.pop_front();
  ++tried_;
  note_hazards(run->machine, holds);
  if (fails(*run, !holds.empty())) {
    found_ = Found{holds, run->machine.reports()};
    running_.clear();
  } else if (holds.size() < limits_.holds) {
    plan(run->machine, holds);
  }
}

void Search::advance(Run& run, const Holds& holds, std::uint64_t budget) const {
  constexpr std::uint64_t piece = 20'000;  // so that a run ends soon after it is over
  const std::uint64_t before = run.machine.instructions();
  run.executed = 0;
  while (run.executed < budget && !run.over) {
    run.state = run.machine.run(std::min(budget - run.executed, piece));
    run.executed = run.machine.instructions() - before;
    run.over = run.state != RunState::running || is_over(run.machine, holds);
  }
}

std::uint64_t Search::advance_all(std::uint64_t budget) {
  std::vector<std::uint64_t> tasks(running_.size());
  for (std::size_t k = 1; k < running_.size(); ++k) {
    Run& run = *running_[k];
    run.executed = 0;
    if (run.over) continue;
    const Holds& holds = planned_[k];
    tasks[k] = executor_->submit(lines_[k - 1],
                                 [this, &run, &holds, budget] { advance(run, holds, budget); });
  }
  advance(*running_[0], planned_[0], budget);
  for (std::size_t k = 1; k < running_.size(); ++k) {
    if (tasks[k]) executor_->wait(lines_[k - 1], tasks[k]);
  }
  std::uint64_t executed = 0;
  for (const auto& run : running_) executed += run->executed;
  return executed;
}

RunState Search::advance(std::uint64_t budget) {
  const std::size_t most = lines_.size() + 1;
  while (!found_ && !planned_.empty()) {
    if (budget == 0) return RunState::running;
    while (running_.size() < most && running_.size() < planned_.size()) {
      begin(planned_[running_.size()]);
    }
    // An order that is found ends those beside it, soon.
    constexpr std::uint64_t turn = 1'000'000;
    const std::uint64_t each = std::clamp<std::uint64_t>(budget / running_.size(), 1, turn);
    budget -= std::min(budget, advance_all(each));
    while (!found_ && !running_.empty() && running_.front()->over) end_first();
  }
  return found_ ? RunState::fault : RunState::done;
}

}  // namespace tilescope::sim
