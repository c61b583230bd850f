// The algebra of layouts: each operation with the law it keeps.
//
// Everything is constexpr and refuses instead of being wrong: where CuTe's headers accept operands
// for which the law does not hold, these functions return a Refusal with the mode and the numbers.
// Operations here take plain, concrete layouts (numbers, no swizzle) unless they say otherwise.
#pragma once

#include "core/layout/layout.h"
#include "core/layout/tiler.h"

namespace tilescope {

// coalesce(L)(i) == L(i) for all i, with the fewest leaves and no nesting.
//     coalesce((2,(1,6)):(1,(6,2))) = 12:1
constexpr Result<Layout> coalesce(const Layout& layout);
// By mode: each mode of `profile` that is a number coalesces that mode alone.
constexpr Result<Layout> coalesce(const Layout& layout, const Tuple& profile);

// Same leaves, no nesting.      flatten((9,(4,8)):(59,(13,1))) = (9,4,8):(59,13,1)
constexpr Result<Layout> flatten(const Layout& layout);

// Without modes that do not move (size 1 or stride 0), coalesced.
//     filter((2,4,8):(0,1,0)) = 4:1
constexpr Result<Layout> filter(const Layout& layout);

// R(c) == A(B(c)) for every coordinate c of B; R has B's structure, leaf by leaf.
//     composition((6,2):(8,2), (4,3):(3,1)) = ((2,2),3):((24,2),8)
// Refused where no layout can keep the law: a stride of B that does not divide (or is not divided
// by) an extent of A, or parts of B that together run over the end of a mode of A.
constexpr Result<Layout> composition(const Layout& a, const Layout& b);
// By mode: each mode of the tiler composed with the same mode of A; further modes of A as they are.
constexpr Result<Layout> composition(const Layout& a, const Tiler& b);

// What L leaves out of [0, cotarget): complement(L) is disjoint from L except at 0, has increasing
// strides, and (L, complement(L, n)) together reach every offset below n (rounded up to whole
// repetitions of L).
//     complement((2,2):(1,6), 24) = (3,2):(2,12)
constexpr Result<Layout> complement(const Layout& layout, const Tuple& cotarget);
constexpr Result<Layout> complement(const Layout& layout);  // up to cosize(L)

// Strides in the order of `order`'s numbers: the smallest number moves fastest.
//     make_ordered_layout((4,32), (1,0)) = (4,32):(32,1)
constexpr Result<Layout> make_ordered_layout(const Tuple& shape, const Tuple& order);

// L(right_inverse(L)(i)) == i for every i below its size: the widest part of [0, n) that L covers.
constexpr Result<Layout> right_inverse(const Layout& layout);
// left_inverse(L)(L(i)) == i for every i below size(L); L has to be injective.
constexpr Result<Layout> left_inverse(const Layout& layout);

// (tile, rest): A split into copies of B and their arrangement. By mode for a tiler.
constexpr Result<Layout> logical_divide(const Layout& a, const Layout& b);
constexpr Result<Layout> logical_divide(const Layout& a, const Tiler& b);
// ((tile0, tile1, ...), (rest0, rest1, ...)): one coordinate inside the tile, one to choose it.
//     zipped_divide((9,(4,8)):(59,(13,1)), <3:3,(2,4):(1,8)>)
//         = ((3,(2,4)),(3,(2,2))):((177,(13,2)),(59,(26,1)))
constexpr Result<Layout> zipped_divide(const Layout& a, const Tiler& b);
constexpr Result<Layout> tiled_divide(const Layout& a, const Tiler& b);  // (tile, rest0, rest1...)
constexpr Result<Layout> flat_divide(const Layout& a, const Tiler& b);   // (tile0, ..., rest0, ...)

// (A, copies of A arranged as B): the second mode is complement(A) o B. As in CuTe the law of that
// composition holds for each leaf of B by itself, so that B may reach over the end of a hole of A.
constexpr Result<Layout> logical_product(const Layout& a, const Layout& b);
constexpr Result<Layout> tiled_product(const Layout& a, const Layout& b);  // (A, b0, b1, ...)
constexpr Result<Layout> flat_product(const Layout& a, const Layout& b);   // (a0, ..., b0, ...)
// Mode by mode ((a0, b0), (a1, b1), ...): blocks of A, or A's elements interleaved (raked).
constexpr Result<Layout> blocked_product(const Layout& a, const Layout& b);
constexpr Result<Layout> raked_product(const Layout& a, const Layout& b);

// Threads x values over a tile: `layout` maps (thread, value) to the offset inside the
// column-major tile of shape `tiler`.
//     make_layout_tv((4,32):(32,1), (4,4):(4,1))
//         = tiler (16,128), layout ((32,4),(4,4)):((64,4),(16,1))
struct ThreadValue {
  Tuple tiler;
  Layout layout;
};
constexpr Result<ThreadValue> make_layout_tv(const Layout& threads, const Layout& values);

}  // namespace tilescope

#include "core/layout/algebra_inl.h"
#include "core/layout/divide_inl.h"
