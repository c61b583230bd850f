// The images that a program hands to the CUDA driver: which of their PTX runs on a device.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/run/device_description.h"
#include "core/run/job.h"

namespace tilescope {

struct ReadImages {
  std::optional<Program> program;  // those that are linked with each other
  std::string wrong;               // a sentence, where there is none
  bool is_ptx = false;             // and it is PTX that the device does not run
  bool is_nothing = false;         // and it is neither PTX nor anything else
  bool is_new = false;             // and it is PTX of a version that nobody knows
  bool is_text = false;            // all were PTX by itself, which a driver compiles at once
};

// Each image is PTX, a fat binary, or machine code, of which its first bytes are enough. Of a fat
// binary the PTX is taken that a driver would: the newest that the device runs. Of several images
// those without PTX are somebody's library, and are left out. `next_name` says what one is called
// that has no name of its own.
ReadImages read_images(const std::vector<std::string_view>& images, const DeviceDescription& device,
                       const std::function<std::string()>& next_name);

}  // namespace tilescope
