// A kernel in the GPU's memory, to be launched on any buffers: what a run and a measurement share.
#pragma once

#include <string>
#include <vector>

#include "core/ptx/module.h"
#include "core/run/job.h"
#include "kernels/gpu/resources.h"

namespace tilescope::gpu {

// cuTensorMapEncodeTiled or, where it has pixels, -Im2col: a map's 128 bytes, at a multiple of 64.
Result encode_map(const Driver& driver, const MapFields& map, std::byte* bits);

class Launcher {
 public:
  // `entry`, of `module`, belongs to the program and fits the launch.
  static Outcome<Launcher> load(std::shared_ptr<Context> context, const Chip& chip,
                                const ptx::Module& module, const ptx::Function& entry,
                                const Program& program, const Launch& launch);

  // Writes addresses of buffers, and maps over them, into the arguments. `buffers` may lack bytes.
  std::optional<Error> place(std::vector<Argument>& arguments, const std::vector<Buffer>& buffers,
                             const std::vector<CUdeviceptr>& addresses) const;
  // Into the default stream; does not wait. An entry that itself waits for the launches before it
  // may begin before they have ended. The launch has as much shared memory as that of load(),
  // and may have another grid.
  Result enqueue(const Launch& launch, std::vector<Argument>& arguments) const;

 private:
  Launcher(std::shared_ptr<Context> context, std::string entry)
      : context_(std::move(context)), entry_(std::move(entry)) {}
  std::optional<Error> allow(const Chip& chip, const Program& program, const Launch& launch);
  std::optional<Error> place_map(Argument& argument, const Argument::Map& at, const Buffer& buffer,
                                 CUdeviceptr address) const;

  std::shared_ptr<Context> context_;
  std::string entry_;
  Dim3 cluster_;  // where the launch says none
  bool begins_early_ = false;
  // Its blocks meet in grid.sync(), at what the driver keeps for a cooperative launch only, and
  // names in %envreg1 and %envreg2 (core/ptx/program.h).
  bool meets_ = false;
  Module module_;
  CUfunction function_ = nullptr;
};

}  // namespace tilescope::gpu
