// What fast.cu's main has before it includes its kernels.
#pragma once
#include <cuda.h>
#include <cudaTypedefs.h>
#include <unistd.h>

#include <cassert>
#include <cuda/barrier>
#include <iostream>

typedef __nv_bfloat16 bf16;
#define CEIL_DIV(M, N) (((M) + (N)-1) / (N))
inline void cudaCheck(cudaError_t error) {
  if (error != cudaSuccess) std::printf("%s\n", cudaGetErrorString(error)), std::exit(1);
}

#ifdef DEBUG_BUFFER
#define CALL_WITH (m, n, k, da, db, dc, nullptr)
#else
#define CALL_WITH (m, n, k, da, db, dc)
#endif
