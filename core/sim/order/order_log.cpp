#include "core/sim/order/order_log.h"

#include <algorithm>
#include <cmath>

namespace tilescope::sim {
namespace {

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9e37'79b9'7f4a'7c15;
  return hash ^ hash >> 29;
}

}  // namespace

void OrderLog::step(std::uint64_t block, std::uint32_t warp, std::uint64_t what) {
  Part& part = warps_[{block, warp}];
  part.hash = mixed(part.hash, what);
  ++part.steps;
  ++steps_;
}

void OrderLog::may_change(Reversal::Kind kind, const RunStep& earlier, const RunStep& later) {
  if (!known_.try_emplace({earlier.pc, later.pc}, true).second) return;
  reversals_.push_back({kind, earlier, later});
}

void OrderLog::use_region(std::uint64_t base, std::uint64_t begin, std::uint64_t end, bool writes) {
  std::array<Used, 2>& used = regions_[base];
  used[writes].add(begin, end);
  if (used[0].begin < used[1].end && used[1].begin < used[0].end) {
    blind(
        "ld.global.nc, a texture or a surface may read what was there before the kernel wrote it");
  }
}

void OrderLog::blind(const std::string& why) {
  if (std::find(blinds_.begin(), blinds_.end(), why) == blinds_.end()) blinds_.push_back(why);
}

std::uint64_t OrderLog::trace() const {
  std::uint64_t out = 0;
  for (const auto& [warp, part] : warps_) {
    out = mixed(mixed(mixed(out, warp.first), warp.second), part.hash);
  }
  return out;
}

double OrderLog::orders() const {
  double out = std::lgamma(static_cast<double>(steps_) + 1);
  for (const auto& [warp, part] : warps_) out -= std::lgamma(static_cast<double>(part.steps) + 1);
  return out / std::log(10.0);
}

}  // namespace tilescope::sim
