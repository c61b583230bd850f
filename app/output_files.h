// Where a launch file may write. It may come from somebody else, so it harms nothing: what it reads
// is not written, nothing outside of its folder is (unless that is allowed), and no file is
// replaced that is not .npy.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "app/runs.h"

namespace tilescope {

// Why one of the run's outputs may not be written; told before the run begins. Links are followed.
std::optional<Error> wrong_outputs(const PreparedRun& run, const std::string& launch,
                                   bool allow_outside);

// Why a file that is asked for by `option` ("--record") may not be written: the run is made of it.
std::optional<Error> wrong_file(const PreparedRun& run, const std::string& launch,
                                std::string_view option, const std::string& file);

}  // namespace tilescope
