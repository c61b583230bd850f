// A tiled MMA: an atom repeated over threads (THR_LAYOUT) and values (the tile), as CuTe's
// TiledMMA.
//
//     make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN, (2,2,1), <32,32,16>)
//
// Four warps, two along M and two along N; together with repetitions they cover a tile of 32x32x16.
// `permutation` says how large the tile is in each mode, and in which order its rows (columns) are
// dealt out: `<32,(8,2,2):(1,16,8),16>`; `_` is as many as the atoms reach.
//
// From it follow, for a tensor of shape (M,N,...), (M,K,...) or (N,K,...):
//     thrfrg_C    ((ThrV,(ThrM,ThrN)),(FrgV,(RestM,RestN,...)))   who holds what
//     partition_C (FrgV,RestM,RestN,...) and an offset            what one thread holds
//     layout_C_TV (thread, value) -> element of the tile          the picture of the tile
// Source: CuTe, include/cute/atom/mma_atom.hpp; results are as its release 4.7 prints them.
#pragma once

#include "core/tensor/tensor.h"

namespace tilescope {

enum class OperandName : std::uint8_t { a, b, c };

struct TiledMma {
  MmaAtom atom;
  Layout thr_layout_vmnk;  // (ThrV,ThrM,ThrN,ThrK) -> thread
  Tiler permutation;       // of M, N, K; `_` where nothing is asked

  constexpr const MmaOperand& operand(OperandName x) const {
    return x == OperandName::a ? atom.a : x == OperandName::b ? atom.b : atom.c;
  }
};

// THR_LAYOUT: (M,N,K) -> atom; missing modes are 1:0. TILER: one part for each of M, N, K.
constexpr Result<TiledMma> make_tiled_mma(const MmaAtom& atom,
                                          const Layout& thr_layout = Layout(1, 0),
                                          const Tiler& permutation = {});

// The tile of an extent (0 M, 1 N, 2 K), and its size.
constexpr Result<std::int64_t> tile_size(const TiledMma& mma, int extent);
// (M,N): the tile of C, with whole numbers for extents.
constexpr Result<Tuple> tiler_mn(const TiledMma& mma);

// What a partition tells of its steps as it goes, to whoever explains it; nobody by default.
struct PartitionSilent {
  constexpr void tiled(const Layout&) {}              // the layout, cut into tiles
  constexpr void cut(const Layout&) {}                // each tile cut into atoms
  constexpr void held(const Layout&) {}               // (thread, value) instead of elements
  constexpr void dealt(const Layout&) {}              // threads first, then what each of them has
  constexpr void thread(const Tuple&) {}              // the thread's coordinate in it
  constexpr void part(const Tuple&, const Slice&) {}  // what is sliced, and what is left
};

// The threads' and the values' part of each element of `layout`.
constexpr Result<Layout> thrfrg(const TiledMma& mma, OperandName x, const Layout& layout);
// (thread, value) -> element of the tile, counted down its columns. Where atoms are along K too,
// several threads add up one element of C: partition() says so, while CuTe's C_TV (and so this one)
// counts on after the tile for those of the second atom along K and further ones.
constexpr Result<Layout> layout_tv(const TiledMma& mma, OperandName x);
// What thread `thr` holds of `layout`: (FrgV,RestM,RestN,...), and the offset of its first element.
// The thread may be unknown: `?` gives what every thread has, and an unknown offset.
constexpr Result<Slice> partition(const TiledMma& mma, OperandName x, const Int& thr,
                                  const Layout& layout);

namespace detail {

constexpr Tiler whole() {
  return Tiler::number(Int::all());
}

template <class... Parts>
constexpr Tiler tiler_of(const Parts&... parts) {
  Tiler out;
  (out.push(parts), ...);
  return out;
}

constexpr Result<std::int64_t> mode_size(const Layout& layout, int mode) {
  return product(layout.modes.mode(mode).template map<Int>([](const Mode& m) { return m.shape; }));
}

// Tile<...> of an extent: what was asked, or as many elements as the atoms reach.
constexpr Result<Tiler> permutation_of(const TiledMma& mma, int extent) {
  const Tiler asked = mma.permutation.mode(extent);
  if (!asked.keeps_whole()) return asked;
  const Result<std::int64_t> threads = mode_size(mma.thr_layout_vmnk, extent + 1);
  if (!threads) return threads.refusal;
  return Tiler::number(mma.atom.extent(extent) * *threads);
}

// Which extents an operand has: A (M,K), B (N,K), C (M,N).
struct Extents {
  int first, second;
};
constexpr Extents extents_of(OperandName x) {
  return x == OperandName::a ? Extents{0, 2} : x == OperandName::b ? Extents{1, 2} : Extents{0, 1};
}

}  // namespace detail

constexpr Result<TiledMma> make_tiled_mma(const MmaAtom& atom, const Layout& thr_layout,
                                          const Tiler& permutation) {
  TiledMma out;
  out.atom = atom;
  const Result<Layout> mnk = append(thr_layout, Layout(1, 0), 3);
  if (!mnk) return mnk.refusal;
  const Result<Layout> vmnk = tiled_product(atom.thr_id, Tiler(*mnk));
  if (!vmnk) return vmnk.refusal;
  out.thr_layout_vmnk = *vmnk;
  if (permutation.rank() > 3 && permutation.by_mode())
    return detail::refuse(Refusal::Rule::rank_too_large, -1, permutation.rank(), 3);
  for (int i = 0; i < 3; ++i) {
    const bool asked = i < permutation.rank() && permutation.modes.leaves > 0;
    const Tiler part = permutation.by_mode() ? permutation.mode(i) : permutation;
    out.permutation.push(asked ? part : detail::whole());
  }
  if (const Refusal r = out.permutation.modes.capacity()) return r;
  return out;
}

constexpr Result<std::int64_t> tile_size(const TiledMma& mma, int extent) {
  const Result<Tiler> tile = detail::permutation_of(mma, extent);
  if (!tile) return tile.refusal;
  return size(tile->layout());
}

constexpr Result<Tuple> tiler_mn(const TiledMma& mma) {
  Tuple out;
  for (const int extent : {0, 1}) {
    const Result<std::int64_t> n = tile_size(mma, extent);
    if (!n) return n.refusal;
    out.push(Tuple(*n));
  }
  return out;
}

namespace detail {

// The steps and their names are those of CuTe's thrfrg_A, thrfrg_B and thrfrg_C.
template <class Trace>
constexpr Result<Layout> thrfrg(const TiledMma& mma, OperandName x, const Layout& layout,
                                Trace& trace) {
  const auto [first, second] = detail::extents_of(x);
  if (layout.rank() < 2) {
    return detail::refuse(Refusal::Rule::rank_too_small, -1, 2, layout.rank());
  }
  // Reorder the tensor for the tiled atom: (PermM,PermN)
  const Result<Tiler> p0 = detail::permutation_of(mma, first);
  const Result<Tiler> p1 = detail::permutation_of(mma, second);
  if (!p0) return p0.refusal;
  if (!p1) return p1.refusal;
  const Result<Layout> ordered = logical_divide(layout, detail::tiler_of(*p0, *p1));
  if (!ordered) return ordered;
  trace.tiled(*ordered);
  // Tile it for the atom: ((AtomM,AtomN),(RestM,RestN))
  const Result<Layout> atoms =
      zipped_divide(*ordered, detail::tiler_of(Tiler::number(mma.atom.extent(first)),
                                               Tiler::number(mma.atom.extent(second))));
  if (!atoms) return atoms;
  trace.cut(*atoms);
  // From elements to threads and values: ((ThrV,FrgV),(RestM,RestN))
  const Result<Layout> held =
      composition(*atoms, detail::tiler_of(Tiler(mma.operand(x).tv), detail::whole()));
  if (!held) return held;
  trace.held(*held);
  // Deal the atoms out to the threads: ((ThrV,(ThrM,ThrN)),(FrgV,(RestM,RestN)))
  const Result<std::int64_t> t0 = detail::mode_size(mma.thr_layout_vmnk, first + 1);
  const Result<std::int64_t> t1 = detail::mode_size(mma.thr_layout_vmnk, second + 1);
  if (!t0) return t0.refusal;
  if (!t1) return t1.refusal;
  const Result<Layout> dealt = zipped_divide(
      Layout(held->modes.mode(1)), detail::tiler_of(Tiler::number(*t0), Tiler::number(*t1)));
  if (!dealt) return dealt;
  const Result<Layout> paired = zip(detail::with_modes(*held, held->modes.mode(0)), *dealt);
  if (paired) trace.dealt(*paired);
  return paired;
}

template <class Trace>
constexpr Result<Slice> partition(const TiledMma& mma, OperandName x, const Int& thr,
                                  const Layout& layout, Trace& trace) {
  const Result<Layout> held = thrfrg(mma, x, layout, trace);
  if (!held) return held.refusal;
  const Result<Tuple> vmnk = thread_coordinate(mma.thr_layout_vmnk, thr);
  if (!vmnk) return vmnk.refusal;
  trace.thread(*vmnk);
  const auto [first, second] = detail::extents_of(x);
  const Tuple thread =
      make_tuple_of(vmnk->leaf[0], make_tuple_of(vmnk->leaf[first + 1], vmnk->leaf[second + 1]));
  Tuple rest;
  for (int i = 0; i < held->modes.mode(1).mode(1).rank(); ++i) rest.push(Tuple(Int::all()));
  const Tuple kept = make_tuple_of(thread, make_tuple_of(Int::all(), rest));
  const Result<Slice> part = slice(kept, *held);
  if (part) trace.part(kept, *part);
  return part;
}

}  // namespace detail

constexpr Result<Layout> thrfrg(const TiledMma& mma, OperandName x, const Layout& layout) {
  PartitionSilent silent;
  return detail::thrfrg(mma, x, layout, silent);
}

constexpr Result<Layout> layout_tv(const TiledMma& mma, OperandName x) {
  const auto [first, second] = detail::extents_of(x);
  const Result<std::int64_t> n0 = tile_size(mma, first), n1 = tile_size(mma, second);
  if (!n0) return n0.refusal;
  if (!n1) return n1.refusal;
  const Result<Layout> tile = make_layout(make_tuple_of(*n0, *n1));
  if (!tile) return tile;
  Result<Layout> held = thrfrg(mma, x, *tile);
  if (!held) return held;
  // A is the same for every atom along N, and B along M:
  // (ThrV,(ThrM,ThrK)) -> (ThrV,(ThrM,ThrN,ThrK))
  const Result<std::int64_t> threads_m = detail::mode_size(mma.thr_layout_vmnk, 1);
  const Result<std::int64_t> threads_n = detail::mode_size(mma.thr_layout_vmnk, 2);
  if (!threads_m) return threads_m.refusal;
  if (!threads_n) return threads_n.refusal;
  if (x != OperandName::c) {
    const bool a = x == OperandName::a;
    const Layout mn = make_layout_of(Layout(*threads_m, a ? 1 : 0), Layout(*threads_n, a ? 0 : 1));
    const Tiler spread = detail::tiler_of(
        detail::tiler_of(detail::whole(), detail::tiler_of(Tiler(mn), detail::whole())),
        detail::whole());
    held = composition(*held, spread);
    if (!held) return held;
  }
  // thread -> (ThrV,ThrM,ThrN,ThrK)
  const Result<Layout> rest = complement(mma.thr_layout_vmnk);
  if (!rest) return rest;
  const Result<Layout> inverse = right_inverse(make_layout_of(mma.thr_layout_vmnk, *rest));
  const Result<std::int64_t> threads = size(mma.thr_layout_vmnk);
  if (!inverse) return inverse;
  if (!threads) return threads.refusal;
  const Result<Layout> thread =
      composition(make_layout_of(Layout(*threads, 1), Layout(1, 0)), *inverse);
  if (!thread) return thread;
  return composition(*held, detail::tiler_of(Tiler(*thread), detail::whole()));
}

constexpr Result<Slice> partition(const TiledMma& mma, OperandName x, const Int& thr,
                                  const Layout& layout) {
  PartitionSilent silent;
  return detail::partition(mma, x, thr, layout, silent);
}

}  // namespace tilescope
