// Layout: the function from coordinates to offsets that everything in Tilescope is about.
//
//     (9,(4,8)):(59,(13,1))        shape : stride, congruent nested tuples
//     Sw<3,3,3> o 0 o (8,64):(64,1)  a swizzle after a plain layout (a composed layout)
//
//     L(c) = swizzle(offset + sum over leaves of coordinate * stride)
//
// A stride may be on an axis, `(4,5):(1@0,1@1)`: then L(c) is a place (place.h), a sum over
// axes. A leaf may be unknown, `(?,8):(1,?{div=16})`: then so is what depends on it (int.h).
//
// A coordinate may be given whole (one number), by mode, or by leaf. A number is split over the
// leaves colexicographically: the first mode moves fastest (CuTe; NumPy is the other way round).
// The last leaf extends without bound, so L(c) is defined for every c >= 0.
//
// A plain value: no heap, no type per shape, usable as `static constexpr` in a kernel and at run
// time in a window. Operations are in algebra.h, text in text.h.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

#include "core/layout/place.h"
#include "core/layout/refusal.h"
#include "core/layout/swizzle.h"
#include "core/layout/tree.h"

namespace tilescope {

// A leaf of a layout: `shape` steps of `stride`.
struct Mode {
  Int shape = 1;
  Int stride = 0;
  friend constexpr bool operator==(const Mode&, const Mode&) = default;
};

struct Layout {
  Tree<Mode> modes;
  Swizzle swizzle;
  Int offset;  // added before the swizzle; 0 in a plain layout

  constexpr Layout() = default;
  constexpr Layout(const Tree<Mode>& m) : modes(m) {}  // NOLINT: modes alone are a plain layout
  constexpr Layout(Int shape, Int stride) : modes(Mode{shape, stride}) {}
  constexpr Layout(const Tree<Mode>& m, const Swizzle& sw, const Int& from)
      : modes(m), swizzle(sw), offset(from) {}
  constexpr Layout(const Tree<Mode>& of, int i) : modes(of.mode(i)) {}  // the mode i alone

  constexpr int rank() const { return modes.rank(); }
  constexpr int depth() const { return modes.depth(); }
  constexpr int leaves() const { return modes.leaves; }
  constexpr bool plain() const { return swizzle.identity() && offset.is(0); }

  constexpr Tuple shape() const {
    return modes.map<Int>([](const Mode& m) { return m.shape; });
  }
  constexpr Tuple stride() const {
    return modes.map<Int>([](const Mode& m) { return m.stride; });
  }

  // All numbers known and no axes: the whole algebra applies, and offsets are numbers.
  constexpr bool concrete() const {
    for (int i = 0; i < modes.leaves; ++i) {
      const Mode& m = modes.leaf[i];
      if (!m.shape.known() || !m.stride.known() || !m.stride.axis.none()) return false;
    }
    return offset.known();
  }

  // The offset of the index-th coordinate in colexicographic order. Needs concrete().
  constexpr std::int64_t operator()(std::int64_t index) const {
    std::int64_t sum = offset.value;
    for (int i = 0; i < modes.leaves; ++i) {
      const Mode& m = modes.leaf[i];
      const bool last = i + 1 == modes.leaves;
      const std::int64_t here = last ? index : index % m.shape.value;
      if (!last) index /= m.shape.value;
      sum += here * m.stride.value;
    }
    return swizzle(sum);
  }

  friend constexpr bool operator==(const Layout&, const Layout&) = default;
};

static_assert(std::is_trivially_copyable_v<Layout>);

// --- making -----------------------------------------------------------------------------------

// shape:stride with the same structure, positive extents, sizes that fit.
constexpr Result<Layout> make_layout(const Tuple& shape, const Tuple& stride);
// shape with compact strides, first mode fastest (CuTe's LayoutLeft) or last (LayoutRight).
constexpr Result<Layout> make_layout(const Tuple& shape);
constexpr Result<Layout> make_layout_right(const Tuple& shape);
// The layout that answers its own coordinate: each leaf has its own axis (CuTe's identity tensors).
//     make_identity_layout((4,(2,3))) = (4,(2,3)):(1@0,(1@0@1,1@1@1))
constexpr Result<Layout> make_identity_layout(const Tuple& shape);
// One tuple of several layouts, each a mode.
template <class... Layouts>
constexpr Layout make_layout_of(const Layouts&... each) {
  Layout out;
  (out.modes.push(each.modes), ...);
  return out;
}

// --- asking -----------------------------------------------------------------------------------

// Number of coordinates.
constexpr Result<std::int64_t> size(const Layout& layout) {
  return product(layout.shape());
}
// One more than the largest offset; with a swizzle, of the offsets that are reached.
constexpr Result<std::int64_t> cosize(const Layout& layout);
// The same two where a leaf may be unknown: extent((?{div=4},8)) = ?{div=32}.
constexpr Result<Int> extent(const Tuple& shape);
constexpr Result<Int> extent(const Layout& layout) {
  return extent(layout.shape());
}
// One more than the largest number on each axis (on none: cosize): (4,5):(1@0,1@1) has 4@0+5@1.
constexpr Result<Place> coshape(const Layout& layout);

// The mode i as a layout; the offset and swizzle of a composed layout stay with it.
constexpr Result<Layout> get(const Layout& layout, std::int64_t i) {
  if (i < 0 || i >= layout.rank()) {
    return Refusal{Refusal::Rule::mode_out_of_range, -1, 0, i, layout.rank()};
  }
  Layout out = layout;
  out.modes = layout.modes.mode(static_cast<int>(i));
  return out;
}

// --- coordinates and offsets ------------------------------------------------------------------

// The coordinate of the index-th element, with the structure of `shape`: idx2crd(5, (2,(2,2))) is
// (1,(0,1)). Needs 0 <= index < size; an unknown index has unknown digits, idx2crd(?{div=8}, (4,8))
// is (0,?{div=2}).
constexpr Result<Tuple> idx2crd(const Int& index, const Tuple& shape);
// The index of a coordinate, which may be given whole, by mode or by leaf.
constexpr Result<std::int64_t> crd2index(const Tuple& coordinate, const Tuple& shape);
// The offset of such a coordinate; its place where strides are on axes or numbers are unknown, in
// the layout or in the coordinate: place_of(?, (4,8):(2,16)) = ?{div=2}.
constexpr Result<std::int64_t> crd2idx(const Tuple& coordinate, const Layout& layout);
constexpr Result<Place> place_of(const Tuple& coordinate, const Layout& layout);

// A coordinate as a place on numbered axes: (3,2) is 3@0+2@1. coordinate_of is the way back.
constexpr Result<Place> place_at(const Tuple& coordinate);

}  // namespace tilescope

#include "core/layout/layout_inl.h"
