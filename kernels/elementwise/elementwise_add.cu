// C = A + B, element by element, for matrices of any size: how a layout algebra spreads the work.
//
//   threads (4,32):(32,1)   values (4,4):(4,1)      128 threads, each with 4 rows of 4 columns
//     -> make_layout_tv     tile (16,128), thread and value -> place in the tile
//   A, B, C (M,N):(N,1)     zipped_divide by the tile: ((16,128),(M/16,N/128))
//     -> one column of that (one tile) a block, one slice of the tile a thread
//
// The same division of the coordinate tensor (M,N):(1@0,1@1) tells every thread where in the
// matrix its elements stand. That gives their address, and at ragged edges it is the predicate:
// only elements inside (M,N) are touched. Where all rows are aligned to 16 bytes four columns
// travel in one 128-bit access; where not, each element travels alone.
#include "core/layout/algebra.h"
#include "kernels/device/coordinates.h"

namespace tilescope::device {

// What elementwise_add knows at compile time, all of it from core's layouts.
struct AddTile {
  static constexpr Layout threads =
      must(make_ordered_layout(make_tuple_of(4, 32), make_tuple_of(1, 0)));
  static constexpr Layout values =
      must(make_ordered_layout(make_tuple_of(4, 4), make_tuple_of(1, 0)));
  static constexpr ThreadValue tv = must(make_layout_tv(threads, values));

  static constexpr int thread_count = static_cast<int>(must(size(threads)));
  static constexpr int value_count = static_cast<int>(must(size(values)));
  static constexpr int rows = static_cast<int>(tv.tiler.leaf[0].value);
  static constexpr int columns = static_cast<int>(tv.tiler.leaf[1].value);

  // The coordinate tensor, divided. Its strides are the same for every matrix; only how many tiles
  // there are depends on (M,N), so any extents of two tiles or more serve here.
  static constexpr Layout coordinates =
      must(make_layout(make_tuple_of(2 * rows, 2 * columns),
                       make_tuple_of(Int(1, detail::rows), Int(1, detail::columns))));
  static constexpr Layout divided = must(zipped_divide(coordinates, Tiler(tv.tiler)));
  static constexpr Layout tile = must(get(divided, 0));   // (16,128):(1@0,1@1)
  static constexpr Layout tiles = must(get(divided, 1));  // (2,2):(16@0,128@1)

  // Thread and value to coordinate: ((32,4),(4,4)):((4@1,4@0),(1@1,1@0)).
  static constexpr Layout slices = must(composition(tile, tv.layout));
  static constexpr Layout of_thread = must(get(slices, 0));
  static constexpr Layout of_value = must(get(slices, 1));

  // Neighbouring values of a thread that are neighbours in a row: what one access can carry.
  static constexpr int vector = static_cast<int>(of_value.modes.leaf[0].shape.value);
  static_assert(of_value.modes.leaf[0].stride == Int(1, detail::columns));
  static_assert(vector * sizeof(float) == 16, "128-bit accesses");
};

// Tile number t of a matrix with `tile_rows` rows of tiles: zipped_divide counts down a column of
// tiles first. The strides are the compile-time layout's, the extent is the matrix's.
__device__ inline Coordinate tile_origin(int t, int tile_rows) {
  constexpr int row_step = static_cast<int>(AddTile::tiles.modes.leaf[0].stride.value);
  constexpr int column_step = static_cast<int>(AddTile::tiles.modes.leaf[1].stride.value);
  return {t % tile_rows * row_step, t / tile_rows * column_step};
}

__device__ inline bool aligned(const void* p) {
  return reinterpret_cast<unsigned long long>(p) % 16 == 0;
}

}  // namespace tilescope::device

// a, b, c: row-major f32 (m,n), m * n < 2^31. Grid: ceil(m/16) * ceil(n/128) blocks of 128 threads.
extern "C" __global__ void __launch_bounds__(tilescope::device::AddTile::thread_count)
    elementwise_add(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                    int m, int n) {
  using namespace tilescope::device;
  using Tile = AddTile;

  // This block's tile, this thread's slice of it.
  const int tile_rows = (m + Tile::rows - 1) / Tile::rows;
  const Coordinate first = tile_origin(static_cast<int>(blockIdx.x), tile_rows) +
                           coordinate_of<Tile::of_thread>(static_cast<int>(threadIdx.x));

  if (n % Tile::vector == 0 && aligned(a) && aligned(b) && aligned(c)) {
    // Rows start on 16 bytes and hold whole vectors: a vector is inside if its first element is.
    constexpr int vectors = Tile::value_count / Tile::vector;
    float4 fragment_a[vectors], fragment_b[vectors];
#pragma unroll
    for (int v = 0; v < vectors; ++v) {
      const Coordinate at = first + coordinate_of<Tile::of_value>(v * Tile::vector);
      if (at.row < m && at.column < n) {
        fragment_a[v] = *reinterpret_cast<const float4*>(a + at.row * n + at.column);
        fragment_b[v] = *reinterpret_cast<const float4*>(b + at.row * n + at.column);
      }
    }
#pragma unroll
    for (int v = 0; v < vectors; ++v) {
      const Coordinate at = first + coordinate_of<Tile::of_value>(v * Tile::vector);
      if (at.row < m && at.column < n) {
        const float4 x = fragment_a[v], y = fragment_b[v];
        *reinterpret_cast<float4*>(c + at.row * n + at.column) =
            make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
      }
    }
    return;
  }

  float fragment_a[Tile::value_count], fragment_b[Tile::value_count];
#pragma unroll
  for (int v = 0; v < Tile::value_count; ++v) {
    const Coordinate at = first + coordinate_of<Tile::of_value>(v);
    if (at.row < m && at.column < n) {
      fragment_a[v] = a[at.row * n + at.column];
      fragment_b[v] = b[at.row * n + at.column];
    }
  }
#pragma unroll
  for (int v = 0; v < Tile::value_count; ++v) {
    const Coordinate at = first + coordinate_of<Tile::of_value>(v);
    if (at.row < m && at.column < n) c[at.row * n + at.column] = fragment_a[v] + fragment_b[v];
  }
}
