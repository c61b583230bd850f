// How a launch of a program ends, besides well: what the driver answers then, and what it writes.
#pragma once

#include <string>
#include <string_view>

#include "app/captures.h"
#include "core/ptx/program.h"
#include "core/run/job.h"
#include "kernels/gpu/driver.h"

namespace tilescope {

// CUresult, with the driver's numbers.
using DriverResult = gpu::Result;

// What the driver answers after this fault, by the kind of its report.
DriverResult result_of(std::string_view kind);

// A device assert as a driver writes it (measured on an H200), of a launch with blocks of that
// shape: "a.cu:7: k(): block: [0,0,0], thread: [1,2,0] Assertion `false` failed."
std::string assertion_text(const Report& report, const Dim3& block);

// Does a loop that never ends (core/sim/checks/endless.cpp says its lines) read memory that the
// host could write meanwhile?
bool may_wait_for_host(const Report& report, const ptx::Program& program,
                       const CapturedLaunch& launch);

}  // namespace tilescope
