#include "core/tensor/scale_factors.h"

#include "core/tensor/tmem.h"

namespace tilescope {
namespace {

using Rule = Refusal::Rule;

constexpr std::int64_t in_cell = 4, quarter_lanes = 32, chunk_line = 16;  // bytes, lanes, bytes

}  // namespace

Result<Layout> scale_factors(std::int64_t rows, std::int64_t k, std::int64_t vector) {
  const Layout chunk =
      make_layout_of(make_layout_of(Layout(quarter_lanes, chunk_line), Layout(4, in_cell)),
                     make_layout_of(Layout(vector, 0), Layout(in_cell, 1)));
  return tile_to_shape(chunk, make_tuple_of(rows, k), make_tuple_of(2, 1));
}

Result<TileLayout> tmem_scale_factors(std::int64_t rows, std::int64_t cells, bool halves) {
  const std::int64_t parts = halves ? 2 : 1, step = quarter_lanes * parts;
  if (rows < step || rows % step != 0) {
    return detail::refuse(Rule::tile_does_not_fill, 0, step, rows);
  }
  if (cells < 1) return detail::refuse(Rule::size_not_positive, 1, cells);
  const std::int64_t columns = rows / step;
  Tree<Mode> modes;
  const auto add_mode = [&](std::int64_t extent, std::int64_t stride, Axis axis) {
    if (extent > 1) modes.push(Tree<Mode>(Mode{extent, Int(stride, axis)}));
  };
  add_mode(parts, 2 * quarter_lanes, axis_lane);
  add_mode(columns, 1, axis_column);
  add_mode(quarter_lanes, 1, axis_lane);
  add_mode(cells, columns, axis_column);
  const Result<TileLayout> shard = make_shard(Layout(modes));
  if (!shard) return shard;
  const Result<TileLayout> replica = make_replica(Layout(4 / parts, Int(quarter_lanes, axis_lane)));
  if (!replica) return replica;
  const Result<TileLayout> whole = add(*shard, *replica);
  return whole ? in_shape(*whole, make_tuple_of(rows, cells)) : whole;
}

}  // namespace tilescope
