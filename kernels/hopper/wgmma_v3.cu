// Step 3: four stages. While one pair of tiles is multiplied, the next three are on their way.
//
//   stage 0   load 0 | multiply 0          | load 4
//   stage 1   load 1           | multiply 1          | load 5
//   stage 2   load 2                     | multiply 2          | ...
//
// New: tiles and a barrier for each stage. The products of a stage are a group; the wait after the
// next stage's products have been issued is for the group before them, so that the tensor core
// never runs dry. That wait also says that the stage has been read: it is loaded again.
#include "kernels/device/tma.h"
#include "kernels/device/wgmma_store.h"

namespace tilescope::device {

constexpr int stages = 4;

template <class Tile>
struct Shared {
  alignas(1024) typename Tile::Element a[stages][Tile::m * Tile::k];
  alignas(1024) typename Tile::Element b[stages][Tile::n * Tile::k];
  Barrier full[stages];
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
    for (int i = 0; i < stages; ++i) init(shared.full[i], 1);
    fence_init();
  }
  __syncthreads();
  // [exercise
  // Thread 0's: the tiles at `at` along K into their stage, if K reaches so far.
  const auto load = [&](int at) {
    const int stage = at / Tile::k % stages;
    if (thread != 0 || at >= k) return;
    arrive_and_expect(shared.full[stage], Tile::a_bytes + Tile::b_bytes);
    tma::load(shared.a[stage], a, at, row, shared.full[stage]);
    tma::load(shared.b[stage], b, at, column, shared.full[stage]);
  };
  for (int i = 0; i < stages - 1; ++i) load(i * Tile::k);
  // exercise]
  float sum[Tile::registers];  // [exercise
  PipelineState<stages> used(0);
  for (int at = 0; at < k; at += Tile::k, used.advance()) {
    wait(shared.full[used.stage], used.parity);
    multiply_tile<Tile>(sum, shared.a[used.stage], shared.b[used.stage], at > 0);
    wgmma::wait<1>();
    load(at + (stages - 1) * Tile::k);  // into the stage that was multiplied before this one
  }
  wgmma::wait<0>(sum);
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
WGMMA_GEMM(wgmma_v3, __half)
WGMMA_GEMM(wgmma_v3_bf16, __nv_bfloat16)
