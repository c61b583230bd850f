// Vectors for the tensor cores' inner loops (core/numeric/tile_product.h), in the widths of the
// instructions that a file is compiled for. Included by files that are compiled once for each set.
#pragma once

#include <cstdint>
#include <cstring>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "core/numeric/tile_steps.h"

namespace tilescope::TILESCOPE_STEPS {

#ifdef __AVX512F__
constexpr int width = 16;
#else
constexpr int width = 8;
#endif
constexpr int parts = tile_lanes / width;  // vectors of a unit

typedef std::int32_t Ints __attribute__((vector_size(4 * width)));
typedef std::uint32_t Words __attribute__((vector_size(4 * width)));  // sums that may run over
typedef float Floats __attribute__((vector_size(4 * width)));
typedef std::int16_t Shorts __attribute__((vector_size(4 * width)));  // twice as many
typedef float Eight __attribute__((vector_size(32)));
typedef std::uint32_t EightWords __attribute__((vector_size(32)));

template <class V, class T>
inline V loaded(const T* from) {
  V v;
  std::memcpy(&v, from, sizeof v);
  return v;
}
template <class V, class T>
inline void store(T* to, const V& v) {
  std::memcpy(to, &v, sizeof v);
}
template <class To, class From>
inline To as(const From& v) {
  static_assert(sizeof(To) == sizeof(From));
  To out;
  std::memcpy(&out, &v, sizeof out);
  return out;
}

// One number everywhere; 0 is taken from it, as 0 added would make +0 of -0.
inline Floats splat(float v) {
  return v - Floats{};
}
// Four numbers, again and again.
inline Floats four_repeated(const float* from) {
#if defined(__AVX512F__)
  return reinterpret_cast<Floats>(_mm512_broadcast_f32x4(_mm_loadu_ps(from)));
#elif defined(__AVX2__)
  return reinterpret_cast<Floats>(_mm256_broadcast_ps(reinterpret_cast<const __m128*>(from)));
#else
  return Floats{from[0], from[1], from[2], from[3], from[0], from[1], from[2], from[3]};
#endif
}
inline Shorts four_repeated(const std::int16_t* from) {
  std::int64_t four;
  std::memcpy(&four, from, sizeof four);
  typedef std::int64_t Longs __attribute__((vector_size(4 * width)));
  return as<Shorts>(Longs{} + four);
}

// Two, again and again.
inline Shorts two_repeated(const std::int16_t* from) {
  std::int32_t two;
  std::memcpy(&two, from, sizeof two);
  return as<Shorts>(Ints{} + two);
}

// As f32, what does not fit its 24 bits cut off; of numbers that are not negative.
inline Floats cut_to_float(const Ints& v) {
#if defined(__AVX512F__)
  return reinterpret_cast<Floats>(_mm512_cvt_roundepi32_ps(reinterpret_cast<__m512i>(v),
                                                           _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC));
#else
  // Rounded to nearest it is one too many where it is more than it was.
  const Floats rounded = __builtin_convertvector(v, Floats);
  const auto back = __builtin_convertvector(rounded, Ints);
  const Ints more = as<Ints>(as<Words>(v) - as<Words>(back)) >> 31;
  return as<Floats>(as<Ints>(rounded) + more);
#endif
}

inline Shorts larger(const Shorts& a, const Shorts& b) {
#if defined(__AVX512BW__)
  return reinterpret_cast<Shorts>(
      _mm512_max_epi16(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
#elif defined(__AVX2__)
  return reinterpret_cast<Shorts>(
      _mm256_max_epi16(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
#else
  return a > b ? a : b;
#endif
}
inline Ints larger(const Ints& a, const Ints& b) {
#if defined(__AVX512F__)
  return reinterpret_cast<Ints>(
      _mm512_max_epi32(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
#elif defined(__AVX2__)
  return reinterpret_cast<Ints>(
      _mm256_max_epi32(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
#else
  return a > b ? a : b;
#endif
}

// The register, among those of all warps, of rows 8 g to 8 g + 7 and the q-th four columns in the
// order of TilePanels.
inline int tile_register(int n, int g, int q) {
  return g / 2 * (n / 2) + q / 2 * 4 + g % 2 * 2 + q % 2;
}

// Are any bits set?
inline bool any(const Ints& v) {
#if defined(__AVX512F__)
  const auto w = reinterpret_cast<__m512i>(v);
  return _mm512_test_epi32_mask(w, w) != 0;
#elif defined(__AVX2__)
  const auto w = reinterpret_cast<__m256i>(v);
  return !_mm256_testz_si256(w, w);
#else
  std::int64_t words[width / 2];
  std::memcpy(words, &v, sizeof words);
  std::int64_t all = 0;
  for (const std::int64_t w : words) all |= w;
  return all != 0;
#endif
}

}  // namespace tilescope::TILESCOPE_STEPS
