// Step 7: clusters. Two CTAs, one above the other, need the same tile of B: each loads half of it,
// for both.
//
//   CTA 0   rows   0-127 of A, and B's rows   0-127 into both     D: rows   0-127, all columns
//   CTA 1   rows 128-255 of A, and B's rows 128-255 into both     D: rows 128-255, all columns
//
// New: multicast, so that L2 is asked for 32 KiB a CTA and stage, not 48. What a CTA copies comes
// into its peer's stage too and arrives at the peer's barrier: so a stage is empty when the
// consumers of both CTAs say so, to both, and no CTA leaves before its peer.
#include "kernels/device/cluster.h"
#include "kernels/device/registers.h"
#include "kernels/device/scheduler.h"
#include "kernels/device/tma.h"
#include "kernels/device/wgmma_store.h"

namespace tilescope::device {

constexpr int stages = 4;
constexpr int group = 8;  // rows of the clusters' tiles
constexpr int ctas = 2;   // of a cluster
constexpr int threads = 384;
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
  using Tile = WgmmaTile<Element, 2, 256>;
  extern __shared__ __align__(1024) std::byte memory[];
  Shared<Tile>& shared = *reinterpret_cast<Shared<Tile>*>(memory);
  constexpr int cluster_m = ctas * Tile::m;
  const int rows = (m + cluster_m - 1) / cluster_m, columns = (n + Tile::n - 1) / Tile::n;
  const int thread = static_cast<int>(threadIdx.x), rank = cluster_rank();

  if (thread == 0) {
    for (int i = 0; i < stages; ++i) {
      init(shared.full[i], 1);  // [exercise
      init(shared.empty[i], ctas * Tile::consumers);
    }  // exercise]
    fence_init();
  }
  meet_cluster();

  // Each role's way through all tiles of this cluster: where this CTA's rows and columns of D
  // begin.
  const auto for_tiles = [&](auto work) {
    const int clusters = static_cast<int>(gridDim.x) / ctas;
    for (int w = static_cast<int>(blockIdx.x) / ctas; w < rows * columns; w += clusters) {
      const TileIndex tile = tile_of<group>(w, rows, columns);
      work(tile.row * cluster_m + rank * Tile::m, tile.column * Tile::n);
    }
  };
  // [exercise
  if (thread < producers) {
    give_registers<40>();
    constexpr int half = Tile::n / ctas;  // of B's rows
    PipelineState<stages> filled(1);      // a fresh stage is empty: waiting for 1 passes
    const auto load = [&](int row, int column) {
      for (int at = 0; at < k; at += Tile::k, filled.advance()) {
        Barrier& full = shared.full[filled.stage];
        wait(shared.empty[filled.stage], filled.parity);
        arrive_and_expect(full, Tile::a_bytes + Tile::b_bytes);
        tma::load(shared.a[filled.stage], a, at, row, full);
        tma::load_for_all<ctas>(shared.b[filled.stage] + rank * half * Tile::k, b, at,
                                column + rank * half, full);
      }
    };
    if (thread == 0) {
      for_tiles(load);
      // Until all that the other block has to say to its barriers is said, this one stays.
      for (int i = 0; i < stages; ++i, filled.advance()) {
        wait(shared.empty[filled.stage], filled.parity);
      }
    }
  } else {
    take_registers<232>();
    const int consumer = thread / Tile::threads - 1, in_group = thread % Tile::threads;
    float sum[Tile::registers];
    PipelineState<stages> used(0), read(0);
    const auto give_back = [&] {  // the stage that was read first of those not given back
      if (in_group < ctas) arrive_at(shared.empty[read.stage], in_group);
      read.advance();
    };
    for_tiles([&](int row, int column) {
      for (int at = 0; at < k; at += Tile::k, used.advance()) {
        wait(shared.full[used.stage], used.parity);
        multiply_tile<Tile>(sum, rows_of<Tile>(shared.a[used.stage], consumer),
                            shared.b[used.stage], at > 0);
        wgmma::wait<1>();
        if (at > 0) give_back();
      }
      wgmma::wait<0>(sum);
      give_back();
      store_to_global<Tile>(sum, in_group, d, row + consumer * Tile::rows, column, m, n);
    });
  }
}  // exercise]

// What the PTX says of its memory.
template <class Element>
__device__ inline void manifest() {
  using Memory = Shared<WgmmaTile<Element, 2, 256>>;
  TILESCOPE_SHARED(Memory);
  TILESCOPE_BARRIER(Memory, full);
  TILESCOPE_BARRIER(Memory, empty);
}

}  // namespace tilescope::device

// a, b: maps of (m,k) and (n,k), row-major, in boxes of 64 columns and 128 rows, with the 128-byte
// swizzle; d (m,n), row-major; any m, n and k in multiples of 8. Grid: at most a
// cluster of two blocks of 384 threads for each tile of 256 x 256, and for each two SMs.
#define WGMMA_GEMM(name, Element)                                                            \
  extern "C" __global__ void __cluster_dims__(2, 1, 1)                                       \
      __launch_bounds__(tilescope::device::threads, 1)                                       \
          name(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, \
               Element* d, int m, int n, int k) {                                            \
    tilescope::device::manifest<Element>();                                                  \
    tilescope::device::gemm<Element>(a, b, d, m, n, k);                                      \
  }
WGMMA_GEMM(wgmma_v7, __half)
WGMMA_GEMM(wgmma_v7_bf16, __nv_bfloat16)
