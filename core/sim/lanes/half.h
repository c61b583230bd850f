// f16 and bf16 as numbers: into float, which holds every one of them, and back, rounded to nearest.
//
// A sum, difference or product of two of them, computed in float and rounded again, is what
// rounding once gives: float has 24 bits, and 2p + 2 are enough for formats of p = 11 and 8
// (Figueroa, When is double rounding innocuous, 1995); where a result is subnormal, sums are exact,
// and a product of 2p bits that has a bit below float's range has no bit halfway between two
// results.
//
// Nothing here branches, so that loops over lanes become vector instructions.
#pragma once

#include "core/sim/lanes/rounding.h"

namespace tilescope::sim::TILESCOPE_LANES {
namespace {

// A double into float, rounded to odd: rounding that to fewer bits than 23 rounds once.
inline float float_to_odd(double v) {
  const float nearest = static_cast<float>(v);
  const double back = static_cast<double>(nearest);
  const bool inexact = back < v || back > v;  // NaN is neither
  const bool above = std::fabs(back) > std::fabs(v);
  const std::uint32_t b = bits_of(nearest);
  return float_of(inexact ? (b - (above ? 1u : 0u)) | 1u : b);
}

struct F16 {
  static constexpr float least_normal = 0x1p-14f;

  static float widened(std::uint16_t h) {
    const std::uint32_t sign = (h & 0x8000u) << 16;
    const std::uint32_t shifted = (h & 0x7fffu) << 13;
    // The exponent moves from bias 15 to 127, which a product does for subnormals too.
    const std::uint32_t number = bits_of(float_of(shifted) * 0x1p112f);
    const bool special = (h & 0x7c00u) == 0x7c00u;
    return float_of(sign | (special ? shifted | 0x7f800000u : number));
  }

  static std::uint16_t narrowed(float f) {
    const std::uint32_t b = bits_of(f), magnitude = b & 0x7fffffffu;
    // Below the normal numbers: the sum with 0.5 has its last bit where the subnormals' is.
    const std::uint32_t tiny = bits_of(float_of(magnitude) + 0.5f) - 0x3f000000u;
    const std::uint32_t odd = magnitude >> 13 & 1;
    const std::uint32_t normal = (magnitude - 0x38000000u + 0xfffu + odd) >> 13;
    const std::uint32_t finite = magnitude < 0x38800000u ? tiny : normal;
    const std::uint32_t beyond = magnitude > 0x7f800000u ? 0x7fffu : 0x7c00u;
    const std::uint32_t out = magnitude >= 0x47800000u ? beyond : finite;
    const std::uint32_t sign = magnitude > 0x7f800000u ? 0 : b >> 16 & 0x8000u;
    return static_cast<std::uint16_t>(sign | out);
  }

  // Where the sum of a product of f16 and a third loses bits in a double, it lies so close to the
  // larger of the two that it is nowhere near halfway between two f16.
  static float fused(float a, float b, float c) {
    return float_to_odd(double{a} * double{b} + double{c});
  }
};

struct Bf16 {
  static constexpr float least_normal = 0x1p-126f;

  static float widened(std::uint16_t h) { return float_of(static_cast<std::uint32_t>(h) << 16); }

  static std::uint16_t narrowed(float f) {
    const std::uint32_t b = bits_of(f);
    const std::uint32_t rounded = (b + 0x7fffu + (b >> 16 & 1)) >> 16;
    return static_cast<std::uint16_t>((b & 0x7fffffffu) > 0x7f800000u ? 0x7fffu : rounded);
  }

  static float fused(float a, float b, float c) {
    return float_to_odd(sum_to_odd(double{a} * double{b}, double{c}));
  }
};

}  // namespace
}  // namespace tilescope::sim::TILESCOPE_LANES
