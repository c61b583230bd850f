// What in the program could have completed a barrier, and who did not come to it for what reason.
#include <algorithm>
#include <utility>

#include "core/sim/checks/cause_parts.h"

namespace tilescope::sim::causes {
namespace {

class Sources {
 public:
  explicit Sources(Search& search) : search_(search) {}
  void find(std::size_t number) {
    Cause::WaitedFor& b = search_.out.barriers[number];
    const Mbarrier* const m =
        b.of == Cause::WaitedFor::Of::mbarrier ? search_.mbarrier_of(b) : nullptr;
    std::vector<Cause::Source> certain, possible;
    for (const Signaller& s : signallers(b)) {
      Cause::Source sure_ones, other_ones;
      const Party* first = nullptr;
      bool theirs = false;  // somebody comes, came or will come to it
      for (One& one : reasons(b, s)) {
        const bool closed = is_closed(one.why);
        if (!first || (one.sure && !closed && !theirs)) first = one.party;
        theirs = theirs || (one.sure && !closed);
        merge(one.sure ? sure_ones.not_come : other_ones.not_come, std::move(one.why));
      }
      if (!first) continue;
      Cause::Source& out = sure_ones.not_come.empty() ? other_ones : sure_ones;
      out.certain = &out == &sure_ones;
      const auto& why = out.not_come;
      // Nobody has executed it, and nobody comes to it: it is on no mbarrier.
      if (!out.certain && std::all_of(why.begin(), why.end(), is_none_of_theirs)) continue;
      out.pc = s.pc;
      out.opcode = opcode_text(search_.machine.program().code[s.pc].text);
      out.site = search_.site(*first->block, *first->warp, first->lanes, s.pc);
      out.arrives = s.arrives;
      out.expects = s.expects;
      out.brings = s.brings;
      if (m) count(*m, s.pc, out);
      std::stable_sort(out.not_come.begin(), out.not_come.end(),
                       [](const auto& x, const auto& y) { return weight(x) < weight(y); });
      (&out == &sure_ones ? certain : possible).push_back(std::move(out));
    }
    b.sources = certain.empty() ? std::move(possible) : std::move(certain);
    std::stable_sort(b.sources.begin(), b.sources.end(),
                     [&](const auto& x, const auto& y) { return order(b, x) < order(b, y); });
  }

 private:
  static int weight(const Cause::NotCome& n) {
    if (n.others_came && n.why != Why::came) return -1;
    switch (n.why) {
      case Why::waits:
        return 0;
      case Why::left:
        if (n.been && !n.phases) return 5;  // it executed it for another round
        [[fallthrough]];
      case Why::branch:
      case Why::predicate:
        return n.phases ? 1 : 3;
      case Why::elsewhere:
        return 2;
      case Why::skipped:
        return -1;
      case Why::came:
        return 4;
      default:
        return 6;
    }
  }

  // It is none of theirs, by a branch, or by a guard that is false for good.
  static bool is_closed(const Cause::NotCome& n) {
    const bool closed = n.why == Why::branch || (n.why == Why::predicate && !n.been);
    return closed && !n.phases && !n.others_came;
  }

  static void merge(std::vector<Cause::NotCome>& into, Cause::NotCome why) {
    for (Cause::NotCome& o : into) {
      if (o.why != why.why || o.warps.rank != why.warps.rank || o.pc != why.pc ||
          o.waits_for != why.waits_for || o.phases != why.phases || o.lanes != why.lanes ||
          o.been != why.been || o.is_ahead != why.is_ahead ||
          (o.detail != why.detail && why.why != Why::branch)) {
        continue;
      }
      o.warps.mask |= why.warps.mask;
      o.detail = common(o.detail, why.detail);
      return;
    }
    into.push_back(std::move(why));
  }

  // What several warps have in common of their predicates.
  static std::string common(const std::string& a, const std::string& b) {
    if (a == b) return a;
    const std::size_t with = a.find(", with ");
    return with != std::string::npos && a.compare(0, with, b, 0, with) == 0
               ? a.substr(0, with) + ")"
               : std::string();
  }

  // Of products of a warpgroup that a warp lacks: the first that others executed and it did not.
  std::optional<u32> product_of(const Cause::WaitedFor& b) const {
    const Missing& missing = search_.missing.at({b.rank, b.object, b.name});
    const ptx::Program& program = search_.machine.program();
    if (!missing.products) return {};
    const Block& block = *search_.machine.member(search_.last, b.rank);
    const auto executed = [&](const Warp& w, u32 pc) {
      return std::any_of(w.visited.begin(), w.visited.end(),
                         [&](const Visited& v) { return v.pc == pc && v.executed; });
    };
    for (u32 pc = 0; pc < program.code.size(); ++pc) {
      if (program.code[pc].modifiers.group_step() != ptx::GroupStep::mma_async) continue;
      bool others = false, lacks = false;
      for (const Warp& w : block.warps) {
        if (w.index / 4 != static_cast<u32>(__builtin_ctzll(missing.warps)) / 4) continue;
        const bool is_missing = missing.warps >> w.index & 1;
        others = others || (!is_missing && executed(w, pc));
        lacks = lacks || (is_missing && !executed(w, pc));
      }
      if (others && lacks) return pc;
    }
    return {};
  }

  std::vector<Signaller> signallers(const Cause::WaitedFor& b) const {
    using Of = Cause::WaitedFor::Of;
    const ptx::Program& program = search_.machine.program();
    std::vector<Signaller> out;
    if (b.of == Of::together) {
      out.push_back({});
      out.back().pc = product_of(b).value_or(b.object);
      out.back().arrives = true;
      return out;
    }
    for (u32 pc = 0; pc < program.code.size(); ++pc) {
      const auto s = b.of == Of::mbarrier  ? mbarrier_signaller(program, pc)
                     : b.of == Of::barrier ? bar_signaller(program, pc)
                                           : cluster_signaller(program, pc);
      if (s) out.push_back(*s);
    }
    return out;
  }

  static bool is_none_of_theirs(const Cause::NotCome& n) {
    return is_closed(n) || (n.why == Why::left && !n.been && !n.phases && !n.others_came);
  }

  // Why the lanes of an party do not come to it.
  struct One {
    const Party* party = nullptr;
    bool sure = false;
    Cause::NotCome why;
  };
  // Of lanes of one warp: those whom it is none of are left out where it is others'; else, where
  // their reasons differ, they are named.
  std::vector<One> reasons(const Cause::WaitedFor& b, const Signaller& s) {
    std::vector<One> all, out;
    for (const Party& a : search_.parties) {
      bool sure = false;
      if (auto why = why_not(search_, b, a, s, sure)) all.push_back({&a, sure, std::move(*why)});
    }
    const auto of_its_warp = [](const std::vector<One>& among, const One& one, auto is) {
      return std::any_of(among.begin(), among.end(), [&](const One& o) {
        return o.party != one.party && o.party->warp == one.party->warp && is(o.why);
      });
    };
    for (const One& one : all) {
      const bool others = of_its_warp(
          all, one, [&](const Cause::NotCome& other) { return !is_none_of_theirs(other); });
      const bool mbarrier = b.of == Cause::WaitedFor::Of::mbarrier;
      if (!mbarrier || !others || !is_none_of_theirs(one.why)) out.push_back(one);
    }
    const std::vector<One> left = out;
    for (One& one : out) {
      const Cause::NotCome why = one.why;
      if (of_its_warp(left, one, [&](const Cause::NotCome& other) {
            return other.why != why.why || other.pc != why.pc || other.waits_for != why.waits_for ||
                   other.phases != why.phases;
          })) {
        one.why.lanes = one.party->lanes;
      }
    }
    return out;
  }
  // Sources that lack are told before those that came; of what is missing, arrivals or bytes, those
  // that bring it.
  static std::pair<int, int> order(const Cause::WaitedFor& b, const Cause::Source& s) {
    const bool known = !s.certain && !s.not_come.empty() && !s.not_come.front().detail.empty();
    if (known && s.not_come.front().detail.rfind("mbarrier ", 0) == 0) return {2, 0};
    const bool apt = b.pending ? s.arrives : s.brings || s.expects;
    return {!apt, s.not_come.empty() ? 9 : weight(s.not_come.front())};
  }

  static void count(const Mbarrier& m, u32 pc, Cause::Source& out) {
    for (const Visits& v : m.visits) {
      if (v.pc != pc) continue;
      const bool now = v.phase == m.phase;
      out.bytes += now ? v.bytes : 0;
      out.bytes_before += now ? v.bytes_before : v.bytes;
      out.times += now ? v.times : 0;
    }
  }

  Search& search_;
};

}  // namespace

void find_sources(Search& search) {
  Sources sources(search);
  for (std::size_t b = 0; b < search.out.barriers.size(); ++b) sources.find(b);
}

}  // namespace tilescope::sim::causes
