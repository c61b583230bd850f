#include "core/sim/order/vector_clock.h"

#include <algorithm>

namespace tilescope::sim {
namespace {

using u32 = std::uint32_t;

void take_later(std::vector<u32>& to, const std::vector<u32>& from) {
  if (to.size() < from.size()) to.resize(from.size());
  u32* __restrict out = to.data();
  const u32* __restrict in = from.data();
  const std::size_t count = from.size();
  for (std::size_t i = 0; i < count; ++i) out[i] = out[i] < in[i] ? in[i] : out[i];
}

}  // namespace

VectorClock::Row& VectorClock::row(u32 block) {
  auto at = rows_.begin();
  while (at != rows_.end() && at->block < block) ++at;
  if (at == rows_.end() || at->block != block) at = rows_.insert(at, Row{block, {}});
  return *at;
}

void VectorClock::see(Agent a, u32 epoch) {
  std::vector<u32>& seen = row(a.block).seen;
  if (seen.size() <= a.slot) seen.resize(a.slot + 1);
  seen[a.slot] = std::max(seen[a.slot], epoch);
}

void VectorClock::join(const VectorClock& other) {
  std::size_t at = 0;
  for (const Row& r : other.rows_) {
    while (at < rows_.size() && rows_[at].block < r.block) ++at;
    if (at == rows_.size() || rows_[at].block != r.block) {
      rows_.insert(rows_.begin() + static_cast<std::ptrdiff_t>(at), r);
    } else {
      take_later(rows_[at].seen, r.seen);
    }
  }
}

std::uint64_t VectorClock::held() const {
  std::uint64_t out = 0;
  for (const Row& r : rows_) out += sizeof r + r.seen.size() * sizeof(u32);
  return out;
}

}  // namespace tilescope::sim
