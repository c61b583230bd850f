// Step 9: two blocks compute as one. A cluster of two blocks has one tile of 256 x 256: one thread
// of block 0 multiplies for both, and each operand is loaded once for 256 rows or columns of the
// other, not once for 128.
//
//   block 0   loads its halves of A and B,   multiplies for both,   writes back its half of D
//   block 1   loads its halves of A and B,                          writes back its half of D
//
//              full, in block 0          ready, in both
//   loads  ------------------->  multiplies  ----------->  writes back
//          <-------------------              <-----------
//              empty, in both            free, in block 0
//
// New: barriers that both blocks wait at are told by a commit to both; what block 0's multiplying
// thread waits for, both blocks tell it: 65536 bytes, of which it expects block 1's too, and 256
// threads. The blocks meet before they use each other's memory, and before they give any back.
#include "kernels/device/epilogue.h"
#include "kernels/device/pair_tile.h"
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
  alignas(1024) typename Tile::Element b[stages][Tile::b_rows * Tile::k];
  alignas(1024) typename Tile::Element d[Tile::m * Tile::n];
  Barrier full[stages], empty[stages], ready, free;
  std::uint32_t accumulator;
};

template <class Element>
__device__ inline void hgemm(const CUtensorMap& a, const CUtensorMap& b, const CUtensorMap& d,
                             int m, int n, int k) {
  using Tile = PairTile<Element>;
  extern __shared__ __align__(1024) std::byte memory[];
  Shared<Tile>& shared = *reinterpret_cast<Shared<Tile>*>(memory);
  constexpr int tile_m = 2 * Tile::m, tile_n = Tile::n;  // of the cluster
  const int rows = (m + tile_m - 1) / tile_m, columns = (n + tile_n - 1) / tile_n;
  const int thread = static_cast<int>(threadIdx.x), rank = cluster_rank();
  meet_cluster();  // a pair allocates together: both blocks have begun (PTX ISA 9.7.16.7.1)
  if (thread < 32) {
    tcgen05::pair::allocate<Tile::columns>(shared.accumulator);
    tcgen05::pair::relinquish();
  }
  if (thread == 0) {
    for (int i = 0; i < stages; ++i) {
      init(shared.full[i], 1);
      init(shared.empty[i], 1);
    }  // [exercise
    init(shared.ready, 1);
    init(shared.free, 2 * Tile::threads);
    fence_init();  // exercise]
  }
  tcgen05::fence_before();
  sync_cluster();
  tcgen05::fence_after();
  const std::uint32_t accumulator = shared.accumulator;

  // Each role's way through all tiles of this cluster: where its block's rows of A and D, and the
  // cluster's columns, begin.
  const auto for_tiles = [&](auto work) {
    const int clusters = static_cast<int>(gridDim.x) / 2, all = rows * columns;
    for (int w = static_cast<int>(blockIdx.x) / 2; w < all; w += clusters) {
      const TileIndex tile = tile_of<group>(w, rows, columns);
      work(tile.row * tile_m + rank * Tile::m, tile.column * tile_n);
    }
  };
  // [exercise
  if (thread == loader) {
    PipelineState<stages> filled(1);  // a fresh stage is empty: waiting for 1 passes
    for_tiles([&](int row, int column) {
      for (int at = 0; at < k; at += Tile::k, filled.advance()) {
        Barrier& full = shared.full[filled.stage];
        wait_cluster(shared.empty[filled.stage], filled.parity);
        if (rank == 0) arrive_and_expect(full, 2 * (Tile::a_bytes + Tile::b_bytes));
        tma::load_for_pair(shared.a[filled.stage], a, at, row, full);
        tma::load_for_pair(shared.b[filled.stage], b, at, column + rank * Tile::b_rows, full);
      }
    });
  } else if (thread == multiplier && rank == 0) {
    PipelineState<stages> used(0);
    PipelineState<1> given(1);  // and fresh TMEM is free
    for_tiles([&](int, int) {
      wait_cluster(shared.free, given.parity);
      for (int at = 0; at < k; at += Tile::k, used.advance()) {
        wait_cluster(shared.full[used.stage], used.parity);
        tcgen05::fence_after();
        multiply_pair<Tile>(accumulator, shared.a[used.stage], shared.b[used.stage], at > 0);
        tcgen05::pair::commit(shared.empty[used.stage]);
      }
      tcgen05::pair::commit(shared.ready);
      given.advance();
    });
  } else if (thread < Tile::threads) {
    PipelineState<1> taken(0);
    for_tiles([&](int row, int column) {
      wait_cluster(shared.ready, taken.parity);
      tcgen05::fence_after();
      store_to_shared<Tile>(accumulator, shared.d);
      tcgen05::fence_before();
      arrive_at_leader(shared.free);
      fence_async_proxy();
      sync_threads<Tile::threads>(1);
      if (thread == 0) store_tile<Tile>(d, column, row, shared.d);
      sync_threads<Tile::threads>(1);  // D's tile has been read
      taken.advance();
    });
  }
  sync_cluster();  // exercise]
  if (thread < 32) tcgen05::pair::deallocate<Tile::columns>(accumulator);
}

// What the PTX says of its memory.
template <class Element>
__device__ inline void manifest() {
  using Memory = Shared<PairTile<Element>>;
  TILESCOPE_SHARED(Memory);
  TILESCOPE_BARRIER(Memory, full);
  TILESCOPE_BARRIER(Memory, empty);
  TILESCOPE_BARRIER(Memory, ready);
  TILESCOPE_BARRIER(Memory, free);
}

}  // namespace tilescope::device

// a, b, d: maps of (m,k), (n,k), (m,n), row-major, in boxes of 64 columns and 128 rows with the
// 128-byte swizzle; any m, n and k multiples of 8. Grid: at most a cluster of two blocks of 256
// threads for each tile of 256 x 256, and for each two SMs.
#define HGEMM(name, Element)                                                                 \
  extern "C" __global__ void __cluster_dims__(2, 1, 1)                                       \
      __launch_bounds__(tilescope::device::threads, 1)                                       \
          name(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, \
               const __grid_constant__ CUtensorMap d, int m, int n, int k) {                 \
    tilescope::device::manifest<Element>();                                                  \
    tilescope::device::hgemm<Element>(a, b, d, m, n, k);                                     \
  }
HGEMM(hgemm_v9, __half)
HGEMM(hgemm_v9_bf16, __nv_bfloat16)
