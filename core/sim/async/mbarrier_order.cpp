#include "core/sim/async/mbarrier_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/sim/machine/model.h"

namespace tilescope::sim {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

u64 step_at(const Block& block, u32 offset, u64 phase, u64 kind) {
  return ((block.number * 0x10001 + offset) * 0x10001 + phase) * 16 + kind;
}

// Does what comes in this phase come behind the one before, whoever was first? It does where it
// comes behind somebody who found that complete, in whatever way, or has seen all who arrived in
// it.
bool comes_behind(const Mbarrier& b, const VectorClock& behind, const VectorClock& seen) {
  if (b.phase == 0 || behind.of(b.agent) >= b.round_before) return true;
  return b.by_threads_before &&
         std::all_of(b.came_before.begin(), b.came_before.end(),
                     [&](const BlockOrder::Arrival& a) { return seen.of(a.agent) >= a.epoch; });
}

VectorClock seen_by(const Observer& who) {
  VectorClock out = who.sure().seen;
  out.see(who.me(), who.epoch());
  return out;
}

// The tx-count has a range (9.7.13.15.2), and bytes are expected and come in any order.
void log_bytes(Model& machine, u32 offset, Mbarrier& b, const Signal& what) {
  b.bytes_expected += what.expected_bytes;
  b.bytes_come += what.complete_bytes;
  if (std::max(b.bytes_expected, b.bytes_come) <= MbarrierBits::most) return;
  machine.order_log->blind(
      fmt::format("all bytes of a phase of {} at once are more than its tx-count can be",
                  mbarrier_name(machine, offset)));
}

void note_phases(Mbarrier& b, const Knowledge& now) {
  if (now.phases == 0) return;
  for (Knowledge& k : b.known) {
    if (!(k.agent == now.agent)) continue;
    if (now.phases > k.phases) k = now;
    return;
  }
  b.known.push_back(now);
}

}  // namespace

// ---- what else could have been ----

void log_signal(Model& machine, Block& block, u32 offset, Mbarrier& b, const Signal& what,
                Actor who) {
  const Block& home = home_of(machine, block, who);
  const u32 warp = who.thread / 32;
  const RunStep step = machine.step_of(home, warp, who.pc);
  const Observer& me = home.order.of(warp);
  const bool issued = who.operation && what.behind;
  const VectorClock behind = issued ? *what.behind : me.behind();
  const VectorClock clock = issued ? *what.behind : seen_by(me);
  log_bytes(machine, offset, b, what);
  if (!comes_behind(b, behind, clock)) {
    machine.order_log->may_change(Reversal::Kind::mbarrier, b.completed_by, step);
  }
  if (what.arrivals && (!who.operation || what.seen)) b.needed.push_back(clock);
  if (who.operation) {
    b.by_threads = false;
    // It comes here before the block is over where somebody there has waited for it, or for what
    // comes behind it.
    const bool commits = what.by.epoch != 0;
    if (is_remote(block, who)) {
      block.order.reached_by.push_back(
          {commits ? what.by.agent : b.agent, commits ? what.by.epoch : b.round, step});
    }
    return;
  }
  // Whoever raises the count alone must be behind nobody who completes the phase without it.
  if (!what.arrivals) {
    if (what.expected_bytes || what.further) b.raised.push_back({me.me(), me.epoch(), step});
  } else {
    b.came.push_back({me.me(), me.epoch(), step});
  }
  machine.order_log->step(home.number, warp, step_at(block, offset, b.phase, 1));
}

void log_completion(Model& machine, const Block& block, Mbarrier& b, Actor who) {
  b.came_before = std::exchange(b.came, {});
  b.by_threads_before = std::exchange(b.by_threads, true);
  b.completed_by = machine.step_of(home_of(machine, block, who), who.thread / 32, who.pc);
  for (const BlockOrder::Arrival& a : std::exchange(b.raised, {})) {
    const bool before =
        std::any_of(b.needed.begin(), b.needed.end(),
                    [&](const VectorClock& behind) { return behind.of(a.agent) >= a.epoch; });
    if (!before) {
      machine.order_log->may_change(Reversal::Kind::mbarrier, a.step, b.completed_by);
    }
  }
  b.needed.clear();
  b.bytes_expected = b.bytes_come = 0;
}

// ---- who knows of which phase ----

void note_completion(Mbarrier& b, Agent agent, u32 epoch) {
  note_phases(b, {agent, epoch, b.phase});
}

bool note_wait(Mbarrier& b, const Observer& who, u32 thread, u32 pc) {
  PassedWait now{who.me(), who.epoch(), b.phase, thread, pc, 1u << thread % 32, who.turn()};
  for (PassedWait& w : b.waited) {
    if (!(w.agent == now.agent)) continue;
    if (w.phases == now.phases) now.lanes |= w.lanes;
    return std::exchange(w, now).phases != now.phases;
  }
  b.waited.push_back(now);
  return true;
}

void hear_completions(Block& block, const Observer& who, const View& view) {
  for (auto& [offset, b] : block.mbarriers) {
    u64 phases = 0;
    for (const Knowledge& k : b.known) {
      if (view.seen.of(k.agent) >= k.epoch) phases = std::max(phases, k.phases);
    }
    note_phases(b, {who.me(), who.epoch(), phases});
  }
}

bool knows_completion(const Mbarrier& b, const Observer& who) {
  return knows_phases(b, who, b.phase);
}

bool knows_phases(const Mbarrier& b, const Observer& who, u64 phases) {
  return phases == 0 || std::any_of(b.known.begin(), b.known.end(), [&](const Knowledge& k) {
           return k.phases >= phases && who.may_have_seen(k.agent, k.epoch);
         });
}

}  // namespace tilescope::sim
