// Matrix products on a GPU beside cublasLt (comparison.h): of each shape and type a table.
#pragma once

#include "kernels/gpu/device.h"
#include "tests/bench/gpu_options.h"

namespace tilescope::bench {

// Prints tables, and writes the JSON. How many results were wrong, or could not be had.
int bench_products(gpu::GpuDevice& device, const GpuOptions& options);

}  // namespace tilescope::bench
