#include "core/sim/async/map_bits.h"

#include <cstring>

namespace tilescope::sim {
namespace {

constexpr std::uint64_t magic = 0x70616d2d65706f63;  // "cope-map" in memory

struct Small {
  std::uint8_t dtype, rank, interleave, swizzle, nan_fill;
  std::array<std::uint8_t, most_map_dims> steps;
};

// Extents are stored less one, so that 2^32 fits.
struct Wide {
  std::uint64_t magic, address;
  std::array<std::uint64_t, most_map_dims - 1> strides;
  std::array<std::uint32_t, most_map_dims> last;
  std::array<std::uint16_t, most_map_dims> box;
  Small small;
};
static_assert(sizeof(Wide) <= map_bytes);

}  // namespace

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
  MapBits bits{};
  std::memcpy(bits.data(), &wide, sizeof wide);
  return bits;
}

std::optional<MapFields> decode_map(const MapBits& bits) {
  Wide wide{};
  std::memcpy(&wide, bits.data(), sizeof wide);
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
  map.strides[0] = map.element_bytes();
  for (std::uint32_t d = 0; d < map.rank; ++d) {
    if (d > 0) map.strides[d] = wide.strides[d - 1];
    map.dims[d] = std::uint64_t{wide.last[d]} + 1;
    map.box[d] = wide.box[d];
    map.steps[d] = wide.small.steps[d];
  }
  if (objection(map)) return std::nullopt;
  return map;
}

}  // namespace tilescope::sim
