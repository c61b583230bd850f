#include "tests/litmus/execution.h"

#include <map>
#include <tuple>

namespace tilescope::litmus {
namespace {

using Does = Event::Does;

bool of_mbarrier(const Event& e) {
  return e.does == Does::init || e.does == Does::mbarrier_arrive || e.does == Does::mbarrier_wait ||
         e.does == Does::expect || e.does == Does::poll;
}

// 8.5: does the scope of an operation of CTA `of` include a thread of CTA `cta`? All CTAs are of
// one GPU.
bool includes(const Test& test, Scope scope, int of, int cta) {
  switch (scope) {
    case Scope::none:
      return false;
    case Scope::cta:
      return of == cta;
    case Scope::cluster:
      return of / test.cluster == cta / test.cluster;
    default:
      return true;
  }
}

bool in_program_order(const Event& a, const Event& b) {
  return a.thread >= 0 && a.thread == b.thread && a.issued_by < 0 && b.issued_by < 0;
}

class Maker {
 public:
  Maker(const Test& test, const Program& program, const Choice& choice)
      : test_(test),
        events_(program.events),
        program_(program),
        choice_(choice),
        n_(static_cast<int>(program.events.size())),
        out_(n_) {}

  Orders make() {
    observation();
    base();
    out_.base.close();
    phases();
    before();
    cause();
    return std::move(out_);
  }

 private:
  const Event& e(int i) const { return events_[static_cast<std::size_t>(i)]; }
  bool on(int i) const { return choice_.executed[static_cast<std::size_t>(i)]; }
  int from(int i) const { return choice_.from[static_cast<std::size_t>(i)]; }
  int phase(int i) const { return choice_.phase[static_cast<std::size_t>(i)]; }
  bool writes(int i) const { return e(i).writes() && choice_.written[static_cast<std::size_t>(i)]; }
  bool strong(int a, int b) const { return morally_strong(test_, e(a), e(b)); }
  bool po(int a, int b) const { return a < b && in_program_order(e(a), e(b)); }

  // 8.9.2: from a write to a read that reads it, morally strong; through atomic operations on.
  void observation() {
    for (int r = 0; r < n_; ++r) {
      for (int w = r; on(r) && e(r).reads() && w >= 0;) {
        const int source = from(w);
        if (source < 0 || e(source).thread < 0 || !strong(source, w)) break;
        out_.observed.add(source, r);
        w = e(source).does == Does::update ? source : -1;
      }
    }
  }

  void base() {
    for (int a = 0; a < n_; ++a) {
      for (int b = 0; b < n_; ++b) {
        if (on(a) && on(b) && (po(a, b) || (e(a).thread < 0 && e(b).thread >= 0))) {
          out_.base.add(a, b);
        }
      }
    }
    for (const auto& edge : program_.after) out_.base.add(edge.first, edge.second);
    for (const auto& edge : choice_.sc) out_.base.add(edge.first, edge.second);  // 8.9.4 (1)
    barriers();
    cluster_barriers();
    patterns();
    mbarriers();
  }

  // 8.9.4 (2): bar.sync and bar.arrive with bar.sync on the same barrier. The kth use of a thread
  // belongs to the kth time that it completes.
  void barriers() {
    std::map<std::tuple<int, int, int>, std::pair<std::vector<int>, std::vector<int>>> uses;
    std::map<std::tuple<int, int, Does>, int> count;
    for (int i = 0; i < n_; ++i) {
      if (e(i).does != Does::arrive && e(i).does != Does::wait) continue;
      const bool arrives = e(i).does == Does::arrive;
      // A wait has the number of the arrival before it.
      int& k = count[{e(i).thread, e(i).key, Does::arrive}];
      auto& use = uses[{e(i).cta, e(i).key, arrives ? k++ : k - 1}];
      (arrives ? use.first : use.second).push_back(i);
    }
    for (const auto& use : uses) {
      for (const int a : use.second.first) {
        for (const int w : use.second.second) out_.base.add(a, w);
      }
    }
  }

  // 8.9.4 (3), and 9.7.13.3: with .relaxed the arrival promises nothing, but for what a fence
  // before it releases; fence.mbarrier_init releases what mbarrier.init did, and nothing else.
  void cluster_barriers() {
    std::map<int, int> count;
    std::map<std::pair<int, int>, std::vector<int>> arrivals;
    for (int i = 0; i < n_; ++i) {
      const std::pair<int, int> key{e(i).cta / test_.cluster, count[e(i).thread]};
      if (e(i).does == Does::cluster_arrive) {
        if (e(i).releases()) arrivals[key].push_back(i);
        for (int f = 0; f < i; ++f) {
          if (po(f, i)) released(f, i, arrivals[key]);
        }
      }
      if (e(i).does == Does::cluster_wait) ++count[e(i).thread];
    }
    count.clear();
    for (int i = 0; i < n_; ++i) {
      if (e(i).does != Does::cluster_wait) continue;
      for (const int a : arrivals[{e(i).cta / test_.cluster, count[e(i).thread]++}]) {
        out_.base.add(a, i);
      }
    }
  }
  void released(int f, int arrival, std::vector<int>& by) const {
    const Event& fence = e(f);
    if (fence.does == Does::fence && fence.releases() && fence.scope >= Scope::cluster) {
      by.push_back(f);
    }
    if (fence.does != Does::init) return;
    for (int i = f; i < arrival; ++i) {
      if (e(i).does == Does::init_fence && po(f, i)) by.push_back(f);
    }
  }

  // 8.8 and 8.9.4 (4): a release pattern (its first operation, the write) synchronizes with an
  // acquire pattern (the read, its last operation).
  void patterns() {
    for (int w = 0; w < n_; ++w) {
      if (!on(w) || !writes(w) || !e(w).strong() || e(w).issued_by >= 0) continue;
      for (int r = 0; r < n_; ++r) {
        if (!out_.observed(w, r) || !e(r).strong() || e(r).reduction || e(r).issued_by >= 0) {
          continue;
        }
        for (const int first : begins_release(w)) {
          for (const int last : ends_acquire(r)) {
            if (strong(first, last)) out_.base.add(first, last);
          }
        }
      }
    }
  }
  std::vector<int> begins_release(int w) const {
    std::vector<int> out;
    if (e(w).releases()) out.push_back(w);
    for (int i = 0; i < w; ++i) {
      if (!on(i) || !po(i, w) || !e(i).releases()) continue;
      const bool same = (e(i).writes() || of_mbarrier(e(i))) && e(i).variable == e(w).variable;
      if (e(i).does == Does::fence || same) out.push_back(i);
    }
    return out;
  }
  std::vector<int> ends_acquire(int r) const {
    std::vector<int> out;
    if (e(r).acquires()) out.push_back(r);
    for (int i = r + 1; i < n_; ++i) {
      if (!on(i) || !po(r, i) || !e(i).acquires()) continue;
      const bool same = ((e(i).reads() && !e(i).reduction) || of_mbarrier(e(i))) &&
                        e(i).variable == e(r).variable;
      if (e(i).does == Does::fence || same) out.push_back(i);
    }
    return out;
  }

  // An arrival is a strong write of its mbarrier, a wait that returned True a strong read that
  // observes all arrivals of the phase that it has waited for (9.7.13.15.13, .16). The mbarrier
  // counts them whatever their scopes are, so these matter only between arrival and wait.
  void mbarriers() {
    for (int a = 0; a < n_; ++a) {
      if (!on(a) || e(a).does != Does::mbarrier_arrive) continue;
      for (int w = 0; w < n_; ++w) {
        if (!on(w) || e(w).does != Does::mbarrier_wait || e(w).variable != e(a).variable) continue;
        if (phase(a) != phase(w)) continue;
        std::vector<int> firsts{};
        if (e(a).issued_by >= 0) {
          firsts.push_back(a);
        } else {
          firsts = begins_release(a);
        }
        for (const int first : firsts) {
          for (const int last : ends_acquire(w)) {
            if (strong(first, last)) out_.base.add(first, last);
          }
        }
      }
    }
  }

  // A phase follows the one before: in the order of base causality nothing that counts for a phase
  // comes before what counts for an earlier one, nor a wait before what it has waited for.
  void phases() {
    out_.phases = out_.base;
    for (int a = 0; a < n_; ++a) {
      if (!on(a) || !counts(a)) continue;
      // What comes before the instruction that issued it comes before it as well.
      if (e(a).issued_by >= 0) out_.phases.add(e(a).issued_by, a);
      for (int b = 0; b < n_; ++b) {
        if (!on(b) || e(b).variable != e(a).variable) continue;
        const bool later = counts(b) && phase(b) > phase(a);
        const bool waits = e(b).does == Does::mbarrier_wait && phase(b) >= phase(a);
        if (later || waits) out_.phases.add(a, b);
      }
    }
    out_.phases.close();
  }
  bool counts(int i) const {
    return e(i).does == Does::mbarrier_arrive || e(i).does == Does::expect;
  }

  // 8.9.1.1: asynchronous operations are ordered after prior instructions of their thread, and what
  // is ordered behind them is not therefore ordered behind these.
  void before() {
    out_.before = out_.base;
    for (int a = 0; a < n_; ++a) {
      if (e(a).issued_by < 0) continue;
      for (int x = 0; x < n_; ++x) {
        if (out_.base(x, e(a).issued_by)) out_.before.add(x, a);
      }
    }
  }

  // Is there a fence.proxy.async on the way from x to the issue of y, that the variable is of?
  bool fenced(int x, int y) const {
    const Event& to = e(y);
    const int end = to.issued_by >= 0 ? to.issued_by : y;
    for (int f = 0; f < n_; ++f) {
      if (!on(f) || e(f).does != Does::proxy_fence || !out_.base(x, f) || !out_.base(f, end))
        continue;
      const Variable& v = test_.variables[static_cast<std::size_t>(to.variable)];
      const std::string& space = e(f).space;
      if (space.empty() || (v.kind == Variable::Kind::global
                                ? space == "global"
                                : (space == "shared::cta" && v.cta == e(f).cta) ||
                                      (space == "shared::cluster" &&
                                       v.cta / test_.cluster == e(f).cta / test_.cluster))) {
        return true;
      }
    }
    return false;
  }

  // 8.9.5, proxy-preserved base causality order; of the async proxy 9.7.9.25.2.
  bool preserved(int x, int y) const {
    if (!out_.before(x, y)) return false;
    const Event &a = e(x), &b = e(y);
    if (a.thread < 0) return true;  // W0
    if (!a.async_proxy && !b.async_proxy) return true;
    if (a.async_proxy && b.async_proxy) return a.cta == b.cta || fenced(x, y);
    // Its completion is followed by an implicit proxy fence, and nothing is ordered behind an
    // operation but by its completion.
    if (a.async_proxy) return true;
    return fenced(x, y);
  }

  void cause() {
    for (int x = 0; x < n_; ++x) {
      for (int y = 0; y < n_; ++y) {
        if (x == y || !on(x) || !on(y) || !of_memory(e(x)) || !of_memory(e(y))) continue;
        if (e(x).variable != e(y).variable || !preserved(x, y)) continue;
        out_.cause.add(x, y);
        for (int w = 0; w < n_; ++w) {
          if (w != y && out_.observed(w, x)) out_.cause.add(w, y);
        }
      }
    }
  }

  const Test& test_;
  const std::vector<Event>& events_;
  const Program& program_;
  const Choice& choice_;
  const int n_;
  Orders out_;
};

}  // namespace

bool of_memory(const Event& e) {
  return e.reads() || e.writes() || of_mbarrier(e);
}

bool morally_strong(const Test& test, const Event& a, const Event& b) {
  if (a.async_proxy != b.async_proxy) return false;
  if (of_memory(a) && of_memory(b) && a.variable != b.variable) return false;
  if (in_program_order(a, b)) return true;
  return a.strong() && b.strong() && includes(test, a.scope, a.cta, b.cta) &&
         includes(test, b.scope, b.cta, a.cta);
}

Orders orders_of(const Test& test, const Program& program, const Choice& choice) {
  return Maker(test, program, choice).make();
}

}  // namespace tilescope::litmus
