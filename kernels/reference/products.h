// Sums of products in double, for the references of matrix products.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "core/run/catalog_entry.h"

namespace tilescope::reference {

// A row of the left matrix with each of the n rows of the right. From several threads, each row
// once.
using PutRow = std::function<void(std::size_t row, const double* sums)>;

// What multiplies: our own loops with vectors of 2, 4 or 8, which give the same bits where each
// product is exact (of f32 and narrower types), or OpenBLAS.
enum class Loops : std::uint8_t { narrow, avx2, avx512, openblas };
// Has this machine what they need: the processor's vectors, libopenblas.so.0?
bool are_there(Loops loops);
Loops fastest_loops();

// left (m,k) times right (n,k), transposed. False: `keep_on` said no.
bool for_each_row(const std::vector<double>& left, const std::vector<double>& right, std::size_t m,
                  std::size_t n, std::size_t k, const Effort& effort, const PutRow& put,
                  Loops loops = fastest_loops());

inline Error given_up() {
  return {ErrorKind::interrupted, "The reference was cancelled before it was complete.", ""};
}

}  // namespace tilescope::reference
