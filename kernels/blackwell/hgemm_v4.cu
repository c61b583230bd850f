// Step 4: TMA. One thread has whole tiles copied, in and out; nobody else touches an address.
//
//   A, B --TMA--> shared --tcgen05.mma--> TMEM --> registers --> shared --TMA--> D
//
// New: a box of the tensor map is a tile, swizzled on its way; `full` waits for its bytes, not for
// threads. What lies outside the matrix comes as zeros and is not written: any M, and N and K whose
// rows begin on 16 bytes, work.
#include "kernels/device/epilogue.h"
#include "kernels/device/multiply.h"
#include "kernels/device/tma.h"

namespace tilescope::device {

template <class Tile>
struct Shared {
  alignas(1024) typename Tile::Element a[Tile::m * Tile::k];
  alignas(1024) typename Tile::Element b[Tile::n * Tile::k];
  alignas(1024) typename Tile::Element d[Tile::m * Tile::n];
  Barrier full, done;
  std::uint32_t accumulator;
};

template <class Element>
__device__ inline void hgemm(const CUtensorMap& a, const CUtensorMap& b, const CUtensorMap& d,
                             int k) {
  using Tile = GemmTile<Element>;
  extern __shared__ __align__(1024) std::byte memory[];
  Shared<Tile>& shared = *reinterpret_cast<Shared<Tile>*>(memory);
  const int row = static_cast<int>(blockIdx.x) * Tile::m;
  const int column = static_cast<int>(blockIdx.y) * Tile::n;
  const bool first_warp = threadIdx.x < 32, first_thread = threadIdx.x == 0;

  if (first_warp) {
    tcgen05::allocate<Tile::columns>(shared.accumulator);
    tcgen05::relinquish();
  }  // [exercise
  if (first_thread) {
    init(shared.full, 1);
    init(shared.done, 1);
    fence_init();
  }
  tcgen05::fence_before();  // exercise]
  __syncthreads();
  tcgen05::fence_after();
  const std::uint32_t accumulator = shared.accumulator;
  // [exercise
  int parity = 0;
  for (int at = 0; at < k; at += Tile::k) {
    if (first_thread) {
      arrive_and_expect(shared.full, Tile::a_bytes + Tile::b_bytes);
      tma::load(shared.a, a, at, row, shared.full);
      tma::load(shared.b, b, at, column, shared.full);
      wait(shared.full, parity);
      tcgen05::fence_after();
      multiply_tile<Tile>(accumulator, shared.a, shared.b, at > 0);
      tcgen05::commit(shared.done);
    }
    wait(shared.done, parity);
    __syncthreads();  // the next phase is complete only after everybody has seen this one
    parity ^= 1;
  }
  tcgen05::fence_after();
  // exercise]
  store_to_shared<Tile>(accumulator, shared.d);  // [exercise
  fence_async_proxy();
  tcgen05::fence_before();
  __syncthreads();
  tcgen05::fence_after();
  if (first_thread) store_tile<Tile>(d, column, row, shared.d);
  if (first_warp) tcgen05::deallocate<Tile::columns>(accumulator);  // exercise]
}

// What the PTX says of its memory.
template <class Element>
__device__ inline void manifest() {
  using Memory = Shared<GemmTile<Element>>;
  TILESCOPE_SHARED(Memory);
  TILESCOPE_BARRIER(Memory, full);
  TILESCOPE_BARRIER(Memory, done);
}

}  // namespace tilescope::device

// a, b, d: maps of (m,k), (n,k), (m,n), row-major, in boxes of 64 columns and 128 rows with the
// 128-byte swizzle; any m, n and k multiples of 8. Grid: (m/128, n/128) blocks, rounded up, of 128
// threads.
#define HGEMM(name, Element)                                                             \
  extern "C" __global__ void __launch_bounds__(128)                                      \
      name(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, \
           const __grid_constant__ CUtensorMap d, int k) {                               \
    tilescope::device::manifest<Element>();                                              \
    tilescope::device::hgemm<Element>(a, b, d, k);                                       \
  }
HGEMM(hgemm_v4, __half)
HGEMM(hgemm_v4_bf16, __nv_bfloat16)
