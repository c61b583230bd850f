// Random inputs with the same bits on every platform.
//
// Element i of stream s under a seed is a function of (seed, s, i) alone: no state, so any part of
// a tensor can be made by itself and in any order.
//
//   bits      Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as
//             1, 2, 3", SC 2011), key = seed, counter = (i / 4, s): four 32-bit words a counter.
//   uniform   (word + 1/2) / 2^32, in (0, 1)
//   normal    Box-Muller on word pairs: sqrt(-2 ln u) cos(2 pi v), sqrt(-2 ln u) sin(2 pi v);
//             mean 0, variance 1, never beyond 6.77.
//
// Logarithm, sine and cosine are computed here with + - * / sqrt, which IEEE 754 fixes to the bit,
// and the file is compiled without contraction to fma: a C library's own would differ in last bits.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/numeric/dtype.h"

namespace tilescope {

std::array<std::uint32_t, 4> philox4x32_10(std::array<std::uint32_t, 4> counter,
                                           std::array<std::uint32_t, 2> key);

// The four normals that one counter gives, for elements 4 * block ... 4 * block + 3.
std::array<double, 4> normals(std::uint64_t seed, std::uint64_t stream, std::uint64_t block);

// `count` random elements of `type`. Floats: a normal, rounded once. Integers: the nearest integer
// to eight normals, without its sign where the type has none; so small that sums stay readable.
std::vector<std::byte> random_elements(DType type, std::uint64_t seed, std::uint64_t stream,
                                       std::size_t count);

}  // namespace tilescope
