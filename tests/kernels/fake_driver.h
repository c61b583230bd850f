// What each CUDA driver for tests that is none (fake_cuda.cpp, tests/bench/fake_gpu.cpp) says
// alike: one device, of CUDA 13. For one source of a module alone: it defines the functions.
#pragma once

#include "kernels/gpu/driver.h"

extern "C" {

tilescope::gpu::Result cuDriverGetVersion(int* version) {
  *version = 13000;
  return tilescope::gpu::Result::success;
}
tilescope::gpu::Result cuGetErrorString(tilescope::gpu::Result, const char** text) {
  *text = "what the driver says";
  return tilescope::gpu::Result::success;
}
tilescope::gpu::Result cuDeviceGetCount(int* count) {
  *count = 1;
  return tilescope::gpu::Result::success;
}
tilescope::gpu::Result cuDeviceGet(tilescope::gpu::CUdevice* device, int) {
  *device = 0;
  return tilescope::gpu::Result::success;
}

}  // extern "C"
