// The metadata of a wgmma.mma_async.sp, in registers of its warps (PTX ISA 9.7.15.6.1).
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "core/sim/matrix/sparse.h"
#include "core/sim/wgmma/form.h"

namespace tilescope::sim {

// `metadata`: the operand's 32 lanes, of each of the four warps.
using Metadata = std::array<const std::uint32_t*, 4>;
StoredPlaces stored_places(const GroupForm& form, const Metadata& metadata);
// The first of a warp's chunks whose metadata mean nothing (is_meaningful()). `lanes`: the warp's
// operand. Nothing: all are right.
struct BadChunk {
  std::uint32_t row = 0, chunk = 0, bits = 0;  // row: of the warp's 16
};
std::optional<BadChunk> find_bad_chunk(const GroupForm& form, const std::uint32_t* lanes);

}  // namespace tilescope::sim
