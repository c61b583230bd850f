#include "core/record/warp_access.h"

#include <algorithm>

namespace tilescope::sim {

std::string_view name_of(WarpAccess::Kind kind) {
  static constexpr std::string_view names[] = {"load", "store", "atomic", "copy", "shuffle"};
  return names[static_cast<std::size_t>(kind)];
}

void set_lanes(WarpAccess& access, const std::uint64_t* at, std::vector<std::uint32_t>& offsets) {
  access.first = 0;
  access.step = 0;
  access.offsets = WarpAccess::none;
  if (!access.mask) return;
  const auto lowest = static_cast<std::uint32_t>(__builtin_ctz(access.mask));
  const std::uint32_t others = access.mask & (access.mask - 1);
  std::int64_t step = 0;
  bool even = true;
  if (others) {
    const auto second = static_cast<std::uint32_t>(__builtin_ctz(others));
    const auto apart = static_cast<std::int64_t>(at[second] - at[lowest]);
    step = apart / static_cast<std::int64_t>(second - lowest);
    even = step == static_cast<std::int32_t>(step);
    for (std::uint32_t rest = others; rest && even; rest &= rest - 1) {
      const auto lane = static_cast<std::uint32_t>(__builtin_ctz(rest));
      even = static_cast<std::int64_t>(at[lane] - at[lowest]) == step * (lane - lowest);
    }
  }
  const std::int64_t first = static_cast<std::int64_t>(at[lowest]) - step * lowest;
  if (even && first >= 0) {
    access.first = static_cast<std::uint64_t>(first);
    access.step = static_cast<std::int32_t>(step);
    return;
  }
  std::uint64_t least = at[lowest];
  for (std::uint32_t rest = access.mask; rest; rest &= rest - 1) {
    least = std::min(least, at[__builtin_ctz(rest)]);
  }
  access.first = least;
  access.offsets = static_cast<std::uint32_t>(offsets.size());
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    offsets.push_back(access.mask >> lane & 1 ? static_cast<std::uint32_t>(at[lane] - least) : 0);
  }
}

}  // namespace tilescope::sim
