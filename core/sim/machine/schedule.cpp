// Who goes on next: blocks of the grid, warps of a block, splits of a warp, and the loop that
// executes instructions.
#include <algorithm>
#include <utility>

#include "core/sim/checks/undefined.h"
#include "core/sim/machine/machine.h"

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
    case ptx::Unit::async:
      return true;
    default:
      return c.synchronises || i.op == ptx::Op::atom || i.op == ptx::Op::red ||
             i.op == ptx::Op::cp || i.op == ptx::Op::exit || i.modifiers.has(ptx::Field::async);
  }
}

bool is_ready(const Warp& warp) {
  return std::any_of(warp.splits.begin(), warp.splits.end(),
                     [](const Split& s) { return s.wait == Wait::none; });
}

}  // namespace

Core Machine::core_of(Block& block, Warp& warp) {
  const ptx::Program& p = program();
  Core x;
  x.bank[0] = block.registers.data() + warp.index * register_stride();
  // Handlers only read this bank.
  const Bound& bound = image_->bound[block.rank];
  x.bank[1] = const_cast<std::byte*>(bound.constants.data());
  x.predicates = block.predicates.data() + std::size_t{warp.index} * p.predicate_count;
  x.live = warp.live;
  x.elements = bound.elements.data();
  x.regions = regions_.data();
  x.region_count = static_cast<std::uint32_t>(regions_.size());
  x.parameters = &regions_[0];
  x.local_bytes = local_bytes();
  x.machine = this;
  x.block = &block;
  x.warp = &warp;
  x.code = bound.code.data();
  x.window = block.rank << ptx::rank_shift;
  return x;
}

// Is a further behind than b? The outermost call that they are not both in decides; of one that
// stands at a call and one that is inside it, the former.
bool Machine::behind(const Warp& warp, const Split& a, const Split& b) const {
  const auto& rank = program().rank;
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
bool Machine::choose_split(Warp& warp) {
  unite(warp.splits);
  warp.fair = warp.unfair_for >= options_.split_turn;
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
  warp.turn_left = company ? options_.split_turn : ~std::uint64_t{0};
  return true;
}

// Runs one split until it waits, ends or divides (`ended`), or has executed `limit` instructions;
// in company also until the end of a block, where it may meet another.
std::uint64_t Machine::run_split(Core& x, std::uint64_t limit, bool stop_at_block_end,
                                 bool& ended) {
  std::uint64_t executed = 0;
  Warp& warp = *x.warp;
  Mask mask = warp.splits[x.split].mask;
  std::uint32_t pc = warp.splits[x.split].pc;
  ended = false;
  x.limit = limit;
  x.executed = &executed;
  const bool notes = notes_meetings_;
  while (executed < x.limit && !ended) {
    const Code& c = x.code[pc];
    const Mask m = mask & (x.predicates[c.guard] ^ c.guard_flip);
    x.pc = pc;
    if (notes && m) note_meeting_point(x, executed);
    ++executed;
    Flow flow = Flow::next;
    if (warp.undefined_registers) {
      flow = run_carefully(x, c, mask, m);
    } else if (m) {
      flow = c.run(x, c, m);
    }
    if (flow == Flow::next) {
      ++pc;
      ended = stop_at_block_end && c.ends_block;
      continue;
    }
    // It stands where it failed.
    if (flow == Flow::fault && x.split < warp.splits.size()) warp.splits[x.split].pc = pc;
    ended = flow != Flow::moved || stop_at_block_end;
    if (flow != Flow::moved) return executed;  // the handler has left the splits as they are to be
    mask = warp.splits[x.split].mask;
    pc = warp.splits[x.split].pc;
  }
  warp.splits[x.split].pc = pc;
  return executed;
}

// Fewer than `budget` instructions: the warp waits or has ended.
std::uint64_t Machine::run_warp(Block& block, Warp& warp, std::uint64_t budget) {
  std::uint64_t executed = 0;
  while (executed < budget && state_ == RunState::running && pause_ == Pause::none &&
         !stops_.hit()) {
    if (warp.current < 0 && !choose_split(warp)) break;
    Core x = core_of(block, warp);
    x.split = static_cast<std::uint32_t>(warp.current);
    const bool company = warp.splits.size() > 1;
    const Mask mask = warp.splits[x.split].mask;
    bool ended = false;
    const std::uint64_t ran =
        run_split(x, std::min(budget - executed, warp.turn_left), company && !warp.fair, ended);
    executed += ran;
    instructions_ += ran;
    warp.executed += ran;
    block.slow.left -= std::min(block.slow.left, ran);
    if (pause_ == Pause::look) begin_delays(block);
    warp.turn_left -= ran;
    if (company) warp.unfair_for += ran;
    // Where splits have become one, the current one has another index now.
    warp.current = ended || warp.turn_left == 0 ? -1 : static_cast<std::int32_t>(x.split);
    last_ = {block.number, warp.index, x.pc, mask, moments_};
    if (stops_.asked()) look_for_stop(block, warp, x.pc, mask);
  }
  return executed;
}

// Who is slow next, for how long: nobody; one warp; some; or a unit, whose operations then take
// that long. A warp that comes late to a wait shows what depends on its coming in time.
void Machine::draw_slowness(Block& block) {
  Slowness& slow = block.slow;
  slow = {.held = slow.held};
  slow.length = slow.left = turn_length(longest_slowness);
  const std::size_t warps = block.warps.size();
  switch (drawn(4)) {
    case 0:
      break;
    case 1:
      if (warps > 1) slow.warps = 1u << drawn(warps);
      break;
    case 2:
      slow.warps = static_cast<std::uint32_t>(drawn((std::uint64_t{1} << warps) - 1));
      break;
    default:
      (drawn(2) ? slow.copies : slow.products) = true;
  }
}

// Do all blocks of the cluster but ask in vain, or wait?
bool Machine::asks_in_vain(const Block& block) const {
  for (std::uint32_t rank = 0; rank < cluster_size_; ++rank) {
    const Block& b = *member(block, rank);
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
void Machine::tire_of_slowness(Block& block, bool in_vain) {
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
  if (slow.left == 0 && options_.schedule) draw_slowness(block);
}

// When a warp that has executed `from` instructions is held next.
std::uint64_t Machine::next_hold(const Block& block, std::uint32_t warp, std::uint64_t from) const {
  std::uint64_t next = ~std::uint64_t{0};
  for (const Hold& h : options_.holds) {
    if (h.block == block.number && h.warp == warp && h.at >= from) next = std::min(next, h.at);
  }
  return next;
}

// Is it slow, or to be held here?
bool Machine::is_held_back(Block& block, Warp& warp) {
  const std::uint32_t bit = 1u << warp.index;
  if (warp.executed == warp.held_at) {
    block.slow.held |= bit;
    points_before_hold_ = meeting_points_.size();
    warp.held_at = next_hold(block, warp.index, warp.executed + 1);
  }
  return ((block.slow.warps | block.slow.held) & bit) != 0;
}

// A warp that asks again and again, with nothing complete in between, is at one point.
void Machine::note_meeting_point(const Core& x, std::uint64_t executed) {
  constexpr std::size_t most = 1u << 20;
  if (!meets_others(program().code[x.pc], x.code[x.pc]) || meeting_points_.size() == most) return;
  Warp& warp = *x.warp;
  if (warp.noted_pc == x.pc && warp.noted_meetings == x.block->meetings) return;
  warp.noted_pc = x.pc;
  warp.noted_meetings = x.block->meetings;
  meeting_points_.push_back({{x.block->number, warp.index, warp.executed + executed}, x.pc});
}

bool Machine::let_the_slow_of_cluster_go_on(const Block& block) {
  bool any = false;
  for (std::uint32_t rank = 0; rank < cluster_size_; ++rank) {
    any = let_the_slow_go_on(*member(block, rank)) || any;
  }
  return any;
}

// False: no warp was held back.
bool Machine::let_the_slow_go_on(Block& block) {
  block.slow.fruitless = 0;
  const bool drawn = std::exchange(block.slow.warps, 0) != 0;
  return std::exchange(block.slow.held, 0) != 0 || drawn;
}

// All warps wait, or are slow: what comes first? What is in flight, as a slow warp may be slower
// than any copy; but with --lazy nothing is as late as that. Then the time limits of those in a
// try_wait. False: nothing comes any more, or it was a fault.
bool Machine::bring_something_about(Block& block) {
  if (options_.lazy && let_the_slow_go_on(block)) return true;
  if (hasten(block)) return true;
  if (state_ != RunState::running) return false;
  return let_the_slow_go_on(block) || time_out(block);
}

// Lets the warps of a block take turns until the block is done, its turn or the budget is over.
// What a turn comes to is decided where it is over, and not where a call ends.
RunState Machine::run_block(Block& block, std::uint64_t& budget) {
  while (budget && turn_left_ && block.live_threads) {
    settle_stops();
    if (stops_.hit() || !come_due(block) || stops_.hit()) return state_;
    if (block.warp_turn_left == 0) {
      block.warp_turn_left = turn_length(options_.warp_turn);
      block.turn_ran = 0;
    }
    Warp& warp = block.warps[block.next_warp];
    const bool slow = is_held_back(block, warp);
    const std::uint64_t most = std::min({budget, turn_left_, block.warp_turn_left, until_due(block),
                                         warp.held_at - warp.executed,
                                         stops_.room(block, warp, position(), instructions_)});
    if (!slow) record_turn_begin(block, warp);
    const std::uint64_t ran = slow ? 0 : run_warp(block, warp, most);
    if (!slow) record_turn_end(block, warp);
    warp.pace.instructions += ran;
    budget -= ran;
    turn_left_ -= ran;
    block.warp_turn_left -= ran;
    block.turn_ran += ran;
    if (state_ == RunState::fault) return state_;
    if (ran) fruitless_turns_ = idle_members_ = block.idle = 0;
    block.began = block.began || ran;
    const Pause pause = std::exchange(pause_, Pause::none);
    if (pause == Pause::look) continue;
    const bool wants_more = (ran == most || stops_.hit()) && is_ready(warp) && pause != Pause::turn;
    if (wants_more && block.warp_turn_left) continue;
    if (ran && is_ready(warp)) {
      look_for_endless_loop(block, warp);
      if (state_ == RunState::fault) return state_;
    }
    if (!end_warp_turn(block, pause == Pause::turn)) return state_;
  }
  if (block.live_threads) return RunState::running;
  const bool leaves =
      land(block) && leave_tensor_memory(*this, block) && leave_registers(*this, block);
  return leaves ? RunState::done : state_;
}

// The turn of the current warp is over, `in_vain` where it asked for something that is not there
// yet: whose is the next? False where the block comes no further, now or ever.
bool Machine::end_warp_turn(Block& block, bool in_vain) {
  const auto count = static_cast<std::uint32_t>(block.warps.size());
  block.warp_turn_left = 0;
  block.idle = block.turn_ran ? 0 : block.idle + 1;
  if (block.idle == count) {
    block.idle = 0;
    block.slow.fruitless = 0;  // nobody asks: what is in flight comes before those who are slow
    if (cluster_size_ == 1 && bring_something_about(block)) return true;
    if (cluster_size_ > 1 && cluster_goes_on(block)) return false;
    if (state_ == RunState::running && may_get_columns(block)) {
      turn_left_ = 0;
      return false;
    }
    if (state_ == RunState::running) report_deadlock(block);
    return false;
  }
  if (options_.schedule || !options_.holds.empty()) tire_of_slowness(block, in_vain || block.idle);
  // Drawn where some waits: all must come to know that nobody can go on.
  const bool draws = options_.schedule && !block.idle;
  block.next_warp =
      draws ? static_cast<std::uint32_t>(drawn(count)) : (block.next_warp + 1) % count;
  return true;
}

// splitmix64 (Steele, Lea and Flood, 2014)
std::uint64_t Machine::drawn(std::uint64_t below) {
  std::uint64_t z = random_ += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return (z ^ (z >> 31)) % below;
}

// Short turns are as likely as long ones: 1 to 2, 3 to 4, 5 to 8, ...
std::uint64_t Machine::turn_length(std::uint64_t longest) {
  if (options_.schedule == 0) return longest;
  std::uint64_t bits = 0;
  while ((std::uint64_t{2} << bits) <= longest) ++bits;
  return 1 + drawn(std::uint64_t{1} << drawn(bits + 1));
}

// The next resident block's turn, or that of one that starts now with its cluster. In order, all
// blocks of a cluster have a turn before those of the next one have theirs.
void Machine::next_turn() {
  turn_left_ = turn_length(cluster_size_ > 1 ? options_.member_turn : options_.block_turn);
  idle_members_ = 0;
  const bool in_order = options_.schedule == 0 && !blocks_.empty();
  if (in_order && cluster_size_ > 1) {
    const std::size_t before = current_;
    next_member();
    if (current_ > before) return;
  }
  const std::size_t count = blocks_.size();
  if ((count == 0 || count + cluster_size_ <= resident_) && can_start()) {
    current_ = count;
    blocks_.resize(count + cluster_size_);
    start_cluster(current_);
    return;
  }
  current_ = options_.schedule ? static_cast<std::size_t>(drawn(count))
                               : (current_ / cluster_size_ + 1) * cluster_size_ % count;
  if (blocks_[current_].ended) next_member();
}

// All threads of the current block have exited. Where the last of its cluster has ended, the next
// one comes in its place.
void Machine::end_block() {
  ++finished_;
  blocks_[current_].ended = true;
  turn_left_ = options_.block_turn;
  const std::size_t first = current_ / cluster_size_ * cluster_size_;
  const auto begin = blocks_.begin() + static_cast<std::ptrdiff_t>(first);
  const auto end = begin + static_cast<std::ptrdiff_t>(cluster_size_);
  if (!std::all_of(begin, end, [](const Block& b) { return b.ended; })) return next_member();
  current_ = first;
  if (can_start() && started_ < simulated_blocks()) return start_cluster(first);
  if (clock_) {  // by the clock there is no order among them
    const auto last = blocks_.end() - static_cast<std::ptrdiff_t>(cluster_size_);
    if (begin != last) std::swap_ranges(begin, end, last);
    blocks_.resize(blocks_.size() - cluster_size_);
  } else {
    blocks_.erase(begin, end);
  }
  if (current_ >= blocks_.size()) current_ = 0;
  if (!blocks_.empty() && blocks_[current_].ended) next_member();
}

RunState Machine::run(std::uint64_t budget) {
  stops_.go_on();
  if (clock_) return run_by_clock(budget);
  while (state_ == RunState::running) {
    settle_stops();
    if (stops_.hit()) return RunState::stopped;
    if (finished_ == total_) {
      finish_grid();
      break;
    }
    if (budget == 0) return RunState::running;
    if (blocks_.empty() || turn_left_ == 0) next_turn();
    const RunState state = run_block(blocks_[current_], budget);
    if (state == RunState::fault) break;
    if (state != RunState::done) continue;
    end_block();
  }
  if (state_ != RunState::running) finish_record();
  return state_;
}

}  // namespace tilescope::sim
