#include "core/sim/machine/search.h"

#include <algorithm>
#include <utility>

#include "core/sim/machine/model.h"

namespace tilescope::sim {

Search::Search(Machine machine, SearchLimits limits)
    : start_(std::move(machine)),
      limits_(limits),
      last_cluster_(start_.cluster_number(start_.progress().total - 1)) {
  planned_.emplace_back();  // nobody is held: to learn where the warps meet
}

Search::Progress Search::progress() const {
  return {tried_, known_, points_, planned_.empty() ? 0 : planned_.front().size()};
}

void Search::begin_next() {
  machine_ = start_;
  machine_->model().options.holds = planned_.front();
  // No further points are wanted of a run that holds as many as may be.
  machine_->model().scheduler.note_meeting_points(planned_.front().size() < limits_.holds);
}

// With somebody held, only their cluster matters.
bool Search::is_over() const {
  const Holds& holds = planned_.front();
  return !holds.empty() && machine_->has_exited(machine_->cluster_number(holds.front().block));
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
void Search::plan(const Holds& before) {
  const Scheduler& scheduler = machine_->model().scheduler;
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

void Search::end_run(RunState state) {
  ++tried_;
  if (state == RunState::fault) {
    found_ = Found{planned_.front(), machine_->reports()};
  } else if (planned_.front().size() < limits_.holds) {
    plan(planned_.front());
  }
  planned_.pop_front();
  machine_.reset();
}

RunState Search::advance(std::uint64_t budget) {
  constexpr std::uint64_t piece = 20'000;  // so that a run ends soon after it is over
  while (!found_ && !planned_.empty()) {
    if (budget == 0) return RunState::running;
    if (!machine_) begin_next();
    const std::uint64_t before = machine_->instructions();
    const RunState state = machine_->run(std::min(budget, piece));
    budget -= std::min(budget, machine_->instructions() - before);
    if (state != RunState::running || is_over()) end_run(state);
  }
  return found_ ? RunState::fault : RunState::done;
}

}  // namespace tilescope::sim
