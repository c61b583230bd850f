// Eight columns at a time, in vectors that the compiler makes of what the processor has. Compiled
// into a namespace for each set of vector instructions (TILESCOPE_STEPS).
#include "core/numeric/tensor_core_steps.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

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
void write(const StepRule& rule, const Doubles& sum, const Ints& scale, std::uint32_t* out) {
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

// 2^exponent, as far as f32 has it.
inline Floats power(const Ints& exponent) {
  const Ints bits = (larger(smaller(exponent, Ints{} + 127), Ints{} - 126) + 127) << 23;
  Floats out;
  std::memcpy(&out, &bits, sizeof out);
  return out;
}

// significand * 2^exponent of narrow numbers; infinities and NaN are something finite. n is a
// multiple of 8 and blocks are of 4 at least: the last few elements are taken again with those
// before them.
std::vector<float> values(const Factors& factors, int count) {
  std::vector<float> out(static_cast<std::size_t>(count));
  const auto take = [&](int i) {
    Ints significand, exponent;
    load(significand, factors.significand + i);
    load(exponent, factors.exponent + i);
    const Floats value = __builtin_convertvector(significand, Floats) * power(exponent);
    store(&out[static_cast<std::size_t>(i)], value);
  };
  for (int i = 0; i + width <= count; i += width) take(i);
  if (count % width && count > width) take(count - width);
  for (int i = 0; count < width && i < count; ++i) {
    out[static_cast<std::size_t>(i)] =
        std::ldexp(static_cast<float>(factors.significand[i]), std::min(factors.exponent[i], 127));
  }
  return out;
}

// What the products of a step come to: two sums of half of them each, as one would not fit 32 bits.
struct Sums {
  Ints even{}, odd{};
};

// Of narrow numbers products are exact as f32, and so are their multiples of a power of two, until
// they are so small that nothing of them is left: the conversion to integers truncates. (Where
// `largest` is below what f32 can scale to, all products are zeros.)
template <int block>
inline Sums add_narrow(const Steps& s, const float* a, const float* b, const Ints& largest) {
  const Floats scale = power(s.rule.fraction - s.product_bits - largest);
  const auto product = [&](int p) {
    Floats f;
    load(f, b + p * s.shape.n);
    return __builtin_convertvector(f * a[p] * scale, Ints);
  };
  // Without a sign: an element with an infinity or a NaN, whose sum is not asked for, may run over.
  using Unsigned = std::uint32_t __attribute__((vector_size(sizeof(Ints))));
  Unsigned even{}, odd{};
  for (int p = 0; p < block; p += 2) {
    even += reinterpret_cast<Unsigned>(product(p));
    odd += reinterpret_cast<Unsigned>(product(p + 1));
  }
  return {reinterpret_cast<Ints>(even), reinterpret_cast<Ints>(odd)};
}

// One step of eight elements of row i: columns j to j + 7, products k to k + block - 1. `a` and `b`
// are the matrices' values, of narrow numbers.
template <int block, bool narrow>
void step(const Steps& s, const float* a, const float* b, int i, int j, int k, std::uint32_t* c) {
  const int n = s.shape.n;
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

  Sums sums;
  const int up = s.rule.fraction - s.product_bits;
  const auto product = [&](int p) {
    Ints e, f;
    load(e, b_exponent + p * n);
    load(f, b_significand + p * n);
    return truncated(f * (a_significand[p] << up), largest - (e + a_exponent[p]));
  };
  if constexpr (narrow) {
    sums = add_narrow<block>(s, a + i * s.shape.k + k, b + k * n + j, largest);
  } else {
    for (int p = 0; p < block; p += 2) {
      sums.even += product(p);
      sums.odd += product(p + 1);
    }
  }
  const int c_bits = s.rule.half_accumulator ? 10 : 23;
  const int c_up = s.rule.fraction > c_bits ? s.rule.fraction - c_bits : 0;
  const int c_down = s.rule.fraction < c_bits ? c_bits - s.rule.fraction : 0;
  const Ints kept = truncated(old.significand << c_up, largest - old.exponent + c_down);
  if constexpr (!narrow) {
    if (s.trace) {
      StepTrace& t = s.trace->emplace_back();
      t.first = k;
      t.largest = largest[0];
      t.unit = largest[0] - s.rule.fraction;
      for (int p = 0; p < block; ++p) t.kept.push_back(product(p)[0]);
      t.accumulator = kept[0];
      t.before = *c;
      t.special = largest[0] >= least_special;
    }
  }

  const Doubles sum = __builtin_convertvector(sums.even, Doubles) +
                      __builtin_convertvector(sums.odd, Doubles) +
                      __builtin_convertvector(kept, Doubles);
  write(s.rule, sum, smaller(largest, Ints{} + 512) - s.rule.fraction, c);

  if (!any(largest >= least_special)) return;
  for (int q = 0; q < width; ++q) {
    if (largest[q] < least_special) continue;
    c[q] = special_sum(s.rule.half_accumulator, block, {a_significand, a_exponent},
                       {b_significand + q, b_exponent + q}, n, old.significand[q], old.exponent[q]);
  }
}

template <int block, bool narrow>
void run(const Steps& s) {
  std::vector<float> a, b;
  if (narrow) {
    a = values(s.a, s.shape.m * s.shape.k);
    b = values(s.b, s.shape.k * s.shape.n);
  }
  for (int j = 0; j < s.shape.n; j += width) {
    for (int i = 0; i < s.shape.m; ++i) {
      std::uint32_t* c = s.c + i * s.stride + j;
      for (int k = 0; k < s.shape.k; k += block) {
        step<block, narrow>(s, a.data(), b.data(), i, j, k, c);
      }
    }
  }
}

// The number of products is known when this is compiled, so that their loops are unrolled.
template <bool narrow>
void run(const Steps& s) {
  switch (s.rule.block) {
    case 64:
      return run<64, narrow>(s);
    case 32:
      return run<32, narrow>(s);
    case 16:
      return run<16, narrow>(s);
    case 8:
      return run<8, narrow>(s);
    default:
      return run<4, narrow>(s);
  }
}

}  // namespace

void run_steps(const Steps& s) {
  s.narrow ? run<true>(s) : run<false>(s);
}

}  // namespace tilescope::TILESCOPE_STEPS
