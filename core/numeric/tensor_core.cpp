#include "core/numeric/tensor_core.h"

#include <algorithm>
#include <iterator>

#include "core/numeric/tensor_core_steps.h"

namespace tilescope {
namespace {

#ifdef TILESCOPE_NUMERIC_AVX2
bool has_avx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
#endif

// What one term adds to a sum with infinities in it.
struct Special {
  bool nan = false, up = false, down = false;
  void infinity(bool negative) { (negative ? down : up) = true; }
};

bool is_narrow(FloatFormat a, FloatFormat b) {
  return a.exponent_bits <= 5 && b.exponent_bits <= 5;
}

}  // namespace

StepRule step_rule(TensorChip chip, FloatFormat format, int k) {
  StepRule out;
  const bool bytes = format.bits() == 8;
  const int most = bytes ? 32 : format.bits() == format_tf32.bits() ? 8 : 16;
  out.block = k < most ? k : most;
  if (bytes && chip == TensorChip::hopper) {
    out.fraction = 13;
    out.significant = 14;
  }
  return out;
}

void take_apart(FloatFormat format, const std::uint32_t* patterns, int count,
                std::int32_t* significand, std::int32_t* exponent) {
  const std::uint32_t sign = format.sign_bit();
  const std::int32_t hidden = 1 << format.mantissa_bits;
  const std::int32_t top = (1 << format.exponent_bits) - 1;
  // From here on patterns mean infinity (where the format has one) or NaN.
  const auto infinity = static_cast<std::int32_t>(format.beyond());
  const std::int32_t at_infinity = format.finite_only ? 0 : 1;
  for (int i = 0; i < count; ++i) {
    const auto size = static_cast<std::int32_t>(patterns[i] & (sign - 1));
    const std::int32_t field = size >> format.mantissa_bits & top;
    std::int32_t s = (size & (hidden - 1)) | (field ? hidden : 0);
    std::int32_t e = (field ? field : 1) - format.bias();
    e = s ? e : zero_exponent;
    e = size >= infinity ? special_exponent : e;
    s = size >= infinity ? (size == infinity ? at_infinity : 0) : s;
    significand[i] = patterns[i] & sign ? -s : s;
    exponent[i] = e;
  }
}

std::uint32_t special_sum(bool half, int block, Factors a, Factors b, int stride,
                          std::int32_t c_significand, std::int32_t c_exponent) {
  Special found;
  for (int p = 0; p < block; ++p) {
    const std::int32_t s = a.significand[p], t = b.significand[p * stride];
    const bool special =
        a.exponent[p] == special_exponent || b.exponent[p * stride] == special_exponent;
    // An infinity's significand is +-1: a product of 0 is NaN, or infinity times zero.
    if (special && (s == 0 || t == 0)) found.nan = true;
    if (special && s != 0 && t != 0) found.infinity((s < 0) != (t < 0));
  }
  if (c_exponent == special_exponent && c_significand == 0) found.nan = true;
  if (c_exponent == special_exponent && c_significand != 0) found.infinity(c_significand < 0);
  const FloatFormat format = half ? format_f16 : format_f32;
  if (found.nan || (found.up && found.down)) return format.canonical_nan();
  return format.infinity() | (found.down ? format.sign_bit() : 0);
}

std::uint32_t half_of(double value) {
  const std::uint32_t rounded = encode(format_f16, value);
  return rounded == format_f16.sign_bit() ? 0 : rounded;  // a zero is +0
}

void multiply_add_plain(const StepRule& rule, ProductShape shape, FloatFormat a_format, Factors a,
                        FloatFormat b_format, Factors b, std::uint32_t* c) {
  const int bits = a_format.mantissa_bits + b_format.mantissa_bits;
  base::run_steps({rule, shape, bits, is_narrow(a_format, b_format), a, b, c, shape.n});
}

void multiply_add(const StepRule& rule, ProductShape shape, FloatFormat a_format, Factors a,
                  FloatFormat b_format, Factors b, std::uint32_t* c, int stride) {
  const int bits = a_format.mantissa_bits + b_format.mantissa_bits;
  const Steps steps{rule, shape, bits, is_narrow(a_format, b_format), a, b, c, stride};
#ifdef TILESCOPE_NUMERIC_AVX2
  if (has_avx2()) return avx2::run_steps(steps);
#endif
  base::run_steps(steps);
}

std::uint32_t multiply_add_traced(const StepRule& rule, int k, FloatFormat a_format, Factors a,
                                  FloatFormat b_format, Factors b, std::uint32_t c,
                                  std::vector<StepTrace>& trace) {
  constexpr int columns = 8;
  std::vector<std::int32_t> significand, exponent;
  for (int p = 0; p < k; ++p) {
    significand.insert(significand.end(), columns, b.significand[p]);
    exponent.insert(exponent.end(), columns, b.exponent[p]);
  }
  std::uint32_t sums[columns];
  std::fill(std::begin(sums), std::end(sums), c);
  const std::size_t first = trace.size();
  Steps steps{rule,
              {1, columns, k},
              a_format.mantissa_bits + b_format.mantissa_bits,
              false,
              a,
              {significand.data(), exponent.data()},
              sums,
              columns};
  steps.trace = &trace;
  base::run_steps(steps);
  for (std::size_t i = first; i < trace.size(); ++i) {
    trace[i].after = i + 1 < trace.size() ? trace[i + 1].before : sums[0];
  }
  return sums[0];
}

}  // namespace tilescope
