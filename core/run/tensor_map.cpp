#include "core/run/tensor_map.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/run/job.h"

namespace tilescope {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr std::string_view swizzles[] = {
    "none", "32B", "64B", "128B", "128B_atom32B", "128B_atom32B_flip8B", "128B_atom64B"};

std::optional<std::string> bad_dimension(const MapFields& m, u32 d) {
  const u64 grain = m.interleave == MapInterleave::bytes32 ? 32 : 16;
  if (m.dims[d] == 0 || m.dims[d] > u64{1} << 32) {
    return fmt::format("dimension {} has {} elements; from 1 to 2^32 would work", d, m.dims[d]);
  }
  if (d > 0 && m.strides[d] % grain) {
    return fmt::format("the stride of dimension {} is {} bytes; a multiple of {} would work", d,
                       m.strides[d], grain);
  }
  if (d > 0 && m.strides[d] >= u64{1} << 40) {
    return fmt::format("the stride of dimension {} is {} bytes; less than 2^40 would work", d,
                       m.strides[d]);
  }
  if (!m.pixels && (m.box[d] == 0 || m.box[d] > 256)) {
    return fmt::format("the box has {} elements along dimension {}; from 1 to 256 would work",
                       m.box[d], d);
  }
  if (m.steps[d] == 0 || m.steps[d] > 8) {
    return fmt::format("the element stride of dimension {} is {}; from 1 to 8 would work", d,
                       m.steps[d]);
  }
  return std::nullopt;
}

// What the ways to lay out a box ask of its rows. (The driver takes interleave 32B with any
// swizzle, other than its documentation says.)
std::optional<std::string> bad_row(const MapFields& m) {
  const u32 row = m.row_bytes(), span = span_of(m.swizzle);
  const std::string_view what = m.pixels ? "a pixel" : "a row of the box";
  if (row % 16) {
    return fmt::format("{} has {} bytes ({} elements of {}); a multiple of 16 would work", what,
                       row, row / m.element_bytes(), name_of(m.dtype));
  }
  if (m.interleave != MapInterleave::none && m.rank < 3) {
    return fmt::format("an interleaved tensor has 3 to 5 dimensions, not {}", m.rank);
  }
  if (m.interleave == MapInterleave::none && span && row > span) {
    return fmt::format("{} has {} bytes, more than the {} of swizzle {}", what, row, span,
                       name_of(m.swizzle));
  }
  return std::nullopt;
}

// A box has to fit the shared memory that a block can have. The driver rounds down where a stride
// does not divide an extent, and so do we (seen on an H200).
std::optional<std::string> too_large(const MapFields& m) {
  constexpr u64 most = 232448;  // 227 KiB
  u64 bytes = m.pixels ? u64{m.row_bytes()} * m.pixels->column : m.element_bytes();
  for (u32 d = 0; d < m.rank && !m.pixels; ++d) {
    const bool strided = d > 0 || m.interleave != MapInterleave::none;
    bytes *= strided ? m.box[d] / m.steps[d] : m.box[d];
  }
  if (bytes <= most) return std::nullopt;
  return fmt::format("the box has {} bytes; up to {} would work", bytes, most);
}

// What cuTensorMapEncodeIm2colWide asks beside; the corners of W have 16 bits alone.
std::optional<std::string> bad_wide(const MapFields& m) {
  const std::string_view mode = name_of(m.pixels->wide);
  if (m.interleave != MapInterleave::none) {
    return fmt::format("{} copies no interleaved tensors (PTX ISA 5.5.6)", mode);
  }
  switch (m.swizzle) {
    case MapSwizzle::bytes64:
    case MapSwizzle::bytes128:
    case MapSwizzle::bytes128_atom32:
      return std::nullopt;
    default:
      return fmt::format("{} goes with swizzle 64B, 128B or 128B_atom32B, not with {}", mode,
                         name_of(m.swizzle));
  }
}

// The limits of cuTensorMapEncodeIm2col: corners have 16 bits for all dimensions together. Whether
// corners leave anything is not asked of interleaved tensors (seen on an H200).
std::optional<std::string> bad_pixels(const MapFields& m) {
  const PixelColumns& p = *m.pixels;
  if (m.rank < 3) {
    return fmt::format("im2col is for tensors of 3 to {} dimensions, not {}", most_map_dims,
                       m.rank);
  }
  if (p.channels == 0 || p.channels > 256) {
    return fmt::format("a pixel has {} channels; from 1 to 256 would work", p.channels);
  }
  if (p.column == 0 || p.column > 1024) {
    return fmt::format("a column has {} pixels; from 1 to 1024 would work", p.column);
  }
  constexpr std::int32_t limits[] = {32768, 128, 16};
  const bool wide = p.wide != MapWide::no;
  if (wide) {
    if (auto wrong = bad_wide(m)) return wrong;
  }
  for (u32 d = 0; d + 2 < (wide ? 3 : m.rank); ++d) {
    const std::int32_t limit = limits[wide ? 0 : m.rank - 3];
    for (const std::int32_t corner : {p.lower[d], p.upper[d]}) {
      if (corner >= -limit && corner < limit) continue;
      return fmt::format("a corner of dimension {} is {}; from {} to {} would work", d + 1, corner,
                         -limit, limit - 1);
    }
    const std::int64_t last = static_cast<std::int64_t>(m.dims[d + 1]) - 1 + p.upper[d];
    if (last >= p.lower[d] || m.interleave != MapInterleave::none) continue;
    return fmt::format(
        "the corners of dimension {} leave nothing of its {} elements: from {} to {}", d + 1,
        m.dims[d + 1], p.lower[d], last);
  }
  return std::nullopt;
}

template <class T>
std::string list_text(const std::vector<T>& list) {
  std::string out = "[";
  for (std::size_t i = 0; i < list.size(); ++i) out += fmt::format("{}{}", i ? ", " : "", list[i]);
  return out + "]";
}

// PTX ISA 9.7.9.25.5.1 and cuTensorMapEncodeTiled.
std::optional<std::string> bad_packing(const MapFields& m) {
  if (m.packing == MapPacking::none) return std::nullopt;
  const std::string_view name = name_of(m.packing);
  if (m.element_bytes() != 1) {
    return fmt::format("elements of {} are counted as bytes of shared memory, not as {}", name,
                       name_of(m.dtype));
  }
  if (m.interleave != MapInterleave::none) {
    return fmt::format("elements of {} are not interleaved", name);
  }
  const u32 width = m.pixels ? m.pixels->channels : m.box[0];
  if (width != 128 || m.dims[0] % 128) {
    return fmt::format(
        "elements of {} come by 128: its {} has {} along dimension 0, the tensor {}; 128 and a "
        "multiple of it would work",
        name, m.pixels ? "pixel" : "box", width, m.dims[0]);
  }
  for (u32 d = 1; d < m.rank; ++d) {
    if (m.strides[d] % 32 == 0) continue;
    return fmt::format("the stride of dimension {} is {} bytes; for {} a multiple of 32 would work",
                       d, m.strides[d], name);
  }
  if (m.address % 32) {
    return fmt::format(
        "the tensor begins at 0x{:x}; for {} an address that is a multiple of 32 would work",
        m.address, name);
  }
  if (m.swizzle == MapSwizzle::bytes32 || m.swizzle == MapSwizzle::bytes64) {
    return fmt::format("elements of {} go with no swizzle or with 128B, not with {}", name,
                       name_of(m.swizzle));
  }
  if (m.nan_fill) return fmt::format("elements of {} cannot be filled with NaN", name);
  return std::nullopt;
}

}  // namespace

std::string_view name_of(MapPacking packing) {
  constexpr std::string_view names[] = {"none", "b4x16_p64", "b6x16_p32", "b4x16"};
  return names[static_cast<std::size_t>(packing)];
}

std::optional<MapPacking> packing_named(std::string_view name) {
  for (const MapPacking p : {MapPacking::b4x16_p64, MapPacking::b6x16_p32, MapPacking::b4x16}) {
    if (name_of(p) == name) return p;
  }
  return std::nullopt;
}

std::string_view name_of(MapFloat of) {
  constexpr std::string_view names[] = {"f32", "f32_ftz", "tf32", "tf32_ftz"};
  return names[static_cast<std::size_t>(of)];
}

std::optional<MapFloat> map_float_named(std::string_view name) {
  for (const MapFloat f : {MapFloat::f32_ftz, MapFloat::tf32, MapFloat::tf32_ftz}) {
    if (name_of(f) == name) return f;
  }
  return std::nullopt;
}

std::string_view name_of(MapSwizzle swizzle) {
  return swizzles[static_cast<std::size_t>(swizzle)];
}

std::optional<MapSwizzle> swizzle_named(std::string_view name) {
  for (std::size_t i = 0; i < std::size(swizzles); ++i) {
    if (swizzles[i] == name) return static_cast<MapSwizzle>(i);
  }
  return std::nullopt;
}

std::string_view name_of(MapWide wide) {
  constexpr std::string_view names[] = {"im2col", "im2col::w", "im2col::w::128"};
  return names[static_cast<std::size_t>(wide)];
}

u32 slice_bytes(MapInterleave interleave) {
  constexpr u32 bytes[] = {0, 16, 32};
  return bytes[static_cast<std::size_t>(interleave)];
}

u32 span_of(MapSwizzle swizzle) {
  constexpr u32 spans[] = {0, 32, 64, 128, 128, 128, 128};
  return spans[static_cast<std::size_t>(swizzle)];
}

MapFields in_bytes(MapFields map) {
  if (map.packing != MapPacking::b4x16) return map;
  map.dims[0] /= 2;
  map.box[0] /= 2;
  if (map.pixels) map.pixels->channels /= 2;
  map.dtype = DType::u8;
  map.packing = MapPacking::none;
  return map;
}

namespace {

// Two elements a byte (cuTensorMapEncodeTiled: "globalDim[0] must be a multiple of 2").
std::optional<std::string> bad_halves(const MapFields& m) {
  if (m.interleave != MapInterleave::none) return "elements of b4x16 are not interleaved";
  if (m.nan_fill) return "elements of b4x16 cannot be filled with NaN";
  if (m.dims[0] % 2) {
    return fmt::format("dimension 0 has {} elements of 4 bits; an even number would work",
                       m.dims[0]);
  }
  const u32 width = m.pixels ? m.pixels->channels : m.box[0];
  if (width % 32 == 0 && width <= 256) return std::nullopt;
  return fmt::format(
      "the {} has {} elements of 4 bits along dimension 0; a multiple of 32, which are 16 bytes, "
      "up to 256 would work",
      m.pixels ? "pixel" : "box", width);
}

}  // namespace

std::optional<std::string> objection(const MapFields& m) {
  if (m.packing == MapPacking::b4x16) {
    if (auto wrong = bad_halves(m)) return wrong;
    return objection(in_bytes(m));
  }
  if (m.rank == 0 || m.rank > most_map_dims) {
    return fmt::format("a tensor map has 1 to {} dimensions, not {}", most_map_dims, m.rank);
  }
  const u64 align = m.interleave == MapInterleave::bytes32 ? 32 : 16;
  if (m.address % align) {
    return fmt::format(
        "the tensor begins at 0x{:x}; an address that is a multiple of {} would work", m.address,
        align);
  }
  for (u32 d = 0; d < m.rank; ++d) {
    if (auto wrong = bad_dimension(m, d)) return wrong;
  }
  if (m.pixels) {
    if (auto wrong = bad_pixels(m)) return wrong;
  }
  if (auto wrong = bad_packing(m)) return wrong;
  if (auto wrong = bad_row(m)) return wrong;
  if (auto wrong = too_large(m)) return wrong;
  if (m.nan_fill && !is_float(m.dtype)) {
    return fmt::format("elements of {} cannot be filled with NaN; oob = \"zero\" would work",
                       name_of(m.dtype));
  }
  return std::nullopt;
}

Outcome<MapFields> complete(const TensorMap& map, const Buffer& buffer, u64 address) {
  const auto no = [&](std::string sentence) {
    return Error{ErrorKind::mismatch,
                 fmt::format("A tensor map over buffer {} is not possible: {}.", buffer.name,
                             std::move(sentence)),
                 ""};
  };
  const u64 slice = slice_bytes(map.interleave);
  std::vector<u64> dims = map.dims;
  if (dims.empty()) {
    for (auto e = buffer.shape.rbegin(); e != buffer.shape.rend(); ++e) {
      dims.push_back(static_cast<u64>(*e));
    }
    // Of an interleaved tensor a buffer has one more: the channels of a slice, innermost.
    const u64 inner = dims.empty() ? 0 : dims[0] * bytes_of(map.dtype.value_or(buffer.dtype));
    if (slice && inner != slice) {
      return no(fmt::format(
          "it has no dims, and the innermost dimension of shape {} is {} bytes, not the {} of a "
          "slice of channels; a buffer of shape [images, slices, rows, columns, channels of a "
          "slice], or dims, would work",
          list_text(buffer.shape), inner, slice));
    }
    if (slice) dims.erase(dims.begin());
  }
  const std::size_t rank = dims.size();
  if (rank == 0 || rank > most_map_dims) {
    return no(fmt::format("it has {} dimensions, and 1 to {} can be", rank, most_map_dims));
  }
  const bool im2col = map.channels > 0 || map.pixels > 0;
  const bool wide = map.wide != MapWide::no;
  const std::size_t corners = wide ? 1 : rank - 2;
  if (wide && !im2col) {
    return no(fmt::format("it is for {} and has no pixels", name_of(map.wide)));
  }
  if (im2col && (rank < 3 || map.lower.size() != corners || map.upper.size() != corners)) {
    if (wide) {
      return no(fmt::format(
          "its corners {} and {} have {} and {} numbers; {} has one of each, of W, and 3 to 5 "
          "dimensions",
          list_text(map.lower), list_text(map.upper), map.lower.size(), map.upper.size(),
          name_of(map.wide)));
    }
    return no(
        fmt::format("its corners {} and {} have {} and {} numbers, but the tensor {} has {} "
                    "dimensions between channels and images",
                    list_text(map.lower), list_text(map.upper), map.lower.size(), map.upper.size(),
                    list_text(dims), rank < 3 ? 0 : rank - 2));
  }
  if (!im2col && map.box.size() != rank) {
    return no(fmt::format("its box {} has {} numbers, but the tensor {} has {}", list_text(map.box),
                          map.box.size(), list_text(dims), rank));
  }
  if (!map.strides.empty() && map.strides.size() != rank - 1) {
    return no(
        fmt::format("it has {} strides, but {} dimensions have {} (dimension 0 is contiguous)",
                    map.strides.size(), rank, rank - 1));
  }
  if (!map.element_strides.empty() && map.element_strides.size() != rank) {
    return no(fmt::format("it has {} element strides for {} dimensions", map.element_strides.size(),
                          rank));
  }
  MapFields out;
  out.dtype = map.dtype.value_or(buffer.dtype);
  out.address = address + static_cast<u64>(map.offset);
  out.rank = static_cast<u32>(rank);
  out.interleave = map.interleave;
  out.swizzle = map.swizzle;
  out.nan_fill = map.nan_fill;
  out.packing = map.packing;
  if (out.packing != MapPacking::none) out.dtype = DType::u8;
  out.floats = map.floats;
  if (out.floats != MapFloat::f32) out.dtype = DType::f32;
  if (im2col) {
    PixelColumns& pixels = out.pixels.emplace();
    std::copy(map.lower.begin(), map.lower.end(), pixels.lower.begin());
    std::copy(map.upper.begin(), map.upper.end(), pixels.upper.begin());
    pixels.channels = map.channels;
    pixels.column = map.pixels;
    pixels.wide = map.wide;
  }
  out.strides[0] = out.element_bytes();
  for (u32 d = 0; d < rank; ++d) {
    out.dims[d] = dims[d];
    if (!im2col) out.box[d] = map.box[d];
    out.steps[d] = map.element_strides.empty() ? 1 : map.element_strides[d];
    if (d == 0) continue;
    const u64 row = slice ? dims[0] * slice : out.global_bytes(dims[0]);
    const u64 packed = d == 1 ? row : out.strides[d - 1] * dims[d - 1];
    out.strides[d] = map.strides.empty() ? packed : map.strides[d - 1];
  }
  if (auto wrong = objection(out)) return no(*wrong);
  return out;
}

}  // namespace tilescope
