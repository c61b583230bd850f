// Layouts for property tests: small enough to check every coordinate, odd enough to find mistakes.
#pragma once

#include <cstdint>
#include <random>

#include "core/layout/algebra.h"

namespace tilescope::testing {

class Layouts {
 public:
  explicit Layouts(std::uint64_t seed) : random_(seed) {}

  std::int64_t number(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random_);
  }

  // A nested tuple of `leaves` extents of 1 to 6.
  Tuple shape(int leaves, int depth = 3) {
    if (leaves == 1 && (depth == 0 || number(0, 3) > 0)) return Tuple(number(1, 6));
    if (depth == 0) leaves = 1;
    Tuple out;
    while (leaves > 0) {
      const int part = depth == 1 ? 1 : static_cast<int>(number(1, leaves));
      out.push(depth == 1 ? Tuple(number(1, 6)) : shape(part, depth - 1));
      leaves -= part;
    }
    return out;
  }

  // Compact strides in a random order of the leaves: injective, without holes.
  Layout compact(int leaves) {
    const Tuple s = shape(leaves);
    Tuple order = s;
    for (int i = 0; i < order.leaves; ++i) order.leaf[i] = i;
    for (int i = order.leaves - 1; i > 0; --i) {
      std::swap(order.leaf[i], order.leaf[static_cast<int>(number(0, i))]);
    }
    return *make_ordered_layout(s, order);
  }

  // Any strides from 0 to 40.
  Layout any(int leaves) {
    const Tuple s = shape(leaves);
    Tuple strides = s;
    for (int i = 0; i < strides.leaves; ++i) strides.leaf[i] = number(0, 40);
    return *make_layout(s, strides);
  }

 private:
  std::mt19937_64 random_;
};

}  // namespace tilescope::testing
