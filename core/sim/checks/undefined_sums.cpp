#include "core/sim/checks/undefined_sums.h"

namespace tilescope::sim {

UndefinedSums::Sum UndefinedSums::of(std::uint32_t place, int lane) {
  Sum& sum = known_[key(place, lane)];
  if (sum.empty()) sum = {{values_++, 1}};
  return sum;
}

void UndefinedSums::set(std::uint32_t place, int lane, Sum sum) {
  if (sum.size() > most) sum = {{values_++, 1}};
  known_[key(place, lane)] = std::move(sum);
}

void UndefinedSums::forget(std::uint32_t place, std::uint32_t lanes) {
  if (known_.empty()) return;
  for (; lanes; lanes &= lanes - 1) known_.erase(key(place, __builtin_ctz(lanes)));
}

UndefinedSums::Sum UndefinedSums::add(const Sum& a, const Sum& b, bool less, int bits) {
  const std::uint64_t mask = bits < 64 ? (std::uint64_t{1} << bits) - 1 : ~std::uint64_t{0};
  Sum out;
  auto x = a.begin();
  auto y = b.begin();
  while (x != a.end() || y != b.end()) {
    const bool left = x != a.end() && (y == b.end() || x->first <= y->first);
    const bool right = y != b.end() && (x == a.end() || y->first <= x->first);
    const std::uint32_t value = left ? x->first : y->first;
    std::uint64_t times = left ? (x++)->second : 0;
    if (right) times += less ? -(y++)->second : (y++)->second;
    if (times & mask) out.push_back({value, times & mask});
  }
  return out;
}

}  // namespace tilescope::sim
