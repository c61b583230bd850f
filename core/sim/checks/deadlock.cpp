// Nothing in a block can go on: who waits at what, and for whom.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "core/sim/checks/cause.h"
#include "core/sim/checks/evidence.h"
#include "core/sim/machine/model.h"
#include "core/sim/machine/waits.h"
#include "core/sim/time/what_if.h"

namespace tilescope::sim {

std::string lanes_text(Mask m) {
  std::string out = __builtin_popcount(m) == 1 ? "lane " : "lanes ";
  bool first = true;
  for (int l = 0; l < lanes; ++l) {
    if (!(m >> l & 1)) continue;
    int end = l;
    while (end + 1 < lanes && (m >> (end + 1) & 1)) ++end;
    if (!first) out += ", ";
    out += end > l ? fmt::format("{}-{}", l, end) : fmt::format("{}", l);
    first = false;
    l = end;
  }
  return out;
}

std::uint32_t waiting_at(const Split& s) {
  return s.wait == Wait::barrier ? s.pc - 1 : s.pc;
}

namespace {

// How far an mbarrier has come: where only bytes are wrong, or only some have arrived, the mistake
// is more likely there than where nobody has been yet.
int progress_of(const Block& block, std::uint32_t offset) {
  const auto found = block.mbarriers.find(offset);
  MbarrierBits bits;
  if (found == block.mbarriers.end() || !unpack(found->second.word, bits)) return 0;
  if (bits.transactions && bits.pending == 0) return 2;
  return bits.transactions || !found->second.arrived.empty() ? 1 : 0;
}

// Lanes that wait for others of their warp: would these come, if what they wait for came?
bool others_would_come(const Warp& warp, const Split& s) {
  return std::any_of(warp.splits.begin(), warp.splits.end(), [&](const Split& other) {
    const bool inside = other.wait == Wait::aligned || other.wait == Wait::others;
    return !inside && (other.mask & s.wanted & ~s.mask);
  });
}

// What explains a deadlock best: lanes of one warp at different aligned instructions, then lanes
// that others do not join, then mbarriers (of these the one that holds up most), then the rest.
int blame_of(const Warp& warp, const Split& s) {
  switch (s.wait) {
    case Wait::aligned:
      return others_would_come(warp, s) ? 0 : 6;
    case Wait::others:
      return others_would_come(warp, s) ? 0 : 5;
    case Wait::registers:
      return 5;
    case Wait::pair:
      return 4;
    case Wait::mbarrier:
      return 2;
    default:
      return 1;
  }
}

// "warps 0-3, 7"; of others than block `rank` with the block: "warps 0-3 of block 1 of the
// cluster".
std::string members_text(const std::vector<Member>& members, std::uint32_t rank) {
  std::map<std::uint32_t, Mask> of_block;
  for (const Member& m : members) of_block[m.rank] |= Mask{1} << m.warp;
  std::string out;
  for (const auto& [home, warps] : of_block) {
    const std::string lanes = lanes_text(warps);
    out += (out.empty() ? "warp" : " and warp") + lanes.substr(lanes.find_first_of("s "));
    if (home != rank) out += fmt::format(" of CTA {} of the cluster", home);
  }
  return out;
}

// "32 of 64 threads are there; missing: block 1 warp 0 lanes 0-31": of those that have not exited.
std::string cluster_story(const Model& machine, const Block& block) {
  int live = 0, arrived = 0;
  std::string missing;
  for (std::uint32_t rank = 0; rank < machine.cluster_size; ++rank) {
    for (const Warp& w : machine.member(block, rank)->warps) {
      live += __builtin_popcount(w.live);
      arrived += __builtin_popcount(w.live & w.cluster_arrived);
      const Mask late = w.live & ~w.cluster_arrived;
      if (late && missing.empty()) {
        missing = fmt::format("; not there: CTA {} of the cluster, warp {} {}", rank, w.index,
                              lanes_text(late));
      }
    }
  }
  return fmt::format("{} of {} threads are there{}", arrived, live, missing);
}

// "warp 0 lanes 0-31 at PTX line 40 (bar 0: 32 of 64 threads are there)"; what an mbarrier lacks is
// told once.
std::string wait_story(const Model& machine, const Block& block, const Warp& w, const Split& s,
                       std::vector<std::uint32_t>& explained) {
  const ptx::Instruction& i = machine.program().code[waiting_at(s)];
  const bool known = std::count(explained.begin(), explained.end(), s.mbarrier) != 0;
  if (s.wait == Wait::mbarrier) explained.push_back(s.mbarrier);
  return fmt::format("warp {} {} at PTX line {} ({}{})", w.index, lanes_text(s.mask), i.line,
                     ptx::opcode(i.op).name, wait_text(machine, block, w, s, !known));
}

// Which warps have not issued what is waited for.
std::string products_text(const Block& block, const Warp& w, const Split& s) {
  const Warpgroup& group = block.warpgroups[w.index / 4];
  Mask missing = 0;
  for (std::uint32_t i = 0; i < 4; ++i) {
    if (group.warps[i].issued < s.products) missing |= Mask{1} << (w.index / 4 * 4 + i);
  }
  if (!missing) return ", for its products";
  const std::string warps = lanes_text(missing);
  return fmt::format(", for products that warp{} of its warpgroup {} not issued",
                     warps.substr(warps.find_first_of("s ")),
                     (missing & (missing - 1)) ? "have" : "has");
}

}  // namespace

std::string wait_text(const Model& machine, const Block& block, const Warp& w, const Split& s,
                      bool with_story) {
  switch (s.wait) {
    case Wait::none:
      return "";
    case Wait::barrier: {
      const Barrier& b = block.barriers[s.barrier];
      return fmt::format(" {}: {} of {} threads are there", s.barrier, b.there(),
                         b.expected ? b.expected : block.live_threads);
    }
    case Wait::mbarrier:
      return fmt::format(
          ", for phase {} of {}{}", s.phase, mbarrier_name(machine, s.mbarrier),
          with_story ? ": " + mbarrier_story(machine, block, s.mbarrier) : std::string());
    case Wait::cluster:
      return fmt::format(" of the cluster: {}", cluster_story(machine, block));
    case Wait::columns:
      return ", for columns of TMEM that resident CTAs have";
    case Wait::pair:
      return fmt::format(": {}, for CTA {} of the cluster to do the same",
                         opcode_text(machine.program().code[s.pc].text), block.rank ^ 1);
    case Wait::group:
      return ", for its bulk groups";
    case Wait::products:
      return products_text(block, w, s);
    case Wait::registers:
      return fmt::format(", for more than the {} registers a thread that it has; {} are free",
                         w.registers, block.registers_free.free);
    default:
      return fmt::format(", for {}", lanes_text(s.wanted & ~s.mask & w.live));
  }
}

// `last`: the block that was looked at last, of a cluster of which nobody can go on. Who explains
// it best is told first.
void report_deadlock(Model& machine, const Block& last) {
  constexpr std::size_t most_told = 8;
  struct Waiter {
    const Block* block = nullptr;
    const Warp* warp = nullptr;
    const Split* split = nullptr;
    int blame = 0;
    // Were the mbarrier's phase complete: how many waits would be over, and would that do?
    std::size_t waits_over = 0;
    bool sound = false;
    int progress = 0;  // of the mbarrier

    auto weight() const { return std::tuple(blame, waits_over, sound, progress); }
  };
  std::vector<Waiter> waiters;
  for (std::uint32_t rank = 0; rank < machine.cluster_size; ++rank) {
    const Block& b = *machine.member(last, rank);
    for (const Warp& w : b.warps) {
      for (const Split& s : w.splits) waiters.push_back({&b, &w, &s, blame_of(w, s)});
    }
  }
  // Who holds up the others is asked where several mbarriers are waited for.
  constexpr std::size_t most_asked = 16;
  std::map<std::uint32_t, Consequence> then;
  for (const Waiter& w : waiters) {
    if (w.split->wait == Wait::mbarrier) then[w.split->mbarrier];
  }
  if (!machine.supposes && then.size() > 1 && then.size() <= most_asked) {
    for (auto& [offset, what] : then) what = if_complete(machine, last, offset);
  }
  for (Waiter& w : waiters) {
    if (w.split->wait != Wait::mbarrier) continue;
    const Consequence& what = then[w.split->mbarrier];
    w.waits_over = what.waits_over;
    w.sound = !what.uses_undefined;
    w.progress = progress_of(*w.block, w.split->mbarrier);
  }
  std::stable_sort(waiters.begin(), waiters.end(),
                   [](const Waiter& a, const Waiter& b) { return a.weight() > b.weight(); });
  // Of those at one mbarrier the first says what there is to say.
  std::set<std::pair<std::uint32_t, std::uint32_t>> told;
  std::stable_partition(waiters.begin(), waiters.end(), [&](const Waiter& w) {
    return w.split->wait != Wait::mbarrier || told.emplace(w.block->rank, w.split->mbarrier).second;
  });
  std::string story;
  std::map<std::uint32_t, std::vector<std::uint32_t>> explained;  // mbarriers of each block
  for (std::size_t i = 0; i < std::min(waiters.size(), most_told); ++i) {
    const Waiter& w = waiters[i];
    const std::uint32_t rank = w.block->rank;
    const std::string whose =
        machine.cluster_size > 1 ? fmt::format("CTA {} of the cluster, ", rank) : "";
    story +=
        (i ? "; " : "") + whose + wait_story(machine, *w.block, *w.warp, *w.split, explained[rank]);
  }
  if (waiters.size() > most_told) {
    story += fmt::format("; and {} more", waiters.size() - most_told);
  }
  const Warp* first_warp = waiters.front().warp;
  const Split* first = waiters.front().split;
  const Block& block = *waiters.front().block;
  const bool divergent = first->wait == Wait::aligned;
  Report r;
  r.kind = divergent ? "divergent_barrier" : "deadlock";
  r.sentence = divergent ? "lanes of one warp wait at different aligned instructions: "
               : first->wait == Wait::others ? "lanes wait for lanes that will not arrive: "
               : first->wait == Wait::registers
                   ? "warps wait for registers that nobody will release: "
               : first->wait == Wait::pair
                   ? "a warp waits for the peer CTA of its pair to take the same step: "
               : first->wait == Wait::mbarrier
                   ? "deadlock: nothing can execute and nothing is in flight: "
                   : "the CTA's threads wait at a barrier that nobody else will reach: ";
  r.sentence += story;
  r.expected = divergent ? "all live lanes of the warp at the same instruction"
                         : "an arrival of whoever is missing";
  r.found = "nobody in the CTA can go on";
  if (first->wait == Wait::mbarrier) {
    r.expected = fmt::format("phase {} of {} to complete", first->phase,
                             mbarrier_name(machine, first->mbarrier));
    const std::vector<Member>& who = then[first->mbarrier].go_on;
    if (!who.empty()) r.expected += "; then " + members_text(who, block.rank) + " would go on, too";
    r.found = mbarrier_story(machine, block, first->mbarrier);
    r.evidence = evidence_at(mbarrier_at(block, first->mbarrier));
  }
  if (first->wait == Wait::barrier) {
    r.evidence.place.of = Evidence::Place::Of::barrier;
    r.evidence.place.block = block.number;
    r.evidence.place.begin = first->barrier;
  }
  if (!machine.supposes) {
    std::vector<WaitingSplit> order;
    std::set<std::uint32_t> helpful;
    for (const Waiter& w : waiters) {
      if (w.split->wait == Wait::none) continue;
      order.push_back({w.block, w.warp, w.split});
      if (w.waits_over && w.sound) helpful.insert(w.split->mbarrier);
    }
    r.deadlock = cause_of(machine, last, order, helpful);
  }
  const std::uint32_t thread =
      first_warp->index * 32 + static_cast<std::uint32_t>(__builtin_ctz(first->mask));
  r.site = machine.site(block, thread, waiting_at(*first));
  machine.reports.add(std::move(r));
  machine.recording.record_report(block, thread, waiting_at(*first));
  machine.state = RunState::fault;
}

}  // namespace tilescope::sim
