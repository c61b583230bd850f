// Eight columns at a time, in vectors that the compiler makes of what the processor has. Compiled
// into a namespace for each set of vector instructions (TILESCOPE_STEPS).
#include "core/numeric/tensor_core_steps.h"

#include <cmath>
#include <cstring>

namespace tilescope::TILESCOPE_STEPS {
namespace {

constexpr int width = 8;
typedef std::int32_t Ints __attribute__((vector_size(4 * width)));
typedef std::int64_t Longs __attribute__((vector_size(8 * width)));
typedef float Floats __attribute__((vector_size(4 * width)));
typedef double Doubles __attribute__((vector_size(8 * width)));

template <class V, class T>
inline void load(V& v, const T* from) {
  std::memcpy(&v, from, sizeof v);
}
template <class V, class T>
inline void store(T* to, const V& v) {
  std::memcpy(to, &v, sizeof v);
}

inline Ints larger(const Ints& a, const Ints& b) {
  return a > b ? a : b;
}
inline Ints smaller(const Ints& a, const Ints& b) {
  return a < b ? a : b;
}

// Is a comparison true anywhere?
inline bool any(const Ints& comparison) {
  std::int64_t parts[width / 2];
  std::memcpy(parts, &comparison, sizeof parts);
  return (parts[0] | parts[1] | parts[2] | parts[3]) != 0;
}

// `value` without the bits that `by` places to the right fall off, towards zero.
inline Ints truncated(const Ints& value, const Ints& by) {
  const Ints sign = value >> 31;
  const Ints size = (value ^ sign) - sign;
  return ((size >> smaller(by, Ints{} + 31)) ^ sign) - sign;
}

// Eight accumulators: as patterns, and taken apart as take_apart() does.
struct Accumulators {
  Ints significand, exponent;

  Accumulators(bool half, const std::uint32_t* patterns) {
    const int mantissa_bits = half ? 10 : 23, bias = half ? 15 : 127, top = half ? 31 : 255;
    Ints pattern;
    load(pattern, patterns);
    const Ints field = pattern >> mantissa_bits & top;
    const Ints mantissa = pattern & ((1 << mantissa_bits) - 1);
    const Ints negative = pattern << (half ? 16 : 0) >> 31;
    significand = mantissa | (field > 0 ? Ints{} + (1 << mantissa_bits) : Ints{});
    exponent = larger(field, Ints{} + 1) - bias;
    exponent = significand == 0 ? Ints{} + zero_exponent : exponent;
    // Infinity is +-1, NaN 0.
    significand = field == top ? (mantissa == 0 ? Ints{} + 1 : Ints{}) : significand;
    exponent = field == top ? Ints{} + special_exponent : exponent;
    significand = (significand ^ negative) - negative;
  }
};

// Eight elements of one row: `sum` times 2^scale, as patterns of the accumulator.
void narrow(const StepRule& rule, const Doubles& sum, const Ints& scale, std::uint32_t* out) {
  const Longs power = (__builtin_convertvector(scale, Longs) + 1023) << 52;
  Doubles value;
  std::memcpy(&value, &power, sizeof value);
  if (rule.half_accumulator) {
    value *= sum;
    for (int j = 0; j < width; ++j) out[j] = half_of(value[j]);
    return;
  }
  Longs bits;
  std::memcpy(&bits, &sum, sizeof bits);
  bits &= -(std::int64_t{1} << (53 - rule.significant));
  Doubles kept;
  std::memcpy(&kept, &bits, sizeof kept);
  value *= kept;
  const Floats narrowed = __builtin_convertvector(value, Floats);
  store(out, narrowed);
  if (!any(scale < -126)) return;
  // Below the normal numbers fewer bits remain, and they are truncated as well; a zero is +0.
  for (int j = 0; j < width; ++j) {
    if (std::fabs(value[j]) >= 0x1p-126 || value[j] == 0) continue;
    const float least = static_cast<float>(std::trunc(value[j] * 0x1p149) * 0x1p-149) + 0.0f;
    std::memcpy(&out[j], &least, sizeof least);
  }
}

// One step of eight elements of row i: columns j to j + 7, products k to k + block - 1.
void step(const Steps& s, int i, int j, int k, std::uint32_t* c) {
  const int n = s.shape.n, block = s.rule.block;
  const Accumulators old(s.rule.half_accumulator, c);
  const std::int32_t* a_significand = s.a.significand + i * s.shape.k + k;
  const std::int32_t* a_exponent = s.a.exponent + i * s.shape.k + k;
  const std::int32_t* b_significand = s.b.significand + k * n + j;
  const std::int32_t* b_exponent = s.b.exponent + k * n + j;

  Ints largest = larger(old.exponent, Ints{} + s.rule.lowest);
  for (int p = 0; p < block; ++p) {
    Ints e;
    load(e, b_exponent + p * n);
    largest = larger(largest, e + a_exponent[p]);
  }

  // Two sums of half the products each: one would not fit 32 bits.
  Ints even{}, odd{};
  const int up = s.rule.fraction - s.product_bits;
  const auto product = [&](int p) {
    Ints e, f;
    load(e, b_exponent + p * n);
    load(f, b_significand + p * n);
    return truncated(f * (a_significand[p] << up), largest - (e + a_exponent[p]));
  };
  for (int p = 0; p < block; p += 2) {
    even += product(p);
    odd += product(p + 1);
  }
  const int c_bits = s.rule.half_accumulator ? 10 : 23;
  const int c_up = s.rule.fraction > c_bits ? s.rule.fraction - c_bits : 0;
  const int c_down = s.rule.fraction < c_bits ? c_bits - s.rule.fraction : 0;
  const Ints kept = truncated(old.significand << c_up, largest - old.exponent + c_down);

  const Doubles sum = __builtin_convertvector(even, Doubles) +
                      __builtin_convertvector(odd, Doubles) +
                      __builtin_convertvector(kept, Doubles);
  narrow(s.rule, sum, smaller(largest, Ints{} + 512) - s.rule.fraction, c);

  if (!any(largest >= least_special)) return;
  for (int q = 0; q < width; ++q) {
    if (largest[q] < least_special) continue;
    c[q] = special_sum(s.rule.half_accumulator, block, {a_significand, a_exponent},
                       {b_significand + q, b_exponent + q}, n, old.significand[q], old.exponent[q]);
  }
}

}  // namespace

void run_steps(const Steps& s) {
  for (int j = 0; j < s.shape.n; j += width) {
    for (int i = 0; i < s.shape.m; ++i) {
      std::uint32_t* c = s.c + i * s.stride + j;
      for (int k = 0; k < s.shape.k; k += s.rule.block) step(s, i, j, k, c);
    }
  }
}

}  // namespace tilescope::TILESCOPE_STEPS
