// Step 2: a loop over K. D (128,128) = A (128,K) * B (128,K)^T, 64 columns of A and B at a time.
//
//   for each 64 of K:   A, B --> shared --tcgen05.mma--> TMEM, which keeps the sum
//
// New: the accumulator stays in TMEM; the barrier is used again, and each phase of it has the other
// parity; the tiles may be overwritten only when the products that read them are done.
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
__device__ inline void hgemm(const Element* a, const Element* b, Element* d, int k) {
  using Tile = GemmTile<Element>;
  __shared__ Shared<Tile> shared;
  const bool first_warp = threadIdx.x < 32, first_thread = threadIdx.x == 0;

  if (first_warp) {
    tcgen05::allocate<Tile::columns>(shared.accumulator);
    tcgen05::relinquish();
  }
  if (first_thread) init(shared.done, 1);

  tcgen05::fence_before();
  __syncthreads();
  tcgen05::fence_after();
  const std::uint32_t accumulator = shared.accumulator;
  // [exercise
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
  tcgen05::fence_after();  // exercise]

  store_to_global<Tile>(accumulator, d, Tile::n);
  tcgen05::fence_before();
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

// a: (128,k), b: (128,k), d: (128,128), row-major; k a multiple of 64. Grid: 1 block of 128
// threads.
#define HGEMM(name, Element)                                                                      \
  extern "C" __global__ void __launch_bounds__(128)                                               \
      name(const Element* __restrict__ a, const Element* __restrict__ b, Element* __restrict__ d, \
           int k) {                                                                               \
    tilescope::device::manifest<Element>();                                                       \
    tilescope::device::hgemm(a, b, d, k);                                                         \
  }
HGEMM(hgemm_v2, __half)
HGEMM(hgemm_v2_bf16, __nv_bfloat16)
