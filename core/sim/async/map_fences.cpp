#include "core/sim/async/map_fences.h"

#include <algorithm>

namespace tilescope::sim {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

// Of a warp, and of a map in a block: more are not needed of what is used within a launch.
constexpr std::size_t most_releases = 256, most_acquires = 64;

template <class T>
void keep(std::vector<T>& all, T last, std::size_t most) {
  if (all.size() == most) all.erase(all.begin());
  all.push_back(std::move(last));
}

}  // namespace

void MapFences::release(const Observer& who, u32 by, Scope scope, u32 time) {
  keep(released_[u64{who.me().block} * 32 + who.me().slot], {who.epoch(), by, time, scope},
       most_releases);
}

void MapFences::acquire(const Observer& who, u64 address, Scope scope, u32 time) {
  VectorClock seen = who.sure().seen;
  seen.see(who.me(), who.epoch());
  std::vector<Acquire>& all = acquired_[{who.home().block, address}];
  // Who asks again in one epoch has asked once.
  if (!all.empty() && all.back().agent == who.me() && all.back().epoch == who.epoch() &&
      all.back().scope == scope) {
    all.pop_back();
  }
  keep(all, {who.me(), who.epoch(), time, scope, std::move(seen)}, most_acquires);
}

// What is most nearly right counts: the largest, of several acquires.
MapFences::Wrong MapFences::wrong(const Observer& who, u64 address, const Write& write) const {
  const auto known = acquired_.find({who.home().block, address});
  if (known == acquired_.end()) return Wrong::nothing;  // Proxies tells of it
  Wrong out = Wrong::nothing;
  bool any = false;
  for (auto a = known->second.rbegin(); a != known->second.rend(); ++a) {
    if (a->time <= write.time) continue;
    const Wrong is = wrong(*a, who, write);
    if (is == Wrong::nothing) return is;
    if (!any) out = is;
    any = true;
  }
  return out;
}

MapFences::Wrong MapFences::wrong(const Acquire& a, const Observer& who, const Write& write) const {
  if (!includes(a.scope, who.home(), write.home)) return Wrong::acquire_scope;
  const bool own = a.agent == who.me();
  const auto heard = [&](Agent agent, u32 epoch) {
    return agent == a.agent || a.seen.of(agent) >= epoch;
  };
  Wrong why = Wrong::release_late;
  if (write.releases) {
    if (!includes(write.scope, write.home, who.home())) return Wrong::release_scope;
    why = heard(write.agent, write.epoch) ? Wrong::nothing : Wrong::acquire_early;
  } else {
    const auto releases = released_.find(u64{write.agent.block} * 32 + write.agent.slot);
    if (releases == released_.end()) return Wrong::nothing;
    bool in_scope = false;
    for (const Release& r : releases->second) {
      if (r.time <= write.time || !(r.lanes >> write.lane & 1)) continue;
      if (!includes(r.scope, write.home, who.home())) continue;
      in_scope = true;
      if (!heard(write.agent, r.epoch)) continue;
      why = Wrong::nothing;
      break;
    }
    if (!in_scope) return Wrong::release_scope;
    // It has not even heard of the write.
    if (why != Wrong::nothing && !heard(write.agent, write.epoch)) why = Wrong::acquire_early;
  }
  if (why != Wrong::nothing) return why;
  return own || who.has_seen(a.agent, a.epoch) ? Wrong::nothing : Wrong::acquire_unheard;
}

}  // namespace tilescope::sim
