// An output of a run beside what it should be: how far off it is, who wrote what is wrong, and what
// that has in common. What a run is compared with, and on which devices: app/comparisons.h.
#pragma once

#include <vector>

#include "app/runs.h"
#include "core/diff/patterns.h"

namespace tilescope {

struct OutputDifference {
  DiffReport diff;
  std::vector<Pattern> patterns;  // of what is wrong
};

// `traces`: the execution can tell who wrote what.
Outcome<OutputDifference> compare_output(const Execution& execution, const Output& output,
                                         const Buffer& want, bool traces);

// What a run of the simulator has left in variables, beside what it should be. Of a chip: nothing.
Outcome<std::vector<DiffReport>> compare_variables(const PreparedRun& run,
                                                   const Execution& execution);

}  // namespace tilescope
