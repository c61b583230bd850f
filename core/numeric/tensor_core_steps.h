// The inner loop of tensor_core.h, compiled once for each set of vector instructions.
#pragma once

#include "core/numeric/tensor_core.h"

namespace tilescope {

// Exponents of what has none. Sums with a special one are above every sum of ordinary ones, and
// sums with a zero's are below.
constexpr std::int32_t zero_exponent = -4096;
constexpr std::int32_t special_exponent = 16384;  // infinity (significand +-1) and NaN (0)
constexpr std::int32_t least_special = 8192;

// One step of one element with infinities or NaNs among its terms: a's row and b's column (whose
// elements are `stride` apart) over `block` products.
std::uint32_t special_sum(bool half, int block, Factors a, Factors b, int stride,
                          std::int32_t c_significand, std::int32_t c_exponent);

std::uint32_t half_of(double value);  // as f16, rounded to nearest even; zeros are +0

struct Steps {
  StepRule rule;
  ProductShape shape;
  int product_bits = 0;  // bits of a product's significand after the point
  bool narrow = false;   // exponents of 5 bits or fewer: products are exact as f32
  Factors a, b;
  std::uint32_t* c = nullptr;
  int stride = 0;                           // of C's rows
  std::vector<StepTrace>* trace = nullptr;  // of the first element; not of narrow ones
};

namespace base {
void run_steps(const Steps& steps);
}
namespace avx2 {
void run_steps(const Steps& steps);
}

}  // namespace tilescope
