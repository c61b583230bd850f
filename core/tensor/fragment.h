// Fragments: where a thread (a CTA) keeps its part of an operand while the tensor core works.
//
//     registers      compact, in the order of the partition's strides (A, B) or of its modes (C)
//     shared memory  one descriptor per atom: the partition in units of 16 bytes, the atom's own
//                    mode reduced to 1:0 (the descriptor covers it)
//     TMEM  lanes and columns: a lane is 2^16 times 32 bits, counted in elements
//
// Source: CuTe, make_fragment_A|B|C in include/cute/atom/mma_atom.hpp, make_fragment_like in
// include/cute/layout.hpp, MakeTensor<GMMA::smem_desc> in mma_traits_sm90_gmma.hpp, tmem_frg in
// mma_traits_sm100_frag.hpp.
#pragma once

#include "core/tensor/tiled_mma.h"

namespace tilescope {

// The layout of the fragment of `x` that thread `thr` has of `layout`.
constexpr Result<Layout> fragment(const TiledMma& mma, OperandName x, const Int& thr,
                                  const Layout& layout);

// A layout of L's shape without gaps: its first mode as written, then the others in the order of
// their strides.
constexpr Result<Layout> make_fragment_like(const Layout& layout);

namespace detail {

// The modes [1, rank) of a tuple, as a tuple.
constexpr Tuple behind_the_first(const Tuple& tuple) {
  Tuple out;
  for (int i = 1; i < tuple.rank(); ++i) out.push(tuple.mode(i));
  return out;
}

constexpr Result<Layout> descriptors(const Layout& layout, ElementType type) {
  constexpr int unit = 128;  // bits: a descriptor counts in 16 bytes
  const Result<Layout> units = recast_layout(Layout(layout.modes), bits_of(type), unit);
  if (!units) return units;
  return replace(*units, 0, Layout(1, 0));
}

// Where one atom's elements go in TMEM, as lane + 128 * column. `m` and `n` are what one
// CTA holds. Two CTAs of M 64 (M 128 together) fold the columns into the upper lanes.
constexpr Layout tmem_atom(std::int64_t m, std::int64_t n, bool pair, bool duplicated) {
  constexpr std::int64_t column = 128;
  if (m == 64 && !pair) {
    return make_layout_of(make_layout_of(Layout(16, 1), Layout(4, 32)), Layout(n, column));
  }
  if (m == 64 && !duplicated) {
    return make_layout_of(Layout(64, 1), make_layout_of(Layout(n / 2, column), Layout(2, 64)));
  }
  return make_layout_of(Layout(m == 64 ? 128 : m, 1), Layout(n, column));
}

// `shape` is ((M,N),RestM,RestN,...) as partitioned. Storage is 32 bits wide for accumulators, and
// as wide as the elements for A. Where A comes from TMEM too, accumulators of 64 lanes are
// not put between each other (CuTe's NonInterleaved), so that A's lanes and C's stay the same.
constexpr Result<Layout> tensor_memory(const Tuple& shape, ElementType type, bool pair,
                                       bool accumulator, bool a_in_tmem) {
  constexpr std::int64_t lane_of_32_bits = 1 << 16, lanes = 128, columns = 16384;
  const Result<std::int64_t> m = product(shape.mode(0).mode(0));
  const Result<std::int64_t> n = product(shape.mode(0).mode(1));
  if (!m) return m.refusal;
  if (!n) return n.refusal;
  const std::int64_t packed = 32 / bits_of(type);
  const Layout atom = tmem_atom(*m, *n, pair, pair && !accumulator);
  const bool apart = a_in_tmem && !pair && *m == 64;
  Result<Layout> copies = make_layout(behind_the_first(shape));
  if (!copies) return copies;
  for (int i = 0; i < copies->leaves() && apart; ++i) copies.value.modes.leaf[i].stride.value *= 2;
  const Result<Layout> all = tiled_product(atom, Tiler(*copies));
  if (!all) return all;
  const Layout address = make_layout_of(Layout(lanes, lane_of_32_bits * packed),
                                        Layout(columns, accumulator ? packed : 1));
  return composition(address, *all);
}

}  // namespace detail

constexpr Result<Layout> make_fragment_like(const Layout& layout) {
  if (layout.modes.scalar() || layout.rank() < 2) return make_layout(layout.shape());
  const Tuple shape = layout.shape(), stride = layout.stride();
  // Modes that do not move hold one element, in the fragment too.
  const Layout moving = *filter_zeros(Layout(layout.modes.mode(0)));
  Result<Layout> first = make_layout(moving.shape());
  if (!first) return first;
  for (int i = 0; i < first->leaves(); ++i) {
    first.value.modes.leaf[i].shape = layout.modes.mode(0).leaf[i].shape;
  }
  const Result<Layout> others =
      make_ordered_layout(detail::behind_the_first(shape), detail::behind_the_first(stride));
  if (!others) return others;
  return tiled_product(*first, Tiler(*others));
}

constexpr Result<Layout> fragment(const TiledMma& mma, OperandName x, const Int& thr,
                                  const Layout& layout) {
  const Result<Slice> part = partition(mma, x, thr, layout);
  if (!part) return part.refusal;
  const MmaOperand& operand = mma.operand(x);
  // The layout of what is left of a sparse operand is the kernel's choice, not the atom's.
  if (operand.sparsity > 1) {
    return detail::refuse(Refusal::Rule::sparse_fragment, -1, operand.sparsity);
  }
  const bool accumulator = x == OperandName::c;
  switch (operand.memory) {
    case Memory::smem:
      return detail::descriptors(part->layout, operand.type);
    case Memory::tmem: {
      const Result<std::int64_t> ctas = size(mma.atom.thr_id);
      if (!ctas) return ctas.refusal;
      return detail::tensor_memory(part->layout.shape(), operand.type, *ctas == 2, accumulator,
                                   mma.atom.a.memory == Memory::tmem);
    }
    default:
      return accumulator ? make_layout(part->layout.shape()) : make_fragment_like(part->layout);
  }
}

}  // namespace tilescope
