// Tensor maps as the simulator keeps them: 128 opaque bytes (PTX ISA 5.5.8) of its own coding,
// which a kernel finds in its parameters, or copies about.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>

#include "core/run/tensor_map.h"

namespace tilescope::sim {

// What a chip's map says of a tiled one: CuTeDSL's kernels copy no more.
constexpr std::size_t tiled_map_bytes = 64;

using MapBits = std::array<std::byte, map_bytes>;

MapBits encode(const MapFields& map);
// Nothing where the bytes are no tensor map.
std::optional<MapFields> decode_map(const MapBits& bits);

// Whether it may be one, by its first bytes, of which there are 8: for who looks through memory.
bool begins_as_map(const std::byte* bytes);

// The fields that tensormap.replace changes (9.7.9.28), in the order of ptx::Field::map_field.
enum class MapField : std::uint8_t {
  global_address,
  rank,  // less one
  box_dim,
  global_dim,
  global_stride,  // bytes, of dimension `dimension` + 1
  element_stride,
  elemtype,
  interleave_layout,
  swizzle_mode,
  swizzle_atomicity,
  fill_mode
};
// What decode_map() misses; empty where it is a map.
std::string why_no_map(const MapBits& bits);
// A sentence where the field cannot have that value. Zeros are a map of one dimension to begin
// with, as Triton's make_tensor_descriptor has it; other bytes that are no map stay as they are.
// Whether the whole is a map that can be used is seen when it is.
std::optional<std::string> replace_field(MapBits& bits, MapField field, std::uint32_t dimension,
                                         std::uint64_t value);

}  // namespace tilescope::sim
