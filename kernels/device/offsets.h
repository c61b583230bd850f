// Offsets of a layout known at compile time, evaluated by a thread: the layout's own digits, then
// its swizzle. As in coordinates.h nothing of the layout is left but operations with constants.
#pragma once

#include "core/layout/algebra.h"

namespace tilescope::device {

namespace detail {

template <const Layout& L, int... leaf>
__device__ constexpr int offset(int index, std::integer_sequence<int, leaf...>) {
  int sum = static_cast<int>(L.offset.value);
  const auto digit = [&](int extent, int stride, bool last) {
    sum += (last ? index : index % extent) * stride;
    index /= extent;
  };
  (digit(static_cast<int>(L.modes.leaf[leaf].shape.value),
         static_cast<int>(L.modes.leaf[leaf].stride.value), leaf + 1 == L.modes.leaves),
   ...);
  return sum;
}

}  // namespace detail

// L(index), for 0 <= index < size(L).
template <const Layout& L>
__device__ constexpr int offset_of(int index) {
  static_assert(L.concrete(), "offsets are plain numbers");
  const int plain = detail::offset<L>(index, std::make_integer_sequence<int, L.modes.leaves>());
  if constexpr (L.swizzle.identity()) {
    return plain;
  } else {
    constexpr int field = (1 << L.swizzle.bits) - 1;
    static_assert(L.swizzle.shift > 0, "the swizzle reads the bits above those that it changes");
    return plain ^ (plain >> L.swizzle.shift & field << L.swizzle.base);
  }
}

// L(row, column): `rows` is the extent of the layout's first mode.
template <const Layout& L, int rows>
__device__ constexpr int offset_of(int row, int column) {
  return offset_of<L>(row + rows * column);
}

}  // namespace tilescope::device
