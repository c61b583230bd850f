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

// The share of block `rank` of `blocks`, counted from `first` on, added up and put into C. n: the
// tile's columns.
template <int n, class Register, int count, class Element>
__device__ inline void add_slices(const Slice<Register, count>& slice, int thread, int first,
                                  int rank, int blocks, const Target<Element>& target, int batch,
                                  int row, int column) {
  constexpr int shares = n / 16, pieces = count / 4 / shares, sums = 8;
  const Coordinate mine = Coordinate{row, column} + coordinate_of<WgmmaSums<n>::of_thread>(thread);
  for (int share = (rank - first % blocks + blocks) % blocks; share < shares; share += blocks) {
    Two total[sums / 2] = {};
#pragma unroll 4
    for (int block = 0; block < blocks; ++block) {
      Register part[pieces * 4];
#pragma unroll
      for (int i = 0; i < pieces; ++i) {
        const float4 words = load_from(&slice.piece[share * pieces + i][thread], block);
        set_word(part[4 * i], words.x);
        set_word(part[4 * i + 1], words.y);
        set_word(part[4 * i + 2], words.z);
        set_word(part[4 * i + 3], words.w);
      }
#pragma unroll
      for (int i = 0; i < sums / 2; ++i) {
        const Two two = two_sums(part, 2 * i);
        total[i].first += two.first;
        total[i].second += two.second;
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
