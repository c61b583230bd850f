// How long dense_gemm takes with which tile, roughly: what the choice of a tile rests on.
//
//     a CTA's stage (128 bytes of K)   the longest of
//        tensor core       tile_m tile_n / 32 cycles, whatever the type
//        L2                what all CTAs ask it for: A's tile / cluster_n, B's / cluster_m; twice
//                          of rows that do not begin on 128 bytes, which lie astride two lines
//        into an SM        both tiles, by multicast too
//                                  and what it takes to begin one
//     a CTA's tiles        so many rounds of them as there are more tiles than room
//     the clock            falls with the share of time that tensor cores are busy
//     slices of K          a part of the stages each; then a tile's sums from each slice's CTA to
//     all
//                          of them
//     memory               A, B and C once, beside all that
//     and the launch
//
// Constants in dense_model.cpp, fitted on an H100: tests/time/h100_dense_gemm.tsv has what was
// measured, a test how far off this is. What it leaves out: boxes half outside the matrix, which
// were slower; the ends of ping-pong.
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

double dense_gemm_seconds(const DenseTile& tile, const Sizes& sizes, DenseBytes bytes,
                          std::int64_t processors);

// The fastest by dense_gemm_seconds; the first of those that are alike. Not empty.
DenseTile choose_dense_tile(const std::vector<DenseTile>& tiles, const Sizes& sizes,
                            DenseBytes bytes, std::int64_t processors);

}  // namespace tilescope
