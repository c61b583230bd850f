// Step 9: a launch begins before the one before it in the stream has ended. Its CTAs are placed as
// soon as there is room, initialise their mbarriers and meet, and wait for the launches before only
// where they would touch what these write.
//
//   launch 0   ... multiply | store |
//   launch 1                   meet | wait | multiply ...
//
// New: one instruction, griddepcontrol.wait, and an attribute of the launch, without which that
// instruction does nothing. What it saves is the same for any size: the GPU's work between two
// launches.
#include "kernels/device/cluster.h"
#include "kernels/device/launches.h"
#include "kernels/device/registers.h"
#include "kernels/device/scheduler.h"
#include "kernels/device/wgmma_drain.h"

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
  alignas(1024) typename Tile::Element d[Tile::consumers][2][Tile::rows * Tile::box];
  Barrier full[stages], empty[stages];
};

template <class Element>
__device__ inline void gemm(const CUtensorMap& a, const CUtensorMap& b, const CUtensorMap& d, int m,
                            int n, int k) {
  using Tile = WgmmaTile<Element, 2, 256>;
  extern __shared__ __align__(1024) std::byte memory[];
  Shared<Tile>& shared = *reinterpret_cast<Shared<Tile>*>(memory);
  constexpr int cluster_m = ctas * Tile::m;
  const int rows = (m + cluster_m - 1) / cluster_m, columns = (n + Tile::n - 1) / Tile::n;
  const int thread = static_cast<int>(threadIdx.x), rank = cluster_rank();

  if (thread == 0) {
    for (int i = 0; i < stages; ++i) {
      init(shared.full[i], 1);
      init(shared.empty[i], ctas * Tile::consumers);
    }
    fence_init();
  }
  meet_cluster();
  wait_for_launches_before();

  // Each role's way through all tiles of this cluster: where this CTA's rows and columns of D
  // begin.
  const auto for_tiles = [&](auto work) {
    const int clusters = static_cast<int>(gridDim.x) / ctas;
    for (int w = static_cast<int>(blockIdx.x) / ctas; w < rows * columns; w += clusters) {
      const TileIndex tile = tile_of<group>(w, rows, columns);
      work(tile.row * cluster_m + rank * Tile::m, tile.column * Tile::n);
    }
  };

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
      drain<Tile>(sum, in_group, 1 + consumer, shared.d[consumer], d, column,
                  row + consumer * Tile::rows);
    });
    if (in_group == 0) tma::wait_stores_read();
  }
}

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
// swizzle; d: of (m,n), 64 rows; any m, n and k in multiples of 8. Grid: at most a
// cluster of two blocks of 384 threads for each tile of 256 x 256, and for each two SMs.
#define WGMMA_GEMM(name, Element)                                                            \
  extern "C" __global__ void __cluster_dims__(2, 1, 1)                                       \
      __launch_bounds__(tilescope::device::threads, 1)                                       \
          name(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, \
               const __grid_constant__ CUtensorMap d, int m, int n, int k) {                 \
    tilescope::device::manifest<Element>();                                                  \
    tilescope::device::gemm<Element>(a, b, d, m, n, k);                                      \
  }
WGMMA_GEMM(wgmma_v9, __half)
WGMMA_GEMM(wgmma_v9_bf16, __nv_bfloat16)
