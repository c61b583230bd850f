// Step 2: TMA. One thread has whole boxes of A and B copied, and all wait for their bytes.
//
// New: tensor maps, which clip what lies outside the matrix and fill in zeros, so that any m, n and
// k do; an mbarrier that counts the bytes, and whose phases alternate; no thread writes shared
// memory, so that nobody fences. When the thread's wait for the products is over, all four warps
// have read the tiles (PTX ISA 9.7.15.7: the warps issue a product together), and it loads the
// next.
#include "kernels/device/tma.h"
#include "kernels/device/wgmma_store.h"

namespace tilescope::device {

template <class Tile>
struct Shared {
  alignas(1024) typename Tile::Element a[Tile::m * Tile::k];
  alignas(1024) typename Tile::Element b[Tile::n * Tile::k];
  Barrier full;
};

template <class Element>
__device__ inline void gemm(const CUtensorMap& a, const CUtensorMap& b, Element* d, int m, int n,
                            int k) {
  using Tile = WgmmaTile<Element, 1, 256>;
  extern __shared__ __align__(1024) std::byte memory[];
  Shared<Tile>& shared = *reinterpret_cast<Shared<Tile>*>(memory);
  const int row = static_cast<int>(blockIdx.x) * Tile::m;
  const int column = static_cast<int>(blockIdx.y) * Tile::n;
  const int thread = static_cast<int>(threadIdx.x);
  // [exercise
  if (thread == 0) {
    init(shared.full, 1);
    fence_init();
  }
  __syncthreads();  // exercise]

  float sum[Tile::registers];  // [exercise
  PipelineState<1> used(0);
  for (int at = 0; at < k; at += Tile::k, used.advance()) {
    if (thread == 0) {
      arrive_and_expect(shared.full, Tile::a_bytes + Tile::b_bytes);
      tma::load(shared.a, a, at, row, shared.full);
      tma::load(shared.b, b, at, column, shared.full);
    }
    wait(shared.full, used.parity);
    multiply_tile<Tile>(sum, shared.a, shared.b, at > 0);
    wgmma::wait<0>(sum);
  }
  store_to_global<Tile>(sum, thread, d, row, column, m, n);  // exercise]
}

// What the PTX says of its memory.
template <class Element>
__device__ inline void manifest() {
  using Memory = Shared<WgmmaTile<Element, 1, 256>>;
  TILESCOPE_SHARED(Memory);
  TILESCOPE_BARRIER(Memory, full);
}

}  // namespace tilescope::device

// a, b: maps of (m,k) and (n,k), row-major, in boxes of 64 columns, 64 and 256 rows, with the
// 128-byte swizzle; d (m,n), row-major; any m, n and k in multiples of 8. Grid: (m/64, n/256)
// blocks of 128 threads, rounded up.
#define WGMMA_GEMM(name, Element)                                                        \
  extern "C" __global__ void __launch_bounds__(128)                                      \
      name(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, \
           Element* d, int m, int n, int k) {                                            \
    tilescope::device::manifest<Element>();                                              \
    tilescope::device::gemm<Element>(a, b, d, m, n, k);                                  \
  }
WGMMA_GEMM(wgmma_v2, __half)
WGMMA_GEMM(wgmma_v2_bf16, __nv_bfloat16)
