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
// only elements inside (M,N) are touched. Where all rows are aligned to 16 bytes the columns of a
// thread's row travel in one 128-bit access; where not, each element travels alone.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "core/layout/algebra.h"
#include "kernels/device/coordinates.h"

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

  // Thread and value to coordinate: ((32,4),(4,4)):((4@1,4@0),(1@1,1@0)).
  static constexpr Layout slices = must(composition(tile, tv.layout));
  static constexpr Layout of_thread = must(get(slices, 0));
  static constexpr Layout of_value = must(get(slices, 1));

  // Neighbouring values of a thread are neighbours in a row: what one access can carry.
  static_assert(of_value.modes.leaf[0].stride == Int(1, detail::columns));
  static_assert(of_value.modes.leaf[0].shape.value == vector);
};

// Tile number t of a matrix with `tile_rows` rows of tiles: zipped_divide counts down a column of
// tiles first. The strides are the compile-time layout's, the extent is the matrix's.
template <class Tile>
__device__ inline Coordinate tile_origin(int t, int tile_rows) {
  constexpr int row_step = static_cast<int>(Tile::tiles.modes.leaf[0].stride.value);
  constexpr int column_step = static_cast<int>(Tile::tiles.modes.leaf[1].stride.value);
  return {t % tile_rows * row_step, t / tile_rows * column_step};
}

__device__ inline bool aligned(const void* p) {
  return reinterpret_cast<unsigned long long>(p) % 16 == 0;
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

// A thread's slice, `step` elements at a time; Access is what travels in one go.
template <class Tile, class Access, int step, class Element>
__device__ inline void add_slice(const Element* a, const Element* b, Element* c, int m, int n,
                                 Coordinate first) {
  constexpr int accesses = Tile::value_count / step;
  Access fragment_a[accesses], fragment_b[accesses];
#pragma unroll
  for (int v = 0; v < accesses; ++v) {
    const Coordinate at = first + coordinate_of<Tile::of_value>(v * step);
    if (at.row < m && at.column < n) {
      fragment_a[v] = *reinterpret_cast<const Access*>(a + at.row * n + at.column);
      fragment_b[v] = *reinterpret_cast<const Access*>(b + at.row * n + at.column);
    }
  }
#pragma unroll
  for (int v = 0; v < accesses; ++v) {
    const Coordinate at = first + coordinate_of<Tile::of_value>(v * step);
    if (at.row < m && at.column < n) {
      *reinterpret_cast<Access*>(c + at.row * n + at.column) = sum(fragment_a[v], fragment_b[v]);
    }
  }
}

template <class Element>
__device__ inline void add(const Element* a, const Element* b, Element* c, int m, int n) {
  constexpr int vector = Vector<Element>::size;
  using Tile = AddTile<vector>;
  // This block's tile, this thread's slice of it.
  const int tile_rows = (m + Tile::rows - 1) / Tile::rows;
  const Coordinate first = tile_origin<Tile>(static_cast<int>(blockIdx.x), tile_rows) +
                           coordinate_of<Tile::of_thread>(static_cast<int>(threadIdx.x));
  if (n % vector == 0 && aligned(a) && aligned(b) && aligned(c)) {
    // Rows start on 16 bytes and hold whole vectors: a vector is inside if its first element is.
    add_slice<Tile, Vector<Element>, vector>(a, b, c, m, n, first);
  } else {
    add_slice<Tile, Element, 1>(a, b, c, m, n, first);
  }
}

}  // namespace tilescope::device

// a, b, c: row-major (m,n), m * n < 2^31. Grid: ceil(m/16) * ceil(n/128) blocks of 128 threads.
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
