// What one may step by, in words: those of the window's `step`, and of Python's Stepper.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "core/sim/stepping/stepper.h"

namespace tilescope::sim {

struct StepWord {
  std::string_view word;
  StepBy by;
  std::string_view help;  // it stops where ...
};
inline constexpr std::array step_words = {
    StepWord{"instruction", StepBy::instruction, "the warp looked at executes one"},
    StepWord{"line", StepBy::line, "the warp looked at comes to another line of the source"},
    StepWord{"barrier", StepBy::phase, "a phase of an mbarrier is complete, anywhere"},
    StepWord{"sync", StepBy::barrier, "a barrier of a CTA's threads is complete"},
    StepWord{"cluster", StepBy::cluster, "a barrier of a cluster is complete"},
    StepWord{"copy", StepBy::copy, "a copy is issued, or is complete"},
    StepWord{"mma", StepBy::product, "an MMA is issued, or is complete"},
    StepWord{"fault", StepBy::fault, "just before the run faults"},
    StepWord{"report", StepBy::report, "a hazard or the fault is reported"},
    StepWord{"moment", StepBy::moment, "whatever comes next"},
};
// "instruction, line, ..."
inline std::string all_step_words() {
  std::string all;
  for (const StepWord& each : step_words) {
    if (!all.empty()) all += ", ";
    all += each.word;
  }
  return all;
}

}  // namespace tilescope::sim
