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

// Along W alone, and from its end on at the corner of the next image: H and D are of one row. Halo
// pixels are those that come next, at the end or after each 32, which do not count as walked
// (5.5.5). The text leaves open where halo pixels lie that an image has no more: they are here the
// next image's, which is what products read that walk through shared memory row by row. Not
// measured: no chip of this kind was at hand.
void walk_wide(const Box& box, const Take& f) {
  const MapFields& map = box.map;
  const u32 images = map.rank - 1, halo = box.offsets[0];
  const auto shift = std::int64_t{box.offsets[1]};
  const std::int64_t left = map.pixels->lower[0] + shift;
  const std::int64_t end = static_cast<std::int64_t>(map.dims[1]) + map.pixels->upper[0] + shift;
  const auto next = [&](Coordinates& at) {
    at[1] += map.steps[1];
    if (at[1] < end) return;
    at[1] = left;
    ++at[images];
  };
  const u32 every = map.pixels->wide == MapWide::w128 ? 32 : map.pixels->column;
  Coordinates base{};
  std::copy_n(box.start.begin(), map.rank, base.begin());
  base[1] += shift;
  for (u32 number = 0; number < box.rows();) {
    for (u32 i = 0; i < every; ++i, next(base)) {
      if (!f(row_at(box, number++, base))) return;
    }
    Coordinates beyond = base;
    for (u32 i = 0; i < halo; ++i, next(beyond)) {
      if (!f(row_at(box, number++, beyond))) return;
    }
  }
}

}  // namespace

Box of_slice(const Box& box) {
  const MapFields& from = box.map;
  const u32 slices = from.rank - 2;  // that dimension
  Box out = box;
  MapFields& map = out.map;
  const u32 channels = slice_bytes(from.interleave) / from.element_bytes();
  map.address += static_cast<u64>(std::int64_t{box.start[slices]}) * from.strides[slices];
  for (u32 d = slices; d > 0; --d) {
    map.dims[d] = from.dims[d - 1];
    map.strides[d] = d == 1 ? slice_bytes(from.interleave) : from.strides[d - 1];
    map.box[d] = from.box[d - 1];
    map.steps[d] = from.steps[d - 1];
    out.start[d] = box.start[d - 1];
  }
  map.dims[0] = map.box[0] = channels;
  map.steps[0] = 1;
  if (map.pixels) {
    map.box = {};
    map.pixels->channels = channels;
  }
  const bool inside = box.start[slices] >= 0 && u64(box.start[slices]) < from.dims[slices];
  out.start[0] = inside ? 0 : static_cast<std::int32_t>(channels);
  return out;
}

u32 Box::rows() const {
  if (walk == Walk::four_rows) return 4;
  if (walk == Walk::im2col) return map.pixels->column;
  if (walk == Walk::im2col_w) {
    const bool all_128 = map.pixels->wide == MapWide::w128;
    return all_128 ? 128 + 4 * offsets[0] : map.pixels->column + offsets[0];
  }
  u32 n = 1;
  for (u32 d = 1; d < map.rank; ++d) n *= map.copied(d);
  return n;
}

u32 Box::pitch() const {
  const u32 span = map.interleave == MapInterleave::none ? span_of(map.swizzle) : 0;
  return span ? span : row_bytes();
}

u32 Box::shared_bytes() const {
  const u32 line = std::max(span_of(map.swizzle), 1u), bytes = rows() * pitch();
  return (bytes + line - 1) / line * line;
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
    case Walk::im2col_w:
      return walk_wide(box, f);
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
