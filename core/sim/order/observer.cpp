#include "core/sim/order/observer.h"

#include <algorithm>
#include <atomic>
#include <utility>

namespace tilescope::sim {
namespace {

using u32 = std::uint32_t;

constexpr std::size_t most_relied = 16, most_own_fences = 1024, most_taken = 32, most_of_some = 64,
                      most_told_by_some = 64, most_fenced = 64, most_parts = 32;

// Larger each time, in whichever machine.
std::uint64_t next_stamp() {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

bool same(Home a, Home b) {
  return a.block == b.block && a.cluster == b.cluster;
}

bool same(const Deed& a, const Deed& b) {
  return a.block == b.block && a.thread / 32 == b.thread / 32 && a.pc == b.pc;
}

// Does the scope of somebody at `home` include all whose part it is?
bool reaches(Scope scope, Home home, const Released& part) {
  return part.mixed ? scope >= Scope::gpu : includes(scope, home, part.home);
}

// Is what lies in `part`, read at `home` within `scope`, morally strong with the reading?
Doubt doubt_of(const Released& part, Home home, Scope scope) {
  if (part.doubt != Doubt::none) return part.doubt;
  if (!includes(part.scope, part.home, home)) return Doubt::release_scope;
  return reaches(scope, home, part) ? Doubt::none : Doubt::acquire_scope;
}

}  // namespace

Released& Token::part(Home home, Scope scope, Doubt doubt, Deed by) {
  stamp = next_stamp();
  const bool many = scope >= Scope::gpu && parts.size() >= most_parts;
  for (Released& p : parts) {
    if (p.scope != scope || p.doubt != doubt) continue;
    if (p.mixed ? !many || p.by.pc != by.pc : !same(p.home, home)) continue;
    p.by = by;
    p.stamp = stamp;
    return p;
  }
  parts.push_back({{}, home, many, scope, doubt, by, stamp});
  return parts.back();
}

void Token::keep_what_reaches(Home home, Scope scope) {
  const auto lost = [&](const Released& p) {
    return !includes(p.scope, p.home, home) || (!p.mixed && !includes(scope, home, p.home));
  };
  parts.erase(std::remove_if(parts.begin(), parts.end(), lost), parts.end());
}

void Observer::start(Agent me, Home home, Meetings meetings) {
  *this = {};
  me_ = me;
  home_ = home;
  meetings_ = meetings;
}

// It itself, now.
void Observer::see_now(View& view) const {
  view.seen.see(me_, epoch_);
  view.behind.see(me_, epoch_);
  if (meetings_ != Meetings::none) view.met.see(me_, epoch_);
  if (meetings_ == Meetings::of_pair) view.reached.see(me_, epoch_);
}

void Observer::complete(View& view, Agent done, u32 epoch) const {
  view.seen.see(done, epoch);
  if (meetings_ != Meetings::none) view.met.see(done, epoch);
  if (meetings_ == Meetings::of_pair) view.reached.see(done, epoch);
}

void Observer::give(Token& token, Scope scope, Deed by, Doubt doubt) const {
  View& to = token.part(home_, scope, doubt, by).view;
  to.join(doubt == Doubt::none || !doubts_ ? sure_ : likely_);
  if (doubt != Doubt::none && doubts_) {
    to.behind.join(sure_.behind);
    to.met.join(sure_.met);
    to.reached.join(sure_.reached);
  }
  see_now(to);
}

const Doubtful* Observer::doubtful(Agent other, u32 epoch) const {
  // Of one that releases what it should, and of one that releases nothing, the former is the nearer
  // to what is right.
  const Doubtful* out = nullptr;
  for (const Doubtful& d : relied_) {
    if (d.seen.of(other) < epoch) continue;
    if (d.why != Doubt::relaxed_release && d.why != Doubt::passed_on) return &d;
    if (!out) out = &d;
  }
  return out;
}

void Observer::take(const Released& part, bool by_all) {
  sure_.join(part.view);
  if (by_all && alone_.lanes) seen_by_all_.join(part.view.seen);
  if (doubts_) likely_.join(part.view);
}

// Of several, by somebody whose scope is its own block: who else released there counts for nothing.
void Observer::take_of_own_block(const Released& part, bool by_all) {
  Released own = part;
  own.view = {};
  own.view.seen.join(part.view.seen, home_.block);
  own.view.behind.join(part.view.behind, home_.block);
  own.view.met.join(part.view.met, home_.block);
  own.view.reached.join(part.view.reached, home_.block);
  take(own, by_all);
}

void Observer::take_likely(const Released& part, Scope scope, Doubt why, Deed by) {
  begin_doubts();
  likely_.join(part.view);
  sure_.behind.join(part.view.behind);
  sure_.met.join(part.view.met);
  if (includes(part.scope, part.home, home_) && reaches(scope, home_, part)) {
    sure_.reached.join(part.view.reached);
  }
  forgotten_ += !rely(relied_, {why, part.by, by, part.view.seen, part.view.fenced});
}

void Observer::begin_doubts() {
  if (!doubts_) likely_ = sure_;
  doubts_ = true;
}

bool Observer::rely(std::vector<Doubtful>& relied, const Doubtful& on) {
  for (Doubtful& d : relied) {
    if (d.why != on.why || !same(d.release, on.release) || !same(d.acquire, on.acquire)) continue;
    d.seen.join(on.seen);
    d.fenced.join(on.fenced);
    return true;
  }
  const bool full = relied.size() == most_relied;
  if (full) relied.erase(relied.begin());
  relied.push_back(on);
  return !full;
}

void Observer::release(Token& token, Scope scope, Deed by) {
  give(token, scope, by, Doubt::none);
  if (doubts_) give(token, scope, by, Doubt::passed_on);
  end_epoch(by);
}

void Observer::release_relaxed(Token& token, Scope scope, Deed by) {
  for (const Fenced& f : fenced_) {
    if (!(f.lanes & by.lanes)) continue;
    token.part(home_, narrower(f.scope, scope), Doubt::none, by).view.join(f.view);
  }
  for (const Released& own : token.earlier) {
    if (own.by.block == by.block && own.by.thread / 32 == by.thread / 32) token.add(own);
  }
  give(token, scope, by, Doubt::relaxed_release);
  end_epoch(by);
}

void Observer::release_at(Token& place, Scope scope, Deed by) {
  const auto own = [&](const Released& r) {
    return r.by.block == by.block && r.by.thread / 32 == by.thread / 32;
  };
  auto& earlier = place.earlier;
  earlier.erase(std::remove_if(earlier.begin(), earlier.end(), own), earlier.end());
  Token mine;
  give(mine, scope, by, Doubt::none);
  earlier.push_back(mine.parts.front());
  release(place, scope, by);
}

void Observer::arrive(Token& token, bool releases, Scope scope, Deed by) {
  for (const Fenced& f : fenced_) {
    if ((releases && f.scope <= scope) || !(f.lanes & by.lanes)) continue;
    token.part(home_, f.scope, Doubt::none, by).view.join(f.view);
  }
  if (releases) {
    release(token, scope, by);
  } else {
    give(token, scope, by, Doubt::relaxed_release);
    end_epoch(by);
  }
}

void Observer::acquire_alone(const Deed& by) {
  if (by.lanes == ~0u) return;
  if (!alone_.lanes) {
    seen_by_all_ = sure_.seen;
    alone_ = by;
  }
  alone_.lanes |= by.lanes;  // of several what each of them knows is not told apart
}

void Observer::acquire(const Token& token, Scope scope, Deed by, std::uint64_t place) {
  acquire_alone(by);
  if (place && !offered_.empty()) {
    take_offered(scope, by.lanes == ~0u, [&](const Offered& o) { return o.place == place; });
  }
  const bool alone = by.lanes != ~0u;
  const std::uint64_t before = taken_before(scope, false, place, alone);
  for (const Released& part : token.parts) {
    if (part.stamp <= before) continue;
    const Doubt why = doubt_of(part, home_, scope);
    if (why == Doubt::none) {
      take(part, !alone);
    } else {
      if (why == Doubt::acquire_scope && part.mixed) take_of_own_block(part, !alone);
      take_likely(part, scope, why, by);
    }
  }
  keep_taken(token, scope, false, place, alone);
}

// What some lanes have taken alone all of them take anew.
std::uint64_t Observer::taken_before(Scope scope, bool relaxed, std::uint64_t place,
                                     bool alone) const {
  if (!place) return 0;
  const auto known = std::find_if(taken_.begin(), taken_.end(), [&](const Taken& t) {
    return t.place == place && t.scope == scope && t.relaxed == relaxed;
  });
  const bool counts =
      known != taken_.end() && known->forgotten == forgotten_ && (alone || !known->alone);
  return counts ? known->stamp : 0;
}

void Observer::keep_taken(const Token& token, Scope scope, bool relaxed, std::uint64_t place,
                          bool alone) {
  if (!place) return;
  const auto known = std::find_if(taken_.begin(), taken_.end(), [&](const Taken& t) {
    return t.place == place && t.scope == scope && t.relaxed == relaxed;
  });
  if (known != taken_.end()) {
    known->stamp = token.stamp, known->forgotten = forgotten_;
    known->alone = alone;
    return;
  }
  if (taken_.size() == most_taken) taken_.pop_back();
  taken_.insert(taken_.begin(), {place, token.stamp, forgotten_, scope, relaxed, alone});
}

void Observer::acquire_relaxed(const Token& token, Scope scope, Deed by, std::uint64_t place) {
  const std::uint64_t before = taken_before(scope, true, place, true);
  for (const Released& part : token.parts) {
    if (part.stamp <= before) continue;
    const Doubt why = doubt_of(part, home_, scope);
    take_likely(part, scope, why == Doubt::none ? Doubt::relaxed_acquire : why, by);
    if (why != Doubt::none) continue;
    const auto known = std::find_if(offered_.begin(), offered_.end(), [&](const Offered& o) {
      return o.place == place && o.scope == scope && o.part.scope == part.scope &&
             o.part.mixed == part.mixed && same(o.part.home, part.home);
    });
    if (known == offered_.end()) {
      offered_.push_back({part, scope, place, by.lanes});
    } else {
      known->part.view.join(part.view);
      known->lanes |= by.lanes;
    }
  }
  keep_taken(token, scope, true, place, true);
}

// The last operation of an acquire pattern has this scope, which counts, too.
template <class Which>
void Observer::take_offered(Scope scope, bool by_all, Which which) {
  const auto taken = [&](const Offered& o) {
    if (!which(o) || !reaches(scope, home_, o.part)) return false;
    take(o.part, by_all);
    return true;
  };
  offered_.erase(std::remove_if(offered_.begin(), offered_.end(), taken), offered_.end());
}

void Observer::fence_inits(Agent inits, u32 lanes) {
  if (initialised_ && !(initialised_ & lanes)) return;
  initialised_ &= ~lanes;
  Fenced own{Scope::cluster, ~0u, {}};
  own.view.seen.see(inits, begin_epoch());
  fenced_.push_back(std::move(own));
}

void Observer::fence_acquire(Scope scope, Deed by) {
  const bool some = std::any_of(offered_.begin(), offered_.end(),
                                [&](const Offered& o) { return o.lanes & by.lanes; });
  if (some) acquire_alone(by);
  take_offered(scope, by.lanes == ~0u, [&](const Offered& o) { return o.lanes & by.lanes; });
}

void Observer::keep_fence(Fenced fence) {
  const auto covered = [&](const Fenced& f) {
    return f.scope <= fence.scope && !(f.lanes & ~fence.lanes);
  };
  fenced_.erase(std::remove_if(fenced_.begin(), fenced_.end(), covered), fenced_.end());
  if (fenced_.size() >= most_fenced) {  // of the oldest two one: too much counts as fenced
    Fenced& last = fenced_[fenced_.size() - 2];
    last.lanes |= fenced_.back().lanes;
    last.scope = std::max(last.scope, fenced_.back().scope);
    last.view.join(fenced_.back().view);
    fenced_.pop_back();
  }
  fenced_.insert(fenced_.begin(), std::move(fence));
}

void Observer::fence_release(Scope scope, Deed by) {
  if (scope >= Scope::gpu) {
    sure_.fenced.join(sure_.seen);
    sure_.fenced.see(me_, epoch_);
    if (doubts_) {
      likely_.fenced.join(likely_.seen);
      likely_.fenced.see(me_, epoch_);
    }
  }
  Fenced now{scope, by.lanes, sure_};
  see_now(now.view);
  keep_fence(std::move(now));
  end_epoch(by);
}

void Observer::release(View& view) {
  view.join(sure_);
  see_now(view);
  ++epoch_;
}

void Observer::acquire(const View& view) {
  sure_.join(view);
  if (doubts_) likely_.join(view);
}

void Observer::release_doubts(Doubts& doubts) const {
  if (!doubts_) return;
  doubts.likely.join(likely_);
  doubts.likely.seen.see(me_, epoch_);
  for (const Doubtful& d : relied_) rely(doubts.relied, d);
}

void Observer::acquire_doubts(const Doubts& doubts) {
  if (doubts.relied.empty()) return;
  begin_doubts();
  likely_.join(doubts.likely);
  for (const Doubtful& d : doubts.relied) forgotten_ += !rely(relied_, d);
}

VectorClock Observer::behind() const {
  VectorClock out = sure_.behind;
  out.see(me_, epoch_);
  return out;
}

void Observer::exit(View& view) const {
  view.behind.join(behind());
  view.met.join(sure_.met);
  view.reached.join(sure_.reached);
  if (meetings_ != Meetings::none) view.met.see(me_, epoch_);
  if (meetings_ == Meetings::of_pair) view.reached.see(me_, epoch_);
}

void Observer::see(Agent other, u32 epoch) {
  sure_.seen.see(other, epoch);
  if (doubts_) likely_.seen.see(other, epoch);
}

bool Observer::lone_reaches(u32 lane) const {
  if (!lone_.lanes || (lone_.lanes >> lane & 1) || all_met_since(lone_.turn)) return true;
  for (u32 rest = lone_.lanes; rest; rest &= rest - 1) {
    const auto fenced = static_cast<u32>(__builtin_ctz(rest));
    if (is_behind(lane, fenced, lone_.turn, lone_.epoch)) return true;
  }
  return false;
}

void Observer::fence_proxy(u32 lanes) {
  if (lone_.lanes && !all_met_since(lone_.turn)) {
    lone_.lanes |= lanes;
  } else {
    lone_ = lanes == ~0u ? LoneFence{} : LoneFence{lanes, turn_, epoch_, sure_.told};
  }
  sure_.told.join(sure_.seen);
  if (doubts_) likely_.told.join(likely_.seen);
  if (lanes == ~0u) sure_.told.see(me_, epoch_);
  note_fence(own_fences_, lanes);
}

void Observer::note_fence(std::vector<ProxyFence>& fences, u32 lanes) {
  if (fences.size() == most_own_fences) fences.erase(fences.begin());
  fences.push_back({begin_epoch(), lanes});
}

void Observer::fence_proxy_of_global(u32 lanes) {
  sure_.told_global.join(sure_.seen);
  if (doubts_) likely_.told_global.join(likely_.seen);
  if (lanes == ~0u) sure_.told_global.see(me_, epoch_);
  note_fence(own_global_fences_, lanes);
}

void Observer::lanes_meet(u32 lanes, u32 live) {
  // More than are followed count as one of all.
  if (!(live & ~lanes) || meetings_of_some_.size() == most_of_some) return all_lanes_meet();
  if (lanes & alone_.lanes) alone_.lanes |= lanes;
  if (lanes & (lanes - 1)) meetings_of_some_.push_back({lanes, turn_++});
}

void Observer::lanes_found_complete(u32 lanes, u32 live) {
  if (!(live & ~lanes)) return presume_met();
  if (lanes & (lanes - 1)) meetings_of_some_.push_back({lanes, turn_++});
  if (meetings_of_some_.size() > most_of_some) presume_met();
}

void Observer::end_epoch(const Deed& by) {
  const u32 epoch = epoch_++;
  if (by.lanes == ~0u) return;
  const bool some_met = !meetings_of_some_.empty();
  if (!told_by_some_.empty()) {
    ToldBySome& last = told_by_some_.back();
    if (last.last + 1 == epoch && last.met == met_ && last.ordered == ordered_ &&
        last.some_met == some_met) {
      if (by.lanes) last.by = {by.block, by.thread, by.pc, last.by.lanes | by.lanes};
      last.last = epoch;
      return;
    }
  }
  if (told_by_some_.size() == most_told_by_some) told_by_some_.erase(told_by_some_.begin());
  told_by_some_.push_back({epoch, epoch, met_, ordered_, some_met, by});
}

Observer::Untold Observer::untold(u32 lanes, u32 turn, u32 epoch, u32 until, Meets meets) const {
  auto told = std::lower_bound(told_by_some_.begin(), told_by_some_.end(), epoch,
                               [](const ToldBySome& t, u32 e) { return t.last < e; });
  Untold out{lanes, {0, 0, 0, 0}};
  u32 next = epoch;
  for (; told != told_by_some_.end() && told->first <= until; ++told) {
    if (told->first > next) return {};  // all lanes have ended one, or it is no longer known
    // That some of them have met counts as all: too much is taken for told.
    if (turn < (meets == Meets::at_waits ? told->met : told->ordered) || told->some_met) return {};
    out.lanes &= ~told->by.lanes;
    if (!out.by.lanes) out.by = told->by;
    next = told->last + 1;
  }
  return next > until && out.by.lanes ? out : Untold{};
}

void Observer::lanes_acquired(u32 lanes, u32 until) {
  if (!until) return;
  // Between two meetings the last is enough.
  const auto same =
      std::find_if(acquired_by_some_.begin(), acquired_by_some_.end(),
                   [&](const AcquiredBySome& a) { return a.lanes == lanes && a.turn == turn_; });
  if (same != acquired_by_some_.end()) {
    same->until = std::max(same->until, until);
    return;
  }
  if (acquired_by_some_.size() == most_of_some) return presume_met();
  acquired_by_some_.push_back({lanes, turn_, until});
}

bool Observer::is_behind(u32 lane, u32 earlier, u32 turn, u32 epoch) const {
  if (lane == earlier || all_met_since(turn)) return true;
  // Who has come to know of it, by meetings from that turn on.
  const auto spread = [&](u32 know, u32 from) {
    for (const MeetingOfSome& m : meetings_of_some_) {
      if (m.turn >= from && (m.lanes & know)) know |= m.lanes;
    }
    return know;
  };
  u32 know = spread(1u << earlier, turn);
  for (const AcquiredBySome& a : acquired_by_some_) {
    if (a.until < epoch || untold(know, turn, epoch, a.until).lanes == know) continue;
    know |= spread(a.lanes, a.turn);
  }
  return know >> lane & 1;
}

bool Observer::has_fenced(const std::vector<ProxyFence>& fences, u32 lanes, u32 epoch,
                          u32 until) const {
  // Their epochs grow.
  auto f = std::lower_bound(fences.begin(), fences.end(), epoch,
                            [](const ProxyFence& fence, u32 e) { return fence.epoch < e; });
  for (; f != fences.end() && f->epoch <= until; ++f) {
    if (f->lanes & lanes) return true;
  }
  // Of fences that are no longer known it is taken that one was there.
  if (!lanes || fences.size() < most_own_fences || fences.front().epoch < epoch) {
    return false;
  }
  has_presumed_ = true;
  return true;
}

std::uint64_t Observer::held() const {
  const auto view = [](const View& v) {
    return v.seen.held() + v.told.held() + v.told_global.held() + v.fenced.held() +
           v.behind.held() + v.met.held() + v.reached.held();
  };
  std::uint64_t out = sizeof *this + view(sure_) + view(likely_);
  out += (own_fences_.size() + own_global_fences_.size()) * sizeof(ProxyFence);
  out += meetings_of_some_.size() * sizeof(MeetingOfSome);
  out += acquired_by_some_.size() * sizeof(AcquiredBySome);
  out += told_by_some_.size() * sizeof(ToldBySome) + seen_by_all_.held() + lone_.before.held();
  for (const Fenced& f : fenced_) out += sizeof f + view(f.view);
  for (const Offered& o : offered_) out += sizeof o + view(o.part.view);
  for (const Doubtful& d : relied_) out += sizeof d + d.seen.held() + d.fenced.held();
  return out;
}

}  // namespace tilescope::sim
