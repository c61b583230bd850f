// A dense product with all that the ladder (wgmma_v1 to v8) found, for any of Hopper's types:
//
//     C (l,m,n) = alpha A (l,m,k) B (l,n,k)^T + beta C
//
// What kind is fixed when it is compiled, by these macros, all of them or none; sizes, alpha and
// beta are arguments.
//
//     GEMM_A, GEMM_B         f16 bf16 tf32 e4m3 e5m2: alike, or both of 8 bits
//     GEMM_C                 f16 bf16 f32 e4m3
//     GEMM_ACC               f32; or f16, where A and B are
//     GEMM_TILE_M, _N        of a CTA: 64, 128 or 256 by 48, 64, 80, 96, 112, 128, 144, 160, 176,
//                            192, 208, 224 or 256; with sums of f16 by 32s of these
//     GEMM_CLUSTER_M, _N     CTAs of a cluster, down and across
//     GEMM_A_MAJOR, _B_MAJOR k; or m and n, of 16-bit types
//
// A producer and two consumers. Each consumer has half of a tile's rows (cooperative); or a tile is
// one consumer's, and the other has the next one (ping-pong): while one writes back, the other has
// the tensor core.
//
//     cooperative   consumer 0   multiply tile 0, upper half | C | multiply tile 1 | C
//                   consumer 1   multiply tile 0, lower half | C | multiply tile 1 | C
//     ping-pong     consumer 0   multiply tile 0 | C               | multiply tile 2 | C
//                   consumer 1                   | multiply tile 1 | C               | ...
//
// Four kernels, of which one is launched:
//
//     dense_gemm            persistent. CTAs of a cluster that have the same rows load a part of
//     A's
//                           tile each, for all of them; those with the same columns likewise B's.
//                           Cooperative, or where a tile has 64 rows, ping-pong
//     dense_gemm_ping_pong  the same with tiles of 128 rows whose sums one consumer has room for:
//                           where CTAs have several tiles
//     dense_gemm_slices     where tiles are few: the CTAs of a cluster, up to 8, have a slice of K
//                           each of one tile; what each has summed, all add up
//                           (kernels/device/dense_slices.h)
//     dense_gemm_plain      of matrices that TMA cannot reach
#include "kernels/device/dense_slices.h"
#include "kernels/device/launches.h"
#include "kernels/device/registers.h"
#include "kernels/device/scheduler.h"

#ifndef GEMM_A
#define GEMM_A f16
#define GEMM_B f16
#define GEMM_C f16
#define GEMM_ACC f32
#define GEMM_TILE_M 128
#define GEMM_TILE_N 256
#define GEMM_CLUSTER_M 2
#define GEMM_CLUSTER_N 1
#define GEMM_A_MAJOR k
#define GEMM_B_MAJOR k
#endif

namespace tilescope::device {

using f16 = __half;
using bf16 = __nv_bfloat16;
using tf32 = float;
using f32 = float;
using e4m3 = __nv_fp8_e4m3;
using e5m2 = __nv_fp8_e5m2;

constexpr int threads = 384;
constexpr int producers = 128;  // the first threads: a warpgroup, of which one thread loads
constexpr int group = 8;        // rows of the clusters' tiles that are worked on together

struct Gemm {
  using A = GEMM_A;
  using B = GEMM_B;
  using C = GEMM_C;
  static constexpr bool half_sums = sizeof(GEMM_ACC) == 2;
  using Register = std::conditional_t<half_sums, std::uint32_t, float>;
  static constexpr int tile_m = GEMM_TILE_M, tile_n = GEMM_TILE_N;
  static constexpr int cluster_m = GEMM_CLUSTER_M, cluster_n = GEMM_CLUSTER_N;
  static constexpr int ctas = cluster_m * cluster_n;
  static constexpr Major k_major = Major::k, m_major = Major::mn, n_major = Major::mn;
#define GEMM_MAJOR_OF(letter) letter##_major
#define GEMM_MAJOR(letter) GEMM_MAJOR_OF(letter)
  using TileA = OperandTile<A, tile_m, GEMM_MAJOR(GEMM_A_MAJOR)>;
  using TileB = OperandTile<B, tile_n, GEMM_MAJOR(GEMM_B_MAJOR)>;
  using Box = BoxTile<C, tile_n>;
  static constexpr int k = TileA::k;

  static constexpr int consumers = 2;
  static constexpr int registers = half_sums ? tile_n / 4 : tile_n / 2;  // of 64 rows
  // One consumer can have all of a tile's sums, and the producer's and its own needs beside them.
  static constexpr bool fits_one = tile_m / 64 * registers <= 128;
  // A consumer with half of the sums has registers left to add up slices with.
  static constexpr bool can_slice = tile_m < 256 || 2 * registers <= 160;

  static constexpr int most_bytes = 232448 - 1024;  // of a block's shared memory, less the barriers
  static constexpr int box_bytes = consumers * 2 * Box::rows * Box::row_bytes;
  static constexpr int stage_bytes = TileA::bytes + TileB::bytes;
  static constexpr int room = (most_bytes - box_bytes) / stage_bytes;
  static constexpr int stages = room < 8 ? room : 8;
};

// How consumers share the work.
enum class Way { cooperative, ping_pong, sliced };
template <Way way_>
struct Work {
  static constexpr Way way = way_;
  static constexpr bool sliced = way == Way::sliced, alternate = way == Way::ping_pong;
  // Those that read a stage; and of each of them products, of 64 rows each.
  static constexpr int readers = alternate || Gemm::tile_m == 64 ? 1 : Gemm::consumers;
  static constexpr int products = Gemm::tile_m / 64 / readers;
};

struct Shared {
  alignas(1024) Gemm::A a[Gemm::stages][Gemm::TileA::bytes / sizeof(Gemm::A)];
  alignas(1024) Gemm::B b[Gemm::stages][Gemm::TileB::bytes / sizeof(Gemm::B)];
  alignas(1024) Gemm::C c[Gemm::consumers][2][Gemm::Box::rows * Gemm::Box::columns];
  Barrier full[Gemm::stages], empty[Gemm::stages];
};

// Once all products are through, the sums of a slice of K lie where the stages were.
using Slices = Slice<Gemm::Register, Gemm::registers>[Gemm::consumers];
static_assert(sizeof(Slices) <= offsetof(Shared, c));

// One CTA's share, 1 / `shares`, of a tile whose rows begin at `row`: for all CTAs of `mask`, its
// own place in their stage.
template <class Tile, int shares>
__device__ inline void load_share(typename Tile::Element* to, const CUtensorMap& map, int share,
                                  std::uint16_t mask, int at, int row, int batch, Barrier& full) {
  const auto load = [&](int offset, int column, int line) {
    std::byte* place = reinterpret_cast<std::byte*>(to) + offset;
    if constexpr (shares == 1) tma::load(place, map, column, line, batch, full);
    if constexpr (shares > 1) tma::load_for(mask, place, map, column, line, batch, full);
  };
  constexpr int chunks = Tile::rows / 64;
  if constexpr (Tile::major == Major::k) {
    constexpr int rows = Tile::rows / shares;
    load(share * rows * 128, at, row + share * rows);
  } else if constexpr (chunks % shares == 0) {
#pragma unroll
    for (int i = 0; i < chunks / shares; ++i) {
      const int chunk = share * (chunks / shares) + i;
      load(chunk * Tile::row_bytes_of_64, row + chunk * 64, at);
    }
  } else {  // one chunk of 64 rows: a part of its K
    constexpr int depth = Tile::k / shares;
    load(share * depth * 128, row, at + share * depth);
  }
}

// sum += A's 64 rows * B, or = where it does not accumulate, for all products of a consumer.
template <int products>
__device__ inline void multiply_stage(Gemm::Register (&sum)[products][Gemm::registers],
                                      const Gemm::A* a, const Gemm::B* b, bool accumulate) {
  using TileA = Gemm::TileA;
  using TileB = Gemm::TileB;
  const std::uint64_t from_a = TileA::descriptor | descriptor_address(a);
  const std::uint64_t from_b = TileB::descriptor | descriptor_address(b);
  wgmma::fence();
#pragma unroll
  for (int i = 0; i < 4; ++i) {  // 32 bytes of K each
#pragma unroll
    for (int p = 0; p < products; ++p) {
      wgmma::multiply<Gemm::A, Gemm::B, Gemm::tile_n, TileA::major, TileB::major>(
          sum[p], from_a + p * (TileA::row_bytes_of_64 >> 4) + i * TileA::step,
          from_b + i * TileB::step, accumulate || i > 0);
    }
  }
  wgmma::commit();
}

// Where a CTA's tile begins in C.
struct Place {
  int row, column, batch;
};

template <Way way>
__device__ inline void dense_gemm(const CUtensorMap& a, const CUtensorMap& b, const CUtensorMap& d,
                                  const Target<Gemm::C>& target, int k, int l) {
  extern __shared__ __align__(1024) std::byte memory[];
  Shared& shared = *reinterpret_cast<Shared*>(memory);
  using State = PipelineState<Gemm::stages>;
  using Work = Work<way>;
  constexpr bool sliced = Work::sliced, alternate = Work::alternate;
  constexpr int readers = Work::readers, products = Work::products;
  constexpr int ctas = Gemm::ctas, cluster_m = Gemm::cluster_m, cluster_n = Gemm::cluster_n;
  constexpr int tall = cluster_m * Gemm::tile_m, wide = cluster_n * Gemm::tile_n;
  const int rows = (target.m + tall - 1) / tall, columns = (target.n + wide - 1) / wide;
  const int slices = sliced ? cluster_blocks() / ctas : 1;
  const int all = rows * columns * l, clusters = static_cast<int>(gridDim.x) / (ctas * slices);
  const int thread = static_cast<int>(threadIdx.x),
            own_rank = ctas > 1 || sliced ? cluster_rank() : 0;
  // Ranks of a slice follow one another: `rank` is this CTA's of its own.
  const int slice = sliced ? own_rank / ctas : 0, first_rank = slice * ctas;
  const int rank = own_rank - first_rank;
  const int rank_m = rank % cluster_m, rank_n = rank / cluster_m;
  // Of a tile, in stages: this CTA's are [first_stage, first_stage + depth).
  const int whole_depth = (k + Gemm::k - 1) / Gemm::k;
  const int first_stage = sliced ? whole_depth * slice / slices : 0;
  const int depth = sliced ? whole_depth * (slice + 1) / slices - first_stage : whole_depth;

  if (thread == 0) {
    for (int i = 0; i < Gemm::stages; ++i) {
      init(shared.full[i], 1);
      init(shared.empty[i], readers * (cluster_m + cluster_n - 1));
    }
    fence_init();
  }
  ctas > 1 ? meet_cluster() : __syncthreads();
  wait_for_launches_before();

  // Each role's way through the tiles of this cluster: all of them, or each second one from the
  // first or the second on.
  const auto for_tiles = [&](int first, int step, auto work) {
    int w = static_cast<int>(blockIdx.x) / (ctas * slices) + first * clusters;
    for (; w < all; w += step * clusters) work(w);
  };
  const auto place_of = [&](int w) {
    const TileIndex tile = tile_of<group>(w % (rows * columns), rows, columns);
    return Place{tile.row * tall + rank_m * Gemm::tile_m,
                 tile.column * wide + rank_n * Gemm::tile_n, w / (rows * columns)};
  };

  // Whoever has no sums is there too where the cluster adds them up.
  const auto meet = [] {
    for (int p = 0; p < products; ++p) {
      sync_cluster();
      meet_cluster();
    }
  };

  if (thread < producers) {
    give_registers<40>();
    std::uint16_t same_rows = 0;  // CTAs that need the same of A
    for (int i = 0; i < cluster_n; ++i) same_rows |= 1 << (first_rank + rank_m + cluster_m * i);
    const std::uint16_t same_columns = ((1 << cluster_m) - 1) << (first_rank + cluster_m * rank_n);
    State filled(1);  // a fresh stage is empty: waiting for 1 passes
    const auto load = [&](int w) {
      const Place at = place_of(w);
      for (int i = 0; i < depth; ++i, filled.advance()) {
        Barrier& full = shared.full[filled.stage];
        wait(shared.empty[filled.stage], filled.parity);
        arrive_and_expect(full, Gemm::stage_bytes);
        load_share<Gemm::TileA, cluster_n>(shared.a[filled.stage], a, rank_n, same_rows,
                                           (first_stage + i) * Gemm::k, at.row, at.batch, full);
        load_share<Gemm::TileB, cluster_m>(shared.b[filled.stage], b, rank_m, same_columns,
                                           (first_stage + i) * Gemm::k, at.column, at.batch, full);
      }
    };
    if (thread == 0) {
      for_tiles(0, 1, load);
      // Until all that other CTAs have to say to its barriers is said, this one stays.
      for (int i = 0; ctas > 1 && i < Gemm::stages; ++i, filled.advance()) {
        wait(shared.empty[filled.stage], filled.parity);
      }
    }
    if constexpr (sliced) meet();
  } else {
    take_registers<232>();
    // From one lane: the compiler then knows that it is the same for the whole warp, and so are all
    // addresses, which it computes once a warp and not in each lane.
    const int consumer = __shfl_sync(~0u, thread / 128 - 1, 0), in_group = thread % 128;
    constexpr int order = 3;  // barriers 3 and 4: whose turn at the tensor core it is
    const int row_of_mine = readers == 1 ? 0 : consumer * products * 64;
    [[maybe_unused]] Slices& parts = reinterpret_cast<Slices&>(shared);
    State used(0), read(0);
    int turn = 0;  // of the two boxes
    // The stage that was read first of those not given back, to all CTAs that copy into it.
    const auto give_back = [&] {
      Barrier& empty = shared.empty[read.stage];
      if constexpr (ctas == 1) {
        if (in_group == 0) arrive(empty);
      } else {
        const bool copies = in_group % cluster_m == rank_m || in_group / cluster_m == rank_n;
        if (in_group < ctas && copies) arrive_at(empty, first_rank + in_group);
      }
      read.advance();
    };
    Gemm::Register sum[products][Gemm::registers];
    const auto work = [&](int w) {
      if constexpr (alternate) sync_threads<256>(order + consumer);
      for (int i = 0; i < depth; ++i, used.advance()) {
        wait(shared.full[used.stage], used.parity);
        const Gemm::A* mine = shared.a[used.stage] + row_of_mine * 128 / sizeof(Gemm::A);
        multiply_stage(sum, mine, shared.b[used.stage], i > 0);
        wgmma::wait<1>();
        if (i > 0) give_back();
      }
      if constexpr (alternate) {
        if (w + clusters < all) arrive_threads<256>(order + 1 - consumer);
      }
      const Place at = place_of(w);  // divisions, while the last product is under way
#pragma unroll
      for (int p = 0; p < products; ++p) wgmma::wait<0>(sum[p]);
      give_back();
#pragma unroll
      for (int p = 0; p < products; ++p) {
        const int row = at.row + row_of_mine + p * 64;
        if constexpr (sliced) {
          if (p == 0) sync_threads<readers * 128>(order);  // the stages are free
          lay_down(sum[p], in_group, parts[consumer]);
          sync_cluster();
          constexpr int shares = Gemm::tile_n / 16;
          add_slices<Gemm::tile_n, products * Gemm::registers <= 128 ? 4 : 1>(
              parts[consumer], in_group, (consumer * products + p) * shares, slice, slices, rank,
              ctas, target, at.batch, row, at.column);
          meet_cluster();
        } else {
          drain_dense<Gemm::Box, Gemm::tile_n>(sum[p], in_group, 1 + consumer, shared.c[consumer],
                                               turn, d, target, at.batch, row, at.column);
        }
      }
      if constexpr (alternate) used.skip(depth), read.skip(depth);
    };
    if constexpr (alternate) {
      if (consumer == 1) {
        arrive_threads<256>(order);
        used.skip(depth);
        read.skip(depth);
      }
      for_tiles(consumer, 2, work);
    } else if (consumer < readers) {
      for_tiles(0, 1, work);
    } else {
      meet();
    }
    if (!sliced && in_group == 0) tma::wait_stores_read();
  }
}

// What the PTX says of its memory.
__device__ inline void manifest() {
  TILESCOPE_SHARED(Shared);
  TILESCOPE_BARRIER(Shared, full);
  TILESCOPE_BARRIER(Shared, empty);
}

// What TMA cannot reach, rows that do not begin on 16 bytes: threads copy element by element. Tiles
// of 64 x 64, one warpgroup, synchronously.
__device__ inline void dense_gemm_plain(const Gemm::A* a, const Gemm::B* b,
                                        const Target<Gemm::C>& target, int k) {
  using PlainA = OperandTile<Gemm::A, 64, Major::k>;
  using PlainB = OperandTile<Gemm::B, 64, Major::k>;
  __shared__ alignas(1024) std::byte a_tile[PlainA::bytes];
  __shared__ alignas(1024) std::byte b_tile[PlainB::bytes];
  wait_for_launches_before();
  const int row = static_cast<int>(blockIdx.x) * 64, column = static_cast<int>(blockIdx.y) * 64;
  const int batch = static_cast<int>(blockIdx.z), thread = static_cast<int>(threadIdx.x);

  // Rows [first, first + 64) of an operand with `rows` rows, from `at` along K, zeros beyond.
  const auto copy = [&]<class Element>(std::byte* to, const Element* from, Major major, int rows,
                                       int first, int at) {
    constexpr int columns = 128 / sizeof(Element);
    from += static_cast<long long>(batch) * rows * k;
    for (int i = thread; i < 64 * columns; i += 128) {
      const int r = i / columns, c = i % columns;
      const bool inside = first + r < rows && at + c < k;
      const long long place = major == Major::k ? static_cast<long long>(first + r) * k + at + c
                                                : static_cast<long long>(at + c) * rows + first + r;
      const int offset = r * 128 + (c * static_cast<int>(sizeof(Element)) ^ r % 8 * 16);
      *reinterpret_cast<Element*>(to + offset) = inside ? from[place] : Element(0.f);
    }
  };
  constexpr int registers = Gemm::half_sums ? 16 : 32;
  Gemm::Register sum[registers];
  for (int at = 0; at < k; at += Gemm::k) {
    copy(a_tile, a, Gemm::TileA::major, target.m, row, at);
    copy(b_tile, b, Gemm::TileB::major, target.n, column, at);
    fence_async_proxy();
    __syncthreads();
    const std::uint64_t from_a = PlainA::descriptor | descriptor_address(a_tile);
    const std::uint64_t from_b = PlainB::descriptor | descriptor_address(b_tile);
    wgmma::fence();
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      wgmma::multiply<Gemm::A, Gemm::B, 64>(sum, from_a + i * PlainA::step,
                                            from_b + i * PlainB::step, at > 0 || i > 0);
    }
    wgmma::commit();
    wgmma::wait<0>(sum);
    __syncthreads();
  }
  const Coordinate mine = Coordinate{row, column} + coordinate_of<WgmmaSums<64>::of_thread>(thread);
#pragma unroll
  for (int i = 0; i < 32; i += 2) {
    const Coordinate at = mine + coordinate_of<WgmmaSums<64>::of_register>(i);
    target.put(two_sums(sum, i), batch, at.row, at.column);
  }
}

}  // namespace tilescope::device

// a, b: maps of (l,m,k) and (l,n,k), K-major: boxes of 128 bytes of K and the rows of a share
// (tile_m / cluster_n, tile_n / cluster_m); MN-major: of 64 rows and 64 of K, or as much of K as a
// share has; with the 128-byte swizzle. d: of c, boxes of 64 rows and Box::columns, swizzled as
// wide as they are. Grid: at most a cluster for each of its tiles, and for each cluster's worth of
// SMs.
extern "C" __global__ void __cluster_dims__(tilescope::device::Gemm::ctas, 1, 1)
    __launch_bounds__(tilescope::device::threads, 1)
        dense_gemm(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                   const __grid_constant__ CUtensorMap d, tilescope::device::GEMM_C* c, int m,
                   int n, int k, int l, float alpha, float beta) {
  using tilescope::device::Gemm;
  using tilescope::device::Way;
  tilescope::device::manifest();
  constexpr Way way = Gemm::tile_m == 64 ? Way::ping_pong : Way::cooperative;
  tilescope::device::dense_gemm<way>(a, b, d, {c, m, n, alpha, beta}, k, l);
}

// As dense_gemm; for tiles of 128 rows that fit one consumer.
extern "C" __global__ void __cluster_dims__(tilescope::device::Gemm::ctas, 1, 1)
    __launch_bounds__(tilescope::device::threads, 1)
        dense_gemm_ping_pong(const __grid_constant__ CUtensorMap a,
                             const __grid_constant__ CUtensorMap b,
                             const __grid_constant__ CUtensorMap d, tilescope::device::GEMM_C* c,
                             int m, int n, int k, int l, float alpha, float beta) {
  using tilescope::device::Gemm;
  using tilescope::device::Way;
  tilescope::device::manifest();
  if constexpr (Gemm::tile_m == 128 && Gemm::fits_one) {
    tilescope::device::dense_gemm<Way::ping_pong>(a, b, d, {c, m, n, alpha, beta}, k, l);
  }
}

// As dense_gemm, for tiles that can_slice; d is not used. Grid: a cluster for each of dense_gemm's
// clusters' tiles, as many times as large as K has slices, each of one stage or more.
extern "C" __global__ void __launch_bounds__(tilescope::device::threads, 1)
    dense_gemm_slices(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                      const __grid_constant__ CUtensorMap d, tilescope::device::GEMM_C* c, int m,
                      int n, int k, int l, float alpha, float beta) {
  tilescope::device::manifest();
  if constexpr (tilescope::device::Gemm::can_slice) {
    constexpr auto way = tilescope::device::Way::sliced;
    tilescope::device::dense_gemm<way>(a, b, d, {c, m, n, alpha, beta}, k, l);
  }
}

// a, b, c: row-major, or where they are MN-major (l,k,m) and (l,k,n). Grid: (m/64, n/64, l),
// rounded up, of 128 threads.
extern "C" __global__ void __launch_bounds__(128)
    dense_gemm_plain(const tilescope::device::GEMM_A* a, const tilescope::device::GEMM_B* b,
                     tilescope::device::GEMM_C* c, int m, int n, int k, float alpha, float beta) {
  tilescope::device::dense_gemm_plain(a, b, {c, m, n, alpha, beta}, k);
}
