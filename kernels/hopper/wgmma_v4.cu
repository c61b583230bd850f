// Step 4: warps with roles. A producer loads, a consumer multiplies; each goes its own way.
//
//   warpgroup 0   one thread loads whatever stage is empty
//   warpgroup 1   multiplies whatever stage is full, and writes back
//
// New: `empty`, a barrier for each stage on which the producer waits and the consumer arrives, when
// its wait says that the stage has been read. The loads no longer stand in the way of the products.
#include "kernels/device/tma.h"
#include "kernels/device/wgmma_store.h"

namespace tilescope::device {

constexpr int stages = 4;
constexpr int threads = 256;
constexpr int producers = 128;  // the first threads: a warpgroup, of which one thread loads

template <class Tile>
struct Shared {
  alignas(1024) typename Tile::Element a[stages][Tile::m * Tile::k];
  alignas(1024) typename Tile::Element b[stages][Tile::n * Tile::k];
  Barrier full[stages], empty[stages];
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

  if (thread == 0) {
    for (int i = 0; i < stages; ++i) {
      init(shared.full[i], 1);  // [exercise
      init(shared.empty[i], Tile::consumers);
    }  // exercise]
    fence_init();
  }
  __syncthreads();
  // [exercise
  if (thread < producers) {
    if (thread != 0) return;
    PipelineState<stages> filled(1);  // a fresh stage is empty: waiting for 1 passes
    for (int at = 0; at < k; at += Tile::k, filled.advance()) {
      Barrier& full = shared.full[filled.stage];
      wait(shared.empty[filled.stage], filled.parity);
      arrive_and_expect(full, Tile::a_bytes + Tile::b_bytes);
      tma::load(shared.a[filled.stage], a, at, row, full);
      tma::load(shared.b[filled.stage], b, at, column, full);
    }
  } else {
    const int in_group = thread - producers;
    float sum[Tile::registers];
    PipelineState<stages> used(0), read(0);
    for (int at = 0; at < k; at += Tile::k, used.advance()) {
      wait(shared.full[used.stage], used.parity);
      multiply_tile<Tile>(sum, shared.a[used.stage], shared.b[used.stage], at > 0);
      wgmma::wait<1>();
      if (at == 0) continue;
      if (in_group == 0) arrive(shared.empty[read.stage]);  // that of the products before these
      read.advance();
    }
    wgmma::wait<0>(sum);
    store_to_global<Tile>(sum, in_group, d, row, column, m, n);
  }
}  // exercise]

// What the PTX says of its memory.
template <class Element>
__device__ inline void manifest() {
  using Memory = Shared<WgmmaTile<Element, 1, 256>>;
  TILESCOPE_SHARED(Memory);
  TILESCOPE_BARRIER(Memory, full);
  TILESCOPE_BARRIER(Memory, empty);
}

}  // namespace tilescope::device

// a, b: maps of (m,k) and (n,k), row-major, in boxes of 64 columns, 64 and 256 rows, with the
// 128-byte swizzle; d (m,n), row-major; any m, n and k in multiples of 8. Grid: (m/64, n/256)
// blocks of 256 threads, rounded up.
#define WGMMA_GEMM(name, Element)                                                        \
  extern "C" __global__ void __launch_bounds__(tilescope::device::threads, 1)            \
      name(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, \
           Element* d, int m, int n, int k) {                                            \
    tilescope::device::manifest<Element>();                                              \
    tilescope::device::gemm<Element>(a, b, d, m, n, k);                                  \
  }
WGMMA_GEMM(wgmma_v4, __half)
WGMMA_GEMM(wgmma_v4_bf16, __nv_bfloat16)
