// Step 1: one tile. D (128,128) = A (128,64) * B (128,64)^T, by one block of 128 threads.
//
//   A, B --each thread, 16 bytes at a time--> shared --tcgen05.mma--> TMEM --> registers --> D
//
// All the pieces of a tensor-core kernel, one after the other: the tiles lie in shared memory as
// the swizzle wants them; one thread multiplies, 16 elements of K at a time, into TMEM; the barrier
// says when that is done; each warp reads its 32 lanes of TMEM and writes 32 rows of D.
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
__device__ inline void hgemm(const Element* a, const Element* b, Element* d) {
  using Tile = GemmTile<Element>;
  __shared__ Shared<Tile> shared;
  const bool first_warp = threadIdx.x < 32, first_thread = threadIdx.x == 0;

  if (first_warp) {
    tcgen05::allocate<Tile::columns>(shared.accumulator);
    tcgen05::relinquish();
  }
  if (first_thread) init(shared.done, 1);
  // [exercise
  copy_tile<Tile, Tile::a, Tile::m>(shared.a, a, Tile::k);
  copy_tile<Tile, Tile::b, Tile::n>(shared.b, b, Tile::k);
  fence_async_proxy();
  tcgen05::fence_before();  // exercise]
  __syncthreads();
  tcgen05::fence_after();
  const std::uint32_t accumulator = shared.accumulator;
  // [exercise
  if (first_thread) {
    multiply_tile<Tile>(accumulator, shared.a, shared.b, false);
    tcgen05::commit(shared.done);
  }
  wait(shared.done, 0);
  tcgen05::fence_after();
  // exercise]
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

// a: (128,64), b: (128,64), d: (128,128), row-major. Grid: 1 block of 128 threads.
#define HGEMM(name, Element)                                                                   \
  extern "C" __global__ void __launch_bounds__(128) name(                                      \
      const Element* __restrict__ a, const Element* __restrict__ b, Element* __restrict__ d) { \
    tilescope::device::manifest<Element>();                                                    \
    tilescope::device::hgemm(a, b, d);                                                         \
  }
HGEMM(hgemm_v1, __half)
HGEMM(hgemm_v1_bf16, __nv_bfloat16)
