// Step 6: CTAs that stay. As many as there are SMs, each with one tile after the other.
//
//   producer    load tile 0 ...... | load tile 1 ...... | load tile 2
//   consumers      multiply tile 0 ...... | D | multiply tile 1 ...... | D
//
// New: the stages go on from tile to tile, so that the next tile's first stages are loaded while
// this one's D is written; and tiles that are worked on together are near each other, so that the
// L2 cache holds the rows of A and B that they read.
#include "kernels/device/registers.h"
#include "kernels/device/scheduler.h"
#include "kernels/device/tma.h"
#include "kernels/device/wgmma_store.h"

namespace tilescope::device {

constexpr int stages = 4;
constexpr int group = 16;  // rows of tiles
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
  const int rows = (m + Tile::m - 1) / Tile::m, columns = (n + Tile::n - 1) / Tile::n;
  const int thread = static_cast<int>(threadIdx.x);

  if (thread == 0) {
    for (int i = 0; i < stages; ++i) {
      init(shared.full[i], 1);
      init(shared.empty[i], Tile::consumers);
    }
    fence_init();
  }
  __syncthreads();

  // Each role's way through all tiles of this CTA: where its rows and columns of D begin.
  const auto for_tiles = [&](auto work) {
    const int blocks = static_cast<int>(gridDim.x);
    for (int w = static_cast<int>(blockIdx.x); w < rows * columns; w += blocks) {
      const TileIndex tile = tile_of<group>(w, rows, columns);
      work(tile.row * Tile::m, tile.column * Tile::n);
    }
  };
  // [exercise
  if (thread < producers) {
    give_registers<40>();
    if (thread != 0) return;
    PipelineState<stages> filled(1);  // a fresh stage is empty: waiting for 1 passes
    for_tiles([&](int row, int column) {
      for (int at = 0; at < k; at += Tile::k, filled.advance()) {
        Barrier& full = shared.full[filled.stage];
        wait(shared.empty[filled.stage], filled.parity);
        arrive_and_expect(full, Tile::a_bytes + Tile::b_bytes);
        tma::load(shared.a[filled.stage], a, at, row, full);
        tma::load(shared.b[filled.stage], b, at, column, full);
      }
    });
  } else {
    take_registers<232>();
    const int consumer = thread / Tile::threads - 1, in_group = thread % Tile::threads;
    float sum[Tile::registers];
    PipelineState<stages> used(0), read(0);
    const auto give_back = [&] {  // the stage that was read first of those not given back
      if (in_group == 0) arrive(shared.empty[read.stage]);
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

// a, b: maps of (m,k) and (n,k), row-major, in boxes of 64 columns, 128 and 256 rows, with the
// 128-byte swizzle; d (m,n), row-major; any m, n and k in multiples of 8. Grid: at most a block
// of 384 threads for each tile of 128 x 256, and for each SM.
#define WGMMA_GEMM(name, Element)                                                        \
  extern "C" __global__ void __launch_bounds__(tilescope::device::threads, 1)            \
      name(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, \
           Element* d, int m, int n, int k) {                                            \
    tilescope::device::manifest<Element>();                                              \
    tilescope::device::gemm<Element>(a, b, d, m, n, k);                                  \
  }
WGMMA_GEMM(wgmma_v6, __half)
WGMMA_GEMM(wgmma_v6_bf16, __nv_bfloat16)
