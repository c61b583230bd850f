// The devices that a job can run on, and a job's way through one or several of them.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/runs.h"
#include "app/terminal.h"
#include "core/run/job.h"

namespace tilescope {

struct OpenDevice {
  std::unique_ptr<Device> device;
  std::string about;  // "NVIDIA H200, compute capability 9.0, driver for CUDA 13.0"
};

// The CPU simulator.
OpenDevice open_simulator(const Order& order = {});

// The first GPU of the CUDA driver; TILESCOPE_CUDA_DRIVER names another library than libcuda.so.1.
Outcome<OpenDevice> open_gpu();

// One job on one device.
struct Ran {
  std::string device, about;
  std::unique_ptr<Execution> execution;
  RunState state = RunState::running;
  double seconds = 0;  // by our clock, from the first step to the last

  std::optional<double> chip_seconds() const;  // by the chip's clock; nothing of the simulator
  bool traces() const;                         // whether it can tell who wrote what
};

// Starts the job on each: what does not fit one of them is refused before any begins.
Outcome<std::vector<Ran>> start_on(const std::vector<OpenDevice>& devices, const Job& job);

// Advances in pieces, so that progress shows and Ctrl-C is answered within one; a long run says now
// and then that it goes on. Refused where it wants more than its limits.
struct RunLimits {
  std::uint64_t instructions = 0;  // PTX instructions by warps; 0: no limit
  std::string within;              // as --within has it, of a run that --prove begins with
};
std::optional<Error> finish(Ran& ran, std::string_view name, Terminal& terminal,
                            const RunLimits& limits = {});

// "3456 PTX instructions by warps in 0.012 s, the CTAs on 2 threads", or "12.3 us on NVIDIA H200
// ...": for stderr.
std::string time_text(const Ran& ran);

}  // namespace tilescope
