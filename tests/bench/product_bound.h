// How far a product's elements may be off, from its types and K, for operands that are uniform in
// [-1, 1].
//
//     P = 2 sqrt(K)      what a sum comes to: six times its deviation, sqrt(K) / 3
//     u                  what is cut off where terms are added, of the largest one: 2^-23 where
//                        tensor cores keep all of f32, 2^-13 of 8-bit operands (seen on Hopper)
//     n = K / s          additions of s products each: 8 of tf32, 16 of 16 bits, 32 of 8 bits
//
//     an element         u P (n + 4 sqrt(K)): each addition cuts the sum, always towards zero, and
//                        the K products, whose signs differ (six deviations of 0.58 u P); besides
//                        half a unit of the result's type
//     all of them        u (n / 2 + sqrt(K)) of their root mean square, and half a unit
//
// Two results may be twice as far from each other. An element that is wrong altogether is off by
// about sqrt(K) / 2, many times as much, but of 8-bit operands with a large K: there the root mean
// square tells. The samples are compared with sums in double, so that nothing rests on the library
// alone.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "tests/bench/product_kind.h"

namespace tilescope::bench {

struct ErrorBound {
  double absolute = 0, relative = 0;  // |error| <= absolute + relative |value|
  double mean = 0;                    // of the root mean square, relative
};
ErrorBound bound_of(const ProductKind& kind, std::int64_t k);

// What was found: `worst` is the largest error over what is allowed, `mean` likewise; above 1 is
// wrong, and so is a NaN.
struct Rightness {
  double worst = 0, mean = 0;
  bool right() const { return worst <= 1 && mean <= 1; }
  void include(const Rightness& other);
  std::string text() const;  // "an element is off by 12.3 times what is allowed"
};

// Two results of the same product, each within the bound.
Rightness between(std::span<const std::byte> got, std::span<const std::byte> want, DType type,
                  const ErrorBound& bound);

// The operands on this machine, as the GPU has them.
struct HostProduct {
  ProductKind kind;
  Sizes sizes;
  std::span<const std::byte> a, b, c;  // c: as it was before; empty without a beta
  double exact(std::int64_t row, std::int64_t column) const;
};
// Of the corners, of the last row and column, and of others, `count` in all, against sums in
// double.
Rightness sampled(std::span<const std::byte> got, const HostProduct& product,
                  const ErrorBound& bound, int count = 256);

// The values of an array of this type, which are many: by a table where elements are short.
class Values {
 public:
  Values(std::string_view type, std::span<const std::byte> bytes);
  double operator[](std::size_t i) const;

 private:
  std::size_t width_;
  const std::byte* bytes_;
  const std::vector<float>* table_ = nullptr;
};

}  // namespace tilescope::bench
