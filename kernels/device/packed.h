// Sums as they are stored: rounded to 16 bits, two in a register.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

namespace tilescope::device {

// Two sums, each rounded to nearest even, the first in the low half.
__device__ inline std::uint32_t packed(float first, float second, __half) {
  const __half2 both = __floats2half2_rn(first, second);
  return reinterpret_cast<const std::uint32_t&>(both);
}
__device__ inline std::uint32_t packed(float first, float second, __nv_bfloat16) {
  const __nv_bfloat162 both = __floats2bfloat162_rn(first, second);
  return reinterpret_cast<const std::uint32_t&>(both);
}

}  // namespace tilescope::device
