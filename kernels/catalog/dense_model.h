// How long dense_gemm takes with which tile, roughly: what the choice of a tile rests on.
//
//     a CTA's stage (128 bytes of K)   the longest of
//        tensor core       tile_m tile_n / 32 cycles, whatever the type
//        L2                what all CTAs ask it for: A's tile / cluster_n, B's / cluster_m; more
//                          of rows that do not begin on 128 bytes, which lie astride two lines
//        into an SM        both tiles, by multicast too
//                                  and what it takes to begin one
//     ends of a tile       until its first stage is there, its elements, and its cluster's other
//                          CTAs, for which it waits
//     a CTA's tiles        so many rounds of them as there are more tiles than room; where one
//                          consumer can have a tile, the other multiplies while it writes back
//     the clock            falls with the share of time that tensor cores are busy, more where
//                          they read more of shared memory for what they multiply
//     power                a product takes so much energy, a little more where more is read of
//                          shared memory and L2, and the chip's limit says how long that takes
//     slices of K          a part of the stages each; then a tile's sums from each slice's CTA to
//                          all of them
//     memory               A, B and C once, beside all that, but not while slices are added up
//     and the launch
//
// Constants in dense_model.cpp, fitted on an H100: tests/time/h100_dense_gemm.tsv has what was
// measured, a test how far off this is. What it leaves out: boxes half outside the matrix, which
// were slower.
#pragma once

#include <cstdint>
#include <vector>

#include "core/run/catalog_entry.h"

namespace tilescope {

struct DenseTile {
  std::int64_t m = 128, n = 256, cluster_m = 1, cluster_n = 1;
  std::int64_t slices = 1;  // of K
  bool operator==(const DenseTile&) const = default;
};

// Bytes of an element of A (and B), and of C.
struct DenseBytes {
  std::int64_t operand = 2, result = 2;
};

// How many clusters of so many CTAs, one on an SM, a chip has room for at once.
std::int64_t room_for_clusters(std::int64_t ctas, std::int64_t processors);

// Whether one consumer has registers for all of a tile's sums, f32 or f16 ones: then the other can
// have the next tile.
bool fits_one_consumer(std::int64_t m, std::int64_t n, bool half_sums);

// Whether consumers that share a tile have registers left to add up slices of K with.
bool can_slice(std::int64_t m, std::int64_t n, bool half_sums);

// CTAs have several tiles each.
bool has_rounds(const DenseTile& tile, const Sizes& sizes, std::int64_t processors);

double dense_gemm_seconds(const DenseTile& tile, const Sizes& sizes, DenseBytes bytes,
                          std::int64_t processors);

// The fastest by dense_gemm_seconds; the first of those that are alike. Not empty.
DenseTile choose_dense_tile(const std::vector<DenseTile>& tiles, const Sizes& sizes,
                            DenseBytes bytes, std::int64_t processors);

}  // namespace tilescope
