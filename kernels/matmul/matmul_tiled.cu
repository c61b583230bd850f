// C = A * B with tiles in shared memory: 64 x 64 of C for a block, 4 x 4 of them for each thread,
// in its registers. Each element of A and B that a block needs comes from global memory once, and
// each that a thread has loaded from shared memory is used four times.
//
//   A's tile (64,16):(1,68)   a column of it lies in a row of shared memory, so that a thread's
//   four
//                             rows are one access of 16 bytes; 4 words apart, rows meet other banks
//   B's tile (16,64):(64,1)   as it is in global memory
//
// What lies beyond the matrices is zero in shared memory, and is not written in C.
#include "core/layout/algebra.h"
#include "kernels/device/coordinates.h"
#include "kernels/device/offsets.h"

namespace tilescope::device {

// What matmul_tiled knows at compile time, all of it from core's layouts.
struct ProductTile {
  static constexpr int m = 64, n = 64, k = 16, threads = 256;
  static constexpr int fragment = 4;  // rows and columns of C that a thread owns

  static constexpr Layout a = must(make_layout(make_tuple_of(m, k), make_tuple_of(1, m + 4)));
  static constexpr Layout b = must(make_layout(make_tuple_of(k, n), make_tuple_of(n, 1)));
  static constexpr int a_size = (m + 4) * k;

  // Which elements a thread brings, and its part of C: thread to (row, column), value to
  // (row, column).
  static constexpr Layout a_threads = must(make_layout(
      make_tuple_of(16, 16), make_tuple_of(Int(1, detail::columns), Int(1, detail::rows))));
  static constexpr Layout a_values = must(make_layout(
      make_tuple_of(4, 1), make_tuple_of(Int(16, detail::rows), Int(0, detail::columns))));
  static constexpr Layout b_threads = must(make_layout(
      make_tuple_of(64, 4), make_tuple_of(Int(1, detail::columns), Int(1, detail::rows))));
  static constexpr Layout b_values = must(make_layout(
      make_tuple_of(4, 1), make_tuple_of(Int(4, detail::rows), Int(0, detail::columns))));
  static constexpr Layout c_threads =
      must(make_layout(make_tuple_of(16, 16),
                       make_tuple_of(Int(fragment, detail::columns), Int(fragment, detail::rows))));
};

// Four elements, for one access.
struct alignas(16) Four {
  float element[4];
};

// The part of a matrix of `rows` x `columns` that a thread brings to shared memory: all of it is on
// its way before the first of it is stored.
template <const Layout& threads, const Layout& values>
__device__ inline Four fetch(const float* from, int rows, int columns, Coordinate origin) {
  const Coordinate mine = origin + coordinate_of<threads>(static_cast<int>(threadIdx.x));
  Four out;
#pragma unroll
  for (int v = 0; v < 4; ++v) {
    const Coordinate at = mine + coordinate_of<values>(v);
    const bool inside = at.row < rows && at.column < columns;
    out.element[v] = inside ? from[at.row * columns + at.column] : 0.0f;
  }
  return out;
}

template <const Layout& tile, int tile_rows, const Layout& threads, const Layout& values>
__device__ inline void put(float* shared, const Four& from) {
  const Coordinate mine = coordinate_of<threads>(static_cast<int>(threadIdx.x));
#pragma unroll
  for (int v = 0; v < 4; ++v) {
    const Coordinate at = mine + coordinate_of<values>(v);
    shared[offset_of<tile, tile_rows>(at.row, at.column)] = from.element[v];
  }
}

}  // namespace tilescope::device

// a: (m,k), b: (k,n), c: (m,n), all row-major, each with fewer than 2^31 elements.
// Grid: ceil(n/64), ceil(m/64) blocks of 256 threads.
extern "C" __global__ void __launch_bounds__(256)
    matmul_tiled(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                 int m, int n, int k) {
  using namespace tilescope::device;
  using Tile = ProductTile;
  __shared__ alignas(16) float a_tile[Tile::a_size];
  __shared__ alignas(16) float b_tile[Tile::k * Tile::n];
  const int first_row = static_cast<int>(blockIdx.y) * Tile::m;
  const int first_column = static_cast<int>(blockIdx.x) * Tile::n;
  const Coordinate mine = coordinate_of<Tile::c_threads>(static_cast<int>(threadIdx.x));

  float sum[Tile::fragment][Tile::fragment] = {};  // [exercise
  for (int p = 0; p < k; p += Tile::k) {
    const Four of_a = fetch<Tile::a_threads, Tile::a_values>(a, m, k, {first_row, p});
    const Four of_b = fetch<Tile::b_threads, Tile::b_values>(b, k, n, {p, first_column});
    put<Tile::a, Tile::m, Tile::a_threads, Tile::a_values>(a_tile, of_a);
    put<Tile::b, Tile::k, Tile::b_threads, Tile::b_values>(b_tile, of_b);
    __syncthreads();
    // The next step's operands are loaded before this one's products.
    const auto rows_of = [&](int q) {
      return *reinterpret_cast<const Four*>(&a_tile[offset_of<Tile::a, Tile::m>(mine.row, q)]);
    };
    const auto columns_of = [&](int q) {
      return *reinterpret_cast<const Four*>(&b_tile[offset_of<Tile::b, Tile::k>(q, mine.column)]);
    };
    Four rows = rows_of(0), columns = columns_of(0);
#pragma unroll
    for (int q = 0; q < Tile::k; ++q) {
      const bool more = q + 1 < Tile::k;
      const Four next_rows = more ? rows_of(q + 1) : rows;
      const Four next_columns = more ? columns_of(q + 1) : columns;
#pragma unroll
      for (int i = 0; i < Tile::fragment; ++i) {
#pragma unroll
        for (int j = 0; j < Tile::fragment; ++j) sum[i][j] += rows.element[i] * columns.element[j];
      }
      rows = next_rows;
      columns = next_columns;
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < Tile::fragment; ++i) {
#pragma unroll
    for (int j = 0; j < Tile::fragment; ++j) {
      const int row = first_row + mine.row + i, column = first_column + mine.column + j;
      if (row < m && column < n) c[row * n + column] = sum[i][j];
    }
  }
}  // exercise]
