// `exec --preflight`: what a program would find, told without running it. Its file and the shared
// libraries that it is linked with are read for the fat binaries that nvcc puts into them.
#pragma once

#include <string>
#include <vector>

#include "app/terminal.h"
#include "core/run/device_description.h"

namespace tilescope {

// The exit code: 0 where all that is embedded has PTX that runs here, else 1; 2 where the program
// cannot be read.
int preflight(const std::vector<std::string>& words, const DeviceDescription& device,
              Terminal& terminal);

}  // namespace tilescope
