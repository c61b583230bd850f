// Why some lanes do not execute an instruction that could have completed a barrier.
#include <fmt/format.h>

#include <algorithm>

#include "core/sim/checks/cause_parts.h"

namespace tilescope::sim::causes {
namespace {

class Judge {
 public:
  explicit Judge(Search& search) : search_(search) {}

  std::optional<Cause::NotCome> why_not(const Cause::WaitedFor& b, const Party& a,
                                        const Signaller& s, bool& sure) {
    const Mbarrier* const m =
        b.of == Cause::WaitedFor::Of::mbarrier ? search_.mbarrier_of(b) : nullptr;
    const Visits* const v = visits_of(m, a, s.pc);
    const Match matches = v ? Match::yes : match(b, a, s);
    if (matches != Match::yes) {
      if (auto there = on_another_cta(search_, b, a, s, sure)) return there;
    }
    if (matches == Match::no) return {};
    sure = matches == Match::yes;
    Cause::NotCome why;
    why.warps = {a.block->rank, u64{1} << a.warp->index};
    const bool together = b.of == Cause::WaitedFor::Of::together;
    const Stood stood = stood_at(search_, a, s.pc);
    const bool now = m && v && v->phase == b.phase;
    const bool stayed = now && stayed_away(*m, a, s.pc);
    const Mask mine = v ? took_part(search_, *v, a) : 0;
    if (v && !mine && !stayed) return {};  // that was others of its lanes, and is theirs
    const bool came = m ? now && !stayed : !together && has_arrived(b, a);
    why.others_came = stayed || together;
    if (why.others_came) why.lanes = a.lanes;
    why.phases = v && !stayed ? v->phases : 0;
    if (a.split && a.waits_for != Cause::none) why.waits_for = a.waits_for;
    const bool at_bar = b.of == Cause::WaitedFor::Of::barrier && came;
    if (at_bar && waiting_at(*a.split) != s.pc) return {};
    if (came) {
      why.why = Why::came;
      why.waits_for = Cause::none;
      return why;
    }
    if (is_kept_out(b, a, s, mine, why)) return why;
    if (const std::string for_these = left_out_for(search_, b, a, s.pc);
        !for_these.empty() && (sure || would_bring(search_, b, a, s.pc))) {
      sure = true;
      why.why = Why::skipped;
      why.detail = for_these;
      return why;
    }
    if (a.ways->ahead(a.next, s.pc)) {
      why.why = Why::waits;
      why.pc = a.split ? waiting_at(*a.split) : 0;
      why.site = search_.site(*a.block, *a.warp, a.lanes, why.pc);
      why.waits_for = a.waits_for;
      sure = sure || would_bring(search_, b, a, s.pc);
      if (!v) why.detail = elsewhere(search_, b, a, s.pc, sure);
      if (why.detail == none_of_these) return {};
      return why;
    }
    const std::string where = v ? std::string() : elsewhere(search_, b, a, s.pc, sure);
    if (where == none_of_these) return {};
    if (!where.empty()) {
      why.why = Why::elsewhere;
      why.detail = where;
      return why;
    }
    const bool executed = mine || (stood.executed & a.lanes);
    why.been = executed ||
               (stood.known ? (stood.kept_out & a.lanes) != 0 : a.ways->surely_been(a.next, s.pc));
    auto past = a.ways->past(a.next, s.pc, why.been);
    if (past && !past->closed && !why.been && !stood.known) {
      // They may have been at it: then by another branch, unless it is the only one.
      const auto behind = a.ways->past(a.next, s.pc, true);
      if (!behind || behind->pc != past->pc) past.reset();
    }
    why.why = Why::left;
    if (!a.split) {
      why.detail = "exited";
    } else if (executed && together) {
      why.why = Why::could_not_be_told;
    }
    if (past && (mine || !executed)) {
      why.why = Why::branch;
      why.pc = past->pc;
      why.site = search_.site(*a.block, *a.warp, a.lanes, past->pc);
      why.detail = past->closed ? search_.derive.guard_text(*a.block, *a.warp, past->pc, a.lanes)
                                : std::string();
    }
    return why;
  }

 private:
  enum class Match : std::uint8_t { no, unknown, yes };

  // Is it on this barrier, by its address?
  Match match(const Cause::WaitedFor& b, const Party& a, const Signaller& s) {
    using Of = Cause::WaitedFor::Of;
    if (b.of == Of::cluster) return Match::yes;
    if (b.of == Of::together) {
      const Missing& missing = search_.missing.at({b.rank, b.object, b.name});
      const bool its = a.block->rank == b.rank && (missing.warps >> a.warp->index & 1) &&
                       (a.lanes & missing.lanes);
      return its ? Match::yes : Match::no;
    }
    if (b.of == Of::barrier && a.block->rank != b.rank) return Match::no;
    const auto v = search_.derive.value(*a.block, *a.warp, s.place, s.pc);
    if (!v) return Match::unknown;
    bool any = false;
    for (Mask rest = a.lanes; rest; rest &= rest - 1) {
      const u64 at = (*v)[static_cast<std::size_t>(__builtin_ctz(rest))];
      if (b.of == Of::barrier) {
        any = any || at == b.object;
        continue;
      }
      const u32 start = search_.machine.program().shared_start;
      const u64 window = at >= ptx::shared_base ? at - ptx::shared_base : at;
      const u32 offset = static_cast<u32>(window & ((1u << ptx::rank_shift) - 1)) - start;
      const u32 rank = static_cast<u32>(window >> ptx::rank_shift);
      any = any || (offset == b.object && (!s.by_rank || rank == b.rank));
    }
    return any ? Match::yes : Match::no;
  }

  // Is it its guard that keeps them from it: when they last came to it, or for good?
  bool is_kept_out(const Cause::WaitedFor& b, const Party& a, const Signaller& s, Mask mine,
                   Cause::NotCome& why) {
    const ptx::Instruction& i = search_.machine.program().code[s.pc];
    if (!i.guarded || !a.ways->possible(s.pc)) return false;
    const Stood stood = stood_at(search_, a, s.pc);
    const Mask asked = mine ? mine : a.lanes;
    const bool ahead = a.ways->ahead(a.next, s.pc);
    const auto taken = search_.derive.guard(*a.block, *a.warp, s.pc);
    const bool never = taken && !(*taken & asked);
    const bool then = (asked & ~stood.kept_out) == 0;
    if (never) {
      const bool been = then || (!stood.known && !ahead && a.ways->surely_been(a.next, s.pc));
      if (!been && !ahead) return false;  // a branch before it was first
      why.is_ahead = !been;
    } else if (!then || (ahead && !others(search_, b, a, s.pc).own.empty())) {
      return false;  // that time it may have been for another
    }
    why.why = Why::predicate;
    why.been = !never;
    why.pc = s.pc;
    why.site = search_.site(*a.block, *a.warp, asked, s.pc);
    why.detail =
        taken ? search_.derive.guard_text(*a.block, *a.warp, s.pc, asked)
              : fmt::format("{} was {} then", search_.machine.program().name_of_register(i.guard),
                            i.guard_negated ? "true" : "false");
    return true;
  }

  // Others of its warp arrived by this instruction, in this phase, and these lanes did not.
  static bool stayed_away(const Mbarrier& m, const Party& a, u32 pc) {
    Mask came = 0;
    for (const Attendance& at : m.arrived) {
      if (at.rank == a.block->rank && at.warp == a.warp->index && at.pc == pc) came |= at.mask;
    }
    return came && !(came & a.lanes) && (came & (came - 1));
  }

  // At a barrier of the CTA or the cluster.
  static bool has_arrived(const Cause::WaitedFor& b, const Party& a) {
    if (b.of == Cause::WaitedFor::Of::cluster)
      return (a.lanes & a.warp->live & ~a.warp->cluster_arrived) == 0;
    return a.split && a.split->wait == Wait::barrier && a.split->barrier == b.object;
  }

  Search& search_;
};

}  // namespace

std::optional<Cause::NotCome> why_not(Search& search, const Cause::WaitedFor& b, const Party& a,
                                      const Signaller& s, bool& sure) {
  return Judge(search).why_not(b, a, s, sure);
}

}  // namespace tilescope::sim::causes
