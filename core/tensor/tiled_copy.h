// A tiled copy: an atom repeated over threads and values, as CuTe's TiledCopy.
//
//     make_tiled_copy(UniversalCopy<u128,f16>, (32,8):(8,1), (1,8))      threads x values
//     make_tiled_copy_A(SM75_U32x4_LDSM_N, MMA)                           as MMA holds A
//
// `layout_tv` maps (thread, value) of the atom's reference side to the element of a tile of shape
// `tiler`, counted down its columns. partition_S and partition_D read a tensor as the source or the
// destination sees it; retile_S and retile_D give a fragment that another operation made the shape
// ((values),(Rest...)) of this copy.
// Source: CuTe, include/cute/atom/copy_atom.hpp; results are as its release 4.7 prints them.
#pragma once

#include "core/tensor/tiled_mma.h"

namespace tilescope {

struct TiledCopy {
  CopyAtom atom;
  Tuple tiler;  // (M,N)
  Layout layout_tv;
};

enum class Side : std::uint8_t { source, destination };

// Threads and values as layouts (m,n) -> thread and (m,n) -> value, the values inside.
constexpr Result<TiledCopy> make_tiled_copy(const CopyAtom& atom, const Layout& threads,
                                            const Layout& values = Layout(1, 0));
// Who holds an operand of a tiled MMA also copies it.
constexpr Result<TiledCopy> make_tiled_copy(const CopyAtom& atom, const TiledMma& mma,
                                            OperandName x);
// The tile and the thread/value layout of another copy, from its source or its destination side.
constexpr Result<TiledCopy> make_tiled_copy(const CopyAtom& atom, const TiledCopy& other,
                                            Side side);

// (thread, value) -> element of the tile, as the source or the destination sees it.
constexpr Result<Layout> layout_tv(const TiledCopy& copy, Side side);
// What thread `thr` copies of `layout`: ((FrgV,FrgX),RestM,RestN,...), and its offset.
constexpr Result<Slice> partition(const TiledCopy& copy, Side side, const Int& thr,
                                  const Layout& layout);
// A fragment (V,RestM,RestN,...) as ((values of the atom, atoms),RestM,RestN,...). Source and
// destination are the same: both speak of the reference side.
constexpr Result<Layout> retile(const TiledCopy& copy, const Layout& fragment);

namespace detail {

// A copy is legal when its threads and values are whole atoms.
constexpr Result<TiledCopy> checked(const TiledCopy& copy) {
  using Rule = Refusal::Rule;
  const Result<std::int64_t> threads = mode_size(copy.layout_tv, 0);
  const Result<std::int64_t> values = mode_size(copy.layout_tv, 1);
  const Result<std::int64_t> atom_threads = mode_size(copy.atom.ref, 0);
  const Result<std::int64_t> atom_values = mode_size(copy.atom.ref, 1);
  for (const auto* n : {&threads, &values, &atom_threads, &atom_values}) {
    if (!*n) return n->refusal;
  }
  if (*threads % *atom_threads != 0) {
    return refuse(Rule::copy_threads, -1, *threads, *atom_threads);
  }
  if (*values % *atom_values != 0) return refuse(Rule::copy_values, -1, *values, *atom_values);
  return copy;
}

// ((TileM,TileN,...),(RestM,RestN,...)) into (Thr,(FrgV,FrgX),(RestM,RestN,...)); CuTe's
// tile2thrfrg.
template <class Trace>
constexpr Result<Layout> tile_to_threads(const TiledCopy& copy, const Layout& tiled,
                                         const Layout& target, Trace& trace) {
  const Result<Layout> inverse = right_inverse(copy.atom.ref);
  if (!inverse) return inverse;
  const Result<Layout> ref_to_target = composition(*inverse, target);
  if (!ref_to_target) return ref_to_target;
  const Result<std::int64_t> threads = mode_size(copy.atom.ref, 0);
  const Result<std::int64_t> values = mode_size(copy.atom.ref, 1);
  if (!threads) return threads.refusal;
  if (!values) return values.refusal;
  // ((atom_tid,atom_val),(rest_tid,rest_val)) -> (m,n)
  const Result<Layout> atoms =
      zipped_divide(copy.layout_tv, tiler_of(Tiler::number(*threads), Tiler::number(*values)));
  if (!atoms) return atoms;
  const Result<Layout> seen = composition(*atoms, tiler_of(Tiler(*ref_to_target), whole()));
  if (!seen) return seen;
  // ((tid,rest_tid),(val,rest_val)) -> (m,n)
  const Result<Layout> zipped = zip(Layout(seen->modes.mode(0)), Layout(seen->modes.mode(1)));
  if (!zipped) return zipped;
  const Result<Layout> by_thread = coalesce(*zipped, make_tuple_of(Int(1), make_tuple_of(1, 1)));
  if (!by_thread) return by_thread;
  trace.held(*by_thread);
  const Result<Layout> held = composition(tiled, tiler_of(Tiler(*by_thread), whole()));
  if (!held) return held;
  Tree<Mode> out;
  out.push(held->modes.mode(0).mode(0));
  out.push(held->modes.mode(0).mode(1));
  out.push(held->modes.mode(1));
  const Result<Layout> whole = built(*held, out);
  if (whole) trace.dealt(*whole);
  return whole;
}

// The extents of a tiler's modes.
constexpr Result<Tuple> sizes_of_modes(const Layout& layout) {
  Tuple out;
  for (int i = 0; i < layout.rank(); ++i) {
    const Result<std::int64_t> n = mode_size(layout, i);
    if (!n) return n.refusal;
    out.push(Tuple(*n));
  }
  return out;
}

constexpr const Layout& values_of(const TiledCopy& copy, Side side) {
  return side == Side::source ? copy.atom.src : copy.atom.dst;
}

template <class Trace>
constexpr Result<Slice> partition(const TiledCopy& copy, Side side, const Int& thr,
                                  const Layout& layout, Trace& trace) {
  const Result<Layout> tiled = zipped_divide(layout, Tiler(copy.tiler));
  if (!tiled) return tiled.refusal;
  trace.tiled(*tiled);
  const Result<Layout> held = tile_to_threads(copy, *tiled, values_of(copy, side), trace);
  if (!held) return held.refusal;
  const Result<std::int64_t> threads = mode_size(*held, 0);
  if (!threads) return threads.refusal;
  if (const Refusal r = needs_thread(thr, *threads)) return r;
  trace.thread(Tuple(thr));
  const Tuple kept = make_tuple_of(thr, Int::all(), underscores(layout.rank()));
  const Result<Slice> part = slice(kept, *held);
  if (part) trace.part(kept, *part);
  return part;
}

}  // namespace detail

constexpr Result<TiledCopy> make_tiled_copy(const CopyAtom& atom, const Layout& threads,
                                            const Layout& values) {
  const Result<ThreadValue> tv = make_layout_tv(threads, values);
  if (!tv) return tv.refusal;
  return detail::checked({atom, tv->tiler, tv->layout});
}

constexpr Result<TiledCopy> make_tiled_copy(const CopyAtom& atom, const TiledMma& mma,
                                            OperandName x) {
  const auto [first, second] = detail::extents_of(x);
  const Result<Layout> tv = layout_tv(mma, x);
  if (!tv) return tv.refusal;
  const Result<std::int64_t> m = tile_size(mma, first), n = tile_size(mma, second);
  if (!m) return m.refusal;
  if (!n) return n.refusal;
  return detail::checked({atom, make_tuple_of(*m, *n), *tv});
}

constexpr Result<TiledCopy> make_tiled_copy(const CopyAtom& atom, const TiledCopy& other,
                                            Side side) {
  const Result<Layout> tv = layout_tv(other, side);
  if (!tv) return tv.refusal;
  return detail::checked({atom, other.tiler, *tv});
}

constexpr Result<Layout> layout_tv(const TiledCopy& copy, Side side) {
  // ((M,N),1): the tile itself, and no further one
  const Result<Layout> tile = make_layout(make_tuple_of(copy.tiler, 1));
  if (!tile) return tile;
  PartitionSilent silent;
  const Result<Layout> held =
      detail::tile_to_threads(copy, *tile, detail::values_of(copy, side), silent);
  if (!held) return held;
  return take(*held, 0, 2);
}

constexpr Result<Slice> partition(const TiledCopy& copy, Side side, const Int& thr,
                                  const Layout& layout) {
  PartitionSilent silent;
  return detail::partition(copy, side, thr, layout, silent);
}

constexpr Result<Layout> retile(const TiledCopy& copy, const Layout& fragment) {
  const Result<std::int64_t> values = detail::mode_size(fragment, 0);
  const Result<std::int64_t> threads = detail::mode_size(copy.layout_tv, 0);
  const Result<std::int64_t> atom_values = detail::mode_size(copy.atom.ref, 1);
  for (const auto* n : {&values, &threads, &atom_values}) {
    if (!*n) return n->refusal;
  }
  // (m,n) -> v: the shape and the order of the values inside the thread/value layout
  const Result<Layout> inverse = right_inverse(copy.layout_tv);
  if (!inverse) return inverse;
  const Result<Layout> tile = make_layout(copy.tiler);
  const Result<Layout> by_element = composition(*inverse, *tile);
  if (!by_element) return by_element;
  const Result<Layout> order = upcast(*by_element, *threads * *values);
  if (!order) return order;
  const Result<Layout> first = right_inverse(*order);
  if (!first) return first;
  const Result<Layout> all = logical_product(*make_layout(Tuple(*values)), *first);
  if (!all) return all;
  // (atom_vals,rest_vals) -> (v,m,n)
  const Result<Layout> by_atom = zipped_divide(*all, Tiler(*make_layout(Tuple(*atom_values))));
  if (!by_atom) return by_atom;
  const Result<Tuple> extents = detail::sizes_of_modes(*order);
  if (!extents) return extents.refusal;
  Tuple tiler;
  tiler.push(Tuple(*values));
  for (int i = 0; i < extents->leaves; ++i) tiler.push(Tuple(extents->leaf[i]));
  // ((TileV,TileM,TileN,...),(1,RestM,RestN,...))
  const Result<Layout> tiled = zipped_divide(fragment, Tiler(tiler));
  if (!tiled) return tiled;
  const Result<Layout> held =
      composition(*tiled, detail::tiler_of(Tiler(*by_atom), detail::whole()));
  if (!held) return held;
  Tuple rest(make_tuple_of(Int(0)));
  for (int i = 1; i < fragment.rank(); ++i) rest.push(Tuple(Int::all()));
  const Result<Slice> out = slice(make_tuple_of(Int::all(), rest), *held);
  if (!out) return out.refusal;
  return out->layout;
}

}  // namespace tilescope
