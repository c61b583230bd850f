#include "core/sim/time/what_if.h"

#include <algorithm>
#include <optional>
#include <set>

#include "core/sim/machine/model.h"
#include "core/sim/machine/waits.h"
#include "core/sim/stepping/find_block.h"

namespace tilescope::sim {
namespace {

constexpr std::uint64_t worth_it = 1u << 19;  // that are worth an answer
constexpr std::uint64_t slice = 1u << 13;

// A warp of the grid, and what it waits for: a phase of an mbarrier, where one of its lanes does,
// as the others wait for that lane then. Who tries again and again executes, and goes on no
// further.
struct Waiter {
  Member who;
  std::uint64_t block = 0;
  std::uint64_t executed = 0;
  std::optional<std::uint32_t> mbarrier;
  std::uint64_t phase = 0;
};

Waiter waiter_of(const Block& block, const Warp& warp) {
  Waiter out{{block.rank, warp.index}, block.number, warp.executed, {}, 0};
  for (const Split& s : warp.splits) {
    if (s.wait != Wait::mbarrier) continue;
    out.mbarrier = s.mbarrier;
    out.phase = s.phase;
  }
  return out;
}

bool waits_at(const Warp& warp, std::uint32_t offset) {
  return std::any_of(warp.splits.begin(), warp.splits.end(), [&](const Split& s) {
    return s.wait == Wait::mbarrier && s.mbarrier == offset;
  });
}

// A thread that waits there, which answers for it.
Actor actor_at(const Block& block, std::uint32_t offset) {
  Actor out;
  out.operation = true;  // what it does needs nobody's leave
  for (const Warp& warp : block.warps) {
    for (const Split& s : warp.splits) {
      if (s.wait != Wait::mbarrier || s.mbarrier != offset) continue;
      out.thread = warp.index * 32 + static_cast<std::uint32_t>(__builtin_ctz(s.mask));
      out.pc = waiting_at(s);
      return out;
    }
  }
  return out;
}

// Has it gone on since? Where its block has left, it has.
bool went_on(const Model& machine, const Waiter& waiter) {
  const Block* const block = find_block(machine.blocks, waiter.block);
  if (!block) return true;
  if (!waiter.mbarrier) return block->warps[waiter.who.warp].executed > waiter.executed;
  const auto at = block->mbarriers.find(*waiter.mbarrier);
  return at == block->mbarriers.end() || at->second.phase > waiter.phase;
}

// It is done, and it matters no more that nobody was told so.
void forget_what_is_done(Block& block) {
  auto& operations = block.flight.operations;
  const auto is_done = [](const AsyncOperation& o) { return o.stage == Stage::complete; };
  operations.erase(std::remove_if(operations.begin(), operations.end(), is_done), operations.end());
}

}  // namespace

namespace {

// All that has come to the mbarriers of the cluster.
std::vector<Brought> all_brought(const Model& machine, const Block& of) {
  std::vector<Brought> out;
  for (std::uint32_t rank = 0; rank < machine.cluster_size; ++rank) {
    for (const auto& [offset, barrier] : machine.member(of, rank)->mbarriers) {
      for (const Visits& v : barrier.visits) out.push_back({rank, offset, v});
    }
  }
  return out;
}

// The copy is at this moment: all mbarriers of the cluster at `offset` that are waited for are
// complete. Answers false after a fault.
bool complete_all(Model& then, const Block& same, std::uint32_t offset) {
  for (std::uint32_t rank = 0; rank < then.cluster_size; ++rank) {
    Block& member = *then.member(same, rank);
    const auto waits = [&](const Warp& w) { return waits_at(w, offset); };
    if (std::none_of(member.warps.begin(), member.warps.end(), waits)) continue;
    if (!suppose_complete(then, member, offset, actor_at(member, offset))) return false;
  }
  return true;
}

}  // namespace

std::vector<Brought> brought_if_complete(const Model& machine, const Block& block,
                                         std::uint32_t offset) {
  constexpr std::uint64_t most = 1u << 14, step = 32;
  Model then = machine;
  then.supposes = true;
  then.watcher.stop_at({});
  const std::uint64_t number = block.number;
  for (std::uint32_t rank = 0; rank < then.cluster_size; ++rank) {
    forget_what_is_done(*then.member(*find_block(then.blocks, number), rank));
  }
  if (!complete_all(then, *find_block(then.blocks, number), offset)) return {};
  const std::vector<Brought> before = all_brought(machine, block);
  std::vector<Brought> out;
  for (std::uint64_t ran = 0; ran < most; ran += step) {
    const bool goes_on = then.scheduler.run(step) == RunState::running;
    const Block* const same = find_block(then.blocks, number);
    if (!same) break;
    for (const Brought& now : all_brought(then, *same)) {
      const auto is = [&](const Brought& b) {
        return b.rank == now.rank && b.offset == now.offset && b.by.rank == now.by.rank &&
               b.by.warp == now.by.warp && b.by.pc == now.by.pc;
      };
      const auto old = std::find_if(before.begin(), before.end(), is);
      const bool more =
          old == before.end() || old->by.phases != now.by.phases || old->by.times != now.by.times;
      if (more && std::none_of(out.begin(), out.end(), is)) out.push_back(now);
    }
    if (!goes_on) break;
  }
  return out;
}

Consequence if_complete(const Model& machine, const Block& block, std::uint32_t offset) {
  Model then = machine;
  then.supposes = true;
  then.watcher.stop_at({});
  const Block& same = then.blocks[static_cast<std::size_t>(&block - machine.blocks.data())];
  std::vector<Waiter> others;
  for (std::uint32_t rank = 0; rank < then.cluster_size; ++rank) {
    Block& member = *then.member(same, rank);
    forget_what_is_done(member);
    member.tensor.undefined_read.clear();
    for (const Warp& w : member.warps) {
      const bool exited = w.live == 0;
      if (exited || waits_at(w, offset)) continue;
      others.push_back(waiter_of(member, w));
    }
  }
  if (!complete_all(then, same, offset)) return {};
  const auto gone = [&](const Waiter& w) { return went_on(then, w); };
  for (std::uint64_t ran = 0; ran < worth_it; ran += slice) {
    if (std::all_of(others.begin(), others.end(), gone)) break;
    if (then.scheduler.run(slice) != RunState::running) break;
  }
  Consequence out;
  out.uses_undefined = then.reports.undefined_stores() > machine.reports.undefined_stores();
  std::set<std::optional<std::uint32_t>> over;
  for (const Waiter& w : others) {
    const Block* const home = find_block(then.blocks, w.block);
    out.uses_undefined |= home && !home->tensor.undefined_read.empty();
    if (!gone(w)) continue;
    out.go_on.push_back(w.who);
    over.insert(w.mbarrier);
  }
  out.waits_over = over.size();
  return out;
}

}  // namespace tilescope::sim
