#include "core/sim/checks/cause.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "core/sim/checks/derive.h"
#include "core/sim/checks/signallers.h"
#include "core/sim/checks/ways.h"
#include "core/sim/machine/waits.h"
#include "core/sim/time/what_if.h"

namespace tilescope::sim {
namespace {

using Cause = DeadlockCause;
using Why = DeadlockCause::Why;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

// Lanes that go together, or that have exited.
struct Actor {
  Block* block = nullptr;
  Warp* warp = nullptr;
  const Split* split = nullptr;  // null: exited
  Mask lanes = 0;
  u32 next = Ways::exited;
  std::size_t waits_for = Cause::none;
  std::shared_ptr<Ways> ways;
};

class Search {
 public:
  Search(Model& machine, const Block& last, const std::vector<WaitingSplit>& waiting,
         const std::set<u32>& helpful)
      : machine_(machine), last_(last), waiting_(waiting), helpful_(helpful), derive_(machine) {}

  std::shared_ptr<const Cause> run() {
    out_.cluster_size = machine_.cluster_size;
    find_barriers();
    find_actors();
    ask_what_if();
    for (std::size_t b = 0; b < out_.barriers.size(); ++b) find_sources(b);
    find_cycle();
    out_.sentence = first_cause_text(out_);
    return std::make_shared<const Cause>(std::move(out_));
  }

 private:
  struct Missing {
    u64 warps = 0;
    Mask lanes = ~Mask{0};
    bool products = false;
  };

  Site site(const Block& block, const Warp& warp, Mask lanes, u32 pc) const {
    const u32 lane = lanes ? static_cast<u32>(__builtin_ctz(lanes)) : 0;
    return machine_.site(block, warp.index * 32 + lane, pc);
  }

  // ---- what is waited for, and by whom ----

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
    for (std::size_t k = 0; k < out_.barriers.size(); ++k) {
      const Cause::WaitedFor& o = out_.barriers[k];
      if (o.of == b.of && o.rank == b.rank && o.object == b.object &&
          (b.of != Of::together || o.name == b.name)) {
        return k;
      }
    }
    if (b.of != Of::together) describe(block, s, b);
    out_.barriers.push_back(std::move(b));
    return out_.barriers.size() - 1;
  }

  // Lanes of a warp, or warps of a warpgroup, that are not at an instruction which they execute
  // together. False: all of them are.
  bool describe_together(const Block& block, const Warp& warp, const Split& s,
                         Cause::WaitedFor& b) {
    const std::string_view name = ptx::opcode(machine_.program().code[s.pc].op).name;
    const std::string home =
        machine_.cluster_size > 1 ? fmt::format(" of CTA {}", block.rank) : std::string();
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
    missing_[{b.rank, b.object, b.name}] = missing;
    return b.pending != 0;
  }

  void describe(const Block& block, const Split& s, Cause::WaitedFor& b) const {
    const std::string home =
        machine_.cluster_size > 1 ? fmt::format(" of CTA {}", block.rank) : std::string();
    if (s.wait == Wait::cluster) {
      b.name = "barrier.cluster";
      b.everyone = true;
      for (u32 rank = 0; rank < machine_.cluster_size; ++rank) {
        for (const Warp& w : machine_.member(block, rank)->warps) {
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
    b.name = barrier_name(machine_.barrier_names(), s.mbarrier) + home;
    const auto found = block.mbarriers.find(s.mbarrier);
    if (found == block.mbarriers.end()) return;
    MbarrierBits bits;
    unpack(found->second.word, bits);
    b.phase = found->second.phase;
    b.count = found->second.count;
    b.pending = bits.pending;
    b.bytes = bits.transactions;
    b.made = machine_.site(block, found->second.maker, found->second.made_at);
    b.would_help = helpful_.count(s.mbarrier) != 0;
  }

  void find_barriers() {
    for (const WaitingSplit& w : waiting_) {
      Cause::Waiting one;
      one.pc = waiting_at(*w.split);
      one.waits_for = barrier_of(*w.block, *w.warp, *w.split);
      one.warps = {w.block->rank, u64{1} << w.warp->index};
      one.lanes = w.split->mask;
      one.site = site(*w.block, *w.warp, w.split->mask, one.pc);
      one.opcode = opcode_text(machine_.program().code[one.pc].text);
      if (w.split->wait == Wait::mbarrier) one.phase = w.split->phase;
      if (one.waits_for == Cause::none)
        one.words = wait_text(machine_, *w.block, *w.warp, *w.split, false);
      const auto same = std::find_if(out_.waiting.begin(), out_.waiting.end(), [&](const auto& o) {
        return o.warps.rank == one.warps.rank && o.lanes == one.lanes && o.pc == one.pc &&
               o.waits_for == one.waits_for && o.phase == one.phase && o.words == one.words;
      });
      if (same == out_.waiting.end()) {
        out_.waiting.push_back(std::move(one));
      } else {
        same->warps.mask |= one.warps.mask;
      }
    }
  }

  void find_actors() {
    for (u32 rank = 0; rank < machine_.cluster_size; ++rank) {
      Block& block = *machine_.member(last_, rank);
      const u64 threads = machine_.launch.block.count();
      for (Warp& warp : block.warps) {
        for (const Split& s : warp.splits) {
          Actor a{&block, &warp, &s, s.mask, s.pc, barrier_of(block, warp, s), {}};
          actors_.push_back(std::move(a));
        }
        const u64 mine = threads - u64{warp.index} * 32;
        const Mask there = mine >= 32 ? ~Mask{0} : (Mask{1} << mine) - 1;
        if (there & ~warp.live) {
          actors_.push_back(
              {&block, &warp, nullptr, there & ~warp.live, Ways::exited, Cause::none, {}});
        }
      }
    }
    for (Actor& a : actors_) {
      a.ways = std::make_shared<Ways>(derive_, *a.block, *a.warp, a.lanes);
    }
  }

  // What would come, if each of the mbarriers that are waited for were complete.
  void ask_what_if() {
    constexpr std::size_t most_asked = 12;
    std::set<u32> offsets;
    for (const Cause::WaitedFor& b : out_.barriers) {
      if (b.of == Cause::WaitedFor::Of::mbarrier) offsets.insert(b.object);
    }
    if (offsets.size() > most_asked) return;
    for (const u32 offset : offsets) {
      for (const Brought& b : brought_if_complete(machine_, last_, offset)) brought_.push_back(b);
    }
  }

  // ---- who could have come ----

  const Mbarrier* mbarrier_of(const Cause::WaitedFor& b) const {
    const Block* const block = machine_.member(last_, b.rank);
    const auto found = block->mbarriers.find(b.object);
    return found == block->mbarriers.end() ? nullptr : &found->second;
  }

  static const Visits* visits_of(const Mbarrier* b, const Actor& a, u32 pc) {
    if (!b) return nullptr;
    for (const Visits& v : b->visits) {
      if (v.rank == a.block->rank && v.warp == a.warp->index && v.pc == pc) return &v;
    }
    return nullptr;
  }

  // The names of mbarriers other than `b` that an instruction was on, or would be next.
  struct Others {
    std::vector<std::string> own;  // by this warp
    std::vector<std::string> all;  // by any, or by what has the same line of the source
  };
  Others others(const Cause::WaitedFor& b, const Actor& a, u32 pc) const {
    Others out;
    const ptx::Program& program = machine_.program();
    const auto same_line = [&](u32 other) {
      const ptx::Instruction &x = program.code[other], &y = program.code[pc];
      return x.source_line != 0 && x.op == y.op && x.source_line == y.source_line &&
             x.file == y.file && x.caller_line == y.caller_line && x.caller_file == y.caller_file;
    };
    const auto add = [&](const Brought& x) {
      if (x.rank == b.rank && x.offset == b.object) return;
      if (x.by.pc != pc && !same_line(x.by.pc)) return;
      std::string name = barrier_name(machine_.barrier_names(), x.offset);
      if (x.rank != b.rank) name += fmt::format(" of CTA {}", x.rank);
      if (!std::count(out.all.begin(), out.all.end(), name)) out.all.push_back(name);
      const bool its = x.by.pc == pc && x.by.rank == a.block->rank && x.by.warp == a.warp->index &&
                       took_part(x.by, a);
      if (its && !std::count(out.own.begin(), out.own.end(), name)) out.own.push_back(name);
    };
    for (u32 rank = 0; rank < machine_.cluster_size; ++rank) {
      for (const auto& [offset, m] : machine_.member(last_, rank)->mbarriers) {
        for (const Visits& v : m.visits) add({rank, offset, v});
      }
    }
    for (const Brought& x : brought_) add(x);
    return out;
  }

  bool would_bring(const Cause::WaitedFor& b, const Actor& a, u32 pc) const {
    return std::any_of(brought_.begin(), brought_.end(), [&](const Brought& x) {
      return x.rank == b.rank && x.offset == b.object && x.by.rank == a.block->rank &&
             x.by.warp == a.warp->index && x.by.pc == pc;
    });
  }

  enum class Match : std::uint8_t { no, unknown, yes };

  // Is it on this barrier, by its address?
  Match match(const Cause::WaitedFor& b, const Actor& a, const Signaller& s) {
    using Of = Cause::WaitedFor::Of;
    if (b.of == Of::cluster) return Match::yes;
    if (b.of == Of::together) {
      const Missing& missing = missing_.at({b.rank, b.object, b.name});
      const bool its = a.block->rank == b.rank && (missing.warps >> a.warp->index & 1) &&
                       (a.lanes & missing.lanes);
      return its ? Match::yes : Match::no;
    }
    if (b.of == Of::barrier && a.block->rank != b.rank) return Match::no;
    const auto v = derive_.value(*a.block, *a.warp, s.place, s.pc);
    if (!v) return Match::unknown;
    bool any = false;
    for (Mask rest = a.lanes; rest; rest &= rest - 1) {
      const u64 at = (*v)[static_cast<std::size_t>(__builtin_ctz(rest))];
      if (b.of == Of::barrier) {
        any = any || at == b.object;
        continue;
      }
      const u32 start = machine_.program().shared_start;
      const u64 window = at >= ptx::shared_base ? at - ptx::shared_base : at;
      const u32 offset = static_cast<u32>(window & ((1u << ptx::rank_shift) - 1)) - start;
      const u32 rank = static_cast<u32>(window >> ptx::rank_shift);
      any = any || (offset == b.object && (!s.by_rank || rank == b.rank));
    }
    return any ? Match::yes : Match::no;
  }

  // "full" of "full[1] of CTA 0".
  static std::string_view stem(std::string_view name) {
    return name.substr(0, name.find_first_of("[ "));
  }

  // Why these lanes do not execute it on `b` now. Nothing: it is none of theirs. `sure`: it is, or
  // was, theirs to do; else it may be.
  std::optional<Cause::NotCome> why_not(const Cause::WaitedFor& b, const Actor& a,
                                        const Signaller& s, bool& sure) {
    const Mbarrier* const m = b.of == Cause::WaitedFor::Of::mbarrier ? mbarrier_of(b) : nullptr;
    const Visits* const v = visits_of(m, a, s.pc);
    const Match matches = v ? Match::yes : match(b, a, s);
    if (matches != Match::yes) {
      if (auto there = on_another_cta(b, a, s, sure)) return there;
    }
    if (matches == Match::no) return {};
    sure = matches == Match::yes;
    Cause::NotCome why;
    why.warps = {a.block->rank, u64{1} << a.warp->index};
    const bool together = b.of == Cause::WaitedFor::Of::together;
    const Stood stood = stood_at(a, s.pc);
    const bool now = m && v && v->phase == b.phase;
    const bool stayed = now && stayed_away(*m, a, s.pc);
    const Mask mine = v ? took_part(*v, a) : 0;
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
    if (a.ways->ahead(a.next, s.pc)) {
      why.why = Why::waits;
      why.pc = a.split ? waiting_at(*a.split) : 0;
      why.site = site(*a.block, *a.warp, a.lanes, why.pc);
      why.waits_for = a.waits_for;
      sure = sure || would_bring(b, a, s.pc);
      if (!v) why.detail = elsewhere(b, a, s.pc, sure);
      if (why.detail == none_of_these) return {};
      return why;
    }
    const std::string where = v ? std::string() : elsewhere(b, a, s.pc, sure);
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
      why.site = site(*a.block, *a.warp, a.lanes, past->pc);
      why.detail =
          past->closed ? derive_.guard_text(*a.block, *a.warp, past->pc, a.lanes) : std::string();
    }
    return why;
  }

  // What lanes did when they last came to an instruction. `known`: it would have been noted.
  struct Stood {
    bool known = false;
    Mask executed = 0, kept_out = 0;
  };
  Stood stood_at(const Actor& a, u32 pc) const {
    Stood out;
    const std::vector<Visited>& all = a.warp->visited;
    out.known = machine_.image->bound[0].code[pc].notes_lanes && all.size() < Warp::most_visited;
    for (const Visited& v : all) {
      if (v.pc == pc) out = {true, v.executed, v.kept_out};
    }
    return out;
  }

  // Those of its lanes that did this. An operation that several started is noted as one lane's.
  Mask took_part(const Visits& v, const Actor& a) const {
    return (v.ever | stood_at(a, v.pc).executed) & a.lanes;
  }

  // Is it its guard that keeps them from it: when they last came to it, or for good?
  bool is_kept_out(const Cause::WaitedFor& b, const Actor& a, const Signaller& s, Mask mine,
                   Cause::NotCome& why) {
    const ptx::Instruction& i = machine_.program().code[s.pc];
    if (!i.guarded || !a.ways->possible(s.pc)) return false;
    const Stood stood = stood_at(a, s.pc);
    const Mask asked = mine ? mine : a.lanes;
    const bool ahead = a.ways->ahead(a.next, s.pc);
    const auto taken = derive_.guard(*a.block, *a.warp, s.pc);
    const bool never = taken && !(*taken & asked);
    const bool then = (asked & ~stood.kept_out) == 0;
    if (never) {
      const bool been = then || (!stood.known && !ahead && a.ways->surely_been(a.next, s.pc));
      if (!been && !ahead) return false;  // a branch before it was first
      why.is_ahead = !been;
    } else if (!then || (ahead && !others(b, a, s.pc).own.empty())) {
      return false;  // that time it may have been for another
    }
    why.why = Why::predicate;
    why.been = !never;
    why.pc = s.pc;
    why.site = site(*a.block, *a.warp, asked, s.pc);
    why.detail = taken ? derive_.guard_text(*a.block, *a.warp, s.pc, asked)
                       : fmt::format("{} was {} then", machine_.program().name_of_register(i.guard),
                                     i.guard_negated ? "true" : "false");
    return true;
  }

  // Others of its warp arrived by this instruction, in this phase, and these lanes did not.
  static bool stayed_away(const Mbarrier& m, const Actor& a, u32 pc) {
    Mask came = 0;
    for (const Attendance& at : m.arrived) {
      if (at.rank == a.block->rank && at.warp == a.warp->index && at.pc == pc) came |= at.mask;
    }
    return came && !(came & a.lanes) && (came & (came - 1));
  }

  // An instruction that may go to any CTA of the cluster, and went to the same place of another
  // one.
  std::optional<Cause::NotCome> on_another_cta(const Cause::WaitedFor& b, const Actor& a,
                                               const Signaller& s, bool& sure) const {
    if (b.of != Cause::WaitedFor::Of::mbarrier || !s.by_rank || machine_.cluster_size < 2)
      return {};
    const bool reaches = machine_.program().code[s.pc].modifiers.reaches_cluster();
    for (u32 rank = 0; rank < machine_.cluster_size; ++rank) {
      const Mbarriers& all = machine_.member(last_, rank)->mbarriers;
      const auto at = all.find(b.object);
      if (rank == b.rank || at == all.end()) continue;
      const Visits* const v = visits_of(&at->second, a, s.pc);
      if (!v || !took_part(*v, a)) continue;
      // Of one that goes to its own CTA alone: where nobody has ever waited.
      const auto asked = [](const Knowledge& k) { return k.phases != 0; };
      const auto& known = at->second.known;
      if (!reaches &&
          (!at->second.waiting.empty() || std::any_of(known.begin(), known.end(), asked)))
        continue;
      Cause::NotCome why;
      why.why = Why::elsewhere;
      why.warps = {a.block->rank, u64{1} << a.warp->index};
      why.detail =
          fmt::format("{} of CTA {}", barrier_name(machine_.barrier_names(), b.object), rank);
      sure = true;
      return why;
    }
    return {};
  }

  static constexpr const char* none_of_these = "-";

  // The others that this warp executed it on, where it may be on `b` as well: those of one array,
  // as far as names say so. `none_of_these`: it is of another.
  std::string elsewhere(const Cause::WaitedFor& b, const Actor& a, u32 pc, bool sure) const {
    if (b.of != Cause::WaitedFor::Of::mbarrier) return {};
    const Others names = others(b, a, pc);
    const auto kin = [&](const std::string& name) {
      return stem(name) == stem(b.name) || name.rfind("mbarrier ", 0) == 0;
    };
    if (!sure && !names.all.empty() && std::none_of(names.all.begin(), names.all.end(), kin)) {
      return none_of_these;
    }
    std::string out;
    for (const std::string& name : names.own) out += (out.empty() ? "" : ", ") + name;
    return out;
  }

  // At a barrier of the CTA or the cluster.
  static bool has_arrived(const Cause::WaitedFor& b, const Actor& a) {
    if (b.of == Cause::WaitedFor::Of::cluster)
      return (a.lanes & a.warp->live & ~a.warp->cluster_arrived) == 0;
    return a.split && a.split->wait == Wait::barrier && a.split->barrier == b.object;
  }

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
    const Missing& missing = missing_.at({b.rank, b.object, b.name});
    const ptx::Program& program = machine_.program();
    if (!missing.products) return {};
    const Block& block = *machine_.member(last_, b.rank);
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
    const ptx::Program& program = machine_.program();
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

  // Why the lanes of an actor do not come to it.
  struct One {
    const Actor* actor = nullptr;
    bool sure = false;
    Cause::NotCome why;
  };
  // Of lanes of one warp: those whom it is none of are left out where it is others'; else, where
  // their reasons differ, they are named.
  std::vector<One> reasons(const Cause::WaitedFor& b, const Signaller& s) {
    std::vector<One> all, out;
    for (const Actor& a : actors_) {
      bool sure = false;
      if (auto why = why_not(b, a, s, sure)) all.push_back({&a, sure, std::move(*why)});
    }
    const auto of_its_warp = [](const std::vector<One>& among, const One& one, auto is) {
      return std::any_of(among.begin(), among.end(), [&](const One& o) {
        return o.actor != one.actor && o.actor->warp == one.actor->warp && is(o.why);
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
        one.why.lanes = one.actor->lanes;
      }
    }
    return out;
  }

  void find_sources(std::size_t number) {
    Cause::WaitedFor& b = out_.barriers[number];
    const Mbarrier* const m = b.of == Cause::WaitedFor::Of::mbarrier ? mbarrier_of(b) : nullptr;
    std::vector<Cause::Source> certain, possible;
    for (const Signaller& s : signallers(b)) {
      Cause::Source sure_ones, other_ones;
      const Actor* first = nullptr;
      bool theirs = false;  // somebody comes, came or will come to it
      for (One& one : reasons(b, s)) {
        const bool closed = is_closed(one.why);
        if (!first || (one.sure && !closed && !theirs)) first = one.actor;
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
      out.opcode = opcode_text(machine_.program().code[s.pc].text);
      out.site = site(*first->block, *first->warp, first->lanes, s.pc);
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

  // ---- who waits for whom ----

  // Those barriers that stand before what `b` lacks: of the waits of who would bring it.
  std::vector<std::size_t> stands_before(std::size_t b) const {
    std::vector<std::size_t> out;
    for (const Cause::Source& s : out_.barriers[b].sources) {
      if (!s.certain || (out_.barriers[b].pending && !s.arrives)) continue;
      for (const Cause::NotCome& n : s.not_come) {
        if (n.why == Why::waits && n.waits_for != Cause::none &&
            !std::count(out.begin(), out.end(), n.waits_for)) {
          out.push_back(n.waits_for);
        }
      }
    }
    return out;
  }

  bool walk(std::size_t at, std::vector<std::size_t>& way, std::vector<char>& seen) {
    for (const std::size_t next : stands_before(at)) {
      const auto before = std::find(way.begin(), way.end(), next);
      if (before != way.end()) {
        out_.cycle.assign(before, way.end());
        return true;
      }
      if (seen[next]) continue;
      seen[next] = 1;
      way.push_back(next);
      if (walk(next, way, seen)) return true;
      way.pop_back();
    }
    return false;
  }

  void find_cycle() {
    std::vector<char> seen(out_.barriers.size(), 0);
    for (std::size_t b = 0; b < out_.barriers.size(); ++b) {
      if (seen[b]) continue;
      seen[b] = 1;
      std::vector<std::size_t> way{b};
      if (walk(b, way, seen)) return;
    }
  }

  Model& machine_;
  const Block& last_;
  const std::vector<WaitingSplit>& waiting_;
  const std::set<u32>& helpful_;
  Derivation derive_;
  std::map<std::tuple<u32, u32, std::string>, Missing> missing_;  // of Of::together
  std::vector<Actor> actors_;
  std::vector<Brought> brought_;
  Cause out_;
};

}  // namespace

std::shared_ptr<const DeadlockCause> cause_of(Model& machine, const Block& last,
                                              const std::vector<WaitingSplit>& waiting,
                                              const std::set<std::uint32_t>& helpful) {
  return Search(machine, last, waiting, helpful).run();
}

}  // namespace tilescope::sim
