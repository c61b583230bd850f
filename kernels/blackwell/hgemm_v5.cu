// Step 5: two stages. While one pair of tiles is multiplied, the next is on its way.
//
//   stage 0   load 0 | multiply 0 | load 2 ...    | multiply 2
//   stage 1   load 1 ...          | multiply 1    | load 3 ...
//
// New: tiles and barriers for each stage; `full` says that a stage's tiles have come, `empty` that
// its products are done and it may be loaded again; one thread does both, and the others wait for
// the whole sum.
#include "kernels/device/epilogue.h"
#include "kernels/device/multiply.h"
#include "kernels/device/tma.h"

namespace tilescope::device {

constexpr int stages = 2;

template <class Tile>
struct Shared {
  alignas(1024) typename Tile::Element a[stages][Tile::m * Tile::k];
  alignas(1024) typename Tile::Element b[stages][Tile::n * Tile::k];
  alignas(1024) typename Tile::Element d[Tile::m * Tile::n];
  Barrier full[stages], empty[stages], done;
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
    for (int i = 0; i < stages; ++i) {
      init(shared.full[i], 1);
      init(shared.empty[i], 1);
    }
    init(shared.done, 1);
    fence_init();
  }
  tcgen05::fence_before();  // exercise]
  __syncthreads();
  tcgen05::fence_after();
  const std::uint32_t accumulator = shared.accumulator;
  // [exercise
  if (first_thread) {
    PipelineState<stages> filled(1), used(0);  // a fresh stage is empty: waiting for 1 passes
    const auto load = [&](int at) {
      Barrier& full = shared.full[filled.stage];
      wait(shared.empty[filled.stage], filled.parity);
      arrive_and_expect(full, Tile::a_bytes + Tile::b_bytes);
      tma::load(shared.a[filled.stage], a, at, row, full);
      tma::load(shared.b[filled.stage], b, at, column, full);
      filled.advance();
    };
    for (int at = 0; at < k && at < stages * Tile::k; at += Tile::k) load(at);
    for (int at = 0; at < k; at += Tile::k) {
      wait(shared.full[used.stage], used.parity);
      tcgen05::fence_after();
      multiply_tile<Tile>(accumulator, shared.a[used.stage], shared.b[used.stage], at > 0);
      tcgen05::commit(shared.empty[used.stage]);
      used.advance();
      if (at + stages * Tile::k < k) load(at + stages * Tile::k);
    }
    tcgen05::commit(shared.done);
  }
  wait(shared.done, 0);
  tcgen05::fence_after();
  // exercise]
  store_to_shared<Tile>(accumulator, shared.d);
  fence_async_proxy();
  tcgen05::fence_before();
  __syncthreads();
  tcgen05::fence_after();
  if (first_thread) store_tile<Tile>(d, column, row, shared.d);
  if (first_warp) tcgen05::deallocate<Tile::columns>(accumulator);
}

// What the PTX says of its memory.
template <class Element>
__device__ inline void manifest() {
  using Memory = Shared<GemmTile<Element>>;
  TILESCOPE_SHARED(Memory);
  TILESCOPE_BARRIER(Memory, full);
  TILESCOPE_BARRIER(Memory, empty);
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
HGEMM(hgemm_v5, __half)
HGEMM(hgemm_v5_bf16, __nv_bfloat16)
