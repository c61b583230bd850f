// On the way: running, copying, learning, and noticing that one has arrived.
#include "core/sim/stepping/stepper.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace tilescope::sim {
namespace {

using u64 = std::uint64_t;

constexpr std::size_t most_indexed = std::size_t{1} << 20;
// Instructions between two looks at the clock: copies are made there. Some take a thousand times as
// long as others (products), so that the time of the last ones says nothing of the next.
constexpr u64 slice = 128;

}  // namespace

std::string_view name_of(StepBy by) {
  constexpr std::string_view names[] = {"instruction",
                                        "line",
                                        "phase of an mbarrier",
                                        "barrier",
                                        "barrier of the cluster",
                                        "copy",
                                        "product",
                                        "write",
                                        "fault",
                                        "report",
                                        "moment",
                                        "breakpoint"};
  return names[static_cast<std::size_t>(by)];
}

Outcome<Stepper> Stepper::load(Job job, Options options, CheckpointLimits limits) {
  options.recorder = nullptr;  // what is simulated again is not recorded again
  options.both_ways_bytes = 0;
  options.remember_writers = true;
  Outcome<Machine> machine = Machine::load(std::move(job), options);
  if (!machine.ok()) return machine.error();
  return Stepper(std::move(*machine), limits);
}

Stepper::Stepper(Machine machine, CheckpointLimits limits)
    : now_(std::move(machine)), checkpoints_(now_, limits) {
  outer_lines_ =
      std::make_shared<const std::vector<std::uint32_t>>(lines_of(now_.program(), false));
  inner_lines_ = std::make_shared<const std::vector<std::uint32_t>>(lines_of(now_.program(), true));
}

const Report* Stepper::fault() const {
  return ending_ == RunState::fault && !reports_of_end_.empty() ? &reports_of_end_.back() : nullptr;
}

std::optional<std::uint32_t> Stepper::report_here() const {
  if (reason_ && reason_->what == Happening::report) return reason_->object;
  const auto last = [](const std::vector<Report>& reports) {
    return static_cast<std::uint32_t>(reports.size() - 1);
  };
  if (now_.state() == RunState::fault && !now_.reports().empty()) return last(now_.reports());
  const bool before = position() == before_fault_at_ || position() == end_;
  if (now_.state() != RunState::done && fault() && before) return last(reports_of_end_);
  for (auto each = index_.rbegin(); each != index_.rend(); ++each) {
    if (each->what == Happening::report && each->position == position()) return each->object;
  }
  return {};
}

Arrival Stepper::go_on(u64 budget) {
  Arrival arrival = Arrival::going;
  while (budget && arrival == Arrival::going) arrival = advance(budget);
  return arrival;
}

Arrival Stepper::arrive() {
  Arrival arrival = Arrival::going;
  while (arrival == Arrival::going) arrival = go_on(u64{1} << 20);
  return arrival;
}

Arrival Stepper::finish(Arrival arrival) {
  way_ = Way::none;
  target_.reset();
  if (arrival == Arrival::none && step_.by == StepBy::report && at_.object) {
    const std::size_t told = now_.reports().size();
    story_ = fmt::format("there is no report {}: the run has {}", *at_.object,
                         told ? fmt::format("{}", told) : "none");
  } else if (arrival == Arrival::none && at_.cycle < StopAt::no_cycle) {
    story_ = "the run is over before that";
  } else if (arrival == Arrival::none) {
    story_ = step_.back ? fmt::format("there is no earlier {}: this is the beginning of the run",
                                      name_of(step_.by))
                        : fmt::format("there is no further {}: this is the end of the run",
                                      name_of(step_.by));
  }
  return result_ = arrival;
}

// Until the machine stops, or a slice of the budget is used up.
Arrival Stepper::advance(u64& budget) {
  if (way_ == Way::none) return result_;
  const RunState state = run(budget);
  if (state == RunState::running) return Arrival::going;
  switch (way_) {
    case Way::count:
      return counted(state);
    case Way::scan:
      return scanned(state);
    case Way::fault:
      return state == RunState::fault ? found_fault() : finish(Arrival::none);
    case Way::before_fault:
      if (state != RunState::stopped) return found_fault();
      before_fault_ = true;
      before_fault_at_ = position();
      return finish(Arrival::there);
    default:
      return arrived_at(state);
  }
}

Arrival Stepper::counted(RunState state) {
  if (state == RunState::stopped) {
    if (--left_) return Arrival::going;
    reason_ = now_.stops().last();
    return finish(Arrival::there);
  }
  // The last reports are told with the end.
  if (step_.by != StepBy::report || now_.reports().empty()) return finish(Arrival::none);
  const std::uint32_t last = static_cast<std::uint32_t>(now_.reports().size() - 1);
  const std::uint32_t wanted = at_.object.value_or(last);
  const bool told = at_.object ? wanted <= last : state == RunState::fault && left_ == 1;
  if (!told) return finish(Arrival::none);
  Happened end;
  end.what = Happening::report;
  end.warp = Happened::at_hand;
  end.object = wanted;
  end.position = position();
  reason_ = end;
  return finish(Arrival::there);
}

Arrival Stepper::arrived_at(RunState state) {
  const bool to_the_end = at_.position == StopAt::never && at_.instructions == StopAt::never &&
                          at_.executed == StopAt::never && at_.cycle == StopAt::no_cycle;
  const bool there = to_the_end || at_.position == position();
  if (state != RunState::stopped && !there && at_.cycle > now_.end()) return finish(Arrival::none);
  // Moments may come together, and with a block's last instruction, so that the place before this
  // one is further back.
  const bool stuck = step_.back && result_ == Arrival::there && position() >= origin_;
  if (stuck && at_.instructions != StopAt::never && at_.instructions > 0) {
    StopAt before;
    before.instructions = at_.instructions - 1;
    seek(before);
    return Arrival::going;
  }
  if (stuck && step_.by == StepBy::moment && at_.position != StopAt::never && at_.position > 0) {
    seek_position(at_.position - 1);
    return Arrival::going;
  }
  if (stuck && origin_ended_ && step_.by == StepBy::line) {
    origin_ended_ = false;
    left_ = step_.count;
    step_back();
    return Arrival::going;
  }
  return finish(result_);
}

// A stop in an interval, or its end. Where the scan began does not count, unless the run had ended
// there; where the interval ends does, as the next copy begins behind that.
Arrival Stepper::scanned(RunState state) {
  const bool at_its_end = state != RunState::stopped || position() >= until_;
  const bool counts = position() < until_ || until_ != origin_ || origin_ended_;
  if (state == RunState::stopped && now_.stops().last() && counts) {
    ++in_interval_;
    stops_.push_back(*now_.stops().last());
    stops_.back().position = position();
    if (stops_.size() > left_) stops_.pop_front();
  }
  if (!at_its_end) return Arrival::going;
  if (in_interval_ >= left_) {
    seek_stop(stops_.front());
  } else {
    left_ -= in_interval_;
    scan_before(from_);
  }
  return Arrival::going;
}

// The place before a fault: where nothing but that is still to come. The instruction or the moment
// that fails is counted; nobody being able to go on is not.
Arrival Stepper::found_fault() {
  const u64 last = way_ == Way::fault ? end_ : at_.position;
  if (last == 0) return finish(Arrival::none);
  seek_position(way_ == Way::fault ? last : last - 1, Way::before_fault);
  return Arrival::going;
}

double Stepper::remaining() const {
  if (!target_ || *target_ <= position()) return 0;
  return static_cast<double>(*target_ - position()) * rate_;
}

void Stepper::restore(const Checkpoint& from) {
  now_ = from.machine;
  cost_ = from.cost;
}

RunState Stepper::run(u64& budget) {
  const u64 some = std::min(budget, slice), before = now_.instructions();
  const auto start = std::chrono::steady_clock::now();
  const RunState state = now_.run(some);
  const double took =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  cost_ += took;
  budget -= std::min(budget, std::max<u64>(now_.instructions() - before, 1));
  learn(state);
  if (now_.state() == RunState::running && checkpoints_.wants(position(), cost_, remaining())) {
    checkpoints_.keep(now_, cost_);
  }
  return state;
}

void Stepper::learn(RunState state) {
  for (const Happened& h : now_.stops().take()) {
    if (h.position > indexed_to_ && index_.size() < most_indexed) index_.push_back(h);
  }
  if (index_.size() < most_indexed) indexed_to_ = std::max(indexed_to_, position());
  if (position() > known_to_) {
    known_to_ = position();
    rate_ = cost_ / static_cast<double>(known_to_);
  }
  if (ending_ || (state != RunState::done && state != RunState::fault)) return;
  ending_ = state;
  end_ = position();
  reports_of_end_ = now_.reports();
}

}  // namespace tilescope::sim
