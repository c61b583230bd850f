// The chips that the simulator can be, by name or as a file (core/io/device_file.h).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/run/device_description.h"

namespace tilescope {

// "b200", "h200", "a100": one of the program's own; or the path of a device file, F.toml.
Outcome<DeviceDescription> device_described(const std::string& name);

// The program's own, each with its name.
std::vector<std::pair<std::string, DeviceDescription>> described_devices();

// "NVIDIA B200: 148 SMs, 2048 threads and 228 KiB of shared memory each"
std::string text(const DeviceDescription& device);

// Would the chip take this PTX? What it is for, ".target sm_100a", and a sentence where it would
// not: code for sm_90a runs on 9.0 alone, for sm_90 on 9.0 and all later ones, for sm_100f on 10.0
// and later ones of its family (PTX ISA 11.1.2, .target).
Outcome<std::string> target_for(const DeviceDescription& device, std::string_view ptx);

// Of one's own choice: a B200, or where the PTX does not run on that, another of the program's own.
std::optional<DeviceDescription> usual_device_for(std::string_view ptx);

}  // namespace tilescope
