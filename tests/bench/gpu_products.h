// Matrix products on a GPU beside cublasLt, as NVIDIA's guide to measuring asks: the clock settled,
// events, many launches, matrices in turn that L2 does not hold, uniform random numbers, and both
// in one process in an order of its own each round.
#pragma once

#include <string>

#include "kernels/gpu/device.h"

namespace tilescope {

struct ProductsAsked {
  int rounds = 5;
  std::string kernels;  // names begin so; empty: all
  std::string shapes;   // "4096x4096x4096,2048x2048x2048"; empty: the usual ones
  std::string json;     // a file; empty: none
  std::string commit;   // said there
};

// Prints a table, and writes the JSON. How many results were wrong, or could not be had.
int bench_products(gpu::GpuDevice& device, const ProductsAsked& asked);

}  // namespace tilescope
