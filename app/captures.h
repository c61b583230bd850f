// A launch of a program as a folder that `tilescope run` and the window open: the PTX, a launch
// file, and the memory that the launch can reach, at the addresses that it had.
//
//   kernel.ptx  launch.toml  b0.npy ...  (buffers and variables, as bytes)
//   b0.left.npy ...  (what it left of buffers, where that is known and another)
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/run/job.h"
#include "core/sim/machine/module.h"
#include "core/sim/memory/device_memory.h"

namespace tilescope {

struct CapturedLaunch {
  const sim::Module& module;
  const sim::DeviceMemory& memory;  // before the launch
  const Launch& launch;
  const std::vector<std::byte>& parameters;
  std::string device;  // as --device has it
  // What buffers and variables held afterwards, where that is known, by their addresses: of those
  // that it changed.
  const std::map<std::uint64_t, std::vector<std::byte>>* left = nullptr;
  // What handles of textures and surfaces stand for, by their number; null: none are known.
  const std::vector<Texture>* textures = nullptr;
};

// What a launch can reach: allocations whose addresses, or those of textures whose handles, stand
// in its parameters, in the variables of its module, or in what can be reached, at a multiple of 8
// bytes. Ascending.
std::vector<const sim::Region*> reachable(const CapturedLaunch& captured);

// Into `folder`, which is made. Nothing where it went well. A launch file gives handles as
// parameters alone: where others stand in memory all is written, and the sentence says so.
std::optional<Error> write_capture(const std::string& folder, const CapturedLaunch& captured);

}  // namespace tilescope
