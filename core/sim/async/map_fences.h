// In which places the fences of tensor maps stand (fence.proxy.tensormap::generic, PTX
// ISA 9.7.13.4; tensormap.cp_fenceproxy releases as well, 9.7.13.16). Who writes a map releases it
// behind that, in a scope that includes who uses it; there a thread acquires the map's 128 bytes,
// in a scope that includes who wrote, behind what tells of that release; and who uses the map is
// behind that thread.
//
// When fences were executed Proxies knows; here is what that had to do with the causality order.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/sim/order/observer.h"

namespace tilescope::sim {

class MapFences {
 public:
  // What is wrong with the fences of a map that a thread has written.
  enum class Wrong : std::uint8_t {
    nothing,
    release_scope,   // of the release does not include who uses the map
    acquire_scope,   // of the acquire does not include who wrote it
    release_late,    // it comes only behind what tells of the map
    acquire_early,   // it comes before what tells of the map
    acquire_unheard  // by a warp of the CTA that who uses the map has not waited for
  };
  // Who wrote it, and when: in its own epochs, and as Proxies counts.
  struct Write {
    Agent agent;
    Home home;
    std::uint32_t epoch = 0, time = 0;
    std::uint32_t lane = 0;
    bool releases = false;  // tensormap.cp_fenceproxy
    Scope scope = Scope::cta;
  };

  // By lanes `by` of a warp.
  void release(const Observer& who, std::uint32_t by, Scope scope, std::uint32_t time);
  void acquire(const Observer& who, std::uint64_t address, Scope scope, std::uint32_t time);
  // For who uses the map at `address` now.
  Wrong wrong(const Observer& who, std::uint64_t address, const Write& write) const;

 private:
  struct Release {
    std::uint32_t epoch = 0, lanes = 0, time = 0;
    Scope scope = Scope::cta;
  };
  struct Acquire {
    Agent agent;
    std::uint32_t epoch = 0, time = 0;
    Scope scope = Scope::cta;
    VectorClock seen;  // by it
  };
  Wrong wrong(const Acquire& acquire, const Observer& who, const Write& write) const;

  std::unordered_map<std::uint64_t, std::vector<Release>> released_;  // by block * 32 + warp
  // By block and address, the last ones.
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<Acquire>> acquired_;
};

}  // namespace tilescope::sim
