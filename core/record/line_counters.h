// Counters of lines, added up.
#pragma once

#include "core/record/record.h"

namespace tilescope::sim {

void add(LineCounters& sum, const LineCounters& one);

}  // namespace tilescope::sim
