#include "core/sim/checks/cause.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/sim/checks/cause_parts.h"

namespace tilescope::sim {
namespace {

// Who waits for whom, round to where it began.
class CycleOfWaits {
 public:
  explicit CycleOfWaits(DeadlockCause& cause) : out_(cause) {}
  void find() {
    std::vector<char> seen(out_.barriers.size(), 0);
    for (std::size_t b = 0; b < out_.barriers.size(); ++b) {
      if (seen[b]) continue;
      seen[b] = 1;
      std::vector<std::size_t> way{b};
      if (walk(b, way, seen)) return;
    }
  }

 private:
  // Those barriers that stand before what `b` lacks: of the waits of who would bring it.
  std::vector<std::size_t> stands_before(std::size_t b) const {
    std::vector<std::size_t> out;
    for (const DeadlockCause::Source& s : out_.barriers[b].sources) {
      if (!s.certain || (out_.barriers[b].pending && !s.arrives)) continue;
      for (const DeadlockCause::NotCome& n : s.not_come) {
        if (n.why == DeadlockCause::Why::waits && n.waits_for != DeadlockCause::none &&
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

  DeadlockCause& out_;
};

// Where nothing says who failed to come to an mbarrier, as no instruction arrives there or the
// waits go round: what those who wait elsewhere came to since they went on there last. Whoever
// should have arrived did so at none of these.
class WaysSince {
 public:
  explicit WaysSince(const causes::Search& search) : search_(search) {}

  std::string text() const {
    const Cause& out = search_.out;
    if (out.waiting.empty()) return "";
    const std::size_t root = out.waiting.front().waits_for;
    if (root == Cause::none || out.barriers[root].of != Cause::WaitedFor::Of::mbarrier) return "";
    const bool unknown =
        out.barriers[root].sources.empty() || !out.barriers[root].sources.front().certain;
    if (!unknown && out.cycle.empty()) return "";
    constexpr std::size_t most = 2;
    std::string text;
    std::vector<std::size_t> told;
    for (const Cause::Waiting& w : out.waiting) {
      if (told.size() == most) break;
      if (w.waits_for == Cause::none || std::count(told.begin(), told.end(), w.waits_for)) continue;
      if (out.barriers[w.waits_for].of != Cause::WaitedFor::Of::mbarrier) continue;
      if (unknown && w.waits_for == root) continue;
      if (!unknown && !std::count(out.cycle.begin(), out.cycle.end(), w.waits_for)) continue;
      const std::string own = of(w);
      if (own.empty()) continue;
      text += own;
      told.push_back(w.waits_for);
    }
    return text;
  }

 private:
  using Cause = DeadlockCause;
  using u32 = std::uint32_t;

  // Does it bring others on, or wait for them?
  bool is_step(u32 pc) const {
    const ptx::Instruction& i = search_.machine.program().code[pc];
    const ptx::TensorStep step = i.modifiers.tensor_step();
    return i.op == ptx::Op::mbarrier || i.op == ptx::Op::bar || i.op == ptx::Op::barrier ||
           i.op == ptx::Op::fence || step == ptx::TensorStep::commit ||
           step == ptx::TensorStep::before_thread_sync ||
           i.modifiers.group_step() == ptx::GroupStep::wait_group;
  }

  std::string of(const Cause::Waiting& w) const {
    const Block& block = *search_.machine.member(search_.last, w.warps.rank);
    const Warp& warp = block.warps[static_cast<std::size_t>(__builtin_ctzll(w.warps.mask))];
    // The wait there that it passed last.
    u32 passed = w.pc;
    const auto b = block.mbarriers.find(search_.out.barriers[w.waits_for].object);
    if (b != block.mbarriers.end() && block.order.on()) {
      const Agent me = block.order.of(warp.index).me();
      for (const PassedWait& before : b->second.waited) {
        if (before.agent == me) passed = before.pc;
      }
    }
    const auto at = std::find_if(warp.visited.begin(), warp.visited.end(),
                                 [&](const Visited& v) { return v.pc == passed; });
    const bool came = passed != w.pc && at != warp.visited.end();
    std::vector<u32> steps;
    for (auto v = came ? at + 1 : warp.visited.begin(); v != warp.visited.end(); ++v) {
      if (v->executed && v->pc != w.pc && is_step(v->pc)) steps.push_back(v->pc);
    }
    constexpr std::ptrdiff_t most = 8;
    const auto count = static_cast<std::ptrdiff_t>(steps.size());
    if (count > most && came) steps.erase(steps.begin() + most - 2, steps.end() - 2);
    if (count > most && !came) steps.erase(steps.begin(), steps.end() - most);
    std::string text;
    for (const u32 pc : steps) {
      text += text.empty() ? "" : ", ";
      text += fmt::format("{} at {}", opcode_text(search_.machine.program().code[pc].text),
                          place_text(search_.machine.site(block, warp.index * 32, pc)));
    }
    if (text.empty()) return "";
    return fmt::format(" {} of those who wait for {} came {}to: {}.", warp_text(w, warp.index),
                       search_.out.barriers[w.waits_for].name,
                       came ? "since it went on there last " : "last ", text);
  }

  std::string warp_text(const Cause::Waiting& w, u32 index) const {
    return fmt::format("Warp {}{}", index,
                       search_.out.cluster_size > 1 ? fmt::format(" of CTA {}", w.warps.rank) : "");
  }

  const causes::Search& search_;
};

}  // namespace

std::shared_ptr<const DeadlockCause> cause_of(Model& machine, const Block& last,
                                              const std::vector<WaitingSplit>& waiting,
                                              const std::set<std::uint32_t>& helpful) {
  causes::Search search{machine, last, waiting, helpful, Derivation(machine), {}, {}, {}, {}};
  search.out.cluster_size = machine.cluster_size;
  causes::find_waits(search);
  causes::find_sources(search);
  CycleOfWaits(search.out).find();
  search.out.sentence = first_cause_text(search.out) + WaysSince(search).text();
  return std::make_shared<const DeadlockCause>(std::move(search.out));
}

}  // namespace tilescope::sim
