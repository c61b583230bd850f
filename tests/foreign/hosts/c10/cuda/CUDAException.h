// In place of PyTorch's header: FlashAttention 2 includes it for these alone.
#pragma once
#include <stdexcept>
#define C10_CUDA_CHECK(call) \
  if ((call) != cudaSuccess) throw std::runtime_error(#call)
#define C10_CUDA_KERNEL_LAUNCH_CHECK() C10_CUDA_CHECK(cudaGetLastError())
