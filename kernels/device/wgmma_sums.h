// Which elements of D (64,n) a thread of a warpgroup has, in the order of its registers: the
// thread's place and, from there, the register's (PTX ISA 9.7.15.5.1).
#pragma once

#include "core/layout/algebra.h"
#include "kernels/device/coordinates.h"

namespace tilescope::device {

template <int n>
struct WgmmaSums {
  static constexpr Layout of_thread = must(make_layout(
      make_tuple_of(4, 8, 4),
      make_tuple_of(Int(2, detail::columns), Int(1, detail::rows), Int(16, detail::rows))));
  static constexpr Layout of_register = must(make_layout(
      make_tuple_of(2, 2, n / 8),
      make_tuple_of(Int(1, detail::columns), Int(8, detail::rows), Int(8, detail::columns))));
};

}  // namespace tilescope::device
