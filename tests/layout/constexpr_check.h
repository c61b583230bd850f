// The algebra at compile time: the same assertions are compiled by g++, by clang and, where there
// is one, by nvcc. Expected values are CuTe's, or worked by hand.
#pragma once

#include "core/layout/algebra.h"

namespace tilescope::compile_time {

constexpr Tuple t(Int a) {
  return Tuple(a);
}
template <class... More>
constexpr Tuple t(Int a, More... more) {
  return make_tuple_of(a, more...);
}
constexpr Layout layout(const Tuple& shape, const Tuple& stride) {
  return must(make_layout(shape, stride));
}

// zipped_divide((9,(4,8)):(59,(13,1)), <3:3,(2,4):(1,8)>)
constexpr Layout input = layout(make_tuple_of(9, t(4, 8)), make_tuple_of(59, t(13, 1)));
constexpr Tiler tiler = [] {
  Tiler out;
  out.push(Layout(3, 3));
  out.push(layout(t(2, 4), t(1, 8)));
  return out;
}();
static_assert(must(zipped_divide(input, tiler)) ==
              layout(make_tuple_of(make_tuple_of(3, t(2, 4)), make_tuple_of(3, t(2, 2))),
                     make_tuple_of(make_tuple_of(177, t(13, 2)), make_tuple_of(59, t(26, 1)))));

static_assert(must(complement(layout(t(2, 2), t(1, 6)), t(24))) == layout(t(3, 2), t(2, 12)));
static_assert(must(composition(layout(t(6, 2), t(8, 2)), layout(t(4, 3), t(3, 1)))) ==
              layout(make_tuple_of(t(2, 2), 3), make_tuple_of(t(24, 2), 8)));
static_assert(must(coalesce(layout(make_tuple_of(2, t(1, 6)), make_tuple_of(1, t(6, 2))))) ==
              Layout(12, 1));
static_assert(must(composition(Layout(1, 1), layout(t(3, 4), t(1, 3)))) ==
              layout(t(3, 4), t(1, 3)));

// The tile of elementwise_add.
constexpr ThreadValue tv = must(make_layout_tv(must(make_ordered_layout(t(4, 32), t(1, 0))),
                                               must(make_ordered_layout(t(4, 4), t(1, 0)))));
static_assert(tv.tiler == t(16, 128));
static_assert(tv.layout ==
              layout(make_tuple_of(t(32, 4), t(4, 4)), make_tuple_of(t(64, 4), t(16, 1))));

// The compositions that CuTe's headers accept though they break R(c) = A(B(c)):
// NVIDIA/cutlass#3177.
static_assert(!composition(layout(make_tuple_of(t(2, 4), 4, 2), make_tuple_of(t(16, 1), 4, 32)),
                           layout(t(6, 2, 3), t(2, 1, 12))));
static_assert(!composition(layout(make_tuple_of(2, t(4, 2)), make_tuple_of(2, t(4, 1))),
                           layout(t(6, 2), t(1, 6))));
static_assert(!composition(layout(t(2, 4, 4), t(8, 16, 1)), layout(t(8, 6, 4), t(24, 1, 6))));

// Refusals are values at compile time too.
static_assert(composition(Layout(8, 1), Layout(4, -1)).refusal.rule ==
              Refusal::Rule::negative_stride);
static_assert(complement(layout(t(4, 4), t(1, 3)), t(24)).refusal.rule ==
              Refusal::Rule::not_injective);

// Structure: what a tree says of itself.
static_assert(make_tuple_of(9, t(4, 8)).rank() == 2 && make_tuple_of(9, t(4, 8)).depth() == 2);
static_assert(make_tuple_of(9, t(4, 8)).mode(1) == t(4, 8));
static_assert(Tuple(4).rank() == 1 && Tuple(4).depth() == 0 && make_tuple_of(4).depth() == 1);
static_assert(!(Tuple(4) == make_tuple_of(4)));

}  // namespace tilescope::compile_time
