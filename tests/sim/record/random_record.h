// A record of nothing in particular: events of any kind anywhere, in no order; on warps one after
// the other, as record.h has it. For laws that hold of every record. Same seed: same record.
#pragma once

#include <cstdint>

#include "core/record/record.h"

namespace tilescope::sim {

constexpr std::uint32_t random_record_tracks = 10;

Record random_record(std::uint64_t seed);

}  // namespace tilescope::sim
