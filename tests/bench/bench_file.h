// The bench's JSON: where it was measured, then what.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "kernels/gpu/device.h"
#include "tests/bench/gpu_options.h"

namespace tilescope::bench {

// Nothing where no file is asked for. 1, and a sentence on stdout, where it cannot be written.
int write_bench_file(const GpuOptions& options, const gpu::GpuDevice* device,
                     const std::string& baseline_version, const nlohmann::ordered_json& found);

}  // namespace tilescope::bench
