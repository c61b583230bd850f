// Step 8: four stages. The thread that loads may be four pairs of tiles ahead of the one that
// multiplies, so that the time that memory takes is hidden behind three products and not one.
//
//   warpgroup 0           from TMEM to D, tile after tile
//   warpgroup 1, warp 0   a thread multiplies
//   warpgroup 1, warp 3   a thread loads
//
//              full                     ready
//   loads  ----------->  multiplies  ----------->  writes back
//          <-----------              <-----------
//              empty                    free
//
// New: nothing but the number of stages, which the roles of step 7 do not ask about. It is bounded
// by shared memory: four times 32 KiB, and 32 KiB for D.
#include "kernels/device/epilogue.h"
#include "kernels/device/multiply.h"
#include "kernels/device/scheduler.h"
#include "kernels/device/tma.h"

namespace tilescope::device {

constexpr int stages = 4;
constexpr int group = 8;  // rows of tiles
constexpr int threads = 256;
constexpr int multiplier = 128, loader = 224;  // the threads that do it

template <class Tile>
struct Shared {
  alignas(1024) typename Tile::Element a[stages][Tile::m * Tile::k];
  alignas(1024) typename Tile::Element b[stages][Tile::n * Tile::k];
  alignas(1024) typename Tile::Element d[Tile::m * Tile::n];
  Barrier full[stages], empty[stages], ready, free;
  std::uint32_t accumulator;
};

template <class Element>
__device__ inline void hgemm(const CUtensorMap& a, const CUtensorMap& b, const CUtensorMap& d,
                             int m, int n, int k) {
  using Tile = GemmTile<Element>;
  extern __shared__ __align__(1024) std::byte memory[];
  Shared<Tile>& shared = *reinterpret_cast<Shared<Tile>*>(memory);
  const int rows = (m + Tile::m - 1) / Tile::m, columns = (n + Tile::n - 1) / Tile::n;
  const int thread = static_cast<int>(threadIdx.x);

  if (thread < 32) {
    tcgen05::allocate<Tile::columns>(shared.accumulator);
    tcgen05::relinquish();
  }
  if (thread == 0) {
    for (int i = 0; i < stages; ++i) {
      init(shared.full[i], 1);
      init(shared.empty[i], 1);
    }
    init(shared.ready, 1);
    init(shared.free, Tile::threads);
    fence_init();
  }
  tcgen05::fence_before();
  __syncthreads();
  tcgen05::fence_after();
  const std::uint32_t accumulator = shared.accumulator;

  // Each role's way through all tiles of this block.
  const auto for_tiles = [&](auto work) {
    const int all = rows * columns;
    for (int w = static_cast<int>(blockIdx.x); w < all; w += static_cast<int>(gridDim.x)) {
      const TileIndex tile = tile_of<group>(w, rows, columns);
      work(tile.row * Tile::m, tile.column * Tile::n);
    }
  };

  if (thread == loader) {
    PipelineState<stages> filled(1);  // a fresh stage is empty: waiting for 1 passes
    for_tiles([&](int row, int column) {
      for (int at = 0; at < k; at += Tile::k, filled.advance()) {  // [exercise
        Barrier& full = shared.full[filled.stage];
        wait(shared.empty[filled.stage], filled.parity);
        arrive_and_expect(full, Tile::a_bytes + Tile::b_bytes);
        tma::load(shared.a[filled.stage], a, at, row, full);
        tma::load(shared.b[filled.stage], b, at, column, full);
      }  // exercise]
    });
  } else if (thread == multiplier) {
    PipelineState<stages> used(0);
    PipelineState<1> given(1);  // and fresh TMEM is free
    for_tiles([&](int, int) {
      wait(shared.free, given.parity);  // [exercise
      for (int at = 0; at < k; at += Tile::k, used.advance()) {
        wait(shared.full[used.stage], used.parity);
        tcgen05::fence_after();
        multiply_tile<Tile>(accumulator, shared.a[used.stage], shared.b[used.stage], at > 0);
        tcgen05::commit(shared.empty[used.stage]);
      }
      tcgen05::commit(shared.ready);  // exercise]
      given.advance();
    });
  } else if (thread < Tile::threads) {
    PipelineState<1> taken(0);
    for_tiles([&](int row, int column) {
      wait(shared.ready, taken.parity);
      tcgen05::fence_after();
      store_to_shared<Tile>(accumulator, shared.d);
      tcgen05::fence_before();
      arrive(shared.free);
      fence_async_proxy();
      sync_threads<Tile::threads>(1);
      if (thread == 0) store_tile<Tile>(d, column, row, shared.d);
      sync_threads<Tile::threads>(1);  // D's tile has been read
      taken.advance();
    });
  }
  __syncthreads();
  if (thread < 32) tcgen05::deallocate<Tile::columns>(accumulator);
}

// What the PTX says of its memory.
template <class Element>
__device__ inline void manifest() {
  using Memory = Shared<GemmTile<Element>>;
  TILESCOPE_SHARED(Memory);
  TILESCOPE_BARRIER(Memory, full);
  TILESCOPE_BARRIER(Memory, empty);
  TILESCOPE_BARRIER(Memory, ready);
  TILESCOPE_BARRIER(Memory, free);
}

}  // namespace tilescope::device

// a, b, d: maps of (m,k), (n,k), (m,n), row-major, in boxes of 64 columns and 128 rows with the
// 128-byte swizzle; any m, n and k multiples of 8. Grid: at most a block of 256 threads for each
// tile, and for each SM.
#define HGEMM(name, Element)                                                             \
  extern "C" __global__ void __launch_bounds__(tilescope::device::threads, 1)            \
      name(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, \
           const __grid_constant__ CUtensorMap d, int m, int n, int k) {                 \
    tilescope::device::manifest<Element>();                                              \
    tilescope::device::hgemm<Element>(a, b, d, m, n, k);                                 \
  }
HGEMM(hgemm_v8, __half)
HGEMM(hgemm_v8_bf16, __nv_bfloat16)
