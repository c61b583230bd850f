// C = A + B as in kernels/elementwise, one element at a time, with one planted bug: the lesson on
// elementwise_add has it found. It is run in that kernel's place, with the same launch:
//
//     open elementwise_add --m 37 --n 150 --ptx ptx/swapped_tiles.ptx
//
// threads (4,32):(32,1), values (4,4):(4,1), tile (16,128); a block takes one tile of each matrix.
#include "core/layout/algebra.h"
#include "kernels/device/coordinates.h"

namespace tilescope::device {

struct Tile {
  static constexpr Layout threads = must(make_layout(make_tuple_of(4, 32), make_tuple_of(32, 1)));
  static constexpr Layout values = must(make_layout(make_tuple_of(4, 4), make_tuple_of(4, 1)));
  static constexpr ThreadValue tv = must(make_layout_tv(threads, values));
  static constexpr int rows = static_cast<int>(tv.tiler.leaf[0].value);
  static constexpr int columns = static_cast<int>(tv.tiler.leaf[1].value);

  // Thread and value to coordinate in the tile.
  static constexpr Layout places =
      must(make_layout(tv.tiler, make_tuple_of(Int(1, detail::rows), Int(1, detail::columns))));
  static constexpr Layout slices = must(composition(places, tv.layout));
  static constexpr Layout of_thread = must(get(slices, 0));
  static constexpr Layout of_value = must(get(slices, 1));
  static constexpr int value_count = static_cast<int>(must(size(of_value)));
};

// Where a block's tile of A and of C begins.
__device__ inline Coordinate output_tile(int block, int, int tile_columns) {
  return {block / tile_columns * Tile::rows, block % tile_columns * Tile::columns};
}

// Where its tile of B begins.
__device__ inline Coordinate input_tile(int block, int tile_rows, int) {
  return {block % tile_rows * Tile::rows, block / tile_rows * Tile::columns};
}

}  // namespace tilescope::device

// a, b, c: row-major (m,n). Grid: ceil(m/16) * ceil(n/128) blocks of 128 threads.
extern "C" __global__ void __launch_bounds__(128)
    elementwise_add(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                    int m, int n) {
  using namespace tilescope::device;
  const int block = static_cast<int>(blockIdx.x);
  const int tile_rows = (m + Tile::rows - 1) / Tile::rows;
  const int tile_columns = (n + Tile::columns - 1) / Tile::columns;
  const Coordinate own = coordinate_of<Tile::of_thread>(static_cast<int>(threadIdx.x));
  const Coordinate to = output_tile(block, tile_rows, tile_columns) + own;
  const Coordinate from = input_tile(block, tile_rows, tile_columns) + own;
#pragma unroll
  for (int v = 0; v < Tile::value_count; ++v) {
    const Coordinate at = to + coordinate_of<Tile::of_value>(v);
    const Coordinate of_b = from + coordinate_of<Tile::of_value>(v);
    if (at.row >= m || at.column >= n) continue;
    const bool inside = of_b.row < m && of_b.column < n;
    c[at.row * n + at.column] =
        a[at.row * n + at.column] + (inside ? b[of_b.row * n + of_b.column] : 0.0f);
  }
}
