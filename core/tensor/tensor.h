// A tensor: a layout, where its elements are, and of which type they are.
//
//     smem<f16> o (8,64):(64,1)          512 elements of 16 bits in shared memory
//     smem<f16>+64 o 64:1                its second row
//
// Slicing, tiling and partitioning keep memory and type and move the offset: the elements stay
// where they are. The offset counts elements from the tensor's beginning; where strides are on
// axes it is a place (a coordinate tensor's offset is a coordinate).
// Source: CuTe, include/cute/tensor_impl.hpp.
#pragma once

#include "core/tensor/atom.h"

namespace tilescope {

struct Tensor {
  Memory memory = Memory::gmem;
  ElementType type = ElementType::f32;
  Layout layout;  // without modes: a place for elements and nothing more, as `smem<f16>` alone
  Place offset;
  // Whose elements they are, as their holder numbers it; 0: nobody's. A part of a tensor has the
  // same elements, and what is made in other memory has none.
  std::uint32_t source = 0;

  constexpr bool alone() const { return layout.modes.empty(); }
};

// T(3,_): the modes at `_`, from the others' coordinates on.
constexpr Result<Tensor> slice(const Tuple& coordinate, const Tensor& tensor);

// The tile at a coordinate of tiles: local_tile((128,64):(64,1), <32,16>, (1,2)). A `_` in the
// coordinate keeps all tiles along that mode, after the tile's own modes. `projection` is for one
// tiler of several operands: only the modes of tiler and coordinate where it has a number count.
constexpr Result<Slice> local_tile(const Layout& layout, const Tiler& tiler,
                                   const Tuple& coordinate, const Tuple& projection = {});

// Thread `index` of `threads` takes every element that is its own when the threads are laid over
// the tensor again and again: local_partition((128,64):(64,1), (8,4):(4,1), 5).
constexpr Result<Slice> local_partition(const Layout& layout, const Layout& threads,
                                        const Int& index, const Tuple& projection = {});

// The coordinate of a thread in a layout of threads, one number a mode: (v,m,n,k) of a tiled MMA.
// A thread of the same warps that the layout leaves out (5 of a Volta quad-pair) does as another
// one does, as CuTe's get_slice has it. Refused beyond the warps, or where several coordinates have
// one thread. An unknown thread (`?`, as a kernel has it) has a coordinate of unknown numbers, with
// the divisors that follow: the layouts of what it holds are those of every thread, and its offset
// is unknown.
constexpr Result<Tuple> thread_coordinate(const Layout& threads, const Int& thr);

namespace detail {

// The modes of x at which `projection` has a number; all where there is none.
constexpr Result<Tuple> diced(const Tuple& x, const Tuple& projection) {
  if (projection.empty()) return x;
  if (projection.rank() != x.rank()) {
    return refuse(Refusal::Rule::not_congruent, -1, projection.rank(), x.rank());
  }
  Tuple out;
  for (int i = 0; i < x.rank(); ++i) {
    if (projection.mode(i).leaf[0].kind != Int::Kind::all) out.push(x.mode(i));
  }
  return out;
}

constexpr Result<Tiler> diced(const Tiler& x, const Tuple& projection) {
  if (projection.empty()) return x;
  if (projection.rank() != x.rank()) {
    return refuse(Refusal::Rule::not_congruent, -1, projection.rank(), x.rank());
  }
  Tiler out;
  for (int i = 0; i < x.rank(); ++i) {
    if (projection.mode(i).leaf[0].kind != Int::Kind::all) out.push(x.mode(i));
  }
  return out;
}

// As many `_`; one alone is no tuple, so that what it keeps stays nested as it is (CuTe's repeat).
constexpr Tuple underscores(int count) {
  if (count == 1) return Tuple(Int::all());
  Tuple out;
  for (int i = 0; i < count; ++i) out.push(Tuple(Int::all()));
  return out;
}

// A coordinate of `rank` modes, `_` after those that are given; a number alone stays one.
constexpr Tuple filled(const Tuple& coordinate, int rank) {
  if (coordinate.scalar()) return coordinate;
  Tuple out = coordinate;
  for (int i = coordinate.rank(); i < rank; ++i) out.push(Tuple(Int::all()));
  return out;
}

// A refusal about the coordinate is about the third operand of the call.
constexpr Refusal of_coordinate(Refusal r) {
  r.operand = 2;
  return r;
}

// Every number of the coordinate is below the extent that it chooses from.
constexpr Refusal within(const Tuple& coordinate, const Tree<Mode>& modes) {
  for (int i = 0; i < coordinate.rank() && i < modes.rank(); ++i) {
    const Tuple one = coordinate.scalar() ? coordinate : coordinate.mode(i);
    if (!one.scalar() || one.leaf[0].kind != Int::Kind::number) continue;
    const Tree<Mode> mode = coordinate.scalar() ? modes : modes.mode(i);
    const Result<std::int64_t> n = size(Layout(mode));
    if (n && one.leaf[0].value >= *n) {
      return refuse(Refusal::Rule::no_such_tile, i, one.leaf[0].value, *n);
    }
  }
  return {};
}

// A thread's number: known and one of `count`, or not known.
constexpr Refusal needs_thread(const Int& thr, std::int64_t count) {
  using Rule = Refusal::Rule;
  Refusal r;
  if (thr.kind == Int::Kind::all)
    r = refuse(Rule::underscore);
  else if (!thr.axis.none())
    r = on_axis(Rule::axis_coordinate, thr, -1);
  else if (thr.known() && (thr.value < 0 || thr.value >= count))
    r = refuse(Rule::no_such_thread, -1, thr.value, count);
  return r;
}

}  // namespace detail

constexpr Result<Tuple> thread_coordinate(const Layout& threads, const Int& thr) {
  using Rule = Refusal::Rule;
  if (const Refusal r = detail::needs_concrete(threads, 0)) return r;
  const Result<std::int64_t> count = cosize(threads);
  if (!count) return count.refusal;
  const Result<std::int64_t> parts = size(threads);
  if (!parts) return parts.refusal;
  const std::int64_t all = *parts < *count ? ceil_div(*count, 32) * 32 : *count;
  if (const Refusal r = detail::needs_thread(thr, all)) return r;
  Tuple out;
  for (int i = 0; i < threads.rank(); ++i) {
    const Tree<Mode> mode = threads.modes.mode(i);
    Int coordinate = 0;
    std::int64_t step = 1;
    bool fits = true;  // as the size of the threads does
    for (int k = 0; k < mode.leaves; ++k) {
      const Int &extent = mode.leaf[k].shape, &stride = mode.leaf[k].stride;
      if (extent.is(1)) continue;
      if (stride.value == 0) return detail::refuse(Rule::thread_layout_broadcasts, i);
      const Int above = detail::digit_of(thr, stride, false).rest;
      const Int digit = detail::digit_of(above, extent, false).here;
      coordinate = plus(coordinate, times(digit, step, fits), fits);
      step *= extent.value;
    }
    out.push(Tuple(coordinate));
  }
  return out;
}

constexpr Result<Tensor> slice(const Tuple& coordinate, const Tensor& tensor) {
  const Result<Slice> part = slice(coordinate, tensor.layout);
  if (!part) return part.refusal;
  Tensor out = tensor;
  out.layout = part->layout;
  if (const Refusal r = out.offset.add(part->offset)) return r;
  return out;
}

constexpr Result<Slice> local_tile(const Layout& layout, const Tiler& tiler,
                                   const Tuple& coordinate, const Tuple& projection) {
  const Result<Tiler> cut = detail::diced(tiler, projection);
  const Result<Tuple> at = detail::diced(coordinate, projection);
  if (!cut) return cut.refusal;
  if (!at) return at.refusal;
  const Result<Layout> tiled = zipped_divide(layout, *cut);
  if (!tiled) return tiled.refusal;
  const Tree<Mode> rest = tiled->modes.mode(1);
  const Tuple which = detail::filled(*at, rest.rank());
  if (const Refusal r = detail::within(which, rest)) return detail::of_coordinate(r);
  return slice(make_tuple_of(detail::underscores(tiled->modes.mode(0).rank()), which), *tiled);
}

constexpr Result<Slice> local_partition(const Layout& layout, const Layout& threads,
                                        const Int& index, const Tuple& projection) {
  Tuple extents;
  for (int i = 0; i < threads.rank(); ++i) {
    const Result<std::int64_t> n = size(Layout(threads.modes.mode(i)));
    if (!n) return n.refusal;
    extents.push(Tuple(*n));
  }
  const Result<Tuple> whole = thread_coordinate(threads, index);
  if (!whole) return whole.refusal;
  const Result<Tuple> shape = detail::diced(extents, projection);
  const Result<Tuple> at = detail::diced(*whole, projection);
  if (!shape) return shape.refusal;
  if (!at) return at.refusal;
  const Result<Layout> tiled = zipped_divide(layout, Tiler(*shape));
  if (!tiled) return tiled.refusal;
  return slice(make_tuple_of(*at, detail::underscores(tiled->modes.mode(1).rank())), *tiled);
}

}  // namespace tilescope
