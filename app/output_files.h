// Where a launch file may write. It may come from somebody else, so it harms nothing: what it reads
// is not written, nothing outside of its folder is (unless that is allowed), and no file is
// replaced that is not .npy.
#pragma once

#include <optional>
#include <string>

#include "app/runs.h"

namespace tilescope {

// Why one of the run's outputs may not be written; told before the run begins. Links are followed.
std::optional<Error> wrong_outputs(const PreparedRun& run, const std::string& launch,
                                   bool allow_outside);

}  // namespace tilescope
