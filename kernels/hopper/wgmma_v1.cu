// Step 1: the tensor core, synchronously. A CTA of one warpgroup has a tile of 64 x 256 of D.
//
//   copy A (64,64), B (256,64) | multiply, wait | copy the next | multiply, wait | ...    | D
//
// All threads copy the tiles into shared memory, swizzled, 16 bytes at a time. The tensor core
// reads them by another way than they were written (the async proxy), so each thread fences what it
// wrote before the barrier. Then four warps issue the products together, and wait for them. The
// sums are in their registers, 128 in each thread, and stay there while K goes by.
#include "kernels/device/tile_copy.h"
#include "kernels/device/wgmma_store.h"

namespace tilescope::device {

template <class Element>
__device__ inline void gemm(const Element* a, const Element* b, Element* d, int m, int n, int k) {
  using Tile = WgmmaTile<Element, 1, 256>;
  __shared__ alignas(1024) Element a_tile[Tile::m * Tile::k];
  __shared__ alignas(1024) Element b_tile[Tile::n * Tile::k];
  const int row = static_cast<int>(blockIdx.x) * Tile::m;
  const int column = static_cast<int>(blockIdx.y) * Tile::n;

  float sum[Tile::registers];  // [exercise
  for (int at = 0; at < k; at += Tile::k) {
    copy_tile<Tile, Tile::a, Tile::m>(a_tile, a + static_cast<long long>(row) * k + at, k);
    copy_tile<Tile, Tile::b, Tile::n>(b_tile, b + static_cast<long long>(column) * k + at, k);
    fence_async_proxy();
    __syncthreads();
    multiply_tile<Tile>(sum, a_tile, b_tile, at > 0);
    wgmma::wait<0>(sum);
    __syncthreads();  // all four warps have waited: the tiles may be written again
  }
  store_to_global<Tile>(sum, static_cast<int>(threadIdx.x), d, row, column, m, n);  // exercise]
}

}  // namespace tilescope::device

// a (m,k), b (n,k), d (m,n), row-major; m in multiples of 64, n of 256, k of 64. Grid: (m/64,
// n/256) blocks of 128 threads.
#define WGMMA_GEMM(name, Element)                                                 \
  extern "C" __global__ void __launch_bounds__(128)                               \
      name(const Element* a, const Element* b, Element* d, int m, int n, int k) { \
    tilescope::device::gemm<Element>(a, b, d, m, n, k);                           \
  }
WGMMA_GEMM(wgmma_v1, __half)
WGMMA_GEMM(wgmma_v1_bf16, __nv_bfloat16)
