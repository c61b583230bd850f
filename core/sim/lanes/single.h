// f32 as PTX computes with it (PTX ISA 9.7.3): the modes of operands and results, and the sums and
// products that f32, f32x2 and the mixed forms share.
//
// IEEE 754 with these differences: a NaN result is 0x7fffffff whatever went in; with .ftz subnormal
// inputs and results are zeros of the same sign, where a result is subnormal if it is so before it
// is rounded (seen on an H200); .sat clamps to [0, 1] and NaN to 0.
#pragma once

#include "core/sim/lanes/rounding.h"

namespace tilescope::sim::TILESCOPE_LANES {
namespace {

inline float canonical(float f) {
  return f == f ? f : float_of(0x7fffffffu);
}
inline float flushed(float f) {
  const std::uint32_t b = bits_of(f);
  return (b & 0x7f800000u) ? f : float_of(b & 0x80000000u);
}

struct Plain {
  static constexpr bool flushes = false;
  static float in(float f) { return f; }
  static float out(float f) { return canonical(f); }
};
struct Ftz {
  static constexpr bool flushes = true;
  static float in(float f) { return flushed(f); }
  static float out(float f) { return canonical(flushed(f)); }
};
template <class Mode>
struct Sat {
  static constexpr bool flushes = Mode::flushes;
  static float in(float f) { return Mode::in(f); }
  static float out(float f) {
    const float v = Mode::out(f);
    return v > 0 ? (v < 1 ? v : 1.0f) : 0.0f;  // NaN is not above 0
  }
};

// A result whose value before rounding is `exact`, as far as flushing goes.
template <class Mode>
inline float tiny_or(float rounded, double exact) {
  if constexpr (Mode::flushes) {
    const bool tiny = exact < 0x1p-126 && exact > -0x1p-126;
    return tiny ? float_of(bits_of(rounded) & 0x80000000u) : rounded;
  }
  return rounded;
}

template <class Mode, Round round>
struct Add {
  static float apply(float a, float b) {
    if constexpr (round == Round::rn) return Mode::out(Mode::in(a) + Mode::in(b));
    return Mode::out(directed(Mode::in(a), Mode::in(b)));
  }
  static float directed(float a, float b) {
    const float nearest = a + b;
    // Infinities, NaN and exact zeros (whose sign is - only when rounding down) are their own case.
    if (!(nearest - nearest == 0) && !(a - a == 0 && b - b == 0)) return nearest;
    const double exact = sum_to_odd(a, b);
    if (exact == 0)
      return a == 0 && b == 0 && bits_of(a) == bits_of(b) ? a : round == Round::rm ? -0.0f : 0.0f;
    return narrowed<round>(exact);
  }
};
template <class Mode, Round round>
struct Sub {
  static float apply(float a, float b) {
    if constexpr (round == Round::rn) return Mode::out(Mode::in(a)-Mode::in(b));
    return Mode::out(Add<Mode, round>::directed(Mode::in(a), -Mode::in(b)));
  }
};
template <class Mode, Round round>
struct Mul {
  static float apply(float a, float b) {
    a = Mode::in(a), b = Mode::in(b);
    if constexpr (round == Round::rn && !Mode::flushes) return Mode::out(a * b);
    const double exact = double{a} * double{b};
    return Mode::out(tiny_or<Mode>(narrowed<round>(exact), exact));
  }
};
template <class Mode, Round round>
struct Fma {
  static float apply(float a, float b, float c) {
    a = Mode::in(a), b = Mode::in(b), c = Mode::in(c);
#ifdef __FMA__
    if constexpr (round == Round::rn && !Mode::flushes) return Mode::out(__builtin_fmaf(a, b, c));
#endif
    const double product = double{a} * double{b};  // exact
    if (!(product - product == 0) || !(c - c == 0)) {
      return Mode::out(static_cast<float>(product + c));
    }
    const double exact = sum_to_odd(product, c);
    if (exact == 0 && round != Round::rn) {
      const bool same = std::signbit(product) == std::signbit(c);
      return Mode::out(same ? c : round == Round::rm ? -0.0f : 0.0f);
    }
    return Mode::out(tiny_or<Mode>(narrowed<round>(exact), exact));
  }
};

}  // namespace
}  // namespace tilescope::sim::TILESCOPE_LANES
