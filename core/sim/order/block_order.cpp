#include "core/sim/order/block_order.h"

namespace tilescope::sim {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

void BlockOrder::start(Home home, u32 warps, u64 shared_bytes, Meetings meetings) {
  home_ = home;
  warps_.resize(warps);
  for (u32 w = 0; w < warps; ++w) warps_[w].start({home.block, w}, home, meetings);
  slots_.clear();
  epochs_ = 0;
  flags.clear();
  came = came_before = {};
  reached_by.clear();
  allocated.clear();
  shared.start(warps ? shared_bytes : 0);
}

u64 BlockOrder::held() const {
  u64 out = shared.held();
  for (const Observer& w : warps_) out += w.held();
  return out;
}

Agent BlockOrder::agent(Completer what, u32 which) {
  const u64 key = u64{which} << 8 | static_cast<u64>(what);
  const auto slot = static_cast<u32>(slots_.size());
  return {home_.block, most_warps + slots_.emplace(key, slot).first->second};
}

View BlockOrder::all() const {
  View out;
  for (const Observer& w : warps_) {
    out.join(w.sure());
    w.complete(out, w.me(), w.epoch());
  }
  for (const auto& [key, slot] : slots_) {
    warps_.front().complete(out, {home_.block, most_warps + slot}, epochs_);
  }
  return out;
}

}  // namespace tilescope::sim
