// What the driver's answers mean for a person who wants to run a kernel.
#pragma once

#include <string>

#include "core/run/job.h"
#include "kernels/gpu/chip.h"

namespace tilescope::gpu {

// PTX that was not loaded, with the first lines of the driver's own log.
Error not_loaded(const Driver& driver, const Chip& chip, const std::string& program, Result result,
                 const std::string& log);

// A launch that failed, or a kernel that did.
Report fault_of(const Driver& driver, const std::string& kernel, Result result);

}  // namespace tilescope::gpu
