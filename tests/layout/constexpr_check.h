// The algebra at compile time: the same assertions are compiled by g++, by clang and, where there
// is one, by nvcc. Expected values are CuTe's, or worked by hand.
#pragma once

#include "core/layout/algebra.h"
#include "core/layout/bits.h"

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

// Places and unknown numbers.
constexpr Layout identity = must(make_identity_layout(t(4, 5)));
static_assert(must(coordinate_of(must(place_of(t(7), identity)))) == t(3, 1));
static_assert(must(slice(t(Int::all(), 2), identity)).offset == must(place_at(t(0, 2))));
static_assert(must(composition(layout(t(4, 5), t(5, 1)), identity)) == layout(t(4, 5), t(5, 1)));
static_assert(must(extent(t(Int::unknown(4), 8))) == Int::unknown(32));
static_assert(must(logical_divide(Layout(Int::unknown(), 1), Layout(64, 1))) ==
              layout(t(64, Int::unknown()), t(1, 64)));

// The compositions that CuTe's headers accept though they break R(c) = A(B(c)):
// NVIDIA/cutlass#3177.
static_assert(!composition(layout(make_tuple_of(t(2, 4), 4, 2), make_tuple_of(t(16, 1), 4, 32)),
                           layout(t(6, 2, 3), t(2, 1, 12))));
static_assert(!composition(layout(make_tuple_of(2, t(4, 2)), make_tuple_of(2, t(4, 1))),
                           layout(t(6, 2), t(1, 6))));
static_assert(!composition(layout(t(2, 4, 4), t(8, 16, 1)), layout(t(8, 6, 4), t(24, 1, 6))));

// Recasts, tiles, orders, modes, what is shared.
static_assert(must(upcast(layout(t(8, 16), t(1, 8)), 2)) == layout(t(4, 16), t(1, 4)));
static_assert(must(downcast(layout(t(8, 16), t(1, 8)), 4)) == layout(t(32, 16), t(1, 32)));
static_assert(must(recast_layout(Layout(8, 1), 32, 8)) == Layout(32, 1));
static_assert(must(tile_to_shape(layout(t(4, 8), t(8, 1)), t(32, 64), t(2, 1))) ==
              layout(make_tuple_of(t(4, 8), t(8, 8)), make_tuple_of(t(8, 256), t(1, 32))));
static_assert(must(make_layout_like(layout(t(2, 4, 8), t(64, 0, 2)))) ==
              layout(t(2, 4, 8), t(8, 0, 1)));
static_assert(must(group(layout(t(2, 3, 4), t(1, 2, 6)), 0, 2)) ==
              layout(make_tuple_of(t(2, 3), 4), make_tuple_of(t(1, 2), 6)));
static_assert(must(nullspace(layout(t(2, 4, 8), t(1, 0, 2)))) == Layout(4, 2));
static_assert(must(max_common_vector(layout(t(4, 8), t(8, 1)), layout(t(4, 8), t(8, 1)))) == 32);
static_assert(must(max_alignment(layout(t(8, 4), t(1, 16)))) == 8);

// A shared-memory atom of 128 bytes of halves: its tile, its inverse, and its bits.
constexpr Layout atom = must(composition(Swizzle{3, 3, 3}, layout(t(8, 64), t(64, 1))));
static_assert(must(tile_to_shape(atom, t(128, 64))) ==
              must(composition(Swizzle{3, 3, 3}, layout(make_tuple_of(t(8, 16), t(64, 1)),
                                                        make_tuple_of(t(64, 512), t(1, 0))))));
static_assert(must(right_inverse(atom)) ==
              must(composition(Swizzle{3, 0, -6}, layout(t(64, 8), t(8, 1)))));
static_assert(must(left_inverse(atom))(atom(77)) == 77);
static_assert(must(layout_of_matrix(must(matrix_of(atom)))) == atom);

// Refusals are values at compile time too.
static_assert(upcast(Layout(8, 3), 2).refusal.rule == Refusal::Rule::not_divisible);
static_assert(downcast(Layout(8, 2), 2).refusal.rule == Refusal::Rule::not_adjacent);
static_assert(tile_to_shape(Layout(3, 1), t(8)).refusal.rule == Refusal::Rule::tile_does_not_fill);
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
