#include "core/tensor/scale_factors.h"

#include "core/tensor/tmem.h"

namespace tilescope {
namespace {

using Rule = Refusal::Rule;

constexpr std::int64_t in_cell = 4, quarter = 32, chunk_line = 16;  // bytes, lanes, bytes

}  // namespace

Result<Layout> scale_factors(std::int64_t rows, std::int64_t k, std::int64_t vector) {
  const Layout chunk =
      make_layout_of(make_layout_of(Layout(quarter, chunk_line), Layout(4, in_cell)),
                     make_layout_of(Layout(vector, 0), Layout(in_cell, 1)));
  return tile_to_shape(chunk, make_tuple_of(rows, k), make_tuple_of(2, 1));
}

Result<TileLayout> tmem_scale_factors(std::int64_t rows, std::int64_t factors, bool halves) {
  const std::int64_t parts = halves ? 2 : 1, step = quarter * parts;
  if (rows < step || rows % step != 0) {
    return detail::refuse(Rule::tile_does_not_fill, 0, step, rows);
  }
  const bool some = factors == 1 || factors == 2 || (factors >= in_cell && factors % in_cell == 0);
  if (!some) return detail::refuse(Rule::tile_does_not_fill, 1, in_cell, factors);
  const std::int64_t cells = rows / step, bytes = factors < in_cell ? factors : in_cell;
  Tree<Mode> modes;
  const auto add_mode = [&](std::int64_t extent, std::int64_t stride, Axis axis) {
    if (extent > 1) modes.push(Tree<Mode>(Mode{extent, Int(stride, axis)}));
  };
  add_mode(parts, 2 * quarter, axis_lane);
  add_mode(cells, in_cell, axis_column);
  add_mode(quarter, 1, axis_lane);
  add_mode(factors / bytes, cells * in_cell, axis_column);
  add_mode(bytes, 1, axis_column);
  const Result<TileLayout> shard = make_shard(Layout(modes));
  if (!shard) return shard;
  const Result<TileLayout> replica = make_replica(Layout(4 / parts, Int(quarter, axis_lane)));
  if (!replica) return replica;
  const Result<TileLayout> whole = add(*shard, *replica);
  if (!whole) return whole;
  Result<TileLayout> out = in_shape(*whole, make_tuple_of(rows, factors));
  if (out) out.value.element_bits = 8;
  return out;
}

}  // namespace tilescope
