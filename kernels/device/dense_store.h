// The sums of dense_gemm on their way to C: alpha times the sum, and beta times what C has, rounded
// to C's type; by way of shared memory, a box of columns at a time, which TMA stores.
#pragma once

#include <cuda_fp8.h>

#include "kernels/device/dense_tile.h"
#include "kernels/device/tma_3d.h"
#include "kernels/device/wgmma_drain.h"

namespace tilescope::device {

// Two neighbours of a row.
struct Two {
  float first, second;
};

__device__ inline float value_of(__half x) {
  return __half2float(x);
}
__device__ inline float value_of(__nv_bfloat16 x) {
  return __bfloat162float(x);
}
__device__ inline float value_of(float x) {
  return x;
}
__device__ inline float value_of(__nv_fp8_e4m3 x) {
  return static_cast<float>(x);
}

// Both, in one store; `at` is at a multiple of two elements.
template <class Element>
__device__ inline void put_two(Element* at, Two v) {
  if constexpr (sizeof(Element) == 4) {
    *reinterpret_cast<float2*>(at) = make_float2(v.first, v.second);
  } else if constexpr (sizeof(Element) == 2) {
    *reinterpret_cast<std::uint32_t*>(at) = packed(v.first, v.second, Element());
  } else {
    *reinterpret_cast<__nv_fp8x2_e4m3*>(at) = __nv_fp8x2_e4m3(make_float2(v.first, v.second));
  }
}

// C as it lies in global memory, (l,m,n) row-major, and what is done with it.
template <class Element>
struct Target {
  Element* c;
  int m, n;
  float alpha, beta;

  __device__ Element* place(int batch, int row, int column) const {
    return c + (static_cast<long long>(batch) * m + row) * n + column;
  }
  __device__ Two scaled(Two sum) const { return {alpha * sum.first, alpha * sum.second}; }
  // With beta times what C has at (row, column) and the column after it, of matrix `batch`; outside
  // C nothing is read.
  __device__ Two with_c(Two v, int batch, int row, int column) const {
    if (row < m) {
      const Element* at = place(batch, row, column);
      if (column < n) v.first = fmaf(beta, value_of(at[0]), v.first);
      if (column + 1 < n) v.second = fmaf(beta, value_of(at[1]), v.second);
    }
    return v;
  }
  // Both, without shared memory; outside C nothing is written. `column` is even: where rows are of
  // an even number of columns, both go in one store.
  __device__ void put(Two sum, int batch, int row, int column) const {
    if (row >= m || column >= n) return;
    Two v = scaled(sum);
    if (beta != 0) v = with_c(v, batch, row, column);
    Element* at = place(batch, row, column);
    if (n % 2 == 0) {
      put_two(at, v);
    } else {
      at[0] = Element(v.first);
      if (column + 1 < n) at[1] = Element(v.second);
    }
  }
};

// Sums number i and i + 1 of a thread, which are neighbours in a row: f32, or two f16 a register.
__device__ inline Two two_sums(const float* sum, int i) {
  return {sum[i], sum[i + 1]};
}
__device__ inline Two two_sums(const std::uint32_t* sum, int i) {
  const float2 both = __half22float2(reinterpret_cast<const __half2&>(sum[i / 2]));
  return {both.x, both.y};
}

// A warp's 16 rows of a part of a box, of as many columns as `pair` has sums for, from column
// `first` of the box on: pair[i / 2] is what its registers i and i + 1 became.
template <class Box, int pairs>
__device__ inline void put_rows(typename Box::Element* to, int thread, int first,
                                const Two (&pair)[pairs]) {
  using Element = typename Box::Element;
  const int lane = thread % 32, first_row = thread / 32 * 16;
  if constexpr (sizeof(Element) == 2) {
    const int row = first_row + lane % 16, column = first + lane / 16 * 8;
#pragma unroll
    for (int i = 0; i < pairs; i += 4) {
      const auto two = [&](int j) {
        return packed(pair[i + j].first, pair[i + j].second, Element());
      };
      store_matrices(to + offset_of<Box::layout, Box::rows>(row, column + i * 4), two(0), two(1),
                     two(2), two(3));
    }
  } else {
#pragma unroll
    for (int i = 0; i < pairs; ++i) {
      const Coordinate at = Coordinate{first_row, first} +
                            coordinate_of<WgmmaSums<64>::of_thread>(lane) +
                            coordinate_of<WgmmaSums<Box::columns>::of_register>(2 * i);
      put_two(to + offset_of<Box::layout, Box::rows>(at.row, at.column), pair[i]);
    }
  }
}

// 64 rows of a consumer, whose first is `row`: box by box by way of `by`, as drain() of
// wgmma_drain.h, and what is left beside whole boxes. `turn`: which of the two is next; a tile may
// have an odd number of boxes.
template <class Box, int n, class Register, int count>
__device__ inline void drain_dense(const Register (&sum)[count], int thread, int barrier,
                                   typename Box::Element (&by)[2][Box::rows * Box::columns],
                                   int& turn, const CUtensorMap& map,
                                   const Target<typename Box::Element>& target, int batch, int row,
                                   int column) {
  const Coordinate mine = Coordinate{row, column} + coordinate_of<WgmmaSums<n>::of_thread>(thread);
#pragma unroll
  for (int box = 0; box < n / Box::columns; ++box) {
    auto& buffer = by[turn];
    if (thread == 0) tma::wait_stores_read<1>();
    sync_threads<128>(barrier);
    // In parts, for which there are registers; whether C is added is asked once for each: a branch
    // for each pair would take most of the time.
    constexpr int part = Box::columns < 32 ? Box::columns : 32, pairs = part / 4;
#pragma unroll
    for (int first = 0; first < Box::columns; first += part) {
      const int from = (box * Box::columns + first) / 2;
      Two pair[pairs];
#pragma unroll
      for (int i = 0; i < pairs; ++i) pair[i] = target.scaled(two_sums(sum, from + 2 * i));
      if (target.beta != 0) {
#pragma unroll
        for (int i = 0; i < pairs; ++i) {
          const Coordinate at = mine + coordinate_of<WgmmaSums<n>::of_register>(from + 2 * i);
          pair[i] = target.with_c(pair[i], batch, at.row, at.column);
        }
      }
      put_rows<Box>(buffer, thread, first, pair);
    }
    fence_async_proxy();
    sync_threads<128>(barrier);
    if (thread == 0) {
      tma::store(map, column + box * Box::columns, row, batch, buffer);
      tma::commit_stores();
    }
    turn ^= 1;
  }
#pragma unroll
  for (int i = n / Box::columns * Box::columns / 2; i < n / 2; i += 2) {
    const Coordinate place = mine + coordinate_of<WgmmaSums<n>::of_register>(i);
    target.put(two_sums(sum, i), batch, place.row, place.column);
  }
}

}  // namespace tilescope::device
