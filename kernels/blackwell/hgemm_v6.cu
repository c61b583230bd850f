// Step 6: blocks that stay. As many blocks as the chip has SMs, each for tile after tile.
//
//   block b:   tile b, tile b + blocks, tile b + 2 * blocks, ...   in the scheduler's order
//
// New: the barriers, the stages and TMEM are set up once and go on from tile to tile, so that their
// states outlive a tile; before the next one TMEM and the tile of D must be free again.
#include "kernels/device/epilogue.h"
#include "kernels/device/multiply.h"
#include "kernels/device/scheduler.h"
#include "kernels/device/tma.h"

namespace tilescope::device {

constexpr int stages = 2;
constexpr int group = 8;  // rows of tiles

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
                             int m, int n, int k) {
  using Tile = GemmTile<Element>;
  extern __shared__ __align__(1024) std::byte memory[];
  Shared<Tile>& shared = *reinterpret_cast<Shared<Tile>*>(memory);
  const int rows = (m + Tile::m - 1) / Tile::m, columns = (n + Tile::n - 1) / Tile::n;
  const bool first_warp = threadIdx.x < 32, first_thread = threadIdx.x == 0;

  if (first_warp) {
    tcgen05::allocate<Tile::columns>(shared.accumulator);
    tcgen05::relinquish();
  }
  if (first_thread) {
    for (int i = 0; i < stages; ++i) {
      init(shared.full[i], 1);
      init(shared.empty[i], 1);
    }
    init(shared.done, 1);
    fence_init();
  }
  tcgen05::fence_before();
  __syncthreads();
  tcgen05::fence_after();
  const std::uint32_t accumulator = shared.accumulator;
  // [exercise
  PipelineState<stages> filled(1), used(0);  // a fresh stage is empty: waiting for 1 passes
  int parity = 0;
  for (int w = static_cast<int>(blockIdx.x); w < rows * columns; w += static_cast<int>(gridDim.x)) {
    const TileIndex tile = tile_of<group>(w, rows, columns);
    const int row = tile.row * Tile::m, column = tile.column * Tile::n;
    if (first_thread) {
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
    wait(shared.done, parity);
    tcgen05::fence_after();

    store_to_shared<Tile>(accumulator, shared.d);
    fence_async_proxy();
    tcgen05::fence_before();
    __syncthreads();
    tcgen05::fence_after();
    if (first_thread) store_tile<Tile>(d, column, row, shared.d);
    __syncthreads();  // D's tile has been read
    parity ^= 1;
  }
  if (first_warp) tcgen05::deallocate<Tile::columns>(accumulator);  // exercise]
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
// 128-byte swizzle; any m, n and k multiples of 8. Grid: at most a block of 128 threads for each
// tile, and for each SM.
#define HGEMM(name, Element)                                                             \
  extern "C" __global__ void __launch_bounds__(128, 1)                                   \
      name(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, \
           const __grid_constant__ CUtensorMap d, int m, int n, int k) {                 \
    tilescope::device::manifest<Element>();                                              \
    tilescope::device::hgemm<Element>(a, b, d, m, n, k);                                 \
  }
HGEMM(hgemm_v6, __half)
HGEMM(hgemm_v6_bf16, __nv_bfloat16)
