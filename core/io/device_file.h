// The device file: what a chip has room for and how long things take there, in TOML. Nothing here
// opens a file.
//
//     name = "NVIDIA B200"           compute_capability = "10.0"      processors = 148
//     [processor]                    blocks = 32      threads = 2048      shared = 233472  (bytes)
//     [block]                        shared = 232448  (bytes at most)     shared_reserved = 1024
//
// These keys are needed. How long things take may follow (device_times_file.h says in which
// tables): all of it or nothing. Errors: unreadable, with file:line:column.
#pragma once

#include <string_view>

#include "core/error.h"
#include "core/run/device_description.h"

namespace tilescope {

// `name` is what sentences call the file.
Outcome<DeviceDescription> parse_device_file(std::string_view text, std::string_view name);

}  // namespace tilescope
