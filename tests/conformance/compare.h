// Running kernels on a device, and saying where two answers differ.
#pragma once

#include <string>
#include <vector>

#include "core/error.h"
#include "core/run/job.h"
#include "tests/conformance/bounds.h"
#include "tests/conformance/vectors.h"

namespace tilescope::conformance {

// The buffers after a run, or why there was none; a fault is an Error too. `told`: what else the
// device has to say of it.
Outcome<std::vector<Buffer>> run(Device& device, const Kernel& kernel,
                                 std::vector<Report>* told = nullptr);

// "lane 67: a = 0x3f800000, b = 0x7fc00000: the chip gives 0x7fffffff, the simulator 0x7fc00000"
std::string difference(const Kernel& kernel, std::uint32_t lane,
                       const std::vector<std::uint64_t>& chip,
                       const std::vector<std::uint64_t>& simulator);

// How many lanes of the simulator's run differ from the chip's, the first of them told.
struct Differences {
  std::uint32_t lanes = 0;
  std::vector<std::string> first;
};
Differences compare(const Spelling& spelling, const Kernel& kernel, const std::vector<Buffer>& chip,
                    const std::vector<Buffer>& simulator);

// The same against what was kept of the chip's answer.
Differences compare(const Spelling& spelling, const Kernel& kernel, const Answer& chip,
                    const std::vector<Buffer>& simulator);

}  // namespace tilescope::conformance
