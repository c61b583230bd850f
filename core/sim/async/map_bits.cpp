#include "core/sim/async/map_bits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "core/run/driver_map.h"

namespace tilescope::sim {
namespace {

constexpr std::uint64_t magic = 0x2d70616d;  // "map-" in memory

struct Small {
  std::uint8_t dtype, rank, interleave, swizzle, nan_fill;
  std::array<std::uint8_t, most_map_dims> steps;
  std::uint8_t mode, atomicity;  // of the swizzle, as tensormap.replace numbers them
  std::uint8_t im2col;
  std::uint8_t packing, floats;
};

struct Narrow {  // of an im2col map
  std::array<std::int16_t, most_map_dims - 2> lower, upper;
  std::uint16_t channels, column, wide;
};

// Extents are stored less one, so that 2^32 fits.
struct Wide {
  std::uint64_t magic, address;
  std::array<std::uint64_t, most_map_dims - 1> strides;
  std::array<std::uint32_t, most_map_dims> last;
  std::array<std::uint16_t, most_map_dims> box;
  Small small;
  Narrow pixels;
};

// A chip's maps say all that is said of a tiled one in their first 64 bytes, and CuTeDSL's kernels
// copy no more. So it is here: fields one after the other, each with its bits; what im2col needs
// stands behind.
constexpr std::size_t tiled_map_bytes = 64;
constexpr std::uint64_t most_stride = (std::uint64_t{1} << 40) - 1;  // PTX ISA 9.7.9.28

template <class Field>
void each_packed_field(Wide& wide, Field field) {
  field(wide.magic, 32);
  field(wide.address, 64);
  for (auto& stride : wide.strides) field(stride, 40);
  for (auto& last : wide.last) field(last, 32);
  for (auto& box : wide.box) field(box, 9);
  Small& small = wide.small;
  for (auto& step : small.steps) field(step, 4);
  field(small.dtype, 5);
  field(small.rank, 3);
  field(small.interleave, 2);
  field(small.swizzle, 3);
  field(small.nan_fill, 1);
  field(small.mode, 2);
  field(small.atomicity, 2);
  field(small.im2col, 1);
  field(small.packing, 2);
  field(small.floats, 2);
}
static_assert(32 + 64 + 4 * 40 + 5 * (32 + 9 + 4) + 5 + 3 + 2 + 3 + 1 + 2 + 2 + 1 + 2 + 2 <=
              8 * tiled_map_bytes);
static_assert(tiled_map_bytes + sizeof(Narrow) <= map_bytes);

// The 8 bytes in which a field of up to 57 bits lies, or of 64 where it begins with a byte.
std::uint64_t window_at(const MapBits& bits, std::size_t at) {
  std::uint64_t window;
  std::memcpy(&window, bits.data() + at / 8, sizeof window);
  return window;
}

MapBits bits_of(Wide wide) {
  MapBits bits{};
  std::size_t at = 0;
  each_packed_field(wide, [&](auto& value, std::size_t width) {
    const std::uint64_t window = window_at(bits, at) | std::uint64_t{value} << (at % 8);
    std::memcpy(bits.data() + at / 8, &window, sizeof window);
    at += width;
  });
  std::memcpy(bits.data() + tiled_map_bytes, &wide.pixels, sizeof wide.pixels);
  return bits;
}

Wide wide_of(const MapBits& bits) {
  Wide wide{};
  std::size_t at = 0;
  each_packed_field(wide, [&](auto& value, std::size_t width) {
    const std::uint64_t mask = ~std::uint64_t{0} >> (64 - width);
    value = static_cast<std::remove_reference_t<decltype(value)>>(window_at(bits, at) >> (at % 8) &
                                                                  mask);
    at += width;
  });
  std::memcpy(&wide.pixels, bits.data() + tiled_map_bytes, sizeof wide.pixels);
  return wide;
}

bool zeros(const MapBits& bits) {
  return std::all_of(bits.begin(), bits.begin() + tiled_map_bytes,
                     [](std::byte b) { return b == std::byte{0}; });
}

}  // namespace

bool begins_as_map(const std::byte* bytes) {
  u32 begin = 0;
  std::memcpy(&begin, bytes, sizeof begin);
  return begin == magic;
}

MapBits encode(const MapFields& map) {
  Wide wide{};
  wide.magic = magic;
  wide.address = map.address;
  for (std::uint32_t d = 0; d < map.rank; ++d) {
    if (d > 0) wide.strides[d - 1] = map.strides[d];
    wide.last[d] = static_cast<std::uint32_t>(map.dims[d] - 1);
    wide.box[d] = static_cast<std::uint16_t>(map.box[d]);
    wide.small.steps[d] = static_cast<std::uint8_t>(map.steps[d]);
  }
  wide.small.dtype = static_cast<std::uint8_t>(map.dtype);
  wide.small.rank = static_cast<std::uint8_t>(map.rank);
  wide.small.interleave = static_cast<std::uint8_t>(map.interleave);
  wide.small.swizzle = static_cast<std::uint8_t>(map.swizzle);
  wide.small.nan_fill = map.nan_fill;
  wide.small.packing = static_cast<std::uint8_t>(map.packing);
  wide.small.floats = static_cast<std::uint8_t>(map.floats);
  const auto swizzle = static_cast<std::uint8_t>(map.swizzle);
  wide.small.mode = std::min<std::uint8_t>(swizzle, 3);
  wide.small.atomicity = static_cast<std::uint8_t>(swizzle - wide.small.mode);
  if (map.pixels) {
    wide.small.im2col = 1;
    for (std::size_t d = 0; d < map.pixels->lower.size(); ++d) {
      wide.pixels.lower[d] = static_cast<std::int16_t>(map.pixels->lower[d]);
      wide.pixels.upper[d] = static_cast<std::int16_t>(map.pixels->upper[d]);
    }
    wide.pixels.channels = static_cast<std::uint16_t>(map.pixels->channels);
    wide.pixels.column = static_cast<std::uint16_t>(map.pixels->column);
    wide.pixels.wide = static_cast<std::uint16_t>(map.pixels->wide);
  }
  return bits_of(wide);
}

namespace {

// Table 33 of PTX ISA 9.7.9.28: what the numbers of .elemtype mean.
std::optional<DType> element_type(std::uint64_t number) {
  constexpr DType types[] = {DType::u8,   DType::u16, DType::u32, DType::i32, DType::u64,
                             DType::i64,  DType::f16, DType::f32, DType::f32, DType::f64,
                             DType::bf16, DType::f32, DType::f32};
  return number < std::size(types) ? std::optional(types[number]) : std::nullopt;
}

MapFloat float_of(std::uint64_t number) {
  return number == 8    ? MapFloat::f32_ftz
         : number == 11 ? MapFloat::tf32
         : number == 12 ? MapFloat::tf32_ftz
                        : MapFloat::f32;
}

std::optional<MapFields> as_on_chips(const MapBits& bits);

// Table 33.
MapPacking packing_of(std::uint64_t number) {
  return number == 13   ? MapPacking::b4x16
         : number == 14 ? MapPacking::b4x16_p64
         : number == 15 ? MapPacking::b6x16_p32
                        : MapPacking::none;
}

}  // namespace

std::optional<std::string> replace_field(MapBits& bits, MapField field, std::uint32_t dimension,
                                         std::uint64_t value) {
  if (wide_of(bits).magic != magic) {
    if (const auto map = as_on_chips(bits)) bits = encode(*map);
  }
  Wide wide = wide_of(bits);
  if (zeros(bits)) {
    wide.magic = magic;
    wide.small.rank = 1;
    wide.small.dtype = static_cast<std::uint8_t>(DType::u8);  // zeros mean that
  }
  if (wide.magic != magic) return std::nullopt;
  if (wide.small.im2col) return "tensormap.replace.tile changes no tensor map for im2col";
  Small& small = wide.small;
  const bool by_dimension = field >= MapField::box_dim && field <= MapField::element_stride;
  const std::uint32_t most = field == MapField::global_stride ? most_map_dims - 1 : most_map_dims;
  if (by_dimension && dimension >= most) {
    return fmt::format("a tensor map has no dimension {} with such a field", dimension);
  }
  const auto byte = static_cast<std::uint8_t>(value);
  bool good = true;
  switch (field) {
    case MapField::global_address:
      wide.address = value;
      break;
    case MapField::rank:
      good = value < most_map_dims;
      small.rank = static_cast<std::uint8_t>(byte + 1);
      break;
    case MapField::box_dim:
      good = value <= 256;
      wide.box[dimension] = static_cast<std::uint16_t>(value);
      break;
    case MapField::global_dim:
      good = value > 0;
      wide.last[dimension] = static_cast<std::uint32_t>(value - 1);
      break;
    case MapField::global_stride:
      good = value <= most_stride;
      wide.strides[dimension] = value;
      break;
    case MapField::element_stride:
      good = value <= 8;
      small.steps[dimension] = byte;
      break;
    case MapField::elemtype:
      small.packing = static_cast<std::uint8_t>(packing_of(value));
      small.floats = static_cast<std::uint8_t>(float_of(value));
      if (small.packing) value = 0;  // u8
      good = element_type(value).has_value();
      if (good) small.dtype = static_cast<std::uint8_t>(*element_type(value));
      break;
    case MapField::interleave_layout:
      good = value < 3;
      small.interleave = byte;
      break;
    case MapField::swizzle_mode:
      good = value < 4;
      small.mode = byte;
      break;
    case MapField::swizzle_atomicity:
      good = value < 4;
      small.atomicity = byte;
      break;
    case MapField::fill_mode:
      good = value < 2;
      small.nan_fill = byte;
      break;
  }
  if (!good)
    return fmt::format("{} is no value that this field of a tensor map can have here", value);
  // Only 128-byte rows have other atoms than 16 bytes.
  small.swizzle = static_cast<std::uint8_t>(small.mode + (small.mode == 3 ? small.atomicity : 0));
  bits = bits_of(wide);
  return std::nullopt;
}

namespace {

// The fields as they stand, whether or not they are those of a map that can be used.
std::optional<MapFields> fields_of(const MapBits& bits) {
  const Wide wide = wide_of(bits);
  if (wide.magic != magic || wide.small.rank > most_map_dims ||
      wide.small.dtype > static_cast<std::uint8_t>(DType::i64) ||
      wide.small.interleave > static_cast<std::uint8_t>(MapInterleave::bytes32) ||
      wide.small.swizzle > static_cast<std::uint8_t>(MapSwizzle::bytes128_atom64)) {
    return std::nullopt;
  }
  MapFields map;
  map.address = wide.address;
  map.dtype = static_cast<DType>(wide.small.dtype);
  map.rank = wide.small.rank;
  map.interleave = static_cast<MapInterleave>(wide.small.interleave);
  map.swizzle = static_cast<MapSwizzle>(wide.small.swizzle);
  map.nan_fill = wide.small.nan_fill != 0;
  if (wide.small.packing > static_cast<std::uint8_t>(MapPacking::b4x16)) return std::nullopt;
  map.packing = static_cast<MapPacking>(wide.small.packing);
  map.floats = static_cast<MapFloat>(wide.small.floats);
  map.strides[0] = map.element_bytes();
  for (std::uint32_t d = 0; d < map.rank; ++d) {
    if (d > 0) map.strides[d] = wide.strides[d - 1];
    map.dims[d] = std::uint64_t{wide.last[d]} + 1;
    map.box[d] = wide.box[d];
    map.steps[d] = wide.small.steps[d];
  }
  if (wide.small.im2col) {
    PixelColumns& pixels = map.pixels.emplace();
    for (std::size_t d = 0; d < pixels.lower.size(); ++d) {
      pixels.lower[d] = wide.pixels.lower[d];
      pixels.upper[d] = wide.pixels.upper[d];
    }
    pixels.channels = wide.pixels.channels;
    pixels.column = wide.pixels.column;
    if (wide.pixels.wide > static_cast<std::uint16_t>(MapWide::w128)) return std::nullopt;
    pixels.wide = static_cast<MapWide>(wide.pixels.wide);
  }
  return map;
}

// Kernels write maps by themselves in the coding of chips, of which the first 64 bytes count
// (CuTeDSL's grouped products make one for each group so).
std::optional<MapFields> as_on_chips(const MapBits& bits) {
  MapBits tiled{};
  std::copy_n(bits.begin(), tiled_map_bytes, tiled.begin());
  if (zeros(bits)) return std::nullopt;
  const std::optional<DriverMap> map = decode_driver_map(tiled);
  return map && !map->fields.pixels ? std::optional(map->fields) : std::nullopt;
}

}  // namespace

std::optional<MapFields> decode_map(const MapBits& bits) {
  std::optional<MapFields> map = fields_of(bits);
  if (!map) map = as_on_chips(bits);
  return map && !objection(*map) ? map : std::nullopt;
}

std::string why_no_map(const MapBits& bits) {
  if (zeros(bits)) return "zeros";
  std::optional<MapFields> map = fields_of(bits);
  if (!map) map = as_on_chips(bits);
  return map ? objection(*map).value_or("") : "other bytes";
}

}  // namespace tilescope::sim
