// Sums of products in double, for the references of matrix products.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "core/run/catalog_entry.h"

namespace tilescope::reference {

// One row of the left matrix times one of the right. Eight partial sums let the processor add
// several products at once.
inline double dot(const double* a, const double* b, std::size_t k) {
  constexpr std::size_t lanes = 8;
  double sum[lanes] = {};
  std::size_t p = 0;
  for (; p + lanes <= k; p += lanes) {
    for (std::size_t i = 0; i < lanes; ++i) sum[i] += a[p + i] * b[p + i];
  }
  for (; p < k; ++p) sum[0] += a[p] * b[p];
  return ((sum[0] + sum[4]) + (sum[1] + sum[5])) + ((sum[2] + sum[6]) + (sum[3] + sum[7]));
}

// put(row, column, sum) of left (m,k) times right (n,k), transposed: some rows of the left matrix
// at a time, which stay in the cache while those of the right go by. False: `keep_on` said no.
template <class Put>
bool for_each_product(const std::vector<double>& left, const std::vector<double>& right,
                      std::size_t m, std::size_t n, std::size_t k, const KeepOn& keep_on, Put put) {
  constexpr std::size_t block = 32;
  for (std::size_t i0 = 0; i0 < m; i0 += block) {
    if (keep_on && !keep_on()) return false;
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t i = i0; i < std::min(m, i0 + block); ++i) {
        put(i, j, dot(left.data() + i * k, right.data() + j * k, k));
      }
    }
  }
  return true;
}

inline Error given_up() {
  return {ErrorKind::interrupted, "The reference was cancelled before it was complete.", ""};
}

}  // namespace tilescope::reference
