// Sums of which each block of a cluster has a part, from its slice of K. The parts are laid down in
// shared memory; of the places of the tile each block adds up its share, always in the order of the
// slices, so that the bits do not depend on who comes first.
//
// 16 columns of a consumer's 64 rows are the smallest share. A thread's sums of them are 32 bytes
// of registers (64 of f32), which lie 16 by 16 bytes, so that neighbours' are neighbours.
#pragma once

#include "kernels/device/cluster.h"
#include "kernels/device/dense_store.h"

namespace tilescope::device {

__device__ inline float word_of(float sum) {
  return sum;
}
__device__ inline float word_of(std::uint32_t sums) {
  return __uint_as_float(sums);
}
__device__ inline void set_word(float& sum, float word) {
  sum = word;
}
__device__ inline void set_word(std::uint32_t& sums, float word) {
  sums = __float_as_uint(word);
}

// A consumer's part of 64 rows, in 16 bytes of each of its threads.
template <class Register, int count>
struct Slice {
  static constexpr int pieces = count / 4;
  float4 piece[pieces][128];
};

template <class Register, int count>
__device__ inline void lay_down(const Register (&sum)[count], int thread,
                                Slice<Register, count>& slice) {
#pragma unroll
  for (int i = 0; i < count / 4; ++i) {
    slice.piece[i][thread] = make_float4(word_of(sum[4 * i]), word_of(sum[4 * i + 1]),
                                         word_of(sum[4 * i + 2]), word_of(sum[4 * i + 3]));
  }
}

// The share of slice `own` of `slices`, counted from `first` on, added up and put into C. A tile's
// slices are `step` ranks apart, from `rank` on. n: the tile's columns; at_once: slices whose sums
// a thread waits for together.
template <int n, int at_once, class Register, int count, class Element>
__device__ inline void add_slices(const Slice<Register, count>& slice, int thread, int first,
                                  int own, int slices, int rank, int step,
                                  const Target<Element>& target, int batch, int row, int column) {
  constexpr int shares = n / 16, pieces = count / 4 / shares, sums = 8;
  const Coordinate mine = Coordinate{row, column} + coordinate_of<WgmmaSums<n>::of_thread>(thread);
#pragma unroll 1
  for (int share = (own - first % slices + slices) % slices; share < shares; share += slices) {
    Two total[sums / 2] = {};
    for (int s = 0; s < slices; s += at_once) {
      float4 words[at_once][pieces];
#pragma unroll
      for (int j = 0; j < at_once; ++j) {
#pragma unroll
        for (int i = 0; i < pieces; ++i) {
          const auto& place = slice.piece[share * pieces + i][thread];
          if (s + j < slices) words[j][i] = load_from(&place, rank + (s + j) * step);
        }
      }
#pragma unroll
      for (int j = 0; j < at_once; ++j) {
        if (s + j >= slices) break;
        Register part[pieces * 4];
#pragma unroll
        for (int i = 0; i < pieces; ++i) {
          set_word(part[4 * i], words[j][i].x);
          set_word(part[4 * i + 1], words[j][i].y);
          set_word(part[4 * i + 2], words[j][i].z);
          set_word(part[4 * i + 3], words[j][i].w);
        }
#pragma unroll
        for (int i = 0; i < sums / 2; ++i) {
          const Two two = two_sums(part, 2 * i);
          total[i].first += two.first;
          total[i].second += two.second;
        }
      }
    }
#pragma unroll
    for (int i = 0; i < sums / 2; ++i) {
      const Coordinate at = mine + coordinate_of<WgmmaSums<n>::of_register>(2 * i);
      target.put(total[i], batch, at.row, at.column + share * 16);
    }
  }
}

}  // namespace tilescope::device
