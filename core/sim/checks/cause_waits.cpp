// What is waited for, by whom, and who else there is.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/sim/checks/cause_parts.h"

namespace tilescope::sim::causes {
namespace {

class Waits {
 public:
  explicit Waits(Search& search) : search_(search) {}
  void find() {
    find_barriers();
    find_parties();
    ask_what_if();
  }

 private:
  std::size_t barrier_of(const Block& block, const Warp& warp, const Split& s) {
    using Of = Cause::WaitedFor::Of;
    Cause::WaitedFor b;
    b.rank = block.rank;
    b.block = block.number;
    if (s.wait == Wait::mbarrier) {
      b.object = s.mbarrier;
    } else if (s.wait == Wait::barrier) {
      b.of = Of::barrier;
      b.object = s.barrier;
    } else if (s.wait == Wait::cluster) {
      b.of = Of::cluster;
      b.rank = 0;
    } else if (s.wait == Wait::aligned || s.wait == Wait::others || s.wait == Wait::products) {
      b.of = Of::together;
      b.object = s.pc;
      if (!describe_together(block, warp, s, b)) return Cause::none;
    } else {
      return Cause::none;
    }
    for (std::size_t k = 0; k < search_.out.barriers.size(); ++k) {
      const Cause::WaitedFor& o = search_.out.barriers[k];
      if (o.of == b.of && o.rank == b.rank && o.object == b.object &&
          (b.of != Of::together || o.name == b.name)) {
        return k;
      }
    }
    if (b.of != Of::together) describe(block, s, b);
    search_.out.barriers.push_back(std::move(b));
    return search_.out.barriers.size() - 1;
  }

  // Lanes of a warp, or warps of a warpgroup, that are not at an instruction which they execute
  // together. False: all of them are.
  bool describe_together(const Block& block, const Warp& warp, const Split& s,
                         Cause::WaitedFor& b) {
    const std::string_view name = ptx::opcode(search_.machine.program().code[s.pc].op).name;
    const std::string home =
        search_.machine.cluster_size > 1 ? fmt::format(" of CTA {}", block.rank) : std::string();
    Missing missing;
    if (s.wait == Wait::products) {
      const Warpgroup& group = block.warpgroups[warp.index / 4];
      missing.products = true;
      for (u32 i = 0; i < 4; ++i) {
        if (group.warps[i].issued < s.products) missing.warps |= u64{1} << (warp.index / 4 * 4 + i);
      }
      b.count = 128;
      b.pending = 32 * static_cast<u32>(__builtin_popcountll(missing.warps));
      b.name = fmt::format("{} of warpgroup {}", name, warp.index / 4) + home;
    } else {
      missing.warps = u64{1} << warp.index;
      missing.lanes = s.wanted & ~s.mask & warp.live;
      b.count = static_cast<u32>(__builtin_popcount(s.wanted & warp.live));
      b.pending = static_cast<u32>(__builtin_popcount(missing.lanes));
      b.name = fmt::format("{} of warp {}", name, warp.index) + home;
    }
    b.everyone = true;
    search_.missing[{b.rank, b.object, b.name}] = missing;
    return b.pending != 0;
  }

  void describe(const Block& block, const Split& s, Cause::WaitedFor& b) const {
    const std::string home =
        search_.machine.cluster_size > 1 ? fmt::format(" of CTA {}", block.rank) : std::string();
    if (s.wait == Wait::cluster) {
      b.name = "barrier.cluster";
      b.everyone = true;
      for (u32 rank = 0; rank < search_.machine.cluster_size; ++rank) {
        for (const Warp& w : search_.machine.member(block, rank)->warps) {
          b.count += static_cast<u32>(__builtin_popcount(w.live));
          b.pending += static_cast<u32>(__builtin_popcount(w.live & ~w.cluster_arrived));
        }
      }
      return;
    }
    if (s.wait == Wait::barrier) {
      const Barrier& at = block.barriers[s.barrier];
      b.name = fmt::format("bar {}", s.barrier) + home;
      b.count = at.expected ? at.expected : block.live_threads;
      b.everyone = at.expected == 0 || at.expected == block.live_threads;
      b.pending = b.count - std::min(b.count, at.there());
      return;
    }
    b.name = barrier_name(search_.machine.barrier_names(), s.mbarrier) + home;
    const auto found = block.mbarriers.find(s.mbarrier);
    if (found == block.mbarriers.end()) return;
    MbarrierBits bits;
    unpack(found->second.word, bits);
    b.phase = found->second.phase;
    b.count = found->second.count;
    b.pending = bits.pending;
    b.bytes = bits.transactions;
    b.made = search_.machine.site(block, found->second.maker, found->second.made_at);
    b.would_help = search_.helpful.count(s.mbarrier) != 0;
  }

  void find_barriers() {
    for (const WaitingSplit& w : search_.waiting) {
      Cause::Waiting one;
      one.pc = waiting_at(*w.split);
      one.waits_for = barrier_of(*w.block, *w.warp, *w.split);
      one.warps = {w.block->rank, u64{1} << w.warp->index};
      one.lanes = w.split->mask;
      one.site = search_.site(*w.block, *w.warp, w.split->mask, one.pc);
      one.opcode = opcode_text(search_.machine.program().code[one.pc].text);
      if (w.split->wait == Wait::mbarrier) one.phase = w.split->phase;
      if (one.waits_for == Cause::none)
        one.words = wait_text(search_.machine, *w.block, *w.warp, *w.split, false);
      const auto same =
          std::find_if(search_.out.waiting.begin(), search_.out.waiting.end(), [&](const auto& o) {
            return o.warps.rank == one.warps.rank && o.lanes == one.lanes && o.pc == one.pc &&
                   o.waits_for == one.waits_for && o.phase == one.phase && o.words == one.words;
          });
      if (same == search_.out.waiting.end()) {
        search_.out.waiting.push_back(std::move(one));
      } else {
        same->warps.mask |= one.warps.mask;
      }
    }
  }

  void find_parties() {
    for (u32 rank = 0; rank < search_.machine.cluster_size; ++rank) {
      Block& block = *search_.machine.member(search_.last, rank);
      const u64 threads = search_.machine.launch.block.count();
      for (Warp& warp : block.warps) {
        for (const Split& s : warp.splits) {
          Party a{&block, &warp, &s, s.mask, s.pc, barrier_of(block, warp, s), {}};
          search_.parties.push_back(std::move(a));
        }
        const u64 mine = threads - u64{warp.index} * 32;
        const Mask there = mine >= 32 ? ~Mask{0} : (Mask{1} << mine) - 1;
        if (there & ~warp.live) {
          search_.parties.push_back(
              {&block, &warp, nullptr, there & ~warp.live, Ways::exited, Cause::none, {}});
        }
      }
    }
    for (Party& a : search_.parties) {
      a.ways = std::make_shared<Ways>(search_.derive, *a.block, *a.warp, a.lanes);
    }
  }

  // What would come, if each of the mbarriers that are waited for were complete.
  void ask_what_if() {
    constexpr std::size_t most_asked = 12;
    std::set<u32> offsets;
    for (const Cause::WaitedFor& b : search_.out.barriers) {
      if (b.of == Cause::WaitedFor::Of::mbarrier) offsets.insert(b.object);
    }
    if (offsets.size() > most_asked) return;
    for (const u32 offset : offsets) {
      for (const Brought& b : brought_if_complete(search_.machine, search_.last, offset))
        search_.brought.push_back(b);
    }
  }

  Search& search_;
};

}  // namespace

Site Search::site(const Block& block, const Warp& warp, Mask lanes, u32 pc) const {
  const u32 lane = lanes ? static_cast<u32>(__builtin_ctz(lanes)) : 0;
  return machine.site(block, warp.index * 32 + lane, pc);
}

const Mbarrier* Search::mbarrier_of(const Cause::WaitedFor& b) const {
  const Block* const block = machine.member(last, b.rank);
  const auto found = block->mbarriers.find(b.object);
  return found == block->mbarriers.end() ? nullptr : &found->second;
}

void find_waits(Search& search) {
  Waits(search).find();
}

}  // namespace tilescope::sim::causes
