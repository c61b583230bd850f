// From a consumer's registers to D in global memory, rounded to 16 bits: two neighbours of a row at
// a time, which is 16 bytes of a row for four threads.
#pragma once

#include "kernels/device/packed.h"
#include "kernels/device/wgmma_tile.h"

namespace tilescope::device {

// `thread`: of the consumer, 0 to 127. (row, column): where its 64 rows begin in D (m,n), n even;
// what lies outside is not written.
template <class Tile>
__device__ inline void store_to_global(const float (&sum)[Tile::registers], int thread,
                                       typename Tile::Element* d, int row, int column, int m,
                                       int n) {
  const Coordinate mine = Coordinate{row, column} + coordinate_of<Tile::of_thread>(thread);
#pragma unroll
  for (int i = 0; i < Tile::registers; i += 2) {
    const Coordinate at = mine + coordinate_of<Tile::of_register>(i);
    if (at.row < m && at.column < n) {
      *reinterpret_cast<std::uint32_t*>(d + static_cast<long long>(at.row) * n + at.column) =
          packed(sum[i], sum[i + 1], typename Tile::Element());
    }
  }
}

}  // namespace tilescope::device
