// `run --predict`: only the time of a run, by the clock of a chip's description. Products are not
// calculated and nothing is compared, so it is faster than a run; of a large grid some waves of
// blocks can stand for all.
#pragma once

#include "app/profiles.h"
#include "app/runs.h"
#include "app/terminal.h"

namespace tilescope {

// Answers the exit code. Writes the record and the trace that `profile` asks for.
int predict(const PreparedRun& run, Order order, const ProfileOptions& profile,
            const sim::RecordLimits& limits, bool verbose, std::uint64_t most, Terminal& terminal);

}  // namespace tilescope
