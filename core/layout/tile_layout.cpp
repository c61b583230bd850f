#include "core/layout/tile_layout.h"

#include <algorithm>

#include "core/layout/text.h"

namespace tilescope {
namespace {

using Rule = Refusal::Rule;

constexpr std::int64_t most_owners = std::int64_t{1} << 12;

// TIRx's `m` is the axis of numbers without one. Other axes must have a name of one step.
Result<Int> on_tirx_axis(Int number, int mode) {
  constexpr int first_named = 128;
  const Axis axis = number.axis;
  if (axis == Axis{*axis_named("m")}) number.axis = {};
  if (axis.none() || (axis.steps() == 1 && axis.step(0) >= first_named)) return number;
  return detail::on_axis(Rule::tirx_axis, number, mode);
}

Result<Place> on_tirx_axes(const Place& place) {
  Place out;
  for (int i = 0; i < place.parts; ++i) {
    const Result<Int> part = on_tirx_axis(place.part[i], -1);
    if (!part) return part.refusal;
    if (part->zero()) continue;
    if (const Refusal r = out.add(*part)) return r;
  }
  return out;
}

Result<Layout> flat_on_tirx_axes(Layout layout) {
  if (layout.modes.empty()) return detail::refuse(Rule::empty);
  if (layout.depth() > 1) return detail::refuse(Rule::not_flat, -1, layout.depth());
  if (!layout.plain()) return detail::refuse(Rule::has_swizzle);
  for (int i = 0; i < layout.leaves(); ++i) {
    const Result<Int> stride = on_tirx_axis(layout.modes.leaf[i].stride, i);
    if (!stride) return stride.refusal;
    layout.modes.leaf[i].stride = *stride;
  }
  return layout;
}

// The modes in the other order: the last of them becomes the fastest.
Tree<Mode> reversed(const Tree<Mode>& modes) {
  Tree<Mode> out = modes.flat();
  for (int i = 0; i < modes.leaves; ++i) out.leaf[i] = modes.leaf[modes.leaves - 1 - i];
  return out;
}

// The index of a coordinate in a grid whose last extent is the fastest.
Result<std::int64_t> row_major_index(const Tuple& coordinate, const Tuple& grid) {
  if (coordinate.depth() > 1) return detail::refuse(Rule::not_flat, -1, coordinate.depth());
  if (coordinate.leaves != grid.leaves) {
    return detail::refuse(Rule::coordinate_rank, -1, coordinate.rank(), grid.rank());
  }
  std::int64_t index = 0;
  for (int i = 0; i < grid.leaves; ++i) {
    const Int &at = coordinate.leaf[i], &extent = grid.leaf[i];
    if (at.kind == Int::Kind::all) return detail::refuse(Rule::underscore, i);
    if (!at.known() || !extent.known()) return detail::refuse(Rule::dynamic_leaf, i);
    if (!at.axis.none()) return detail::on_axis(Rule::axis_coordinate, at, i);
    if (at.value < 0 || at.value >= extent.value) {
      return detail::refuse(Rule::coordinate_beyond, i, at.value, extent.value);
    }
    index = index * extent.value + at.value;  // fits: it stays below the size
  }
  return index;
}

// The element as a number.
Result<std::int64_t> index_of(const Tuple& element, const TileLayout& layout) {
  const Result<std::int64_t> n = size(layout.shard);
  if (!n) return n;
  if (element.empty()) return detail::refuse(Rule::empty);
  if (!element.scalar()) {
    const Tuple logical = logical_shape(layout), split = layout.shard.shape();
    const bool in_split = element.rank() != logical.rank() && element.rank() == split.rank();
    return row_major_index(element, in_split ? split : logical);
  }
  const Int& number = element.leaf[0];
  if (number.kind == Int::Kind::all) return detail::refuse(Rule::underscore);
  if (!number.known()) return detail::refuse(Rule::dynamic_leaf);
  if (!number.axis.none()) return detail::on_axis(Rule::axis_coordinate, number, -1);
  if (number.value < 0 || number.value >= *n) {
    return detail::refuse(Rule::no_such_element, -1, number.value, *n);
  }
  return number.value;
}

// The place that the index-th coordinate of `part` leads to, the last mode fastest.
Result<Place> row_major_place(const Layout& part, std::int64_t index) {
  const Result<Tuple> digits = idx2crd(index, Layout(reversed(part.modes)).shape());
  if (!digits) return digits.refusal;
  Tuple coordinate = *digits;
  for (int i = 0; i < digits->leaves; ++i) {
    coordinate.leaf[i] = digits->leaf[digits->leaves - 1 - i];
  }
  return place_of(coordinate, Layout(part.modes.flat()));
}

Place swizzled_on_memory(Place place, Swizzle swizzle) {
  for (int i = 0; i < place.parts; ++i) {
    if (place.part[i].axis.none()) place.part[i] = detail::swizzled(swizzle, place.part[i]);
  }
  return place;
}

}  // namespace

Tuple logical_shape(const TileLayout& layout) {
  return layout.shape.empty() ? layout.shard.shape() : layout.shape;
}

Result<TileLayout> in_shape(const TileLayout& layout, const Tuple& shape) {
  if (layout.shard.modes.empty() || shape.empty()) return detail::refuse(Rule::empty);
  if (shape.depth() > 1) return detail::refuse(Rule::not_flat, -1, shape.depth());
  if (const Result<Layout> counting = make_layout_right(shape); !counting) return counting.refusal;
  const Result<Int> have = extent(layout.shard), want = extent(shape);
  if (!have) return have.refusal;
  if (!want) return want.refusal;
  if (!(*have == *want)) return detail::refuse(Rule::sizes_differ, -1, want->value, have->value);
  TileLayout out = layout;
  out.shape = shape.unwrapped();
  return out;
}

Result<TileLayout> make_shard(const Layout& layout) {
  const Result<Layout> flat = flat_on_tirx_axes(layout);
  if (!flat) return flat.refusal;
  TileLayout out;
  out.shard = *flat;
  return out;
}

Result<TileLayout> make_replica(const Layout& layout) {
  const Result<Layout> flat = flat_on_tirx_axes(layout);
  if (!flat) return flat.refusal;
  TileLayout out;
  out.replica = *flat;
  return out;
}

Result<TileLayout> add(const TileLayout& a, const TileLayout& b) {
  if (!a.shard.modes.empty() && !b.shard.modes.empty()) return detail::refuse(Rule::two_shards);
  TileLayout out = a.shard.modes.empty() ? b : a;
  Tree<Mode> copies = a.replica.modes;
  if (copies.scalar() && !b.replica.modes.empty()) {
    copies = {};
    copies.push(a.replica.modes);
  }
  for (int i = 0; i < b.replica.leaves(); ++i) copies.push(Tree<Mode>(b.replica.modes.leaf[i]));
  if (a.replica.modes.empty()) copies = b.replica.modes;
  if (const Refusal r = copies.capacity()) return r;
  out.replica.modes = copies;
  out.offset = a.offset;
  if (const Refusal r = out.offset.add(b.offset)) return r;
  return out;
}

Result<TileLayout> add(const TileLayout& a, const Place& offset) {
  Place sum = a.offset;
  if (const Refusal r = sum.add(offset)) return r;
  const Result<Place> named = on_tirx_axes(sum);
  if (!named) return named.refusal;
  TileLayout out = a;
  out.offset = *named;
  return out;
}

Result<std::vector<Place>> owners(const TileLayout& layout, const Tuple& element) {
  if (layout.shard.modes.empty()) return detail::refuse(Rule::empty);
  const Result<std::int64_t> index = index_of(element, layout);
  if (!index) return index.refusal;
  const Result<Place> own = row_major_place(layout.shard, *index);
  if (!own) return own.refusal;
  const Result<std::int64_t> copies =
      layout.replica.modes.empty() ? Result<std::int64_t>(1) : size(layout.replica);
  if (!copies) return copies.refusal;
  if (*copies > most_owners)
    return detail::refuse(Rule::too_large_to_list, -1, *copies, most_owners);
  std::vector<Place> out;
  for (std::int64_t r = 0; r < *copies; ++r) {
    Place place = *own;
    if (!layout.replica.modes.empty()) {
      const Result<Place> shift = row_major_place(layout.replica, r);
      if (!shift) return shift.refusal;
      if (const Refusal refusal = place.add(*shift)) return refusal;
    }
    if (const Refusal refusal = place.add(layout.offset)) return refusal;
    place = swizzled_on_memory(place, layout.swizzle);
    if (std::find(out.begin(), out.end(), place) == out.end()) out.push_back(place);
  }
  return out;
}

Result<Slice> to_cute(const TileLayout& layout, const Tuple& shape) {
  if (layout.shard.modes.empty()) return detail::refuse(Rule::empty);
  if (!layout.replica.modes.empty()) {
    const Result<Int> copies = extent(layout.replica);
    return detail::refuse(Rule::replicas, -1, copies ? copies->value : 0);
  }
  Slice out;
  out.layout = Layout(reversed(layout.shard.modes));
  if (!shape.empty()) {
    const Result<Layout> by_extent = make_layout_right(shape);
    if (!by_extent) return by_extent.refusal;
    const Result<Int> have = extent(layout.shard), want = extent(shape);
    if (!have || !want || !(*have == *want)) {
      return detail::refuse(Rule::sizes_differ, -1, want->value, have->value);
    }
    const Result<Layout> shaped = composition(out.layout, *by_extent);
    if (!shaped) return shaped.refusal;
    out.layout = *shaped;
  }
  out.offset = layout.offset;
  if (layout.swizzle.identity()) return out;
  if (!layout.offset.plain()) return detail::refuse(Rule::has_swizzle);
  const Result<Layout> swizzled = composition(layout.swizzle, out.layout);  // refuses axes
  if (!swizzled) return swizzled.refusal;
  out.layout = *swizzled;
  out.layout.offset = layout.offset.offset();
  out.offset = {};
  return out;
}

Result<TileLayout> to_tirx(const Slice& cute) {
  const Layout& layout = cute.layout;
  if (layout.swizzle.bits > 0 && layout.swizzle.shift < 0) {
    return detail::refuse(Rule::tirx_swizzle, -1, layout.swizzle.shift);
  }
  Result<TileLayout> shard = make_shard(Layout(reversed(layout.modes)));
  if (shard.refusal.mode >= 0) {  // as the mode is counted in what was given
    shard.refusal.mode = static_cast<std::int8_t>(layout.leaves() - 1 - shard.refusal.mode);
  }
  if (!shard) return shard.refusal;
  Place offset = cute.offset;
  if (const Refusal r = offset.add(layout.offset)) return r;
  Result<TileLayout> out = add(*shard, offset);
  if (out) out.value.swizzle = layout.swizzle;
  return out;
}

Result<TileLayout> tma_shared_layout(std::int64_t element_bits, std::int64_t swizzle_bytes,
                                     const Tuple& shape) {
  if (swizzle_bytes != 32 && swizzle_bytes != 64 && swizzle_bytes != 128) {
    return detail::refuse(Rule::swizzle_bytes, -1, swizzle_bytes);
  }
  constexpr std::int64_t chunk = 128;  // bits that stay together: 16 bytes
  if (!detail::power_of_two(element_bits) || element_bits > chunk) {
    return detail::refuse(Rule::not_power_of_two, -1, element_bits, chunk);
  }
  constexpr std::int64_t atom_rows = 8;
  const std::int64_t width = 8 * swizzle_bytes / element_bits;
  const int rank = shape.leaves;
  if (shape.depth() != 1 || rank < 2) return detail::refuse(Rule::rank_too_small, -1, 2, rank);
  if (const Refusal r = product(shape).refusal) return r;
  const std::int64_t rows = shape.leaf[rank - 2].value, columns = shape.leaf[rank - 1].value;
  if (rows % atom_rows != 0) {
    return detail::refuse(Rule::tile_does_not_fill, rank - 2, atom_rows, rows);
  }
  if (columns % width != 0)
    return detail::refuse(Rule::tile_does_not_fill, rank - 1, width, columns);
  const Result<Layout> lead = make_layout_right(shape);  // its strides count whole matrices
  if (!lead) return lead.refusal;
  Tree<Mode> modes;
  for (int i = 0; i + 2 < rank; ++i) modes.push(Tree<Mode>(lead->modes.leaf[i]));
  modes.push(Tree<Mode>(Mode{rows, width}));
  modes.push(Tree<Mode>(Mode{columns / width, rows * width}));
  modes.push(Tree<Mode>(Mode{width, 1}));
  if (const Refusal r = modes.capacity()) return r;
  Result<TileLayout> out = make_shard(Layout(modes));
  // Rows of 32, 64, 128 bytes are 2, 4, 8 chunks of 16 bytes: so many bits change. The row's number
  // stands three bits above the chunk's in 128 bytes, and the pattern repeats every 8 rows of
  // those.
  const Result<Swizzle> swizzle =
      make_swizzle(detail::log2_of(swizzle_bytes / 16), detail::log2_of(chunk / element_bits), 3);
  if (!swizzle) return swizzle.refusal;
  out.value.swizzle = *swizzle;
  out.value.shape = shape;
  out.value.element_bits = element_bits;
  return out;
}

Result<TileLayout> wg_local_layout(std::int64_t columns, std::int64_t rows) {
  const Result<Layout> tile = make_layout(make_tuple_of(rows, columns),
                                          make_tuple_of(Int(1, Axis{*axis_named("tid_in_wg")}), 1));
  return tile ? make_shard(*tile) : Result<TileLayout>(tile.refusal);
}

Result<TileLayout> tmem_datapath_layout(char letter, std::int64_t rows, std::int64_t columns,
                                        bool upper) {
  const Axis lane{*axis_named("TLane")}, column{*axis_named("TCol")};
  const bool halves = letter == 'B' || letter == 'E', warps = letter == 'C' || letter == 'F';
  const std::int64_t folds = halves ? 2 : letter == 'G' ? 4 : 1;  // of the columns
  const std::int64_t legal = letter == 'G' ? 32 : halves || warps ? 64 : 128;
  if (letter < 'A' || letter > 'G') return detail::refuse(Rule::no_datapath);
  if (rows != legal) return detail::refuse(Rule::datapath_rows, -1, rows, legal);
  if (columns < 1) return detail::refuse(Rule::size_not_positive, 1, columns);
  if (columns % folds != 0) return detail::refuse(Rule::tile_does_not_fill, 1, folds, columns);
  if (upper && !warps) return detail::refuse(Rule::no_upper_half);
  Tree<Mode> modes;
  if (warps) {
    constexpr std::int64_t of_a_warp = 16, warp_lanes = 32;
    modes.push(Tree<Mode>(Mode{rows / of_a_warp, Int(warp_lanes, lane)}));
    modes.push(Tree<Mode>(Mode{of_a_warp, Int(1, lane)}));
  } else {
    modes.push(Tree<Mode>(Mode{rows, Int(1, lane)}));
  }
  if (folds > 1) modes.push(Tree<Mode>(Mode{folds, Int(rows, lane)}));
  modes.push(Tree<Mode>(Mode{columns / folds, Int(1, column)}));
  const Result<TileLayout> shard = make_shard(Layout(modes));
  if (!shard) return shard;
  const Result<TileLayout> shaped = in_shape(*shard, make_tuple_of(rows, columns));
  return shaped && upper ? add(*shaped, Place(Int(16, lane))) : shaped;
}

std::string text(const TileLayout& layout) {
  const auto part = [](char name, const Layout& modes) {
    return modes.modes.empty() ? std::string() : name + ("[" + text(modes) + "]");
  };
  std::string out = layout.swizzle.identity() ? "" : text(layout.swizzle) + " o ";
  const std::string shard = part('S', layout.shard), replica = part('R', layout.replica);
  out += shard;
  if (!shard.empty() && !replica.empty()) out += " + ";
  out += replica;
  if (!layout.offset.zero()) out += " + " + text(layout.offset);
  return out;
}

}  // namespace tilescope
