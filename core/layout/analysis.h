// What can be said of a layout as a function: which offsets it reaches, how often, in which order.
//
//     injective    no two coordinates have the same offset
//     surjective   every offset below cosize(L) is reached
//     compact      both: L orders the offsets [0, size) in its own way, without holes or overlaps
//     contiguous   L(i) == L(0) + i: neighbours in coordinates are neighbours in memory
//     broadcast    how many coordinates own each offset (all of them: coordinates(OFFSET, L))
//
// Of a layout whose strides are on axes the same is said of its places: each axis has cosize(L)
// numbers, and a place is one of the box that they span.
//
// Answers are exact for every concrete layout, with swizzle or without. Where strides alone do not
// tell, coordinates are counted out, up to `countable` of them; beyond that is a refusal.
#pragma once

#include <cstdint>
#include <vector>

#include "core/layout/algebra.h"

namespace tilescope {

inline constexpr std::int64_t countable = std::int64_t{1} << 22;

// Yes or no, and the reason: two coordinates or an offset that decide it.
struct Truth {
  bool value = false;
  enum class Because : std::uint8_t {
    strides,     // the strides alone decide it
    counted,     // every coordinate was looked at
    broadcast,   // mode `mode` does not move
    pigeonhole,  // `a` coordinates for `b` offsets
    shared,      // coordinates number `a` and `b` have the same offset, `offset`
    hole,        // `offset` is not reached
    step,        // coordinate number `a` is at `offset`, not after the one before it
  } because = Because::counted;
  int mode = -1;
  std::int64_t a = 0, b = 0, offset = 0;
};

// The layout with its places counted as offsets in that box, the first axis fastest; and the place
// that such an offset is. A layout without axes is its own.
Result<Layout> over_box(const Layout& layout);
Place place_in_box(const Layout& layout, std::int64_t offset);

Result<Truth> injective(const Layout& layout);
Result<Truth> surjective(const Layout& layout);
Result<Truth> compact(const Layout& layout);
Result<Truth> contiguous(const Layout& layout);

// How often offsets are owned. least == most == 1 is injective.
struct Broadcast {
  std::int64_t coordinates = 0;  // size(L)
  std::int64_t offsets = 0;      // distinct offsets reached
  std::int64_t least = 0, most = 0;
};
Result<Broadcast> broadcast(const Layout& layout);

// All coordinates of an offset, as indices; never only the first.
Result<std::vector<std::int64_t>> owners(const Layout& layout, std::int64_t offset);

// The most elements of `bits` bits that one access of at most 128 bits can move, and the
// coordinates that it moves: L(c + along(j)) == L(c) + j for j < elements, at every c whose offset
// is a multiple of `elements`, and no element is left over. The base address must be aligned as
// widely.
struct VectorAccess {
  std::int64_t elements = 1;
  std::int64_t bits = 0;  // of the access
  Layout along;
};
Result<VectorAccess> widest_vector(const Layout& layout, std::int64_t element_bits);

}  // namespace tilescope
