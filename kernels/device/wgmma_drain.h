// From a consumer's registers to D by way of shared memory: 64 columns at a time, a box, for TMA to
// store, so that rows travel whole and D's edges are clipped. Two boxes take turns: while one is
// being read, the other is filled.
#pragma once

#include "kernels/device/tma.h"
#include "kernels/device/wgmma_store.h"

namespace tilescope::device {

// Four 8 x 8 matrices of 16-bit elements, a warp's, into shared memory: lane l gives the address of
// row l % 8 of matrix l / 8, and has of each matrix what an accumulator has (PTX ISA 9.7.14.5.16).
__device__ inline void store_matrices(void* to, std::uint32_t a, std::uint32_t b, std::uint32_t c,
                                      std::uint32_t d) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared::cta.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                   shared_address(to)),
               "r"(a), "r"(b), "r"(c), "r"(d)
               : "memory");
}

// Columns [64 box, 64 box + 64) of the sums, as TMA wants to find them. A warp has 16 rows: rows
// 0-7 and 8-15 of 16 columns are four matrices.
template <class Tile>
__device__ inline void put_box(const float (&sum)[Tile::registers], int thread, int box,
                               typename Tile::Element* to) {
  const int lane = thread % 32, row = thread / 32 * 16 + lane % 16, column = lane / 16 * 8;
#pragma unroll
  for (int c = 0; c < Tile::box; c += 16) {
    const float* from = sum + (box * Tile::box + c) / 2;
    const auto pair = [&](int i) { return packed(from[i], from[i + 1], typename Tile::Element()); };
    store_matrices(to + offset_of<Tile::d, Tile::rows>(row, c + column), pair(0), pair(2), pair(4),
                   pair(6));
  }
}

// The consumer's 128 threads meet at barrier `barrier` of the block. (row, column): where its 64
// rows begin in D.
template <class Tile>
__device__ inline void drain(const float (&sum)[Tile::registers], int thread, int barrier,
                             typename Tile::Element (&by)[2][Tile::rows * Tile::box],
                             const CUtensorMap& map, int column, int row) {
#pragma unroll
  for (int box = 0; box < Tile::n / Tile::box; ++box) {
    if (thread == 0) tma::wait_stores_read<1>();  // the store before the last: from this buffer
    sync_threads<Tile::threads>(barrier);
    put_box<Tile>(sum, thread, box, by[box % 2]);
    fence_async_proxy();
    sync_threads<Tile::threads>(barrier);
    if (thread == 0) {
      tma::store(map, column + box * Tile::box, row, by[box % 2]);
      tma::commit_stores();
    }
  }
}

}  // namespace tilescope::device
