#include "core/sim/machine/scheduler.h"

#include <algorithm>
#include <utility>

#include "core/sim/checks/deadlock.h"
#include "core/sim/checks/endless.h"
#include "core/sim/checks/result.h"
#include "core/sim/machine/split_loop.h"
#include "core/sim/wgmma/handlers.h"

namespace tilescope::sim {
namespace {

// Instructions of a block that a slow warp or unit may be behind.
constexpr std::uint64_t longest_slowness = 1u << 17;
// Turns in a row in which a block may ask in vain before it is for a slow one that it waits.
constexpr std::uint32_t patience = 64;

// Splits that stand at the same instruction become one.
void unite(std::vector<Split>& splits) {
  for (std::size_t i = 0; i < splits.size(); ++i) {
    for (std::size_t k = i + 1; k < splits.size();) {
      const bool meet = splits[i].pc == splits[k].pc && splits[i].wait == Wait::none &&
                        splits[k].wait == Wait::none;
      if (!meet) {
        ++k;
        continue;
      }
      splits[i].mask |= splits[k].mask;
      splits[i].ran = std::min(splits[i].ran, splits[k].ran);
      splits[i].timed_out = splits[i].timed_out || splits[k].timed_out;
      splits.erase(splits.begin() + static_cast<std::ptrdiff_t>(k));
    }
  }
}

// Can it make a difference when this is executed: to others, or to what it finds?
bool meets_others(const ptx::Instruction& i, const Code& c) {
  switch (i.unit) {
    case ptx::Unit::barrier:
    case ptx::Unit::tensor:
    case ptx::Unit::warpgroup:
    case ptx::Unit::async:
      return true;
    default:
      return c.synchronises || i.op == ptx::Op::atom || i.op == ptx::Op::red ||
             i.op == ptx::Op::cp || i.op == ptx::Op::exit || i.modifiers.has(ptx::Field::async);
  }
}

}  // namespace

// Warps and splits have their turns in order, or as a schedule draws.
struct Scheduler::InOrder {
  Scheduler& scheduler;
  Model& model;
  bool notes = scheduler.notes_meetings_;

  bool goes_on() const { return model.pause == Pause::none; }
  void all_wait() {}
  bool runs_on() const { return !notes; }
  bool reaches(const Core&) { return true; }
  void issues(const Core& x, const Code&, Mask m) {
    if (notes && m) scheduler.note_meeting_point(x);
  }
  void has_executed(const Core&) {}
  bool is_over() const { return false; }
  void has_moved() {}
  void has_run(Block& block, std::uint64_t ran) {
    block.slow.left -= std::min(block.slow.left, ran);
    if (model.pause == Pause::look) model.flights.begin_delays(block);
  }
};

// Is a further behind than b? The outermost call that they are not both in decides; of one that
// stands at a call and one that is inside it, the former.
bool Scheduler::behind(const Warp& warp, const Split& a, const Split& b) const {
  const auto& rank = model_->program().rank;
  const auto before = [&](std::uint32_t x, std::uint32_t y) {
    return rank[x] != rank[y] ? rank[x] < rank[y] : x < y;
  };
  if (warp.calls.levels.empty()) return before(a.pc, b.pc);
  const auto la = static_cast<std::size_t>(__builtin_ctz(a.mask));
  const auto lb = static_cast<std::size_t>(__builtin_ctz(b.mask));
  const std::uint32_t da = warp.calls.depth[la], db = warp.calls.depth[lb];
  for (std::uint32_t level = 0;; ++level) {
    const std::uint32_t pa = level < da ? warp.calls.levels[level].back[la] - 1 : a.pc;
    const std::uint32_t pb = level < db ? warp.calls.levels[level].back[lb] - 1 : b.pc;
    if (pa != pb) return before(pa, pb);
    if (level >= da || level >= db) return da < db;
  }
}

// Gives a split of this warp its turn. False if all wait.
bool Scheduler::choose_split(Warp& warp) {
  unite(warp.splits);
  warp.fair = warp.unfair_for >= model_->options.split_turn;
  const Split* best = nullptr;
  for (const Split& s : warp.splits) {
    if (s.wait != Wait::none) continue;
    if (!best || (warp.fair ? s.ran < best->ran : behind(warp, s, *best))) best = &s;
  }
  if (!best) return false;
  warp.current = static_cast<std::int32_t>(best - warp.splits.data());
  warp.splits[static_cast<std::size_t>(warp.current)].ran = ++choices_;
  const bool company = warp.splits.size() > 1;
  if (warp.fair || !company) warp.unfair_for = 0;
  warp.turn_left = company ? model_->options.split_turn : ~std::uint64_t{0};
  return true;
}

// Who is slow next, for how long: nobody; one warp; some; or a unit, whose operations then take
// that long. A warp that comes late to a wait shows what depends on its coming in time.
void Scheduler::draw_slowness(Block& block) {
  Slowness& slow = block.slow;
  slow = {.held = slow.held};
  slow.length = slow.left = model_->draws.turn_length(longest_slowness);
  const std::size_t warps = block.warps.size();
  switch (model_->draws.drawn(4)) {
    case 0:
      break;
    case 1:
      if (warps > 1) slow.warps = 1u << model_->draws.drawn(warps);
      break;
    case 2:
      slow.warps = static_cast<std::uint32_t>(model_->draws.drawn((std::uint64_t{1} << warps) - 1));
      break;
    default:
      (model_->draws.drawn(2) ? slow.copies : slow.products) = true;
  }
}

// Do all blocks of the cluster but ask in vain, or wait?
bool Scheduler::asks_in_vain(const Block& block) const {
  for (std::uint32_t rank = 0; rank < model_->cluster_size; ++rank) {
    const Block& b = *model_->member(block, rank);
    if (b.ended || b.slow.fruitless > patience) continue;
    const std::uint32_t slow = b.slow.warps | b.slow.held;
    for (const Warp& w : b.warps) {
      if (is_ready(w) && !(slow >> w.index & 1)) return false;
    }
  }
  return true;
}

// A turn is over. Where the others ask again and again in vain, it is for a slow one that they
// wait.
void Scheduler::tire_of_slowness(Block& block, bool in_vain) {
  Slowness& slow = block.slow;
  slow.fruitless = in_vain ? slow.fruitless + 1 : 0;
  if (slow.fruitless > patience) {
    // In a cluster the others have their turn first.
    if (asks_in_vain(block)) {
      let_the_slow_of_cluster_go_on(block);
    } else {
      turn_left_ = 0;
    }
  }
  if (slow.left == 0 && model_->options.schedule) draw_slowness(block);
}

// When a warp that has executed `from` instructions is held next.
std::uint64_t Scheduler::next_hold(const Block& block, std::uint32_t warp,
                                   std::uint64_t from) const {
  std::uint64_t next = ~std::uint64_t{0};
  for (const Hold& h : model_->options.holds) {
    if (h.block == block.number && h.warp == warp && h.at >= from) next = std::min(next, h.at);
  }
  return next;
}

// Is it slow, or to be held here?
bool Scheduler::is_held_back(Block& block, Warp& warp) {
  const std::uint32_t bit = 1u << warp.index;
  if (warp.executed == warp.held_at) {
    block.slow.held |= bit;
    block.slow.rounds = 0;
    points_before_hold_ = meeting_points_.size();
    warp.held_at = next_hold(block, warp.index, warp.executed + 1);
  }
  return ((block.slow.warps | block.slow.held) & bit) != 0;
}

// A warp that asks again and again, with nothing complete in between, is at one point.
void Scheduler::note_meeting_point(const Core& x) {
  constexpr std::size_t most = 1u << 20;
  if (!meets_others(model_->program().code[x.pc], x.code[x.pc]) || meeting_points_.size() == most)
    return;
  Warp& warp = *x.warp;
  if (warp.noted_pc == x.pc && warp.noted_meetings == x.block->meetings) return;
  warp.noted_pc = x.pc;
  warp.noted_meetings = x.block->meetings;
  meeting_points_.push_back({{x.block->number, warp.index, warp.executed + *x.executed}, x.pc});
}

bool Scheduler::let_the_slow_of_cluster_go_on(const Block& block) {
  bool any = false;
  for (std::uint32_t rank = 0; rank < model_->cluster_size; ++rank) {
    any = let_the_slow_go_on(*model_->member(block, rank)) || any;
  }
  return any;
}

// False: no warp was held back.
bool Scheduler::let_the_slow_go_on(Block& block) {
  block.slow.fruitless = 0;
  const bool drawn = std::exchange(block.slow.warps, 0) != 0;
  return std::exchange(block.slow.held, 0) != 0 || drawn;
}

// Somebody is held, and CTAs may tell each other something in global memory: all others have some
// turns first. (One whose turn ends waits, or asks again and again.)
bool Scheduler::lets_others_go_first(Block& block) {
  constexpr std::uint32_t enough = 3;
  const bool others = model_->blocks.size() > 1 || model_->dispatcher.can_start();
  if (!block.slow.held || !model_->blocks_meet || !others || block.slow.rounds == enough)
    return false;
  ++block.slow.rounds;
  turn_left_ = 0;
  return true;
}

// All warps wait, or are slow: what comes first? What is in flight, as a slow warp may be slower
// than any copy; but with --lazy nothing is as late as that. Then the time limits of those in a
// try_wait. False: nothing comes any more, or it was a fault.
bool Scheduler::bring_something_about(Block& block) {
  if (model_->options.lazy && (lets_others_go_first(block) || let_the_slow_go_on(block)))
    return true;
  if (model_->flights.hasten(block)) return true;
  if (model_->state != RunState::running) return false;
  if (lets_others_go_first(block)) return true;
  return let_the_slow_go_on(block) || model_->flights.time_out(block);
}

// Lets the warps of a block take turns until the block is done, its turn or the budget is over.
// What a turn comes to is decided where it is over, and not where a call ends.
RunState Scheduler::run_block(Block& block, std::uint64_t& budget) {
  while (budget && turn_left_ && block.live_threads) {
    model_->watcher.settle_stops();
    if (model_->stops.hit() || !model_->flights.come_due(block) || model_->stops.hit())
      return model_->state;
    if (block.warp_turn_left == 0) {
      block.warp_turn_left = model_->draws.turn_length(model_->options.warp_turn);
      block.turn_ran = 0;
    }
    Warp& warp = block.warps[block.next_warp];
    const bool slow = is_held_back(block, warp);
    const std::uint64_t most =
        std::min({budget, turn_left_, block.warp_turn_left, model_->flights.until_due(block),
                  warp.held_at - warp.executed,
                  model_->stops.room(block, warp, model_->position(), model_->instructions)});
    if (!slow) model_->recording.record_turn_begin(block, warp);
    const std::uint64_t ran = slow ? 0 : run_warp(block, warp, InOrder{*this, *model_}, most);
    if (!slow) model_->recording.record_turn_end(block, warp);
    warp.pace.instructions += ran;
    budget -= ran;
    turn_left_ -= ran;
    block.warp_turn_left -= ran;
    block.turn_ran += ran;
    if (model_->state == RunState::fault) return model_->state;
    if (ran) fruitless_turns_ = idle_members_ = block.idle = 0;
    const Pause pause = std::exchange(model_->pause, Pause::none);
    if (pause == Pause::look) continue;
    const bool wants_more =
        (ran == most || model_->stops.hit()) && is_ready(warp) && pause != Pause::turn;
    if (wants_more && block.warp_turn_left) continue;
    if (ran) {
      if (is_ready(warp)) {
        look_for_endless_loop(*model_, block, warp);
      } else {
        look_for_endless_loop_at_times(*model_, block, warp);
      }
      if (model_->state == RunState::fault) return model_->state;
      if (warp.pace.goes_round && goes_round(*model_, block)) turn_left_ = 0;
    }
    if (!end_warp_turn(block, pause == Pause::turn)) return model_->state;
  }
  if (block.live_threads) return RunState::running;
  const bool leaves = model_->flights.land(block) && leave_tensor_memory(*model_, block) &&
                      leave_warpgroups(*model_, block);
  if (leaves) leave_registers(*model_, block);
  return leaves ? RunState::done : model_->state;
}

// The turn of the current warp is over, `in_vain` where it asked for something that is not there
// yet: whose is the next? False where the block comes no further, now or ever.
bool Scheduler::end_warp_turn(Block& block, bool in_vain) {
  const auto count = static_cast<std::uint32_t>(block.warps.size());
  block.warp_turn_left = 0;
  block.idle = block.turn_ran ? 0 : block.idle + 1;
  if (block.idle == count) {
    block.idle = 0;
    block.slow.fruitless = 0;  // nobody asks: what is in flight comes before those who are slow
    if (model_->cluster_size == 1 && bring_something_about(block)) return true;
    if (model_->cluster_size > 1 && cluster_goes_on(block)) return false;
    if (model_->state == RunState::running && may_get_columns(block)) {
      turn_left_ = 0;
      return false;
    }
    if (model_->state == RunState::running) report_deadlock(*model_, block);
    return false;
  }
  if (model_->options.schedule || !model_->options.holds.empty())
    tire_of_slowness(block, in_vain || block.idle);
  // Drawn where some waits: all must come to know that nobody can go on.
  const bool draws = model_->options.schedule && !block.idle;
  block.next_warp = draws ? static_cast<std::uint32_t>(model_->draws.drawn(count))
                          : (block.next_warp + 1) % count;
  return true;
}

// The next resident block's turn, or that of one that starts now with its cluster. In order, all
// blocks of a cluster have a turn before those of the next one have theirs.
void Scheduler::next_turn() {
  const bool others_wait =
      model_->cluster_size > 1 || (model_->blocks_meet && !model_->options.holds.empty());
  turn_left_ = model_->draws.turn_length(others_wait ? model_->options.member_turn
                                                     : model_->options.block_turn);
  idle_members_ = 0;
  const bool in_order = model_->options.schedule == 0 && !model_->blocks.empty();
  if (in_order && model_->cluster_size > 1) {
    const std::size_t before = current_;
    next_member();
    // One that goes on while the others wait has their turns as well: that may not be for ever.
    if (current_ > before && ++member_turns_ <= 2 * model_->cluster_size) return;
    member_turns_ = 0;
  }
  const std::size_t count = model_->blocks.size();
  if ((count == 0 || count + model_->cluster_size <= model_->dispatcher.resident()) &&
      model_->dispatcher.can_start()) {
    current_ = count;
    model_->blocks.resize(count + model_->cluster_size);
    model_->dispatcher.start_cluster(current_);
    return;
  }
  current_ = model_->options.schedule
                 ? static_cast<std::size_t>(model_->draws.drawn(count))
                 : (current_ / model_->cluster_size + 1) * model_->cluster_size % count;
  if (model_->blocks[current_].ended) next_member();
}

// Whoever accessed the block's memory from another one must have been before its end.
void Scheduler::log_end() {
  Block& block = model_->blocks[current_];
  if (!model_->order_log || !block.order.on()) return;
  VectorClock behind;
  bool presumed = block.order.shared.has_forgotten();
  for (const Warp& w : block.warps) {
    presumed = presumed || block.order.of(w.index).has_presumed();
    behind.join(block.order.of(w.index).behind());
    behind.join(block.order.of(w.index).sure().seen);
  }
  if (presumed) model_->order_log->blind("more was done at one place than is kept of it");
  for (const BlockOrder::Arrival& a : block.order.reached_by) {
    if (behind.of(a.agent) >= a.epoch) continue;
    model_->order_log->may_change(Reversal::Kind::exit, a.step, a.step);
  }
}

// All threads of the current block have exited. Where the last of its cluster has ended, the next
// one comes in its place.
void Scheduler::end_block() {
  log_end();
  model_->dispatcher.end_block();
  model_->blocks[current_].ended = true;
  turn_left_ = model_->options.block_turn;
  const std::size_t first = current_ / model_->cluster_size * model_->cluster_size;
  const auto begin = model_->blocks.begin() + static_cast<std::ptrdiff_t>(first);
  const auto end = begin + static_cast<std::ptrdiff_t>(model_->cluster_size);
  if (!std::all_of(begin, end, [](const Block& b) { return b.ended; })) return next_member();
  current_ = first;
  if (model_->dispatcher.can_start() && model_->dispatcher.started() < simulated_blocks())
    return model_->dispatcher.start_cluster(first);
  if (model_->clock) {  // by the clock there is no order among them
    const auto last = model_->blocks.end() - static_cast<std::ptrdiff_t>(model_->cluster_size);
    if (begin != last) std::swap_ranges(begin, end, last);
    model_->blocks.resize(model_->blocks.size() - model_->cluster_size);
  } else {
    model_->blocks.erase(begin, end);
  }
  if (current_ >= model_->blocks.size()) current_ = 0;
  if (!model_->blocks.empty() && model_->blocks[current_].ended) next_member();
}

// A block that waits for columns lets the others go on, as long as any does: once all have had
// their turn and nobody executed anything, they wait for each other.
bool Scheduler::may_get_columns(const Block& block) {
  const bool waits = std::any_of(block.warps.begin(), block.warps.end(), [](const Warp& w) {
    return std::any_of(w.splits.begin(), w.splits.end(),
                       [](const Split& s) { return s.wait == Wait::columns; });
  });
  // Drawn turns may take long to come round.
  const std::uint64_t patience = model_->blocks.size() * (model_->options.schedule ? 64 : 2);
  return waits && model_->blocks.size() > 1 && fruitless_turns_++ < patience;
}

// The next block of the cluster at hand that has not ended.
void Scheduler::next_member() {
  const std::size_t first = current_ / model_->cluster_size * model_->cluster_size;
  do {
    current_ = first + (current_ - first + 1) % model_->cluster_size;
  } while (model_->blocks[current_].ended);
}

// Nobody in this block can go on; then perhaps in another of its cluster. Where all have said so,
// one of them brings about what comes next: with --lazy first what somebody waits for. False:
// nothing comes any more, or a fault was reported.
bool Scheduler::cluster_goes_on(const Block& block) {
  std::uint32_t live = 0;
  for (std::uint32_t r = 0; r < model_->cluster_size; ++r) live += !model_->member(block, r)->ended;
  if (++idle_members_ >= live) {
    idle_members_ = 0;
    bool moved = false;
    const auto first = [&](auto brings) {
      for (std::uint32_t r = 0;
           r < model_->cluster_size && !moved && model_->state == RunState::running; ++r) {
        moved = brings(*model_->member(block, r));
      }
    };
    first([&](Block& b) { return model_->flights.hasten_wanted(b); });
    first([&](Block& b) { return model_->flights.hasten(b); });
    first([&](Block& b) { return let_the_slow_go_on(b); });
    first([&](Block& b) { return !b.ended && model_->flights.time_out(b); });
    if (!moved || model_->state != RunState::running) return false;
  }
  next_member();
  return true;
}

RunState Scheduler::run(std::uint64_t budget) {
  model_->stops.go_on();
  if (model_->clock) return run_by_clock(budget);
  while (model_->state == RunState::running) {
    model_->watcher.settle_stops();
    if (model_->stops.hit()) return RunState::stopped;
    if (model_->dispatcher.is_over()) {
      if (model_->dispatcher.is_share()) return model_->state = RunState::done;
      finish_grid(*model_);
      break;
    }
    if (budget == 0) return RunState::running;
    if (model_->blocks.empty() || turn_left_ == 0) next_turn();
    const RunState state = run_block(model_->blocks[current_], budget);
    if (state == RunState::fault) break;
    if (state != RunState::done) continue;
    end_block();
  }
  if (model_->state != RunState::running) model_->recording.finish_record();
  return model_->state;
}

}  // namespace tilescope::sim
