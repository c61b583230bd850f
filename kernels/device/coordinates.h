// Layouts known at compile time, evaluated by a thread: its index goes in, a coordinate of the
// matrix comes out, and nothing but multiplications and shifts by constants is left of the layout.
//
// The layouts are core's own (core/layout): their strides are on the axes 0 (rows) and 1
// (columns), as those of CuTe's identity tensors do. They are passed by reference to a static
// member, so that each extent and stride is a constant of the instruction stream.
#pragma once

#include <utility>

#include "core/layout/algebra.h"

namespace tilescope::device {

struct Coordinate {
  int row, column;
};

__device__ constexpr Coordinate operator+(Coordinate a, Coordinate b) {
  return {a.row + b.row, a.column + b.column};
}

namespace detail {

inline constexpr Axis rows{1}, columns{2};  // the axes `@0` and `@1`

// One leaf: takes its digit off `index` and moves along its axis.
template <const Layout& L, int leaf>
__device__ constexpr void advance(int& index, Coordinate& at) {
  constexpr int extent = static_cast<int>(L.modes.leaf[leaf].shape.value);
  constexpr int stride = static_cast<int>(L.modes.leaf[leaf].stride.value);
  constexpr Axis axis = L.modes.leaf[leaf].stride.axis;
  static_assert(stride == 0 || axis == rows || axis == columns, "a stride on axis 0 or 1");
  constexpr bool last = leaf + 1 == L.modes.leaves;
  const int digit = last ? index : index % extent;
  if constexpr (!last) index /= extent;
  if constexpr (axis == rows) at.row += digit * stride;
  if constexpr (axis == columns) at.column += digit * stride;
}

template <const Layout& L, int... leaf>
__device__ constexpr Coordinate coordinate(int index, std::integer_sequence<int, leaf...>) {
  Coordinate at{0, 0};
  (advance<L, leaf>(index, at), ...);
  return at;
}

}  // namespace detail

// L(index), for 0 <= index < size(L).
template <const Layout& L>
__device__ constexpr Coordinate coordinate_of(int index) {
  return detail::coordinate<L>(index, std::make_integer_sequence<int, L.modes.leaves>());
}

}  // namespace tilescope::device
