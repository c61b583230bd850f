#include "core/sim/async/proxies.h"

namespace tilescope::sim {
namespace {

std::uint64_t key(std::uint64_t block, std::uint32_t warp) {
  return block * 32 + warp;
}

}  // namespace

void Proxies::tell(Proxy proxy, std::uint64_t block, std::uint32_t warp, std::uint32_t m) {
  Told& told = told_[static_cast<std::size_t>(proxy)];
  ++now_;
  if (m == ~0u) {
    told.warps[key(block, warp)] = now_;
    return;
  }
  auto& times = told.lanes[key(block, warp)];
  for (std::size_t l = 0; l < times.size(); ++l) {
    if (m >> l & 1) times[l] = now_;
  }
}

bool Proxies::has_told(Proxy proxy, std::uint64_t block, std::uint32_t thread,
                       std::uint32_t since) const {
  const Told& told = told_[static_cast<std::size_t>(proxy)];
  const auto warp = told.warps.find(key(block, thread / 32));
  if (warp != told.warps.end() && warp->second > since) return true;
  const auto times = told.lanes.find(key(block, thread / 32));
  return times != told.lanes.end() && times->second[thread % 32] > since;
}

bool Proxies::has_asked(std::uint64_t block, std::uint64_t address, std::uint32_t since) const {
  const auto asked = asked_.find({block, address});
  return asked != asked_.end() && asked->second > since;
}

}  // namespace tilescope::sim
