// Which way leads to a place: by its number where there is one, by what is known of the run, or by
// looking for it.
#include <algorithm>
#include <map>
#include <utility>

#include "core/sim/machine/state.h"
#include "core/sim/stepping/stepper.h"

namespace tilescope::sim {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr u32 kept = bit(Happening::copy) | bit(Happening::product) | bit(Happening::phase) |
                     bit(Happening::barrier) | bit(Happening::cluster) | bit(Happening::report);

Happening happening_of(StepBy by) {
  switch (by) {
    case StepBy::line:
      return Happening::line;
    case StepBy::phase:
      return Happening::phase;
    case StepBy::barrier:
      return Happening::barrier;
    case StepBy::cluster:
      return Happening::cluster;
    case StepBy::copy:
      return Happening::copy;
    case StepBy::product:
      return Happening::product;
    case StepBy::write:
      return Happening::write;
    case StepBy::report:
      return Happening::report;
    default:
      return Happening::instruction;
  }
}

const Block* resident(const Machine& machine, u64 number) {
  const auto& all = machine.blocks();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Block& b) { return b.number == number; });
  return found == all.end() ? nullptr : &*found;
}

const Warp* warp_in(const Machine& machine, const StopAt& at) {
  if (!at.block || !at.warp) return nullptr;
  const Block* block = resident(machine, *at.block);
  return block && *at.warp < block->warps.size() ? &block->warps[*at.warp] : nullptr;
}

// How many instructions this warp has executed: none where its block has not begun, and more than
// there can be where it has exited.
u64 executed_by(const Machine& machine, const StopAt& at) {
  if (const Warp* warp = warp_in(machine, at)) return warp->executed;
  return machine.has_exited(machine.cluster_number(*at.block)) ? StopAt::never : 0;
}

bool executed_last(const Machine& machine, const StopAt& at) {
  const Executed& last = machine.last_executed();
  return machine.is_behind_instruction() && last.block == at.block && last.warp == at.warp;
}

// Is it what one warp executes that is asked for, and does it execute nothing between these two?
// One that a barrier lets go may come to a line by that.
bool executes_nothing(const Machine& from, const Machine& to, const StopAt& at) {
  if (at.what & ~(bit(Happening::line) | bit(Happening::instruction))) return false;
  const Warp* warp = warp_in(from, at);
  const bool held = warp && std::any_of(warp->splits.begin(), warp->splits.end(),
                                        [](const Split& s) { return s.wait == Wait::barrier; });
  if (held && (at.what & bit(Happening::line))) return false;
  return at.block && at.warp && executed_by(from, at) == executed_by(to, at);
}

// Is the place that is asked for before this machine's?
bool is_past(const Machine& machine, const StopAt& at) {
  const bool ended = machine.state() != RunState::running;
  if (at.position != StopAt::never) return ended || machine.position() > at.position;
  if (at.instructions != StopAt::never) {
    return ended || machine.instructions() > at.instructions ||
           (machine.instructions() == at.instructions && !machine.is_behind_instruction());
  }
  if (at.what == bit(Happening::report) && at.object) {
    return machine.reports().size() > *at.object;
  }
  if (at.cycle < StopAt::no_cycle) {
    // Behind its last CTA a machine does not say what they had reached.
    const bool gone = machine.blocks().empty() && machine.instructions() > 0;
    return ended || gone || machine.all_have_reached(at.cycle);
  }
  if (at.executed == StopAt::never) return false;
  const Warp* warp = warp_in(machine, at);
  if (!warp) return ended || machine.has_exited(machine.cluster_number(*at.block));
  return ended || warp->executed >= at.executed;
}

}  // namespace

std::vector<u32> lines_of(const ptx::Program& program, bool inner) {
  std::vector<u32> out;
  std::map<std::pair<u32, u32>, u32> numbers;
  u32 last = 0;
  for (const ptx::Instruction& i : program.code) {
    const bool outside = !inner && i.caller_line;
    const std::pair<u32, u32> line =
        outside ? std::pair{i.caller_file, i.caller_line} : std::pair{i.file, i.source_line};
    if (line.second) {
      last = numbers.try_emplace(line, static_cast<u32>(numbers.size()) + 1).first->second;
    }
    out.push_back(last);
  }
  return out;
}

StopAt Stepper::stops_of(const Step& step) const {
  if (step.by == StepBy::breakpoint) return step.breaks;
  StopAt at;
  at.what = bit(happening_of(step.by));
  at.stages = step.stages;
  at.block = step.block;
  at.warp = step.warp;
  at.object = step.object;
  if (step.watch.where != Watch::Where::nowhere) at.watches = {step.watch};
  if (step.by != StepBy::line) return at;
  const Executed& last = now_.last_executed();
  if (!at.block && !at.warp) {
    at.block = last.block;
    at.warp = last.warp;
  }
  at.lines = step.into ? inner_lines_ : outer_lines_;
  const Warp* warp = warp_in(now_, at);
  if (!step.into && warp && !warp->splits.empty()) {
    const bool same = last.mask && last.block == *at.block && last.warp == *at.warp;
    const Mask mask =
        same && (last.mask & warp->live) ? last.mask & warp->live : warp->splits.front().mask;
    at.depth = warp->calls.depth[static_cast<std::size_t>(__builtin_ctz(mask))];
  }
  return at;
}

// Those that are executed by warps are not told of unless every instruction is looked at.
bool Stepper::is_indexed(Happening what) const {
  return (kept & bit(what)) && !executes(now_.program(), what);
}

const Happened* Stepper::find_in_index(const StopAt& at) const {
  const auto here = std::partition_point(index_.begin(), index_.end(), [&](const Happened& h) {
    return step_.back && !origin_ended_ ? h.position < origin_ : h.position <= origin_;
  });
  u64 left = left_, last = StopAt::never;
  // Several that happen together are one stop.
  const auto counts = [&](const Happened& h) {
    if (!matches(at, h) || h.position == last) return false;
    last = h.position;
    return --left == 0;
  };
  if (step_.back) {
    for (auto i = here; i != index_.begin();) {
      if (counts(*--i)) return &*i;
    }
  } else {
    for (auto i = here; i != index_.end(); ++i) {
      if (counts(*i)) return &*i;
    }
  }
  return nullptr;
}

// From the copy that is nearest, or from where it stands.
void Stepper::seek(StopAt at, Way way) {
  at.kept = kept;
  at_ = std::move(at);
  way_ = way;
  const Checkpoint* from = nullptr;
  for (const auto& [position, checkpoint] : checkpoints_.all()) {
    if (is_past(checkpoint.machine, at_)) break;
    from = &checkpoint;
  }
  const bool past = is_past(now_, at_);
  if (!from) from = &checkpoints_.all().begin()->second;
  if (past || from->machine.position() > position()) restore(*from);
  now_.stop_at(at_);
}

void Stepper::seek_position(u64 position, Way way) {
  StopAt at;
  at.position = position;
  target_ = position;
  seek(at, way);
}

void Stepper::seek_stop(const Happened& stop) {
  reason_ = stop;
  seek_position(stop.position);
}

// It stands at the end then, or at the beginning.
void Stepper::give_up() {
  result_ = Arrival::none;
  if (step_.back) {
    seek_position(0);
  } else {
    seek({});
  }
}

void Stepper::go_to(u64 position) {
  step({StepBy::moment, false, 0});
  if (ending_ && position > (ending_ == RunState::done ? end_ - 1 : end_)) return seek({});
  seek_position(position);
}

void Stepper::go_to_instruction(u64 count) {
  step({StepBy::instruction, false, 0});
  if (count == 0) return seek_position(0);
  StopAt at;
  at.instructions = count;
  seek(at);
}

void Stepper::go_to_cycle(double cycle) {
  step({StepBy::moment, false, 0});
  if (cycle <= 0) return seek_position(0);
  StopAt at;
  at.cycle = cycle;
  seek(at);
}

void Stepper::go_to_report(u32 number) {
  step({StepBy::report, false, 0});
  StopAt at;
  at.what = bit(Happening::report);
  at.object = number;
  const auto known =
      std::find_if(index_.begin(), index_.end(), [&](const Happened& h) { return matches(at, h); });
  if (known != index_.end()) return seek_stop(*known);
  left_ = 1;
  seek(at, Way::count);
}

void Stepper::to_the_end() {
  step({StepBy::moment, false, 0});
  seek({});
}

void Stepper::step(const Step& step) {
  step_ = step;
  left_ = step.count;
  origin_ = position();
  origin_ended_ = now_.state() != RunState::running;
  way_ = Way::none;
  result_ = Arrival::there;
  target_.reset();
  reason_.reset();
  story_.clear();
  before_fault_ = false;
  if (left_ == 0) return;
  if (step.back) {
    step_back();
  } else {
    step_forward();
  }
}

void Stepper::step_forward() {
  if (origin_ended_) return give_up();
  StopAt at = stops_of(step_);
  const bool anybody = !step_.block && !step_.warp;
  const Warp* warp = warp_in(now_, at);
  if (step_.by == StepBy::breakpoint && !at.what) return give_up();
  if (step_.by == StepBy::fault) {
    if (ending_ == RunState::done) return give_up();
    if (ending_) return seek_position(end_, Way::before_fault);
    return seek({}, Way::fault);
  }
  if (step_.by == StepBy::moment) return seek_position(origin_ + left_);
  if (step_.by == StepBy::instruction && anybody) {
    at = {};
    at.instructions = now_.instructions() + left_;
    return seek(at);
  }
  if (step_.by == StepBy::instruction && warp) {
    at.what = 0;
    at.executed = warp->executed + left_;
    return seek(at);
  }
  if (is_indexed(happening_of(step_.by))) {
    if (const Happened* stop = find_in_index(at)) return seek_stop(*stop);
  }
  at.kept = kept;
  at_ = at;
  way_ = Way::count;
  now_.stop_at(at_);
}

// Instructions have numbers. False: those of this warp have not, as it is not there any more.
bool Stepper::step_back_by_number() {
  StopAt at = stops_of(step_);
  const Warp* warp = warp_in(now_, at);
  const bool anybody = !step_.block && !step_.warp;
  if (!anybody && !warp) return false;
  u64 now = anybody ? now_.instructions() : warp->executed;
  // Is this the place at which the last of them had just been executed?
  const bool here = anybody ? now_.is_behind_instruction() : executed_last(now_, at);
  if (!here) ++now;
  at.what = 0;
  if (now < left_ + (anybody ? 0 : 1)) {
    give_up();
  } else if (now == left_) {
    seek_position(0);
  } else {
    (anybody ? at.instructions : at.executed) = now - left_;
    seek(at);
  }
  return true;
}

void Stepper::step_back() {
  if (origin_ == 0 && !origin_ended_) return give_up();
  switch (step_.by) {
    case StepBy::fault:
      if (now_.state() != RunState::fault || left_ > 1) return give_up();
      return seek_position(end_, Way::before_fault);
    case StepBy::moment:
      if (left_ > origin_) return give_up();
      return seek_position(origin_ - left_);
    case StepBy::instruction:
      if (step_back_by_number()) return;
      break;
    default:
      break;
  }
  const StopAt at = stops_of(step_);
  if (step_.by == StepBy::breakpoint && !at.what) return give_up();
  if (is_indexed(happening_of(step_.by)) && origin_ <= indexed_to_) {
    const Happened* stop = find_in_index(at);
    return stop ? seek_stop(*stop) : give_up();
  }
  at_ = at;
  scan_before(origin_);
}

// Looks for the stops in the interval that ends here, in those before it where there are too few.
void Stepper::scan_before(u64 position) {
  const auto& all = checkpoints_.all();
  const auto at_end = all.find(position);
  const Machine* end = at_end != all.end()           ? &at_end->second.machine
                       : now_.position() == position ? &now_
                                                     : nullptr;
  const Checkpoint* from = nullptr;
  for (auto i = all.lower_bound(position); i != all.begin();) {
    from = &(--i)->second;
    if (!end || !executes_nothing(from->machine, *end, at_)) break;
    position = i->first;
    end = &from->machine;
  }
  if (!from) return give_up();
  StopAt at = at_;
  at.position = position;
  at.kept = kept;
  at_ = at;
  from_ = from->machine.position();
  until_ = position;
  in_interval_ = 0;
  stops_.clear();
  target_ = position;
  way_ = Way::scan;
  restore(*from);
  now_.stop_at(at_);
}

}  // namespace tilescope::sim
