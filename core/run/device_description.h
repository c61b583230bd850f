// A chip, as far as a run depends on it: how many processors it has, and what each of them has room
// for. Read from assets/devices/*.toml, where each figure has its source (core/io/device_file.h).
#pragma once

#include <cstdint>
#include <string>

#include "core/run/device_times.h"

namespace tilescope {

struct DeviceDescription {
  std::string name;                     // "NVIDIA B200"
  int major = 10, minor = 0;            // compute capability
  std::uint32_t processors = 148;       // SMs
  std::uint32_t blocks = 32;            // that one SM has room for
  std::uint32_t threads = 2048;         // likewise
  std::uint32_t shared = 233472;        // bytes of shared memory of an SM
  std::uint32_t block_shared = 232448;  // bytes that a block may have
  std::uint32_t reserved = 1024;        // bytes that the system takes besides, for each block
  std::uint32_t registers = 65536;      // of an SM, 32 bits each
  DeviceTimes times;                    // not known() where the file has none
};

}  // namespace tilescope
