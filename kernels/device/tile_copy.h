// How a tile comes to shared memory without TMA: each thread copies pieces of 16 bytes.
#pragma once

#include "kernels/device/gemm_tile.h"
#include "kernels/device/offsets.h"

namespace tilescope::device {

// `rows` rows of 64 elements, `stride` elements apart, into the places that L gives them. Thread t
// takes the pieces t, t + 128, ...: eight threads read one row's 128 bytes.
template <class Tile, const Layout& L, int rows>
__device__ inline void copy_tile(typename Tile::Element* to, const typename Tile::Element* from,
                                 int stride) {
  constexpr int vector = 16 / sizeof(typename Tile::Element), pieces = Tile::k / vector;
#pragma unroll
  for (int i = 0; i < rows * pieces / Tile::threads; ++i) {
    const int piece = static_cast<int>(threadIdx.x) + i * Tile::threads;
    const int row = piece / pieces, column = piece % pieces * vector;
    *reinterpret_cast<uint4*>(to + offset_of<L, rows>(row, column)) =
        *reinterpret_cast<const uint4*>(from + row * stride + column);
  }
}

}  // namespace tilescope::device
