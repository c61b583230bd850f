// The GPUs that the driver sees, and which PTX they run.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "kernels/gpu/driver.h"

namespace tilescope::gpu {

struct Chip {
  CUdevice device = 0;
  std::string name;          // "NVIDIA H200"
  int major = 0, minor = 0;  // compute capability
  int multiprocessors = 0;
  int capability() const { return major * 10 + minor; }
  // "NVIDIA H200, compute capability 9.0"
  std::string text() const;
};

Outcome<std::vector<Chip>> chips(const Driver& driver);

// Why PTX of this .target cannot run on the chip; nothing where it can. sm_90 runs on 9.0 and
// every later chip, sm_100f on 10.0 and later ones of its family, sm_90a on 9.0 alone (PTX ISA
// 11.1.2).
std::optional<std::string> unfit(std::string_view target, const Chip& chip);

}  // namespace tilescope::gpu
