// The engine of core/sim/order beside what it stands for: random runs, of which each event knows
// the set of those before it, by edges as PTX ISA 8.8 and 8.9 tell them.
#include <gtest/gtest.h>

#include <bitset>
#include <random>
#include <string>
#include <vector>

#include "core/sim/order/shadow.h"

namespace tilescope::sim {
namespace {

using u32 = std::uint32_t;
using Kind = Shadow::Kind;

constexpr std::size_t most_events = 160;
using Before = std::bitset<most_events>;

// Warp w is in block w / 2; blocks 0 and 1 are a cluster, as are 2 and 3.
constexpr u32 warps = 6, tokens = 3;
Home home_of(u32 warp) {
  return {warp / 2, warp / 4};
}
bool reaches(Scope scope, u32 from, u32 to) {
  if (scope == Scope::cta) return from / 2 == to / 2;
  if (scope == Scope::cluster) return from / 4 == to / 4;
  return true;
}

enum class What {
  touch,
  release,
  acquire,
  relaxed_release,
  relaxed_acquire,
  fence,
  barrier,
  proxy
};

struct Event {
  What what = What::touch;
  u32 warp = 0, token = 0, begin = 0, end = 0;
  Scope scope = Scope::gpu;
  Kind kind = Kind::read;
  bool strong = false;
  Before before;
};

// What PTX says, from the events alone.
class Reference {
 public:
  // The number of the event, with all that is before it.
  std::size_t add(Event e) {
    const std::size_t me = events_.size();
    for (std::size_t i = 0; i < me; ++i) {
      if (events_[i].warp == e.warp) follow(e, i);
      if (e.what == What::acquire && tells(i, e.token)) synchronise(e, i, e.scope, e.warp, e.scope);
      if (e.what == What::fence && events_[i].warp == e.warp &&
          events_[i].what == What::relaxed_acquire) {
        for (std::size_t r = 0; r < i; ++r) {
          if (tells(r, events_[i].token)) synchronise(e, r, events_[i].scope, e.warp, e.scope);
        }
      }
      if (e.what == What::barrier && events_[i].warp / 2 == e.warp / 2) follow(e, i);
    }
    events_.push_back(e);
    return me;
  }
  // All warps of the block have come: each goes on behind what all did.
  void end_barrier(u32 block) {
    Event all;
    for (std::size_t i = 0; i < events_.size(); ++i) {
      if (events_[i].warp / 2 == block) follow(all, i);
    }
    for (u32 w = 2 * block; w < 2 * block + 2; ++w) {
      all.what = What::barrier;
      all.warp = w;
      events_.push_back(all);
    }
  }
  bool races(std::size_t later) const {
    const Event& b = events_[later];
    for (std::size_t i = 0; i < later; ++i) {
      const Event& a = events_[i];
      if (a.what != What::touch || a.end <= b.begin || b.end <= a.begin) continue;
      if (a.kind == Kind::read && b.kind == Kind::read) continue;
      const bool moral = a.strong && b.strong && reaches(a.scope, a.warp, b.warp) &&
                         reaches(b.scope, b.warp, a.warp);
      if (!moral && !b.before[i]) return true;
    }
    return false;
  }
  // Is there a fence.proxy.async behind event i and before what comes next in `warp`?
  bool told(std::size_t i, u32 warp) const {
    Event now;
    now.warp = warp;
    for (std::size_t k = 0; k < events_.size(); ++k) {
      if (events_[k].warp == warp) now.before |= events_[k].before, now.before[k] = true;
    }
    for (std::size_t k = 0; k < events_.size(); ++k) {
      if (events_[k].what == What::proxy && now.before[k] && events_[k].before[i]) return true;
    }
    return false;
  }
  std::size_t size() const { return events_.size(); }
  const Event& operator[](std::size_t i) const { return events_[i]; }

 private:
  void follow(Event& e, std::size_t i) const {
    e.before |= events_[i].before;
    e.before[i] = true;
  }
  bool tells(std::size_t i, u32 token) const {
    const Event& e = events_[i];
    return e.token == token && (e.what == What::release || e.what == What::relaxed_release);
  }
  // `e` ends an acquire pattern of `reader`, whose read had the scope `read`, of release i.
  void synchronise(Event& e, std::size_t i, Scope read, u32 reader, Scope last) const {
    const Event& r = events_[i];
    if (!reaches(r.scope, r.warp, reader) || !reaches(read, reader, r.warp) ||
        !reaches(last, reader, r.warp)) {
      return;
    }
    if (r.what == What::release) return follow(e, i);
    for (std::size_t f = 0; f < i; ++f) {
      const Event& fence = events_[f];
      if (fence.what == What::fence && fence.warp == r.warp &&
          reaches(fence.scope, r.warp, reader)) {
        follow(e, f);
      }
    }
  }

  std::vector<Event> events_;
};

struct Engine {
  // `own`: the memory is block 0's alone, whose reads are gathered.
  explicit Engine(bool own) : own_(own) {
    for (u32 w = 0; w < warps; ++w) who[w].start({w / 2, w % 2}, home_of(w));
    shadow.start(12, !own);
    if (own) shadow.gather_reads();
  }
  Shadow::Touch touch_of(const Event& e) const {
    Shadow::Touch t;
    t.kind = e.kind;
    t.strong = e.strong;
    t.scope = e.scope;
    t.agent = who[e.warp].me();
    t.home = home_of(e.warp);
    t.epoch = who[e.warp].epoch();
    t.pc = e.begin % 2;
    return t;
  }
  bool touch(const Event& e) {
    if (own_ && e.kind == Kind::read && !e.strong) {
      const Shadow::EvenRead read{e.begin, 0, 0, e.end - e.begin, 1, {e.begin}, {e.end}};
      if (Shadow::Touch* const touch = shadow.gather(who[e.warp], read)) {
        *touch = touch_of(e);
        ++gathered;
        return false;
      }
    }
    Shadow::Pass pass(shadow, who[e.warp], completions, touch_of(e));
    return pass.touch(e.begin, e.end);
  }
  bool would_race(const Event& e) const {
    Shadow asked = shadow;
    Shadow::Pass pass(asked, who[e.warp], completions, touch_of(e));
    return pass.touch(e.begin, e.end);
  }
  void apply(const Event& e) {
    Observer& me = who[e.warp];
    switch (e.what) {
      case What::release:
        return me.release(token[e.token], e.scope, {});
      case What::acquire:
        return me.acquire(token[e.token], e.scope, {});
      case What::relaxed_release:
        return me.release_relaxed(token[e.token], e.scope, {});
      case What::relaxed_acquire:
        return me.acquire_relaxed(token[e.token], e.scope, {});
      case What::fence:
        me.fence_acquire(e.scope, {});
        return me.fence_release(e.scope, {});
      case What::proxy:
        return me.fence_proxy(~0u);
      default:
        return;
    }
  }
  void barrier(u32 block) {
    View all;
    for (u32 w = 2 * block; w < 2 * block + 2; ++w) who[w].release(all);
    for (u32 w = 2 * block; w < 2 * block + 2; ++w) who[w].acquire(all);
    if (own_ && block == 0) shadow.forget_reads([](u32 pc) { return pc == 1; });
  }

  Observer who[warps];
  Token token[tokens];
  Completions completions;
  Shadow shadow;
  std::size_t gathered = 0;  // without a Pass

 private:
  bool own_ = false;
};

std::string name(const Event& e) {
  static const char* const what[] = {"touch",           "release", "acquire", "relaxed release",
                                     "relaxed acquire", "fence",   "barrier", "proxy fence"};
  return std::string(what[static_cast<int>(e.what)]) + " warp " + std::to_string(e.warp) +
         " token " + std::to_string(e.token) + " scope " +
         std::to_string(static_cast<int>(e.scope)) + " bytes " + std::to_string(e.begin) + "-" +
         std::to_string(e.end) + " kind " + std::to_string(static_cast<int>(e.kind)) +
         (e.strong ? " strong" : "");
}

class Trace {
 public:
  Trace(u32 seed, bool own) : draw_(seed), own_(own), engine_(own) {}

  // Until the first race. Answers how many events there were.
  std::size_t go(u32& races) {
    while (reference_.size() < most_events - 4) {
      const Event e = next();
      if (e.what == What::barrier) {
        engine_.barrier(e.warp / 2);
        reference_.end_barrier(e.warp / 2);
        continue;
      }
      const u32 epoch = engine_.who[e.warp].epoch();
      // Most that would race are only asked about, so that runs get long.
      if (e.what == What::touch && below(12)) {
        Reference asked = reference_;
        const bool would = asked.races(asked.add(e));
        EXPECT_EQ(engine_.would_race(e), would) << story_ << "asked: " << name(e);
        if (would) continue;
      }
      const std::size_t me = reference_.add(e);
      story_ += name(e) + "\n";
      epochs_.resize(me + 1);
      epochs_[me] = epoch;
      if (e.what != What::touch) {
        engine_.apply(e);
        compare_told(draw_() % warps);
        if (testing::Test::HasFailure()) return me;
        continue;
      }
      if (below(8) == 0) engine_.shadow.compact();
      const bool expected = reference_.races(me);
      const bool found = engine_.touch(e);
      EXPECT_EQ(found, expected) << story_;
      races += expected;
      if (expected || found) return me;
    }
    return reference_.size();
  }
  std::size_t gathered() const { return engine_.gathered; }

 private:
  u32 below(u32 n) { return static_cast<u32>(draw_()) % n; }

  Event next() {
    Event e;
    e.warp = below(warps);
    e.scope = static_cast<Scope>(below(4));
    e.token = below(tokens);
    const u32 what = below(20);
    if (what == 0) {
      e.what = What::barrier;
    } else if (what <= 2) {
      e.what = What::proxy;
    } else if (what <= 12) {
      static const What kinds[] = {What::release, What::acquire, What::relaxed_release,
                                   What::relaxed_acquire, What::fence};
      e.what = kinds[below(5)];
    } else {
      if (own_) e.warp = below(2);
      e.begin = below(8);
      e.end = e.begin + 1 + below(4);
      e.kind = static_cast<Kind>(below(3));
      // Reads are frequent, and what is strong meets what is weak.
      if (below(3)) e.kind = Kind::read;
      e.strong = e.kind == Kind::atomic || below(3) == 0;
    }
    return e;
  }

  void compare_told(u32 warp) {
    for (std::size_t i = 0; i < reference_.size() && i < epochs_.size(); ++i) {
      const Event& e = reference_[i];
      if (e.what != What::touch || e.warp == warp) continue;
      EXPECT_EQ(engine_.who[warp].is_told(engine_.who[e.warp].me(), epochs_[i]),
                reference_.told(i, warp))
          << story_ << "event " << i << ", warp " << warp;
    }
  }

  std::mt19937 draw_;
  bool own_ = false;
  Engine engine_;
  Reference reference_;
  std::vector<u32> epochs_;
  std::string story_;
};

// Runs are long, some end in a race, and some are without one.
void try_random_runs(bool own, u32 least_races, u32 least_quiet) {
  u32 races = 0, quiet = 0;
  std::size_t events = 0, gathered = 0;
  for (u32 seed = 0; seed < 4000 && !testing::Test::HasFailure(); ++seed) {
    const u32 before = races;
    Trace trace(seed, own);
    events += trace.go(races);
    gathered += trace.gathered();
    quiet += races == before;
  }
  EXPECT_GT(races, least_races);
  EXPECT_GT(quiet, least_quiet);
  EXPECT_GT(events, 4000u * 6);
  if (own) {
    EXPECT_GT(gathered, 4000u);
  }
}

TEST(Order, RandomRunsRaceWhereTheirEdgesSaySo) {
  try_random_runs(false, 2000, 500);
}

TEST(Order, AndSoTheyDoWhereReadsAreOnlyGathered) {
  try_random_runs(true, 2000, 500);
}

}  // namespace
}  // namespace tilescope::sim
