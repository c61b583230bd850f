// Global memory and the other ways to it: who has told the async proxy, and that of tensor maps, of
// what was written; and who uses bytes that an operation in flight uses.
#pragma once

#include <array>
#include <cstdint>

#include "core/sim/async/map_fences.h"
#include "core/sim/async/proxies.h"
#include "core/sim/machine/code.h"

namespace tilescope::sim {

class GlobalWatch {
 public:
  explicit GlobalWatch(Model& model) : model_(&model) {}
  GlobalWatch(Model& model, const GlobalWatch& other) : GlobalWatch(other) { model_ = &model; }

  void begin();                                              // the program and its memory are known
  bool watches_proxies() const { return watches_proxies_; }  // the program goes through several
  // A lane's fence.proxy.async is for what it has written itself: who wrote shared memory matters.
  bool tells_lanes_apart() const { return tells_lanes_apart_; }

  // Lanes m tell the async proxy, or, in a scope, the proxy of tensor maps, of what they wrote; a
  // lane that uses a map asks for it, in a scope.
  void fence_global(Core& x, Mask m, Proxy proxy, Scope scope = Scope::sys);
  void acquire_map(Core& x, std::uint64_t address, Scope scope);
  void watch_map(Core& x, int lane, std::uint64_t address);
  // A thread accesses global memory that an operation in flight uses.
  void watch_global(Core& x, const MemoryAccess& access, const Region& region);
  // Was this byte written by a thread that has not told the async proxy since?
  bool is_untold(const Region& region, std::uint64_t offset) const;
  // Or has somebody told it on the way to this warp?
  bool is_told_on_the_way(const BlockOrder& order, std::uint32_t warp, const Region& region,
                          std::uint64_t offset) const;
  // An operation begins to use global memory, and may have come to where it does no more.
  void enter_global(Core& x, int lane, AsyncOperation& operation);
  void leave_global(AsyncOperation& operation);

 private:
  GlobalWatch(const GlobalWatch&) = default;
  void watch_untold(Core& x, int lane, const AsyncOperation& operation);
  void watch_others(Core& x, int lane, const AsyncOperation& operation);
  bool was_told(Writer writer, std::uint32_t time, Proxy proxy) const;
  MapFences::Wrong wrong_fences(const Core& x, const Region& region, std::uint64_t address,
                                std::uint64_t offset) const;

  Model* model_;
  Proxies proxies_;
  MapFences map_fences_;
  std::array<std::uint64_t, 32> maps_{};  // that each lane uses by the instruction at hand
  bool watches_proxies_ = false, tells_lanes_apart_ = false;
};

}  // namespace tilescope::sim
