// What a block keeps of who has seen what: its warps, its shared memory, and what its asynchronous
// operations complete on.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "core/sim/order/observer.h"
#include "core/sim/order/order_log.h"
#include "core/sim/order/shadow.h"

namespace tilescope::sim {

constexpr std::uint32_t most_warps = 32;  // of a block

// What operations complete on, one after the other: each is an agent.
enum class Completer : std::uint8_t { mbarrier, tensor_core, products, inits };

class BlockOrder {
 public:
  // No warps: it is off.
  void start(Home home, std::uint32_t warps, std::uint64_t shared_bytes,
             Meetings meetings = Meetings::none);
  bool on() const { return !warps_.empty(); }
  std::uint64_t held() const;

  Observer& of(std::uint32_t warp) { return warps_[warp]; }
  const Observer& of(std::uint32_t warp) const { return warps_[warp]; }
  // The agent of an mbarrier (its offset), of the tcgen05 instructions of a thread, of the products
  // of a warpgroup; and the one that stands for the mbarriers that a warp has initialised.
  Agent agent(Completer what, std::uint32_t which);
  // A number that no epoch of such an agent has had yet.
  std::uint32_t next_epoch() { return ++epochs_; }
  std::uint32_t coming_epoch() const { return epochs_ + 1; }
  // All that anybody of the block has done so far.
  View all() const;

  Shadow shared;
  // Who arrived at each barrier, in the round that is open and in the one before: of those that
  // have a count, and where orders are logged of all.
  struct Arrival {
    Agent agent;
    std::uint32_t epoch = 0;
    RunStep step;
  };
  std::array<std::vector<Arrival>, 16> came, came_before;
  std::vector<Arrival> reached_by;  // likewise: who accessed this block's memory from another one
  std::vector<Arrival> allocated;   // likewise: who has allocated columns of TMEM
  std::map<std::uint64_t, Token> flags;  // by offset: what accesses that synchronise tell there

 private:
  Home home_;
  std::vector<Observer> warps_;
  std::map<std::uint64_t, std::uint32_t> slots_;
  std::uint32_t epochs_ = 0;
};

}  // namespace tilescope::sim
