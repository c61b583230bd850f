// The sums of core/numeric/tile_groups.h, of 32 columns at a time. Compiled into a namespace for
// each set of vector instructions (TILESCOPE_STEPS).
//
// A group's sum is a multiple of a quarter below 2^10, and with the significands of its scale
// factors a multiple of 2^-8 below 2^12: exact as f32. Shifted by 35 bits it is below 2^47, so that
// those of all groups are added exactly as doubles.
#include <cmath>

#include "core/numeric/tile_vectors.h"

namespace tilescope::TILESCOPE_STEPS {
namespace {

constexpr int group = 16, fraction = 35, most_groups = 6;
constexpr int half = width / 2;  // doubles of a vector
typedef double Doubles __attribute__((vector_size(4 * width)));
typedef std::int64_t Longs __attribute__((vector_size(4 * width)));
typedef float HalfFloats __attribute__((vector_size(2 * width)));
typedef std::int32_t HalfInts __attribute__((vector_size(2 * width)));

inline Doubles truncated(const Doubles& v) {
#if defined(__AVX512F__)
  return reinterpret_cast<Doubles>(
      _mm512_roundscale_pd(reinterpret_cast<__m512d>(v), _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC));
#elif defined(__AVX2__)
  return reinterpret_cast<Doubles>(
      _mm256_round_pd(reinterpret_cast<__m256d>(v), _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC));
#else
  return __builtin_convertvector(__builtin_convertvector(v, Longs), Doubles);
#endif
}

// 2^exponent of doubles.
inline Doubles power(const HalfInts& exponent) {
  return as<Doubles>((__builtin_convertvector(exponent, Longs) + 1023) << 52);
}

template <class Part, class Whole>
inline Part part_of(const Whole& v, int h) {
  Part out;
  std::memcpy(&out, reinterpret_cast<const char*>(&v) + static_cast<std::size_t>(h) * sizeof out,
              sizeof out);
  return out;
}

constexpr std::uint32_t nan_pattern = 0x7fffffff, infinity = 0x7f800000;

// Exact sums, truncated to f32's bits.
inline HalfFloats narrowed(Doubles sum) {
  constexpr double least_normal = 0x1p-126, least = 0x1p-149;
  sum = as<Doubles>(as<Longs>(sum) & -(std::int64_t{1} << 29));  // 24 of 53 bits
  for (int i = 0; i < half; ++i) {
    const double size = std::fabs(sum[i]);
    if (size < least_normal && size > 0) sum[i] = std::trunc(sum[i] / least) * least;
  }
  return __builtin_convertvector(sum, HalfFloats) + HalfFloats{};  // a zero is +0
}

// Elements with a NaN among their terms, or an accumulator that is no number.
std::uint32_t special_pattern(std::uint32_t old, std::int32_t largest_group) {
  const bool infinite = (old & nan_pattern) == infinity;
  return largest_group >= scale_nan / 2 || !infinite ? nan_pattern : old;
}

// One vector of a row: columns [lane, lane + width) of the unit.
inline void add_vector(const GroupPanels& p, const float* a, const float* a_scales,
                       const std::int32_t* a_exponents, const float* b, const float* b_scales,
                       const std::int32_t* b_exponents, std::uint32_t* c) {
  const int groups = p.k / group;
  Floats term[most_groups];
  Ints exponent[most_groups];
  Ints of_groups = Ints{} - 8192;
  for (int g = 0; g < groups; ++g) {
    Floats even{}, odd{};
    for (int q = g * group; q < (g + 1) * group; q += 2) {
      even += splat(a[q]) * loaded<Floats>(b + q * tile_lanes);
      odd += splat(a[q + 1]) * loaded<Floats>(b + (q + 1) * tile_lanes);
    }
    term[g] = even + odd;
    if (!p.unit_scales) {
      term[g] *= splat(a_scales[g]) * loaded<Floats>(b_scales + g * tile_lanes);
    }
    exponent[g] = loaded<Ints>(b_exponents + g * tile_lanes) + a_exponents[g];
    of_groups = larger(of_groups, exponent[g]);
  }
  const Ints old = loaded<Ints>(c);
  const Ints field = old >> 23 & 255;
  const Ints largest = larger(of_groups, larger(field, Ints{} + 1) - 127);
  for (int h = 0; h < 2; ++h) {
    const HalfInts top = part_of<HalfInts>(largest, h);
    Doubles sum =
        truncated(__builtin_convertvector(part_of<HalfFloats>(as<Floats>(old), h), Doubles) *
                  power(fraction - top));
    for (int g = 0; g < groups; ++g) {
      const HalfInts up = part_of<HalfInts>(exponent[g], h) + fraction - top;
      sum +=
          truncated(__builtin_convertvector(part_of<HalfFloats>(term[g], h), Doubles) * power(up));
    }
    store(c + h * half, narrowed(sum * power(top - fraction)));
  }
  const Ints special = (254 - field) | (scale_nan / 2 - 1 - of_groups);
  if (!any(special & ~0x7fffffff)) return;
  for (int i = 0; i < width; ++i) {
    if (special[i] < 0) c[i] = special_pattern(static_cast<std::uint32_t>(old[i]), of_groups[i]);
  }
}

}  // namespace

void add_groups(const GroupPanels& p, std::uint32_t* cells, int stride) {
  const int groups = p.k / group;
  for (int j = 0; j < p.n; j += tile_lanes) {
    const bool whole = p.n - j >= tile_lanes;
    const std::size_t bytes = static_cast<std::size_t>(p.n - j) * 4;
    const float* b = p.b + j * p.k;
    const int first = j * groups;  // of the unit's scale factors
    for (int i = 0; i < p.m; ++i) {
      std::uint32_t copy[tile_lanes] = {};  // of columns that are no whole unit
      std::uint32_t* row = cells + i * stride + j;
      if (!whole) std::memcpy(copy, row, bytes);
      for (int lane = 0; lane < tile_lanes; lane += width) {
        add_vector(p, p.a + i * p.k, p.a_scales + i * groups, p.a_exponents + i * groups, b + lane,
                   p.b_scales + first + lane, p.b_exponents + first + lane,
                   (whole ? row : copy) + lane);
      }
      if (!whole) std::memcpy(row, copy, bytes);
    }
  }
}

}  // namespace tilescope::TILESCOPE_STEPS
