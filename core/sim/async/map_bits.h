// Tensor maps as the simulator keeps them: 128 opaque bytes (PTX ISA 5.5.8) of its own coding,
// which a kernel finds in its parameters, or copies about.
#pragma once

#include <array>
#include <cstddef>

#include "core/run/tensor_map.h"

namespace tilescope::sim {

using MapBits = std::array<std::byte, map_bytes>;

MapBits encode(const MapFields& map);
// Nothing where the bytes are no tensor map.
std::optional<MapFields> decode_map(const MapBits& bits);

}  // namespace tilescope::sim
