// Step 3: a grid of tiles. D (M,N) = A (M,K) * B (N,K)^T, one block for each 128 x 128 of D.
//
//   block (x,y):   rows 128x of A and D   rows 128y of B, which are columns of D
//
// New: each block moves to its rows of A and B and its tile of D, and is step 2 from there on.
#include "kernels/device/epilogue.h"
#include "kernels/device/multiply.h"
#include "kernels/device/tile_copy.h"

namespace tilescope::device {

template <class Tile>
struct Shared {
  alignas(1024) typename Tile::Element a[Tile::m * Tile::k];  // 1024 bytes: the swizzle's pattern
  alignas(1024) typename Tile::Element b[Tile::n * Tile::k];
  Barrier done;
  std::uint32_t accumulator;
};

template <class Element>
__device__ inline void hgemm(const Element* a, const Element* b, Element* d, int n, int k) {
  using Tile = GemmTile<Element>;
  __shared__ Shared<Tile> shared;  // [exercise
  const int row = static_cast<int>(blockIdx.x) * Tile::m;
  const int column = static_cast<int>(blockIdx.y) * Tile::n;
  a += static_cast<std::int64_t>(row) * k;
  b += static_cast<std::int64_t>(column) * k;
  d += static_cast<std::int64_t>(row) * n + column;
  const bool first_warp = threadIdx.x < 32, first_thread = threadIdx.x == 0;  // exercise]

  if (first_warp) {
    tcgen05::allocate<Tile::columns>(shared.accumulator);
    tcgen05::relinquish();
  }
  if (first_thread) init(shared.done, 1);

  tcgen05::fence_before();
  __syncthreads();
  tcgen05::fence_after();
  const std::uint32_t accumulator = shared.accumulator;

  int parity = 0;
  for (int at = 0; at < k; at += Tile::k) {
    copy_tile<Tile, Tile::a, Tile::m>(shared.a, a + at, k);
    copy_tile<Tile, Tile::b, Tile::n>(shared.b, b + at, k);
    fence_async_proxy();
    __syncthreads();
    tcgen05::fence_after();

    if (first_thread) {
      multiply_tile<Tile>(accumulator, shared.a, shared.b, at > 0);
      tcgen05::commit(shared.done);
    }
    wait(shared.done, parity);
    parity ^= 1;
  }
  tcgen05::fence_after();
  // [exercise
  store_to_global<Tile>(accumulator, d, n);
  tcgen05::fence_before();  // exercise]
  __syncthreads();
  tcgen05::fence_after();
  if (first_warp) tcgen05::deallocate<Tile::columns>(accumulator);
}

// What the PTX says of its memory.
template <class Element>
__device__ inline void manifest() {
  using Memory = Shared<GemmTile<Element>>;
  TILESCOPE_BARRIER(Memory, done);
}

}  // namespace tilescope::device

// a: (m,k), b: (n,k), d: (m,n), row-major; m and n multiples of 128, k of 64.
// Grid: (m/128, n/128) blocks of 128 threads.
#define HGEMM(name, Element)                                                                      \
  extern "C" __global__ void __launch_bounds__(128)                                               \
      name(const Element* __restrict__ a, const Element* __restrict__ b, Element* __restrict__ d, \
           int n, int k) {                                                                        \
    tilescope::device::manifest<Element>();                                                       \
    tilescope::device::hgemm(a, b, d, n, k);                                                      \
  }
HGEMM(hgemm_v3, __half)
HGEMM(hgemm_v3_bf16, __nv_bfloat16)
