// From TMEM to D by way of registers: a thread takes its whole row of the accumulator first, so
// that the tensor cores may have TMEM back while it is still being stored. Into shared memory it
// goes 64 columns at a time, a box, for TMA to store.
#pragma once

#include "kernels/device/epilogue.h"
#include "kernels/device/pair_tile.h"
#include "kernels/device/tma.h"

namespace tilescope::device {

// 64 columns of row `row` (0 to 127) of the accumulator, rounded to 16 bits, two columns a
// register.
template <class Tile>
__device__ inline void take_box(std::uint32_t accumulator, int row, int box,
                                std::uint32_t (&to)[Tile::box / 2]) {
  const int first_lane = row / 32 * 32;
  std::uint32_t sum[Tile::box / 32][32];
#pragma unroll
  for (int i = 0; i < Tile::box / 32; ++i) {
    const int column = box * Tile::box + i * 32;
    tcgen05::load(accumulator + offset_of<Tile::accumulator, Tile::m>(first_lane, column), sum[i]);
  }
  tcgen05::wait_load();
#pragma unroll
  for (int i = 0; i < Tile::box; i += 2) {
    to[i / 2] = packed(__uint_as_float(sum[i / 32][i % 32]),
                       __uint_as_float(sum[i / 32][i % 32 + 1]), typename Tile::Element());
  }
}

// Into a tile of 128 rows and 64 columns as TMA wants to find it: that of A, here for D.
template <class Tile>
__device__ inline void put_box(const std::uint32_t (&from)[Tile::box / 2], int row,
                               typename Tile::Element* to) {
  static_assert(Tile::box == Tile::k, "A's tile is a box");
#pragma unroll
  for (int i = 0; i < Tile::box / 2; i += 4) {
    *reinterpret_cast<uint4*>(to + offset_of<Tile::a, Tile::m>(row, 2 * i)) =
        make_uint4(from[i], from[i + 1], from[i + 2], from[i + 3]);
  }
}

// One row a thread, 128 threads that meet at barrier `barrier` of the block: boxes one after the
// other by way of `by`, which is free again when wait_stores_read() comes back. `taken` is called
// when TMEM has been read. The first box needs no registers once it is in shared memory.
template <class Tile, class Taken>
__device__ inline void drain(std::uint32_t accumulator, int thread, int barrier,
                             typename Tile::Element* by, const CUtensorMap& map, int column,
                             int row, Taken taken) {
  constexpr int boxes = Tile::n / Tile::box;
  const auto free = [&] {
    if (thread == 0) tma::wait_stores_read();
    sync_threads<Tile::threads>(barrier);
  };
  const auto store = [&](int box) {
    fence_async_proxy();
    sync_threads<Tile::threads>(barrier);
    if (thread == 0) {
      tma::store(map, column + box * Tile::box, row, by);
      tma::commit_stores();
    }
  };
  free();
  std::uint32_t first[Tile::box / 2], rest[boxes - 1][Tile::box / 2];
  take_box<Tile>(accumulator, thread, 0, first);
  put_box<Tile>(first, thread, by);
#pragma unroll
  for (int box = 1; box < boxes; ++box) take_box<Tile>(accumulator, thread, box, rest[box - 1]);
  taken();
  store(0);
#pragma unroll
  for (int box = 1; box < boxes; ++box) {
    free();
    put_box<Tile>(rest[box - 1], thread, by);
    store(box);
  }
}

}  // namespace tilescope::device
