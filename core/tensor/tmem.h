// TMEM: which lane and column an element has, as layouts with strides on the axes TLane
// and TCol (TIRx's names). A column is 32 bits.
//
//     tmem_fragment(SM100_TMEM_LOAD_16dp256b1x)    (thread, register) -> 1@TLane, 1@TCol
//     tmem_accumulator(256, 128, 2)                (m,n) -> 1@cbx, 1@TLane, 1@TCol
//
// A thread of a fragment is a lane of the warp that reads, and its lanes count from the warp's own
// quarter. Of a pair of CTAs `cbx` is the CTA, 0 or 1.
// Source: PTX ISA 9.7.16.8.1 (ld and st shapes), 9.7.16.10.5 (accumulators; the layouts' letters
// are its own); CuTe, copy_traits_sm100.hpp and mma_traits_sm100_frag.hpp.
#pragma once

#include "core/tensor/atom.h"

namespace tilescope {

// The axes' codes in Axis::path (core/layout/text.cpp has their names).
inline constexpr Axis axis_lane{128 + 5}, axis_column{128 + 4}, axis_cta{128 + 9};

// Of tcgen05.ld or .st: (thread, register) -> lane and column; for the packed _16b forms (thread,
// 16-bit value), each in a column of its own. `split` is how many columns are between the two
// halves of .16x32bx2 (its immediate); 0 is side by side.
constexpr Result<Layout> tmem_fragment(const CopyAtom& atom, std::int64_t split = 0);

// What an accumulator of M x N looks like, by the CTAs that make it and the kind of multiplication.
enum class AccumulatorKind : std::uint8_t { dense, sparse, weight_stationary };
constexpr Result<Layout> tmem_accumulator(std::int64_t m, std::int64_t n, std::int64_t ctas,
                                          AccumulatorKind kind = AccumulatorKind::dense);

constexpr Result<Layout> tmem_fragment(const CopyAtom& atom, std::int64_t split) {
  using Rule = Refusal::Rule;
  const bool load = atom.from == Memory::tmem, store = atom.from == Memory::rmem;
  if (atom.tmem_bits.modes.empty() || (!load && !store)) return detail::refuse(Rule::no_fragment);
  // Packed: 16-bit elements, 32 bits apart. Else registers of 32 bits.
  const Tree<Mode> lane = atom.tmem_bits.modes.mode(0);
  const bool packed = lane.leaves == 2;
  const int unit = packed ? 16 : 32;
  const Result<Layout> held = recast_layout(load ? atom.dst_bits : atom.src_bits, 1, unit);
  if (!held) return held;
  const std::int64_t lanes = atom.tmem_bits.modes.mode(1).leaf[0].shape.value;
  const Result<std::int64_t> row_bits = size(Layout(lane));
  if (!row_bits) return row_bits.refusal;
  const std::int64_t columns = *row_bits / unit;
  const Tree<Mode> threads = held->modes.mode(0);
  const bool halves = threads.leaves == 2 && threads.leaf[0].shape.is(16);  // .16x32bx2
  if (split != 0 && !halves) return detail::refuse(Rule::no_split, -1, split);
  if (split != 0 && (split < columns / 2 || split > 512 - columns / 2)) {
    return detail::refuse(Rule::split_out_of_range, -1, split, columns / 2);
  }
  const Layout row = split == 0 ? Layout(columns, Int(1, axis_column))
                                : make_layout_of(Layout(columns / 2, Int(1, axis_column)),
                                                 Layout(2, Int(split, axis_column)));
  Result<Layout> out = composition(make_layout_of(row, Layout(lanes, Int(1, axis_lane))), *held);
  for (int i = 0; out && i < out->leaves(); ++i) {  // what does not move is on no axis
    Mode& mode = out.value.modes.leaf[i];
    if (mode.shape.is(1)) mode.stride = 0;
  }
  return out;
}

constexpr Result<Layout> tmem_accumulator(std::int64_t m, std::int64_t n, std::int64_t ctas,
                                          AccumulatorKind kind) {
  using Rule = Refusal::Rule;
  const bool ws = kind == AccumulatorKind::weight_stationary;
  const bool pair = ctas == 2;
  const bool rows = pair ? !ws && (m == 128 || m == 256) : m == 64 || m == 128 || (ws && m == 32);
  if (!rows || (ctas != 1 && !pair)) return detail::refuse(Rule::accumulator_rows, -1, m, ctas);
  const std::int64_t step = ws ? 64 : pair ? 16 : 8;
  const bool columns = n >= step && n <= 256 && n % step == 0 && !(ws && n == 192);
  if (!columns) return detail::refuse(Rule::accumulator_columns, -1, n, step);
  const auto lane = [](std::int64_t count, std::int64_t stride = 1) {
    return Layout(count, Int(stride, axis_lane));
  };
  const auto column = [](std::int64_t count) { return Layout(count, Int(1, axis_column)); };
  const Layout cta(2, Int(1, axis_cta));
  // 16 rows in each quarter of the lanes; the other half of the quarter stays free.
  const Layout quarters = make_layout_of(lane(16), lane(4, 32));
  if (pair && m == 256) return make_layout_of(make_layout_of(lane(128), cta), column(n));  // A
  if (pair && kind == AccumulatorKind::sparse) {                                           // C
    return make_layout_of(make_layout_of(lane(16), lane(4, 32), cta), column(n));
  }
  if (pair) {  // B: the upper half of the columns in the upper lanes
    return make_layout_of(make_layout_of(lane(64), cta),
                          make_layout_of(column(n / 2), lane(2, 64)));
  }
  if (m == 128) return make_layout_of(lane(128), column(n));       // D
  if (m == 64 && !ws) return make_layout_of(quarters, column(n));  // F
  // E, G: the columns in 2 or 4 parts, each in lanes of its own.
  const std::int64_t parts = 128 / m;
  return make_layout_of(lane(m), make_layout_of(column(n / parts), lane(parts, m)));
}

}  // namespace tilescope
