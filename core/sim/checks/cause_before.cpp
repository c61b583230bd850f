// What instructions have done so far: on the barrier that is asked of, and on others.
#include <fmt/format.h>

#include <algorithm>

#include "core/sim/checks/cause_parts.h"

namespace tilescope::sim::causes {
namespace {

// "full" of "full[1] of CTA 0".
std::string_view stem(std::string_view name) {
  return name.substr(0, name.find_first_of("[ "));
}

// Of a block's mbarriers, one that an instruction of a warp was on.
struct OnOther {
  u32 offset = 0;
  const Visits* by = nullptr;
};

}  // namespace

const Visits* visits_of(const Mbarrier* b, const Party& a, u32 pc) {
  if (!b) return nullptr;
  for (const Visits& v : b->visits) {
    if (v.rank == a.block->rank && v.warp == a.warp->index && v.pc == pc) return &v;
  }
  return nullptr;
}

Stood stood_at(const Search& search, const Party& a, u32 pc) {
  Stood out;
  const std::vector<Visited>& all = a.warp->visited;
  out.known = brings_others_on(search.machine.program(), pc) && all.size() < Warp::most_visited;
  for (const Visited& v : all) {
    if (v.pc == pc) out = {true, v.executed, v.kept_out};
  }
  return out;
}

Mask took_part(const Search& search, const Visits& v, const Party& a) {
  return (v.ever | stood_at(search, a, v.pc).executed) & a.lanes;
}

Others others(const Search& search, const Cause::WaitedFor& b, const Party& a, u32 pc) {
  Others out;
  const ptx::Program& program = search.machine.program();
  const auto same_line = [&](u32 other) {
    const ptx::Instruction &x = program.code[other], &y = program.code[pc];
    return x.source_line != 0 && x.op == y.op && x.source_line == y.source_line &&
           x.file == y.file && x.caller_line == y.caller_line && x.caller_file == y.caller_file;
  };
  const auto add = [&](const Brought& x, bool was) {
    if (x.rank == b.rank && x.offset == b.object) return;
    if (x.by.pc != pc && !same_line(x.by.pc)) return;
    std::string name = barrier_name(search.machine.barrier_names(), x.offset);
    if (x.rank != b.rank) name += fmt::format(" of CTA {}", x.rank);
    if (!std::count(out.all.begin(), out.all.end(), name)) out.all.push_back(name);
    const bool its = x.by.pc == pc && x.by.rank == a.block->rank && x.by.warp == a.warp->index &&
                     took_part(search, x.by, a);
    if (its && !std::count(out.own.begin(), out.own.end(), name)) out.own.push_back(name);
    if (its && was && !std::count(out.been.begin(), out.been.end(), name)) out.been.push_back(name);
  };
  for (u32 rank = 0; rank < search.machine.cluster_size; ++rank) {
    for (const auto& [offset, m] : search.machine.member(search.last, rank)->mbarriers) {
      for (const Visits& v : m.visits) add({rank, offset, v}, true);
    }
  }
  for (const Brought& x : search.brought) add(x, false);
  return out;
}

bool would_bring(const Search& search, const Cause::WaitedFor& b, const Party& a, u32 pc) {
  return std::any_of(search.brought.begin(), search.brought.end(), [&](const Brought& x) {
    return x.rank == b.rank && x.offset == b.object && x.by.rank == a.block->rank &&
           x.by.warp == a.warp->index && x.by.pc == pc;
  });
}

std::optional<Cause::NotCome> on_another_cta(const Search& search, const Cause::WaitedFor& b,
                                             const Party& a, const Signaller& s, bool& sure) {
  if (b.of != Cause::WaitedFor::Of::mbarrier || !s.by_rank || search.machine.cluster_size < 2)
    return {};
  const bool reaches = search.machine.program().code[s.pc].modifiers.reaches_cluster();
  for (u32 rank = 0; rank < search.machine.cluster_size; ++rank) {
    const Mbarriers& all = search.machine.member(search.last, rank)->mbarriers;
    const auto at = all.find(b.object);
    if (rank == b.rank || at == all.end()) continue;
    const Visits* const v = visits_of(&at->second, a, s.pc);
    if (!v || !took_part(search, *v, a)) continue;
    // Of one that goes to its own CTA alone: where nobody has ever waited.
    const auto asked = [](const Knowledge& k) { return k.phases != 0; };
    const auto& known = at->second.known;
    if (!reaches && (!at->second.waiting.empty() || std::any_of(known.begin(), known.end(), asked)))
      continue;
    Cause::NotCome why;
    why.why = Why::elsewhere;
    why.warps = {a.block->rank, u64{1} << a.warp->index};
    why.detail =
        fmt::format("{} of CTA {}", barrier_name(search.machine.barrier_names(), b.object), rank);
    sure = true;
    return why;
  }
  return {};
}

std::string elsewhere(const Search& search, const Cause::WaitedFor& b, const Party& a, u32 pc,
                      bool sure) {
  if (b.of != Cause::WaitedFor::Of::mbarrier) return {};
  const Others names = others(search, b, a, pc);
  const auto kin = [&](const std::string& name) {
    return stem(name) == stem(b.name) || name.rfind("mbarrier ", 0) == 0;
  };
  if (!sure && !names.all.empty() && std::none_of(names.all.begin(), names.all.end(), kin)) {
    return none_of_these;
  }
  std::string out;
  for (const std::string& name : names.been) out += (out.empty() ? "" : ", ") + name;
  return out;
}

std::string left_out_for(const Search& search, const Cause::WaitedFor& b, const Party& a, u32 pc) {
  if (b.of != Cause::WaitedFor::Of::mbarrier) return {};
  const Block& block = *search.machine.member(search.last, b.rank);
  const Visits* const own = visits_of(search.mbarrier_of(b), a, pc);
  if (own && (own->phase == b.phase || !took_part(search, *own, a))) return {};
  const u64 last = own ? own->when : 0;
  std::vector<OnOther> all, since;
  for (const auto& [offset, m] : block.mbarriers) {
    const Visits* const v = offset == b.object ? nullptr : visits_of(&m, a, pc);
    if (!v || !took_part(search, *v, a)) continue;
    all.push_back({offset, v});
    if (v->when > last) since.push_back({offset, v});
  }
  // Once round, whoever goes round is on each of them once.
  const bool round = std::any_of(since.begin(), since.end(), [&](const OnOther& o) {
    return o.by->phases > 1 && o.by->when_before > last;
  });
  // Or it goes from each to the one behind it, and is on one behind `b` in this phase.
  const bool in_order =
      all.size() > 1 && std::is_sorted(all.begin(), all.end(), [](const auto& x, const auto& y) {
        return std::pair(x.by->phase, x.by->when) < std::pair(y.by->phase, y.by->when);
      });
  const bool behind = in_order && std::any_of(since.begin(), since.end(), [&](const OnOther& o) {
                        return o.offset > b.object && o.by->phase == b.phase;
                      });
  if (!round && !behind) return {};
  std::sort(since.begin(), since.end(),
            [](const OnOther& x, const OnOther& y) { return x.by->when < y.by->when; });
  std::string out;
  for (const OnOther& o : since) {
    out += (out.empty() ? "" : ", ") + barrier_name(search.machine.barrier_names(), o.offset);
  }
  return out;
}

}  // namespace tilescope::sim::causes
