// The machine by the clock: whose turn it is, how far it may go, and when those who waited go on.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/record/recorder.h"
#include "core/sim/checks/undefined.h"
#include "core/sim/machine/machine.h"
#include "core/sim/time/wait.h"

namespace tilescope::sim {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr double never = std::numeric_limits<double>::infinity();
// A warp is ahead of the others of its cluster by no more than this, where nobody can tell.
constexpr double ahead = 64;
// Turns from one look for an endless loop to the next: no number of turns that a loop is likely to
// have.
constexpr u32 looks = 17;

bool is_ready(const Warp& warp) {
  return std::any_of(warp.splits.begin(), warp.splits.end(),
                     [](const Split& s) { return s.wait == Wait::none; });
}

// When the next moment of an operation comes.
double next_moment(const AsyncOperation& o) {
  if (o.stage == Stage::complete || o.leader != no_leader) return never;
  return o.times[static_cast<std::size_t>(o.stage) + 1];
}

}  // namespace

void Machine::start_clock() {
  // What shared memory leaves of an SM's memory is L1's.
  const auto threads = std::max<u64>(1, launch_.block.count());
  const u64 shared = program().shared_bytes + u64{launch_.dynamic_shared} + options_.block_shared;
  const u64 blocks = std::min<u64>(options_.processor_threads / threads + 1,
                                   options_.processor_shared / std::max<u64>(1, shared));
  const auto all = static_cast<u64>(options_.times.l1_size);
  const u64 taken = std::min(all, blocks * shared);
  clock_.emplace(options_.times, program(), options_.processors, all - taken, recorder_);
  u64 footprint = 0;
  for (const Region& r : regions_) footprint += r.size();
  // What goes round in more memory than L2 has finds nothing of it there again.
  const bool warm = options_.warm && footprint <= clock_->level2().bytes();
  for (const Region& r : regions_) clock_->level2().add(r.base(), r.size(), warm);
}

double Machine::now() const {
  return clock_ ? clock_->now() : static_cast<double>(instructions_);
}

u64 Machine::clock_of(const Core& x, ptx::Special special) const {
  if (!clock_) return instructions_ + (x.executed ? *x.executed : 0);
  const double cycles = x.block->time.warps[x.warp->index].slot;
  const bool timer = special == ptx::Special::globaltimer ||
                     special == ptx::Special::globaltimer_lo ||
                     special == ptx::Special::globaltimer_hi;
  return static_cast<u64>(timer ? cycles / clock_->times().clock : cycles);
}

// A warp stands, or goes on again, since the clock last looked.
void Machine::watch_wait(Block& block, Warp& warp) {
  WarpTime& t = block.time.warps[warp.index];
  if (warp.splits.empty()) return;
  const bool ready = is_ready(warp);
  if (ready == !t.waits) return;
  if (!ready) {
    const Split& s = *speaking_split(warp.splits);
    t.waits = true;
    t.since = t.slot;
    t.standing = {stall_of(s.wait), s.wait == Wait::barrier ? s.pc - 1 : s.pc, 0, 0};
    if (s.wait == Wait::mbarrier) {
      t.standing.object = s.mbarrier;
      t.standing.phase = static_cast<u32>(s.phase);
    } else if (s.wait == Wait::barrier) {
      t.standing.object = s.barrier;
    }
    return;
  }
  t.waits = false;
  t.slot = std::max(t.slot, when_it_goes_on(block, t));
  end_wait(block, warp);
}

// All who stand at a barrier of the block go on, the last to arrive among them.
void Machine::pass_barrier(Block& block, u32 id) {
  if (!clock_) return;
  const auto stands = [&](const Warp& w) {
    return std::any_of(w.splits.begin(), w.splits.end(),
                       [&](const Split& s) { return s.wait == Wait::barrier && s.barrier == id; });
  };
  const auto count = std::count_if(block.warps.begin(), block.warps.end(), stands);
  const DeviceTimes& times = clock_->times();
  const double on = clock_->now() + times.barrier + times.barrier_warp * static_cast<double>(count);
  for (const Warp& w : block.warps) {
    WarpTime& t = block.time.warps[w.index];
    if (stands(w)) t.slot = std::max(t.slot, on);
  }
}

double Machine::when_it_goes_on(const Block& block, const WarpTime& t) const {
  const DeviceTimes& times = clock_->times();
  const double now = clock_->now();
  switch (t.standing.stall) {
    case Stall::mbarrier: {
      const auto phase = block.time.phases.find(phase_key(Unit::mbarrier, t.standing.object));
      const double visible = phase == block.time.phases.end() ? now : phase->second.visible;
      return std::max(now, visible) + times.mbarrier;
    }
    case Stall::cluster:
      return now + times.cluster;
    case Stall::group:
    case Stall::columns:
    case Stall::registers:
      return now + times.mbarrier;
    default:
      return now;
  }
}

// Of the current cluster, who is first, and how far it may go before the next one. Infinity where
// nobody can go on.
double Machine::find_turn(ClockTurn& turn) {
  const std::size_t first = current_ / cluster_size_ * cluster_size_;
  double earliest = never, next = never;
  const auto offer = [&](double time, u32 rank, u32 warp, std::size_t operation) {
    if (time >= earliest) {
      next = std::min(next, time);
      return;
    }
    next = earliest;
    earliest = time;
    turn.rank = rank;
    turn.warp = warp;
    turn.operation = operation;
  };
  for (u32 rank = 0; rank < cluster_size_; ++rank) {
    Block& block = blocks_[first + rank];
    const auto& operations = block.flight.operations;
    for (std::size_t i = 0; i < operations.size(); ++i) {
      const double time = next_moment(operations[i]);
      if (time < earliest && !is_held_up(block, operations[i])) offer(time, rank, 0, i);
    }
    if (block.ended) continue;
    for (Warp& warp : block.warps) watch_wait(block, warp);
    for (const Warp& warp : block.warps) {
      if (!is_ready(warp)) continue;
      offer(block.time.warps[warp.index].slot, rank, warp.index, ClockTurn::none);
    }
  }
  turn.horizon = next;
  return earliest;
}

// A warp that may go on again, and was not looked at since, goes on as watch_wait() will say.
bool Machine::all_have_reached(double cycle) const {
  if (!clock_) return static_cast<double>(instructions_) >= cycle;
  const auto goes_on_early = [&](const Block& block, const Warp& warp) {
    const WarpTime& t = block.time.warps[warp.index];
    if (t.slot >= cycle || !is_ready(warp)) return false;
    return !t.waits || when_it_goes_on(block, t) < cycle;
  };
  const auto is_early = [&](const Block& block) {
    const auto goes_on = [&](const Warp& warp) { return goes_on_early(block, warp); };
    if (!block.ended && std::any_of(block.warps.begin(), block.warps.end(), goes_on)) return true;
    const auto& operations = block.flight.operations;
    return std::any_of(operations.begin(), operations.end(), [&](const AsyncOperation& o) {
      return next_moment(o) < cycle && !is_held_up(block, o);
    });
  };
  // Who was early the last time is likely to be so still.
  const std::size_t count = blocks_.size();
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = (clock_->early + i) % count;
    if (!is_early(blocks_[at])) continue;
    clock_->early = at;
    return false;
  }
  return count > 0;
}

// The clusters have their turns one after the other, each up to the end of the window.
bool Machine::choose_turn() {
  const double window = std::max(1.0, options_.clock_turn);
  for (;;) {
    double earliest = never;
    const std::size_t clusters = blocks_.size() / cluster_size_;
    for (std::size_t tried = 0; tried < clusters; ++tried) {
      const double time = find_turn(clock_->turn);
      if (time < clock_->window_end) {
        // Nobody runs for ever, though he is alone.
        clock_->turn.horizon = std::min(clock_->turn.horizon, time + window);
        clock_->turn.goes_on = true;
        clock_->turn.ran = false;
        clock_->turn.time = time;
        return true;
      }
      earliest = std::min(earliest, time);
      current_ = (current_ / cluster_size_ + 1) % clusters * cluster_size_;
    }
    if (earliest == never) return false;
    clock_->window_end = (std::floor(earliest / window) + 1) * window;
  }
}

// Runs one split until its turn is over; see Machine::run_split.
u64 Machine::run_split_by_clock(Core& x, u64 limit, bool stop_at_block_end, bool& ended) {
  u64 executed = 0;
  Clock& clock = *clock_;
  Warp& warp = *x.warp;
  WarpTime& t = x.block->time.warps[warp.index];
  const double horizon = clock.turn.horizon;
  Mask mask = warp.splits[x.split].mask;
  u32 pc = warp.splits[x.split].pc;
  const Cost* costs = clock.costs().of.data();
  ended = false;
  x.limit = limit;
  while (executed < x.limit && !ended) {
    const Code& c = x.code[pc];
    const Cost& cost = costs[pc];
    x.pc = pc;
    if (cost.meets) {
      clock.await_operands(x, cost, t);
      if (t.slot > horizon) {
        clock.turn.goes_on = false;
        break;
      }
    }
    const Mask m = mask & (x.predicates[c.guard] ^ c.guard_flip);
    begin_run(*x.block, warp, pc);
    const double issued = clock.execute(x, c, cost, m);
    if (cost.meets) clock.set_now(issued);
    ++executed;
    Flow flow = Flow::next;
    if (warp.undefined_registers) {
      flow = run_carefully(x, c, mask, m);
    } else if (m) {
      flow = c.run(x, c, m);
    }
    t.last_pc = pc;
    if (cost.ends) clock.catch_up(x, t);
    if (cost.meets || t.slot > horizon + ahead) clock.turn.goes_on = false;
    if (flow == Flow::next) {
      ++pc;
      ended = (stop_at_block_end && c.ends_block) || !clock.turn.goes_on;
      continue;
    }
    if (flow == Flow::moved) t.slot += clock.times().branch;
    // It stands where it failed.
    if (flow == Flow::fault && x.split < warp.splits.size()) warp.splits[x.split].pc = pc;
    ended = flow != Flow::moved || stop_at_block_end || !clock.turn.goes_on;
    if (flow != Flow::moved) return executed;
    mask = warp.splits[x.split].mask;
    pc = warp.splits[x.split].pc;
  }
  warp.splits[x.split].pc = pc;
  return executed;
}

// The warp whose turn it is runs until that is over, or the budget.
u64 Machine::run_warp_by_clock(Block& block, Warp& warp, u64 budget) {
  u64 executed = 0;
  budget = std::min(budget, stops_.room(block, warp, position(), instructions_));
  while (executed < budget && state_ == RunState::running && clock_->turn.goes_on &&
         !stops_.hit()) {
    if (warp.current < 0 && !choose_split(warp)) {
      clock_->turn.goes_on = false;
      break;
    }
    Core x = core_of(block, warp);
    x.split = static_cast<u32>(warp.current);
    const bool company = warp.splits.size() > 1;
    const Mask mask = warp.splits[x.split].mask;
    bool ended = false;
    const u64 ran = run_split_by_clock(x, std::min(budget - executed, warp.turn_left),
                                       company && !warp.fair, ended);
    executed += ran;
    instructions_ += ran;
    warp.executed += ran;
    for (u32 rank = 0; rank < cluster_size_; ++rank) member(block, rank)->flight.fresh = 0;
    warp.turn_left -= std::min(ran, warp.turn_left);
    if (company) warp.unfair_for += ran;
    warp.current = ended || warp.turn_left == 0 ? -1 : static_cast<std::int32_t>(x.split);
    if (std::exchange(pause_, Pause::none) != Pause::none) clock_->turn.goes_on = false;
    if (!ran) continue;
    last_ = {block.number, warp.index, x.pc, mask, moments_};
    if (stops_.asked()) look_for_stop(block, warp, x.pc, mask);
  }
  return executed;
}

// Nobody can go on by himself: the time limits of those in a try_wait are over; or there is nothing
// left that anybody waits for.
bool Machine::bring_about_by_clock() {
  bool any = false;
  for (Block& block : blocks_) any = (!block.ended && time_out(block)) || any;
  if (any) return true;
  const auto stuck = std::find_if(blocks_.begin(), blocks_.end(),
                                  [](const Block& b) { return !b.ended && b.live_threads; });
  current_ = static_cast<std::size_t>(stuck - blocks_.begin());
  report_deadlock(*stuck);
  return false;
}

u64 Machine::simulated_blocks() const {
  if (!options_.waves) return total_;
  return std::min(total_, options_.waves * resident_ / cluster_size_ * cluster_size_);
}

// Some waves have been simulated, and the others take as long as these on average. How much the
// last one differs from that says how far it may be wrong, and so does half a wave for the last
// part.
void Machine::end_sample() {
  Clock& clock = *clock_;
  clock.predicted = clock.ended_at;
  const u64 all = simulated_blocks();
  if (all == total_ || clock.waves.empty()) return;
  const std::size_t last = clock.waves.size() - 1;
  // Blocks of a later wave may end before the last of an earlier one.
  for (std::size_t w = 1; w <= last; ++w) {
    clock.waves[w] = std::max(clock.waves[w], clock.waves[w - 1]);
  }
  const double one = clock.waves[last] / static_cast<double>(last + 1);
  const double before = last ? clock.waves[last] - clock.waves[last - 1] : 0;
  const double left = static_cast<double>(total_ - all) / static_cast<double>(resident_);
  clock.predicted += left * one;
  const double wrong = left * std::abs(one - before) + one / 2;
  clock.uncertain = wrong / clock.predicted;
}

// All threads of a block have exited: when it is over, with what it has left in flight.
bool Machine::end_block_by_clock(Block& block) {
  double end = block.time.started;
  for (const WarpTime& t : block.time.warps) end = std::max({end, t.slot, t.written});
  for (const AsyncOperation& o : block.flight.operations) end = std::max(end, o.times[3]);
  if (!land(block) || !leave_tensor_memory(*this, block) || !leave_registers(*this, block)) {
    return false;
  }
  clock_->ended_at = std::max(clock_->ended_at, end);
  if (options_.waves) {
    const std::size_t wave = block.time.order / resident_;
    if (clock_->waves.size() <= wave) clock_->waves.resize(wave + 1);
    clock_->waves[wave] = std::max(clock_->waves[wave], end);
  }
  block.time.ended = end;
  for (Warp& warp : block.warps) end_run(block, warp);  // of the record: its last one
  current_ = static_cast<std::size_t>(&block - blocks_.data());
  const std::size_t first = current_ / cluster_size_ * cluster_size_;
  for (u32 rank = 0; rank < cluster_size_; ++rank) {
    if (blocks_[first + rank].live_threads == 0)
      end = std::max(end, blocks_[first + rank].time.ended);
  }
  clock_->start_at = end + clock_->times().block_start;
  end_block();
  return true;
}

RunState Machine::run_by_clock(u64 budget) {
  while (state_ == RunState::running) {
    settle_stops();
    if (stops_.hit()) return RunState::stopped;
    if (finished_ == simulated_blocks()) {
      end_sample();
      if (finished_ == total_ && options_.calculates) finish_grid();
      state_ = state_ == RunState::running ? RunState::done : state_;
      break;
    }
    if (budget == 0) return RunState::running;
    while (can_start() && started_ < simulated_blocks() &&
           (blocks_.empty() || blocks_.size() + cluster_size_ <= resident_)) {
      const std::size_t at = blocks_.size();
      blocks_.resize(at + cluster_size_);
      clock_->start_at = clock_->times().block_start;
      start_cluster(at);
    }
    ClockTurn& turn = clock_->turn;
    if (!turn.goes_on && !choose_turn()) {
      if (!bring_about_by_clock()) break;
      continue;
    }
    Block& block = blocks_[current_ / cluster_size_ * cluster_size_ + turn.rank];
    if (turn.operation != ClockTurn::none) {
      turn.goes_on = false;
      clock_->set_now(turn.time);
      if (!advance(block, turn.operation)) break;
      continue;
    }
    Warp& warp = block.warps[turn.warp];
    const u64 ran = run_warp_by_clock(block, warp, budget);
    warp.pace.instructions += ran;
    budget -= std::min(ran, budget);
    block.began = block.began || ran;
    if (state_ == RunState::fault) break;
    if (block.live_threads == 0) {
      turn.goes_on = false;
      if (!end_block_by_clock(block)) break;
      continue;
    }
    turn.ran = turn.ran || ran;
    if (!turn.goes_on && turn.ran && ++warp.pace.turns % looks == 0 && is_ready(warp)) {
      look_for_endless_loop(block, warp);
    }
  }
  if (state_ != RunState::running) finish_record();
  return state_;
}

}  // namespace tilescope::sim
