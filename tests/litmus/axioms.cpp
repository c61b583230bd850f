#include "tests/litmus/axioms.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "tests/litmus/execution.h"
#include "tests/litmus/values.h"

namespace tilescope::litmus {
namespace {

using Does = Event::Does;

class Judge {
 public:
  explicit Judge(const Test& test)
      : test_(test), program_(events_of(test)), n_(static_cast<int>(program_.events.size())) {}

  Verdict run() {
    out_.mistake = program_.mistake;
    if (n_ > Relation::most) out_.mistake = fmt::format("it has {} events: at most 64", n_);
    check_barriers();
    if (!out_.mistake.empty()) return out_;
    const auto n = static_cast<std::size_t>(n_);
    c_.executed.assign(n, 1);
    c_.written.assign(n, 1);
    c_.from.assign(n, -1);
    c_.phase.assign(n, 0);
    given_phases();
    ways(0);
    if (out_.allowed.empty() && out_.mistake.empty()) {
      out_.mistake = "no execution comes to its end: a wait is never satisfied";
    }
    return out_;
  }

 private:
  const Event& e(int i) const { return program_.events[static_cast<std::size_t>(i)]; }
  bool on(int i) const { return c_.executed[static_cast<std::size_t>(i)]; }
  bool writes(int i) const {
    return on(i) && e(i).writes() && c_.written[static_cast<std::size_t>(i)];
  }
  int from(int i) const { return c_.from[static_cast<std::size_t>(i)]; }
  const Instruction& code(int i) const {
    return test_.threads[static_cast<std::size_t>(e(i).thread)]
        .instructions[static_cast<std::size_t>(e(i).instruction)];
  }

  // A barrier is used as often by each of the warps that it counts.
  void check_barriers() {
    std::map<std::pair<int, int>, std::map<int, int>> uses;
    std::map<std::pair<int, int>, std::uint32_t> warps;
    for (const Event& a : program_.events) {
      if (a.does != Does::arrive) continue;
      ++uses[{a.cta, a.key}][a.thread];
      std::uint32_t& count = warps[{a.cta, a.key}];
      count =
          std::max(count, a.count ? a.count : static_cast<std::uint32_t>(test_.threads_of(a.cta)));
    }
    for (const auto& use : uses) {
      bool same = use.second.size() == warps[use.first];
      for (const auto& thread : use.second) {
        same = same && thread.second == use.second.begin()->second;
      }
      if (!same) {
        out_.mistake = fmt::format(
            "barrier {} of CTA {} counts {} warps: as many threads must use it, equally often",
            use.first.second, use.first.first, warps[use.first]);
      }
    }
  }

  // A wait's phase follows from its parity: that of the first phase, or the one before it; then the
  // same as the thread's wait before, or the next.
  void given_phases() {
    std::map<std::pair<int, int>, int> last;
    for (int i = 0; i < n_; ++i) {
      if (e(i).does != Does::mbarrier_wait) continue;
      const auto before = last.find({e(i).thread, e(i).variable});
      int phase = e(i).key ? -1 : 0;
      if (before != last.end()) {
        const int parity = before->second & 1;
        phase = before->second + (parity != e(i).key);
      }
      last[{e(i).thread, e(i).variable}] = c_.phase[static_cast<std::size_t>(i)] = phase;
      phases_ = std::max(phases_, phase + 1);
    }
  }

  // Which instructions with a condition are executed, and which atom.cas writes.
  void ways(int i) {
    if (i == n_) return phases(0);
    const auto at = static_cast<std::size_t>(i);
    const bool choice = e(i).thread >= 0 && code(i).only_if.has_value();
    const bool cas = e(i).does == Does::update && code(i).has("cas");
    for (int executed = 1; executed >= (choice ? 0 : 1); --executed) {
      for (int written = 1; written >= (cas && executed ? 0 : 1); --written) {
        c_.executed[at] = static_cast<char>(executed);
        c_.written[at] = static_cast<char>(written);
        ways(i + 1);
      }
    }
    c_.executed[at] = c_.written[at] = 1;
  }

  // Which phase of its mbarrier an arrival or complete-tx belongs to.
  void phases(int i) {
    if (i == n_) {
      if (complete()) sources(0);
      return;
    }
    if ((e(i).does != Does::mbarrier_arrive && e(i).does != Does::expect) || phases_ == 0) {
      return phases(i + 1);
    }
    for (int p = 0; p <= phases_; ++p) {
      c_.phase[static_cast<std::size_t>(i)] = p;
      phases(i + 1);
    }
    c_.phase[static_cast<std::size_t>(i)] = 0;
  }

  // 9.7.13.15.6: a phase completes when all have arrived and all bytes are there; then the next
  // begins. What is waited for has to be complete.
  bool complete() const {
    for (std::size_t v = 0; v < test_.variables.size(); ++v) {
      if (test_.variables[v].kind != Variable::Kind::mbarrier) continue;
      std::uint32_t expected = test_.variables[v].initial;
      int waited = -1, last = -1;
      std::map<int, std::uint32_t> arrived, dropped;
      std::map<int, std::int64_t> bytes;
      for (int i = 0; i < n_; ++i) {
        if (e(i).variable != static_cast<int>(v)) continue;
        const int phase = c_.phase[static_cast<std::size_t>(i)];
        if (e(i).does == Does::init) expected = e(i).count;
        if (e(i).does == Does::mbarrier_wait) waited = std::max(waited, phase);
        if (e(i).does != Does::mbarrier_arrive && e(i).does != Does::expect) continue;
        arrived[phase] += e(i).does == Does::mbarrier_arrive ? e(i).count : 0;
        dropped[phase] += e(i).drops ? e(i).count : 0;
        bytes[phase] += e(i).bytes;
        last = std::max(last, phase);
      }
      for (int p = 0; p <= std::max(waited, last); ++p) {
        if (arrived[p] > expected) return false;
        const bool over = arrived[p] == expected && bytes[p] == 0;
        if (!over && (p <= waited || p < last)) return false;
        expected -= dropped[p];
      }
    }
    return true;
  }

  // Who reads from whom.
  void sources(int i) {
    if (i == n_) return fences();
    if (!on(i) || !e(i).reads()) return sources(i + 1);
    for (int w = 0; w < n_; ++w) {
      if (w == i || !writes(w) || e(w).variable != e(i).variable) continue;
      c_.from[static_cast<std::size_t>(i)] = w;
      sources(i + 1);
    }
    c_.from[static_cast<std::size_t>(i)] = -1;
  }

  // 8.9.3: Fence-SC order relates every pair of morally strong fence.sc.
  void fences() {
    const std::optional<Valuation> values = values_of(test_, program_, c_);
    if (!values) return;
    std::vector<std::pair<int, int>> pairs;
    for (int a = 0; a < n_; ++a) {
      for (int b = a + 1; b < n_; ++b) {
        if (e(a).does == Does::fence && e(b).does == Does::fence && e(a).order == Order::sc &&
            e(b).order == Order::sc && e(a).thread != e(b).thread &&
            morally_strong(test_, e(a), e(b))) {
          pairs.push_back({a, b});
        }
      }
    }
    for (std::uint32_t way = 0; way < 1u << pairs.size(); ++way) {
      c_.sc.clear();
      for (std::size_t p = 0; p < pairs.size(); ++p) {
        const bool turned = way >> p & 1;
        c_.sc.push_back(turned ? std::pair{pairs[p].second, pairs[p].first} : pairs[p]);
      }
      ordered(*values);
    }
  }

  void ordered(const Valuation& values) {
    const Orders o = orders_of(test_, program_, c_);
    // 8.10.2, Fence-SC: it is part of base causality order, which relates nothing to itself; so
    // what contradicts it is a circle.
    if (!o.base.irreflexive() || !o.phases.irreflexive()) return;
    // 8.10.1, Coherence; W0 comes first (8.2.6).
    Relation coherence(n_);
    std::vector<std::pair<int, int>> open;
    for (int a = 0; a < n_; ++a) {
      for (int b = 0; b < n_; ++b) {
        if (a == b || !writes(a) || !writes(b) || e(a).variable != e(b).variable) continue;
        if (e(a).thread < 0 || o.cause(a, b)) {
          coherence.add(a, b);
        } else if (a < b && e(b).thread >= 0 && !o.cause(b, a) &&
                   morally_strong(test_, e(a), e(b))) {
          open.push_back({a, b});
        }
      }
    }
    // 8.9.6: morally strong writes are related, one way or the other.
    if (open.size() > 16) {
      out_.mistake = "too many writes of one variable";
      return;
    }
    for (std::uint32_t way = 0; way < 1u << open.size(); ++way) {
      Relation co = coherence;
      for (std::size_t p = 0; p < open.size(); ++p) {
        way >> p & 1 ? co.add(open[p].second, open[p].first)
                     : co.add(open[p].first, open[p].second);
      }
      co.close();
      if (co.irreflexive() && permitted(o, co)) keep(values, o, co);
    }
  }

  bool permitted(const Orders& o, const Relation& co) const {
    Relation per_location(n_);
    for (int r = 0; r < n_; ++r) {
      if (!on(r) || !e(r).reads()) continue;
      const int source = from(r);
      // 8.10.6, Causality (1): a read that comes before a write does not read from it.
      if (o.cause(r, source)) return false;
      if (morally_strong(test_, e(source), e(r))) per_location.add(source, r);
      for (int w = 0; w < n_; ++w) {
        if (w == r || !writes(w) || !co(source, w)) continue;
        // r comes before w in communication order (8.9.7). (2): not if w comes before r.
        if (o.cause(w, r)) return false;
        if (morally_strong(test_, e(w), e(r))) per_location.add(r, w);
      }
    }
    // 8.10.5, Sequential consistency per location. An atomic operation being one event, 8.10.3,
    // Atomicity, is in it: no write gets between its read (before that write in communication
    // order) and its own write (behind it in coherence order).
    for (int a = 0; a < n_; ++a) {
      for (int b = 0; b < n_; ++b) {
        if (a == b || !on(a) || !on(b) || e(a).variable != e(b).variable) continue;
        const bool memory = (e(a).reads() || e(a).writes()) && (e(b).reads() || e(b).writes());
        if (!memory) continue;
        const bool po = a < b && e(a).thread >= 0 && e(a).thread == e(b).thread &&
                        e(a).issued_by < 0 && e(b).issued_by < 0;
        if (po || (co(a, b) && morally_strong(test_, e(a), e(b)))) per_location.add(a, b);
      }
    }
    return per_location.acyclic();
  }

  void keep(const Valuation& values, const Orders& o, const Relation& co) {
    std::vector<Values> outcomes(1);
    for (const Observed& x : test_.observed) {
      std::set<std::uint32_t> seen;
      if (x.thread >= 0) {
        seen.insert(values.registers[static_cast<std::size_t>(x.thread)][x.index]);
      } else {
        last_values(static_cast<int>(x.index), values, co, seen);
      }
      std::vector<Values> more;
      for (const Values& before : outcomes) {
        for (const std::uint32_t v : seen) {
          more.push_back(before);
          more.back().push_back(v);
        }
      }
      outcomes = std::move(more);
    }
    out_.allowed.insert(outcomes.begin(), outcomes.end());
    races(o);
  }

  // Of writes that coherence order does not relate any may be the last.
  void last_values(int variable, const Valuation& values, const Relation& co,
                   std::set<std::uint32_t>& out) const {
    for (int w = 0; w < n_; ++w) {
      if (!writes(w) || e(w).variable != variable) continue;
      bool last = true;
      for (int later = 0; later < n_; ++later) last = last && !co(w, later);
      if (last) out.insert(values.written[static_cast<std::size_t>(w)]);
    }
  }

  // 8.7.1: conflicting, not morally strong, and unrelated in causality order.
  void races(const Orders& o) {
    for (int a = 0; a < n_; ++a) {
      for (int b = a + 1; b < n_; ++b) {
        if (!on(a) || !on(b) || e(a).thread < 0 || !of_memory(e(a)) || !of_memory(e(b)) ||
            e(a).variable != e(b).variable) {
          continue;
        }
        const bool conflict =
            writes(a) || writes(b) || e(a).does == Does::init || e(b).does == Does::init;
        if (!conflict || morally_strong(test_, e(a), e(b)) || o.cause(a, b) || o.cause(b, a)) {
          continue;
        }
        Race r;
        r.variable = test_.variables[static_cast<std::size_t>(e(a).variable)].name;
        r.first = {e(a).thread, e(a).instruction};
        r.second = {e(b).thread, e(b).instruction};
        if (r.second < r.first) std::swap(r.first, r.second);
        if (r.first < r.second) out_.races.insert(r);
      }
    }
  }

  const Test& test_;
  const Program program_;
  const int n_;
  int phases_ = 0;  // that are waited for
  Choice c_;
  Verdict out_;
};

}  // namespace

Verdict judge(const Test& test) {
  return Judge(test).run();
}

}  // namespace tilescope::litmus
