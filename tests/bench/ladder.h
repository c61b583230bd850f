// What each rung of the Hopper ladder buys: measured on the GPU here, and predicted by the
// simulator.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "kernels/gpu/device.h"
#include "tests/bench/gpu_options.h"

namespace tilescope::bench {

struct Rung {
  std::string kernel;
  std::optional<double> measured, predicted;  // seconds
};
struct Ladder {
  Sizes sizes;
  std::vector<Rung> rungs;
};

// Times in microseconds, gains over the rung before, and predicted over measured:
//
//     f16 4096 x 4096 x 4096      measured    gain  predicted    gain  predicted / measured
//       wgmma_v1                     594.8              867.6                          1.46
//       wgmma_v2                     282.5   2.11x      320.8   2.70x                  1.14
//
// What is not known is a dash.
std::string text(const Ladder& ladder);
nlohmann::ordered_json to_json(const Ladder& ladder);

// All of it, printed. `device`: null where there is no GPU; then only what is predicted. How much
// went wrong.
int bench_ladder(gpu::GpuDevice* device, const GpuOptions& options);

}  // namespace tilescope::bench
