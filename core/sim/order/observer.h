// Who has been told of what: PTX's causality order (PTX ISA 8.9.5, "Causality order"), as vector
// clocks.
//
//   Observer   a warp: what it has seen of others, and what of that the async proxy knows
//   Token      what was released at one place: a flag in memory, a phase of an mbarrier, a round
//              of a barrier
//
// A release puts into a token what the warp has done and seen; an acquire takes it out, where the
// two are morally strong (8.7): the scope of each includes the other one. A relaxed access releases
// what the warp had done before its last fence, and what it could acquire the next fence acquires
// (8.8, "Release and acquire patterns").
//
// Besides what is sure there is what is likely: what chips are seen to do, for which nearly every
// way of telling is as good as any other. Where only that orders two accesses, it says which
// release and which acquire are too weak.
#pragma once

#include <cstdint>
#include <vector>

#include "core/sim/order/vector_clock.h"

namespace tilescope::sim {

enum class Scope : std::uint8_t { cta, cluster, gpu, sys };

// Where in the grid somebody is.
struct Home {
  std::uint32_t block = 0, cluster = 0;  // numbers in the grid
};
// Does the scope of somebody at `a` include who is at `b`? A launch is of one GPU.
inline bool includes(Scope scope, Home a, Home b) {
  return scope == Scope::cta       ? a.block == b.block
         : scope == Scope::cluster ? a.cluster == b.cluster
                                   : true;
}
inline Scope narrower(Scope a, Scope b) {
  return a < b ? a : b;
}

// What somebody has seen; and of what was written through the generic proxy, what the async proxy
// has been told, in shared and in global memory: a fence.proxy.async lies on the way from there to
// here. And what it comes behind, whether PTX promises anything of it or not: a signal is sent
// before it comes.
struct View {
  VectorClock seen, told, told_global, behind;
  // For tcgen05's fences (9.7.16.6.4), which make an order of whatever synchronises threads,
  // relaxed or not: what it has synchronised with, and as much of that as every scope on the way
  // includes.
  VectorClock met, reached;
  // A fence for the whole chip lies on the way, by whomever: not always by who tells (8.8 asks for
  // that), as where all threads fence before a barrier and one of them tells behind it.
  VectorClock fenced;
  void join(const View& other) {
    seen.join(other.seen);
    fenced.join(other.fenced);
    told.join(other.told);
    told_global.join(other.told_global);
    behind.join(other.behind);
    met.join(other.met);
    reached.join(other.reached);
  }
};

// What of those clocks that only tcgen05 needs is followed: where all threads are of one CTA,
// whatever was met was reached.
enum class Meetings : std::uint8_t { none, of_cta, of_pair };

// A thread and its instruction; and the lanes of its warp for which it does that.
struct Deed {
  std::uint32_t block = 0, thread = 0, pc = 0;
  std::uint32_t lanes = ~0u;
};

// What makes a way of telling doubtful: PTX promises nothing.
enum class Doubt : std::uint8_t {
  none,
  release_scope,    // of the release does not include who acquires
  acquire_scope,    // of the acquire does not include who released
  relaxed_release,  // nothing is released: relaxed, volatile or red, without a fence before
  relaxed_acquire,  // nothing is acquired: the same, without a fence behind
  passed_on,        // sure in itself, of what who released had heard in a doubtful way
};

// What one has put into a token; or several, of different homes, by one instruction in a scope that
// includes all of them, where very many did.
struct Released {
  View view;
  Home home;                 // of the first
  bool mixed = false;        // of several
  Scope scope = Scope::cta;  // how far it reaches
  Doubt doubt = Doubt::none;
  Deed by;
  std::uint64_t stamp = 0;  // when it last became more: later is larger
};

struct Token {
  std::vector<Released> parts;
  std::uint64_t stamp = 0;  // of what became more last
  // What each warp has released here: a later strong write of its own, though it releases nothing
  // itself, tells of that (8.8, "Release and acquire patterns").
  std::vector<Released> earlier;
  void clear() { parts.clear(); }
  // The part of this home (or instruction, where the scope is the whole chip), scope and doubt,
  // which becomes more: a new one where there was none.
  Released& part(Home home, Scope scope, Doubt doubt, Deed by);
  void add(const Released& more) {
    Released& to = part(more.home, more.scope, more.doubt, more.by);
    to.view.join(more.view);
    to.mixed |= more.mixed;
  }
  void add(const Token& other) {
    for (const Released& each : other.parts) add(each);
  }
  // Those parts that do not reach `home` by a scope, or that who is there does not include in its
  // own, go: an atomic there does not pass them on (8.9.2, "Observation order").
  void keep_what_reaches(Home home, Scope scope);
};

// A way of telling that PTX does not promise, that a warp has relied on.
struct Doubtful {
  Doubt why = Doubt::none;
  Deed release, acquire;
  VectorClock seen, fenced;  // by it; and what of that had been fenced before, by whomever
};

// What is likely besides what is sure, and by which ways of telling.
struct Doubts {
  View likely;
  std::vector<Doubtful> relied;
};

class Observer {
 public:
  void start(Agent me, Home home, Meetings meetings = Meetings::none);

  Agent me() const { return me_; }
  Home home() const { return home_; }
  // Of what it does now. Every release begins a new one.
  std::uint32_t epoch() const { return epoch_; }

  bool has_seen(Agent other, std::uint32_t epoch) const {
    return other == me_ || sure_.seen.of(other) >= epoch;
  }
  // The same by what is likely.
  bool may_have_seen(Agent other, std::uint32_t epoch) const {
    return has_seen(other, epoch) || (doubts_ && likely_.seen.of(other) >= epoch);
  }
  // The async proxy has been told of what `other` wrote through the generic one, on a way that
  // leads here.
  bool is_told(Agent other, std::uint32_t epoch) const { return sure_.told.of(other) >= epoch; }
  bool is_told_of_global(Agent other, std::uint32_t epoch) const {
    return sure_.told_global.of(other) >= epoch;
  }
  // The same on the way to what `lane` does now: a fence by other lanes is on it only behind a
  // meeting with them.
  bool is_told(Agent other, std::uint32_t epoch, std::uint32_t lane) const {
    return is_told(other, epoch) && (lone_reaches(lane) || lone_.before.of(other) >= epoch);
  }
  // Has it synchronised with `other` since then, in whatever way; and by scopes that include both?
  bool has_met(Agent other, std::uint32_t epoch) const {
    return other == me_ || sure_.met.of(other) >= epoch;
  }
  bool has_reached(Agent other, std::uint32_t epoch) const {
    return has_met(other, epoch) &&
           (meetings_ != Meetings::of_pair || other == me_ || sure_.reached.of(other) >= epoch);
  }
  // Up to which of its epochs it has.
  std::uint32_t met(Agent other) const { return other == me_ ? epoch_ : sure_.met.of(other); }
  const VectorClock& all_met() const { return sure_.met; }
  const View& sure() const { return sure_; }
  bool has_doubts() const { return doubts_; }
  // By what `other` at `epoch` may have been seen; null: by nothing doubtful that is known.
  const Doubtful* doubtful(Agent other, std::uint32_t epoch) const;

  // ---- telling ----
  // All that it has done and seen, morally strong with who is in `scope`.
  void release(Token& token, Scope scope, Deed by);
  // The same by a write at a place of memory.
  void release_at(Token& place, Scope scope, Deed by);
  // By a relaxed access: what lies before its fences.
  void release_relaxed(Token& token, Scope scope, Deed by);
  // At a barrier that counts whoever arrives, whatever the scope: of a release pattern only the
  // scope of its first operation matters, be it this one or a fence before it.
  void arrive(Token& token, bool releases, Scope scope, Deed by);
  // At `place`, which is one of memory: what was read there relaxed is acquired, too. 0: no such.
  void acquire(const Token& token, Scope scope, Deed by, std::uint64_t place = 0);
  // By a relaxed access: the next fence acquires it.
  void acquire_relaxed(const Token& token, Scope scope, Deed by, std::uint64_t place = 0);
  // What it has read relaxed before, it acquires; what it does and sees before, its relaxed
  // accesses behind release. A fence is its lanes' own: of others it completes no pattern (8.8).
  void fence_acquire(Scope scope, Deed by);
  void fence_release(Scope scope, Deed by);
  // fence.mbarrier_init: as a fence of the cluster, for what `inits` stands for alone: what the
  // warp has initialised, by lanes of which one at least is among these.
  void fence_inits(Agent inits, std::uint32_t lanes);
  void note_init(std::uint32_t lane) { initialised_ |= 1u << lane; }
  // Without scopes and doubts: a barrier of its block.
  void release(View& view);
  void acquire(const View& view);
  // The same of what is only likely: before release(), and behind acquire().
  void release_doubts(Doubts& doubts) const;
  void acquire_doubts(const Doubts& doubts);
  void see(Agent other, std::uint32_t epoch);
  // It comes behind what was so, and has seen nothing thereby.
  void come_behind(const VectorClock& others) { sure_.behind.join(others); }
  // What it has done by now, and what it comes behind.
  VectorClock behind() const;
  bool comes_behind(Agent other, std::uint32_t epoch) const {
    return other == me_ || sure_.behind.of(other) >= epoch;
  }
  // It has exited, before those who meet here.
  void exit(View& view) const;
  // All its lanes have met (bar.warp.sync): each has seen what the others did.
  void meet() { see(me_, epoch_++); }
  // What it does from now on others tell apart from what it did. Its epoch before.
  std::uint32_t begin_epoch() {
    end_epoch({0, 0, 0, 0});
    return epoch_ - 1;
  }
  // Whoever takes this view has seen `done` up to this epoch, and synchronised with it.
  void complete(View& view, Agent done, std::uint32_t epoch) const;

  // fence.proxy.async by these lanes (8.9.5: the async proxy knows what its thread has seen by
  // now).
  void fence_proxy(std::uint32_t lanes);
  void fence_proxy_of_global(std::uint32_t lanes);
  // Has one of these lanes had such a fence since `epoch`, that who has seen `until` of this warp
  // has seen, too? Of those of all lanes is_told() knows.
  bool has_fenced(std::uint32_t lanes, std::uint32_t epoch, std::uint32_t until) const {
    return has_fenced(own_fences_, lanes, epoch, until);
  }
  bool has_fenced_global(std::uint32_t lanes, std::uint32_t epoch, std::uint32_t until) const {
    return has_fenced(own_global_fences_, lanes, epoch, until);
  }
  // Such a fence was taken to be there, among those that are no longer known.
  bool has_presumed() const { return has_presumed_; }

  // ---- its lanes ----
  // What its lanes do has no order among them, but where they meet. Turns are what lies between two
  // meetings.
  std::uint32_t turn() const { return turn_; }
  // `lanes` of those that live have met.
  void lanes_meet(std::uint32_t lanes, std::uint32_t live);
  void all_lanes_meet() {
    presume_met();
    ordered_ = turn_;
    alone_.lanes = 0;
  }
  // No instruction has them meet, and what they do in memory counts as ordered from here all the
  // same: they may hand something over by what lies here.
  void presume_met() {
    met_ = ++turn_;
    meetings_of_some_.clear();
    acquired_by_some_.clear();
  }
  // The same of lanes that found a phase complete together: nearly every kernel has them go on so.
  void lanes_found_complete(std::uint32_t lanes, std::uint32_t live);
  // Some lanes have acquired what was told by somebody who has seen this warp up to epoch `until`:
  // what its lanes had released by then lies before what these do now (an mbarrier at which each
  // lane arrives, and for which one of them waits).
  void lanes_acquired(std::uint32_t lanes, std::uint32_t until);
  // Have all of them since that turn?
  bool all_met_since(std::uint32_t turn) const { return turn < met_; }
  // Is what `lane` does now behind what `earlier` did in that turn and epoch?
  bool is_behind(std::uint32_t lane, std::uint32_t earlier, std::uint32_t turn,
                 std::uint32_t epoch) const;

  // What of it some lanes told alone: a release by one of them says nothing of what others did, be
  // it before that in the program, until they meet.
  enum class Meets : std::uint8_t { at_waits, by_instructions };
  struct Untold {
    std::uint32_t lanes = 0;  // 0: all is told
    Deed by;                  // a release that tells of other lanes alone
  };
  // Of what `lanes` did in that turn and epoch, the part that somebody who has seen this warp up to
  // epoch `until` has not been told of.
  Untold untold(std::uint32_t lanes, std::uint32_t turn, std::uint32_t epoch, std::uint32_t until,
                Meets meets = Meets::at_waits) const;

  // What some lanes alone have acquired since all met: the others have not seen it.
  const Deed& alone() const {
    return alone_;
  }  // the first such acquire; lanes: all that have; 0: none
  bool was_seen_by_all(Agent other, std::uint32_t epoch) const {
    return !alone_.lanes || other == me_ || seen_by_all_.of(other) >= epoch;
  }

  std::uint64_t held() const;

 private:
  struct Fenced {
    Scope scope;
    std::uint32_t lanes;
    View view;
  };
  struct Offered {
    Released part;
    Scope scope;  // of who read it
    std::uint64_t place;
    std::uint32_t lanes;
  };
  // What it has taken at a place of memory, and of what stamp that was: who asks again and again
  // until something comes takes only what is new.
  struct Taken {
    std::uint64_t place = 0, stamp = 0, forgotten = 0;
    Scope scope = Scope::cta;
    bool relaxed = false;
    bool alone = false;  // by some lanes for themselves
  };
  struct ProxyFence {
    std::uint32_t epoch, lanes;
  };
  // Fences of the async proxy by some lanes alone, since all met: which, from which turn on, and of
  // what the proxy had been told before.
  struct LoneFence {
    std::uint32_t lanes = 0, turn = 0, epoch = 0;
    VectorClock before;
  };
  struct AcquiredBySome {
    std::uint32_t lanes, turn, until;
  };
  struct MeetingOfSome {
    std::uint32_t lanes, turn;  // the last one before it
  };
  // Epochs in a row that releases by some lanes have ended; or what is none, by no lanes.
  struct ToldBySome {
    std::uint32_t first = 0, last = 0, met = 0, ordered = 0;
    bool some_met = false;
    Deed by;  // the last release, with the lanes of all
  };

  // The stamp of what it took there the last time, and still knows how.
  std::uint64_t taken_before(Scope scope, bool relaxed, std::uint64_t place, bool alone) const;
  // It has taken it.
  void keep_taken(const Token& token, Scope scope, bool relaxed, std::uint64_t place, bool alone);
  void give(Token& token, Scope scope, Deed by, Doubt doubt) const;
  void take(const Released& part, bool by_all = true);
  void take_of_own_block(const Released& part, bool by_all);
  template <class Which>
  void take_offered(Scope scope, bool by_all, Which which);
  void keep_fence(Fenced fence);
  bool has_fenced(const std::vector<ProxyFence>& fences, std::uint32_t lanes, std::uint32_t epoch,
                  std::uint32_t until) const;
  void note_fence(std::vector<ProxyFence>& fences, std::uint32_t lanes);
  bool lone_reaches(std::uint32_t lane) const;
  void take_likely(const Released& part, Scope scope, Doubt why, Deed by);
  void begin_doubts();
  void see_now(View& view) const;
  void end_epoch(const Deed& by);
  void acquire_alone(const Deed& by);
  // False: something had to be forgotten for it.
  static bool rely(std::vector<Doubtful>& relied, const Doubtful& on);

  Agent me_;
  Home home_;
  std::uint32_t epoch_ = 1;
  Meetings meetings_ = Meetings::none;
  // likely_ contains sure_, while there are doubts; behind, met and reached are those of sure_.
  View sure_, likely_;
  bool doubts_ = false;
  std::vector<Fenced> fenced_;    // by its fences, the last first
  std::vector<Offered> offered_;  // read, and not acquired
  std::vector<Taken> taken_;      // the last first
  std::vector<ProxyFence> own_fences_, own_global_fences_;
  LoneFence lone_;                    // of shared memory
  std::uint32_t initialised_ = 0;     // lanes that have made mbarriers since a fence.mbarrier_init
  std::uint32_t turn_ = 1, met_ = 1;  // of now; the first one since all met
  std::uint32_t ordered_ = 1;         // the first one since an instruction had them meet
  std::vector<MeetingOfSome> meetings_of_some_;   // since all met
  std::vector<AcquiredBySome> acquired_by_some_;  // likewise
  std::vector<ToldBySome> told_by_some_;          // the last at the end
  Deed alone_{0, 0, 0, 0};
  VectorClock seen_by_all_;  // where alone_ has lanes
  std::vector<Doubtful> relied_;
  std::uint64_t forgotten_ = 0;  // of these, how many are no longer known
  mutable bool has_presumed_ = false;
};

}  // namespace tilescope::sim
