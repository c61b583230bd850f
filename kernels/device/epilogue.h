// From the accumulator in TMEM to D, rounded to 16 bits: 32 columns at a time. Warp w may read
// lanes 32w to 32w+31 only (PTX ISA 9.7.16.8.1), so that thread t of the four warps has row t.
#pragma once

#include "kernels/device/gemm_tile.h"
#include "kernels/device/offsets.h"
#include "kernels/device/packed.h"
#include "kernels/device/tcgen05.h"

namespace tilescope::device {

// to(column, piece) for each piece of 8 neighbours of this thread's row, from the first column on.
template <class Tile, class To>
__device__ inline void for_row(std::uint32_t accumulator, To to) {
  using Element = typename Tile::Element;
  const int row = static_cast<int>(threadIdx.x), first_lane = row / 32 * 32;
#pragma unroll
  for (int column = 0; column < Tile::n; column += 32) {
    std::uint32_t sum[32];
    tcgen05::load(accumulator + offset_of<Tile::accumulator, Tile::m>(first_lane, column), sum);
    tcgen05::wait_load();
#pragma unroll
    for (int i = 0; i < 32; i += 8) {
      const auto pair = [&](int at) {
        return packed(__uint_as_float(sum[i + at]), __uint_as_float(sum[i + at + 1]), Element());
      };
      to(column + i, make_uint4(pair(0), pair(2), pair(4), pair(6)));
    }
  }
}

// To global memory: rows `stride` elements apart.
template <class Tile>
__device__ inline void store_to_global(std::uint32_t accumulator, typename Tile::Element* d,
                                       int stride) {
  typename Tile::Element* row = d + static_cast<int>(threadIdx.x) * stride;
  for_row<Tile>(accumulator,
                [&](int column, uint4 piece) { *reinterpret_cast<uint4*>(row + column) = piece; });
}

// To shared memory, as TMA wants to find it.
template <class Tile>
__device__ inline void store_to_shared(std::uint32_t accumulator, typename Tile::Element* d) {
  for_row<Tile>(accumulator, [&](int column, uint4 piece) {
    const int at = offset_of<Tile::d, Tile::m>(static_cast<int>(threadIdx.x), column);
    *reinterpret_cast<uint4*>(d + at) = piece;
  });
}

}  // namespace tilescope::device
