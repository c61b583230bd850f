// The algebra of layouts: each operation with the law it keeps.
//
// Everything is constexpr and refuses instead of being wrong: where CuTe's headers accept operands
// for which the law does not hold, these functions return a Refusal with the mode and the numbers.
// Operations here take plain layouts (no swizzle) unless they say otherwise. Unknown numbers are
// carried through; where an answer depends on one, it must follow from what divides it, else there
// is a refusal that names the divisor that would be enough. Operations that order modes by their
// strides (complement, inverses, make_layout_like) refuse unknown strides. Strides on axes pass
// where offsets are only carried along: through coalesce, composition, divides; they are refused
// where offsets are compared.
#pragma once

#include "core/layout/layout.h"
#include "core/layout/modes.h"
#include "core/layout/tiler.h"

namespace tilescope {
namespace detail {
constexpr Result<Layout> compose_with_swizzled(const Layout& a, const Layout& b);
}  // namespace detail

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
constexpr Result<Layout> filter(const Layout& layout, const Tuple& profile);  // by mode
// Modes that do not move become one element; nothing else changes.
//     filter_zeros((2,4,8):(0,1,0)) = (1,4,1):(0,1,0)
constexpr Result<Layout> filter_zeros(const Layout& layout);

// R(c) == A(B(c)) for every coordinate c of B; R has B's structure, leaf by leaf.
//     composition((6,2):(8,2), (4,3):(3,1)) = ((2,2),3):((24,2),8)
// Where B's strides are on numbered axes, B(c) is a coordinate of A:
//     composition((4,5):(5,1), (2,5):(2@0,1@1)) = (2,5):(10,1)
// Refused where no layout can keep the law: a stride of B that does not divide (or is not divided
// by) an extent of A, or parts of B that together run over the end of a mode of A.
// A swizzle of A stays in front. A swizzle of B is carried through A to the front where there is a
// swizzle that does the same there (verified for every coordinate), and refused elsewhere.
constexpr Result<Layout> composition(const Layout& a, const Layout& b);
// By mode: each mode of the tiler composed with the same mode of A. As in CuTe 4.7, modes of A
// after the tiler's are dropped.
constexpr Result<Layout> composition(const Layout& a, const Tiler& b);
// The two swizzles as one, where there is one: R(x) == A(B(x)) for every x.
constexpr Result<Swizzle> composition(Swizzle a, Swizzle b);
constexpr Result<Layout> composition(Swizzle a, const Layout& b);

// What L leaves out of [0, cotarget): complement(L) is disjoint from L except at 0, has increasing
// strides, and (L, complement(L, n)) together reach every offset below n (rounded up to whole
// repetitions of L).
//     complement((2,2):(1,6), 24) = (3,2):(2,12)
constexpr Result<Layout> complement(const Layout& layout, const Tuple& cotarget);
constexpr Result<Layout> complement(const Layout& layout);  // up to cosize(L)

// Strides in the order of `order`'s numbers: the smallest number moves fastest.
//     make_ordered_layout((4,32), (1,0)) = (4,32):(32,1)
// A number in the order stands for a whole nested mode of the shape.
constexpr Result<Layout> make_ordered_layout(const Tuple& shape, const Tuple& order);
// The shape of L with compact strides in the order of L's strides; modes of stride 0 keep it.
//     make_layout_like((2,4,8):(64,0,2)) = (2,4,8):(8,0,1)
constexpr Result<Layout> make_layout_like(const Layout& layout);

// L(right_inverse(L)(i)) == i for every i below its size: the widest part of [0, n) that L covers.
//     right_inverse((4,8):(8,1)) = (8,4):(4,1)
constexpr Result<Layout> right_inverse(const Layout& layout);
// L(left_inverse(L)(L(i))) == L(i) for every i below size(L), so left_inverse(L)(L(i)) == i where L
// is injective. Modes of L that do not move are passed over; other overlaps are refused.
//     left_inverse(4:3) = (3,4):(0,1)
constexpr Result<Layout> left_inverse(const Layout& layout);

// The longest R with A(R(i)) == i and B(R(i)) == i: what can be copied between A and B at once.
//     max_common_layout((4,8):(8,1), (4,8):(8,1)) = (8,4):(4,1)
// A swizzle leaves 2^M neighbours side by side; of two equal swizzles the vector asks for nothing
// more than of the plain layouts, for both move it alike.
constexpr Result<Layout> max_common_layout(const Layout& a, const Layout& b);
constexpr Result<std::int64_t> max_common_vector(const Layout& a, const Layout& b);  // its size
constexpr Result<Int> max_common_extent(const Layout& a, const Layout& b);  // which may be unknown

// The coordinates that L maps to its first offset: L(R(i)) == L(0), as a layout.
//     nullspace((2,4,8):(1,0,2)) = 4:2
constexpr Result<Layout> nullspace(const Layout& layout);

// The same memory in elements n times as wide, or 1/n as wide. A mode of stride 1 shrinks or grows,
// other strides are divided or multiplied. In upcast a stride must divide n or be divided by it; in
// downcast some elements must be adjacent (a stride of 1); an unknown stride is taken to be wider,
// as CuTe takes it.
//     upcast((8,16):(1,8), 2) = (4,16):(1,4)        downcast((8,16):(1,8), 4) = (32,16):(1,32)
constexpr Result<Layout> upcast(const Layout& layout, std::int64_t n);
constexpr Result<Layout> downcast(const Layout& layout, std::int64_t n);
// From elements of so many bits to elements of others.   recast_layout(8:1, 32, 8) = 32:1
constexpr Result<Layout> recast_layout(const Layout& layout, std::int64_t old_bits,
                                       std::int64_t new_bits);
// The widest n for which upcast(L, n) keeps every element whole.
//     max_alignment((8,4):(1,16)) = 8
constexpr Result<std::int64_t> max_alignment(const Layout& layout);

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
constexpr Result<Layout> logical_product(const Layout& a, const Tiler& b);  // by mode
constexpr Result<Layout> zipped_product(const Layout& a, const Tiler& b);   // ((a...), (copies...))
constexpr Result<Layout> tiled_product(const Layout& a, const Tiler& b);    // (A, b0, b1, ...)
constexpr Result<Layout> flat_product(const Layout& a, const Tiler& b);     // (a0, ..., b0, ...)
// Mode by mode ((a0, b0), (a1, b1), ...): blocks of A, or A's elements interleaved (raked).
constexpr Result<Layout> blocked_product(const Layout& a, const Layout& b);
constexpr Result<Layout> raked_product(const Layout& a, const Layout& b);
// Copies of the block until it has the shape `target`, in the order of `order`'s numbers (none: the
// first mode first). Every extent of the block must divide the target's.
//     tile_to_shape((4,8):(8,1), (32,64), (2,1)) = ((4,8),(8,8)):((8,256),(1,32))
constexpr Result<Layout> tile_to_shape(const Layout& block, const Tuple& target,
                                       const Tuple& order = {});

// Threads x values over a tile: `layout` maps (thread, value) to the offset inside the
// column-major tile of shape `tiler`.
//     make_layout_tv((4,32):(32,1), (4,4):(4,1))
//         = tiler (16,128), layout ((32,4),(4,4)):((64,4),(16,1))
struct ThreadValue {
  Tuple tiler;
  Layout layout;
};
constexpr Result<ThreadValue> make_layout_tv(const Layout& threads, const Layout& values);

// A slice: the modes at `_`, as a layout, and the offset, or place, that the other coordinates
// contribute.
//     slice((3,_), (8,8):(8,1)) = (8):(1) off 24
// A swizzle is applied to a sum, of which the layout's own offset keeps only the bits that meet it;
// what is kept without a pair of bits that are XORed is a plain layout, as CuTe has it:
//     slice((_,16), Sw<1,0,3> o 0 o (16,32):(1,16)) = Sw<1,0,3> o 0 o (16):(1) off 256
//     slice((1,_), Sw<1,0,3> o 0 o (2,8):(8,1)) = ((2,4)):((-1,2)) off 9
// Where the sum of the bits may carry, or is not known, all of the offset stays inside.
struct Slice {
  Layout layout;
  Place offset;
};
constexpr Result<Slice> slice(const Tuple& coordinate, const Layout& layout);

}  // namespace tilescope

#include "core/layout/algebra_inl.h"
#include "core/layout/divide_inl.h"
#include "core/layout/inverse_inl.h"
#include "core/layout/recast_inl.h"
#include "core/layout/slice_inl.h"
