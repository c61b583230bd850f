// C = A + B, element by element, for matrices of any size: how a layout algebra spreads the work.
//
//   threads (4,32):(32,1)   values (4,4):(4,1)      128 threads, each with 4 rows of 4 columns
//     -> make_layout_tv     tile (16,128), thread and value -> place in the tile
//   A, B, C (M,N):(N,1)     zipped_divide by the tile: ((16,128),(M/16,N/128))
//     -> one column of that (one tile) a block, one slice of the tile a thread
//
// That is for elements of 4 bytes; of 2 bytes 8 fill an access of 128 bits, so threads are (8,16)
// and values (2,8). The tile is the same.
//
// The same division of the coordinate tensor (M,N):(1@0,1@1) tells every thread where in the
// matrix its elements stand. That gives their address, and at ragged edges it is the predicate:
// only elements inside (M,N) are touched.
//
// Two things are there for speed alone. Blocks take the tiles along the rows: what runs at one time
// is then one piece of memory, not a stripe of every row (on an H100 that is 5%). And a row that
// does not begin on 16 bytes is divided from the last boundary before it, up to three (seven)
// columns left of the matrix: its columns travel in 128-bit accesses as those of any other row. A
// third is for chips from sm_90 on: elementwise_add_sm_90.cu.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "core/layout/algebra.h"
#include "kernels/device/coordinates.h"
#ifdef ADD_OVERLAPS
#include "kernels/device/launches.h"
#endif

namespace tilescope::device {

// What elementwise_add knows at compile time, all of it from core's layouts; `vector` elements fill
// 16 bytes.
template <int vector>
struct AddTile {
  static constexpr Layout threads =
      must(make_ordered_layout(make_tuple_of(vector, 128 / vector), make_tuple_of(1, 0)));
  static constexpr Layout values =
      must(make_ordered_layout(make_tuple_of(16 / vector, vector), make_tuple_of(1, 0)));
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
  static constexpr int row_step = static_cast<int>(tiles.modes.leaf[0].stride.value);
  static constexpr int column_step = static_cast<int>(tiles.modes.leaf[1].stride.value);

  // Thread and value to coordinate: ((32,4),(4,4)):((4@1,4@0),(1@1,1@0)).
  static constexpr Layout slices = must(composition(tile, tv.layout));
  static constexpr Layout of_thread = must(get(slices, 0));
  static constexpr Layout of_value = must(get(slices, 1));

  // Neighbouring values of a thread are neighbours in a row: what one access can carry.
  static_assert(of_value.modes.leaf[0].stride == Int(1, detail::columns));
  static_assert(of_value.modes.leaf[0].shape.value == vector);
};

// Where the tile of block t begins, of `tile_columns` tiles in a row of tiles: along a row first.
// The strides are the compile-time layout's, the extent is the matrix's.
template <class Tile>
__device__ inline Coordinate tile_origin(int t, int tile_columns) {
  return {t / tile_columns * Tile::row_step, t % tile_columns * Tile::column_step};
}

// One rounding an element. Integers wrap: their sum is taken without a sign.
__device__ inline float sum(float a, float b) {
  return a + b;
}
__device__ inline int sum(int a, int b) {
  return static_cast<int>(static_cast<unsigned>(a) + static_cast<unsigned>(b));
}
__device__ inline __half sum(__half a, __half b) {
  return __hadd(a, b);
}
__device__ inline __nv_bfloat16 sum(__nv_bfloat16 a, __nv_bfloat16 b) {
  return __hadd(a, b);
}

// 16 bytes, for one access.
template <class Element>
struct alignas(16) Vector {
  static constexpr int size = 16 / sizeof(Element);
  Element element[size];
};

template <class Element>
__device__ inline Vector<Element> sum(const Vector<Element>& a, const Vector<Element>& b) {
  Vector<Element> out;
#pragma unroll
  for (int i = 0; i < Vector<Element>::size; ++i) out.element[i] = sum(a.element[i], b.element[i]);
  return out;
}

// A thread's part of one row: as many neighbours as travel in one access.
template <class Element>
struct Piece {
  static constexpr int size = Vector<Element>::size;
  int at;       // element of the matrix, on 16 bytes
  int column;   // below zero: left of the matrix
  bool inside;  // some of it is
  bool whole;   // all of it is

  __device__ inline Piece(Coordinate first, int m, int n) {
    const unsigned row = static_cast<unsigned>(first.row) * static_cast<unsigned>(n);
    const int over =
        static_cast<int>(row % size);  // how far behind a boundary of 16 bytes the row begins
    column = first.column - over;
    at = static_cast<int>(row) + column;
    inside = first.row < m && column < n;
    whole = column >= 0 && column + size <= n;
  }
  __device__ inline bool has(int i, int n) const { return column + i >= 0 && column + i < n; }
};

// What is there of A and of B.
template <class Element>
__device__ inline void load(Vector<Element>& to_a, Vector<Element>& to_b, const Element* a,
                            const Element* b, const Piece<Element>& piece, int n) {
  if (piece.whole) {
    to_a = *reinterpret_cast<const Vector<Element>*>(a + piece.at);
    to_b = *reinterpret_cast<const Vector<Element>*>(b + piece.at);
  } else {
#pragma unroll
    for (int i = 0; i < piece.size; ++i) {
      if (!piece.has(i, n)) continue;
      to_a.element[i] = a[piece.at + i];
      to_b.element[i] = b[piece.at + i];
    }
  }
}

template <class Element>
__device__ inline void store(Element* to, const Vector<Element>& from, const Piece<Element>& piece,
                             int n) {
  if (piece.whole) {
    *reinterpret_cast<Vector<Element>*>(to + piece.at) = from;
  } else {
#pragma unroll
    for (int i = 0; i < piece.size; ++i) {
      if (piece.has(i, n)) to[piece.at + i] = from.element[i];
    }
  }
}

template <class Element>
__device__ inline void add(const Element* a, const Element* b, Element* c, int m, int n) {
  constexpr int vector = Vector<Element>::size;
  using Tile = AddTile<vector>;
#ifdef ADD_OVERLAPS
  wait_for_launches_before();
#endif  // [exercise
  // This block's tile, this thread's slice of it. Where rows are shifted they reach further right.
  const int reach = n % vector == 0 ? n : n + vector - 1;
  const int tile_columns = (reach + Tile::columns - 1) / Tile::columns;
  const Coordinate first = tile_origin<Tile>(static_cast<int>(blockIdx.x), tile_columns) +
                           coordinate_of<Tile::of_thread>(static_cast<int>(threadIdx.x));
  constexpr int accesses = Tile::value_count / vector;
  Vector<Element> fragment_a[accesses], fragment_b[accesses];
#pragma unroll
  for (int v = 0; v < accesses; ++v) {
    const Piece<Element> piece(first + coordinate_of<Tile::of_value>(v * vector), m, n);
    if (piece.inside) load(fragment_a[v], fragment_b[v], a, b, piece, n);
  }
#pragma unroll
  for (int v = 0; v < accesses; ++v) {
    const Piece<Element> piece(first + coordinate_of<Tile::of_value>(v * vector), m, n);
    if (piece.inside) store(c, sum(fragment_a[v], fragment_b[v]), piece, n);
  }
}  // exercise]

}  // namespace tilescope::device

// a, b, c: row-major (m,n), aligned to 16 bytes, m * n < 2^31. Grid: ceil(m/16) * ceil(reach/128)
// blocks of 128 threads, reach = n, or n + 3 (n + 7 of 2 bytes) where 16 bytes do not divide a row.
#define ELEMENTWISE_ADD(name, Element)                                                            \
  extern "C" __global__ void __launch_bounds__(128)                                               \
      name(const Element* __restrict__ a, const Element* __restrict__ b, Element* __restrict__ c, \
           int m, int n) {                                                                        \
    tilescope::device::add(a, b, c, m, n);                                                        \
  }
ELEMENTWISE_ADD(elementwise_add, float)
ELEMENTWISE_ADD(elementwise_add_f16, __half)
ELEMENTWISE_ADD(elementwise_add_bf16, __nv_bfloat16)
ELEMENTWISE_ADD(elementwise_add_i32, int)
