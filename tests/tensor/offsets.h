// Layouts counted out, for laws that speak of all their coordinates.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/layout/algebra.h"

namespace tilescope::test {

inline std::vector<std::int64_t> offsets(const Layout& layout) {
  std::vector<std::int64_t> out;
  const std::int64_t n = size(layout).value;
  for (std::int64_t i = 0; i < n; ++i) out.push_back(layout(i));
  return out;
}

// Whether `numbers` are 0, 1, 2, ... `times` times each, in any order.
inline bool counts_through(std::vector<std::int64_t> numbers, std::int64_t count,
                           std::int64_t times = 1) {
  if (static_cast<std::int64_t>(numbers.size()) != count * times) return false;
  std::sort(numbers.begin(), numbers.end());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] != static_cast<std::int64_t>(i) / times) return false;
  }
  return true;
}

// The value of (thread, value) of a thread/value layout.
inline std::int64_t at(const Layout& tv, std::int64_t thread, std::int64_t value) {
  return Layout(tv.modes.mode(0))(thread) + Layout(tv.modes.mode(1))(value);
}

}  // namespace tilescope::test
