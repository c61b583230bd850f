#include "core/sim/async/boxes.h"

#include <algorithm>

namespace tilescope::sim {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using Coordinates = std::array<std::int64_t, most_map_dims>;

// The row of elements that begins at a place, which may be outside the tensor as a whole or in
// part.
BoxRow row_at(const Box& box, u32 number, const Coordinates& at) {
  const MapFields& map = box.map;
  const auto width = static_cast<std::int64_t>(box.row_bytes() / map.element_bytes());
  const auto inside = [&](std::int64_t c) {
    return static_cast<u32>(std::clamp<std::int64_t>(c - at[0], 0, width));
  };
  BoxRow row{number, inside(0), inside(static_cast<std::int64_t>(map.dims[0])), map.address};
  for (u32 d = 1; d < map.rank; ++d) {
    if (at[d] < 0 || at[d] >= static_cast<std::int64_t>(map.dims[d])) row.end = row.first;
    row.address += static_cast<u64>(at[d]) * map.strides[d];
  }
  const std::int64_t first = at[0] + row.first;
  const bool packed = map.packing != MapPacking::none;
  row.address += packed ? map.global_bytes(static_cast<u64>(std::max<std::int64_t>(first, 0)))
                        : static_cast<u64>(first) * map.strides[0];
  return row;
}

using Take = std::function<bool(const BoxRow&)>;

// Of a tile the coordinates of a row; `index`: which of the copied along each dimension.
Coordinates coordinates(const Box& box, const std::array<u32, most_map_dims>& index) {
  Coordinates at{box.start[0]};
  for (u32 d = 1; d < box.map.rank; ++d) {
    at[d] = box.start[d] + std::int64_t{index[d]} * box.map.steps[d];
  }
  return at;
}

void walk_tile(const Box& box, const Take& f) {
  const MapFields& map = box.map;
  std::array<u32, most_map_dims> index{};
  for (u32 number = 0, rows = box.rows(); number < rows; ++number) {
    if (!f(row_at(box, number, coordinates(box, index)))) return;
    for (u32 d = 1; d < map.rank && ++index[d] == map.copied(d); ++d) index[d] = 0;
  }
}

void walk_four_rows(const Box& box, const Take& f) {
  for (u32 number = 0; number < box.rows(); ++number) {
    if (!f(row_at(box, number, {box.start[0], box.start[number + 1]}))) return;
  }
}

// The base of the filter goes from corner to corner, W first, and then on to the next image; the
// offsets say which of the filter's pixels is copied (5.5.4.1, 5.5.4.2).
void walk_pixels(const Box& box, const Take& f) {
  const MapFields& map = box.map;
  const u32 images = map.rank - 1;
  Coordinates base{};
  std::copy_n(box.start.begin(), map.rank, base.begin());
  for (u32 number = 0; number < box.rows(); ++number) {
    Coordinates at = base;
    for (u32 d = 1; d < images; ++d) at[d] += box.offsets[d - 1];
    if (!f(row_at(box, number, at))) return;
    u32 d = 1;
    for (; d < images; ++d) {
      base[d] += map.steps[d];
      if (base[d] < static_cast<std::int64_t>(map.dims[d]) + map.pixels->upper[d - 1]) break;
      base[d] = map.pixels->lower[d - 1];
    }
    if (d == images) ++base[images];
  }
}

}  // namespace

u32 Box::rows() const {
  if (walk == Walk::four_rows) return 4;
  if (walk == Walk::im2col) return map.pixels->column;
  u32 n = 1;
  for (u32 d = 1; d < map.rank; ++d) n *= map.copied(d);
  return n;
}

u32 Box::pitch() const {
  const u32 span = span_of(map.swizzle);
  return span ? span : row_bytes();
}

u32 written_bytes(const Box& box, const BoxRow& row) {
  constexpr u32 piece = 16;
  const u32 bytes = (row.end - row.first) * box.map.element_bytes();
  return (bytes + piece - 1) / piece * piece;
}

BoxRow row_of(const Box& box, u32 number) {
  BoxRow out;
  if (box.walk == Walk::tile) {
    std::array<u32, most_map_dims> index{};
    for (u32 d = 1, rest = number; d < box.map.rank; ++d) {
      index[d] = rest % box.map.copied(d);
      rest /= box.map.copied(d);
    }
    return row_at(box, number, coordinates(box, index));
  }
  for_rows(box, [&](const BoxRow& row) {
    out = row;
    return row.number < number;
  });
  return out;
}

void for_rows(const Box& box, const Take& f) {
  switch (box.walk) {
    case Walk::tile:
      return walk_tile(box, f);
    case Walk::four_rows:
      return walk_four_rows(box, f);
    case Walk::im2col:
      return walk_pixels(box, f);
  }
}

u32 swizzled(MapSwizzle swizzle, u32 a) {
  switch (swizzle) {
    case MapSwizzle::bytes32:
      return a ^ (a >> 7 & 1) << 4;
    case MapSwizzle::bytes64:
      return a ^ (a >> 7 & 3) << 4;
    case MapSwizzle::bytes128:
      return a ^ (a >> 7 & 7) << 4;
    case MapSwizzle::bytes128_atom32:
      return a ^ (a >> 7 & 3) << 5;
    case MapSwizzle::bytes128_atom64:
      return a ^ (a >> 7 & 1) << 6;
    default:
      return a;
  }
}

}  // namespace tilescope::sim
