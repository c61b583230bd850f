// The time of a large launch from its first waves: as many CTAs as are on the chip at once, and as
// many again. The clock takes several times as long as all else that is done, and it can only be
// one thread's.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "app/captures.h"
#include "core/sim/machine/machine.h"

namespace tilescope {

struct WaveTime {
  double seconds = 0, memory_share = 0;  // of all of it
  std::uint64_t waves = 0, all = 0;      // that were timed, and that there are
};

// Of a launch that is about to run; its memory stays as it is. `options`: as it would run by the
// clock. `run` runs a machine until it has executed so many instructions or ends. Nothing: it
// looks at the time, its clusters are scheduled by itself, or launches by it; or it is so small
// that it may as well be timed as a whole.
std::optional<WaveTime> time_of_waves(
    sim::Module& module, const CapturedLaunch& launch, sim::Options options, std::uint64_t waves,
    const std::function<RunState(sim::Machine& machine, std::uint64_t most)>& run);

}  // namespace tilescope
