// What L2 had when (core/record/cached.h), as the clock leaves it at the end of a run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/record/cached.h"
#include "core/record/memory_use.h"
#include "core/sim/time/processor.h"

namespace tilescope::sim {

// Of one buffer, which lies at `base` and is what was added to L2 as number `part`. Nothing of it
// was read: no cells.
CachedBuffer cached_of(const Level2& level2, std::size_t part, std::uint64_t base,
                       std::uint64_t bytes, std::uint32_t number, const RecordedBuffer& buffer);

}  // namespace tilescope::sim
