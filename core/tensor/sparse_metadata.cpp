#include "core/tensor/sparse_metadata.h"

#include <initializer_list>

#include "core/tensor/tmem.h"

namespace tilescope {
namespace {

using Rule = Refusal::Rule;

constexpr Axis axis_warp{128 + 13}, axis_thread{128 + 14}, axis_bit{128 + 19};
constexpr std::int64_t bits_of_chunk = 4, lanes_of_tmem = 128;

bool is_width(std::int64_t width) {
  return width == 4 || width == 8 || width == 16 || width == 32;
}

Layout on(std::int64_t extent, std::int64_t stride, Axis axis) {
  return Layout(extent, Int(stride, axis));
}

struct Digit {
  std::int64_t extent, stride;
  Axis axis;
};
Tree<Mode> modes_of(std::initializer_list<Digit> digits) {
  Tree<Mode> out;
  for (const Digit& d : digits) out.push(Tree<Mode>(Mode{d.extent, Int(d.stride, d.axis)}));
  return out;
}

}  // namespace

std::int64_t metadata_chunk(std::int64_t width) {
  return width == 32 ? 2 : width == 4 ? 8 : 4;
}

Result<Layout> register_metadata(std::int64_t width, std::int64_t k, std::int64_t rows) {
  if (!is_width(width)) return detail::refuse(Rule::out_of_bounds, width, 33);
  const std::int64_t chunk = metadata_chunk(width), chunks = k / chunk;
  const bool narrow = width <= 8;
  if (k % chunk || (chunks != 8 && chunks != (narrow ? 16 : 4))) {
    return detail::refuse(Rule::tile_does_not_fill, 1, chunk * 8, k);
  }
  if (rows != 16 && rows != 64) return detail::refuse(Rule::tile_does_not_fill, 0, 16, rows);
  const Layout second = narrow ? on(2, 1, axis_thread) : on(2, 16, axis_bit);
  const Layout row = rows == 64 ? make_layout_of(on(8, 4, axis_thread), second, on(4, 1, axis_warp))
                                : make_layout_of(on(8, 4, axis_thread), second);
  if (narrow && chunks == 16) {
    return make_layout_of(
        row, make_layout_of(on(8, bits_of_chunk, axis_bit), on(2, 2, axis_thread)), Layout(1, 0));
  }
  if (narrow) return make_layout_of(row, on(8, bits_of_chunk, axis_bit), on(2, 2, axis_thread));
  if (chunks == 4) {
    return make_layout_of(row, on(4, bits_of_chunk, axis_bit), on(4, 1, axis_thread));
  }
  return make_layout_of(row, make_layout_of(on(4, bits_of_chunk, axis_bit), on(2, 1, axis_thread)),
                        on(2, 2, axis_thread));
}

Result<TileLayout> tmem_metadata(std::int64_t width, std::int64_t rows) {
  if (!is_width(width)) return detail::refuse(Rule::out_of_bounds, width, 33);
  if (rows != 128 && rows != 64 && rows != 32) {
    return detail::refuse(Rule::tile_does_not_fill, 0, 32, rows);
  }
  const bool halved = width >= 16;
  // The slowest first, as TIRx has it.
  const Tree<Mode> modes =
      halved ? modes_of({{rows / 16, 16, axis_lane},
                         {2, 16, axis_bit},
                         {8, 1, axis_lane},
                         {2, 8, axis_lane},
                         {4, bits_of_chunk, axis_bit},
                         {2, 1, axis_column}})
             : modes_of({{rows, 1, axis_lane}, {2, 1, axis_column}, {8, bits_of_chunk, axis_bit}});
  Result<TileLayout> whole = make_shard(Layout(modes));
  if (whole && rows < lanes_of_tmem) {
    const Result<TileLayout> replica = make_replica(on(lanes_of_tmem / rows, rows, axis_lane));
    if (!replica) return replica;
    whole = add(*whole, *replica);
  }
  if (!whole) return whole;
  return in_shape(*whole, halved ? make_tuple_of(rows, 8, 2) : make_tuple_of(rows, 16));
}

}  // namespace tilescope
