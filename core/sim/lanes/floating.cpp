// Floating-point instructions of f32 (PTX ISA 9.7.3), and the plain ones of f64.
//
// f32 is IEEE 754 with these differences: a NaN result is 0x7fffffff whatever went in; with .ftz
// subnormal inputs and results are zeros of the same sign, where a result is subnormal if it is so
// before it is rounded (seen on an H200); .sat clamps to [0, 1] and NaN to 0.
// Division, reciprocal and square root are correctly rounded in every form, which is within the
// error that PTX allows the .approx and .full forms; ex2, lg2, sin, cos and rsqrt are the correctly
// rounded double result of the C library, rounded again: within half a unit in the last place.
#include <limits>
#include <type_traits>

#include "core/sim/lanes/lanes.h"
#include "core/sim/lanes/rounding.h"
#include "core/sim/lanes/units.h"

namespace tilescope::sim::TILESCOPE_LANES {
namespace {

using ptx::Approx;
using ptx::Compare;
using ptx::Field;
using ptx::Logic;
using ptx::Op;
using ptx::Type;

inline float canonical(float f) {
  return f == f ? f : float_of(0x7fffffffu);
}
inline double canonical(double f) {
  constexpr std::uint64_t nan = 0x7fffffffffffffffu;
  double out;
  std::memcpy(&out, &nan, 8);
  return f == f ? f : out;
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

template <class Mode, Round round>
struct Div {
  static float apply(float a, float b) {
    a = Mode::in(a), b = Mode::in(b);
    if constexpr (round == Round::rn && !Mode::flushes) return Mode::out(a / b);
    const double q = double{a} / double{b};
    if (!(q - q == 0) || q == 0) return Mode::out(static_cast<float>(q));
    const double left = -std::fma(q, double{b}, -double{a});  // a - q * b, exact
    const double exact = to_odd(q, b > 0 ? left : -left);
    return Mode::out(tiny_or<Mode>(narrowed<round>(exact), exact));
  }
};
// 9.7.3.8: where |b| is above 2^126 the reciprocal has no room, and the quotient is 0.
template <class Mode>
struct DivApprox {
  static float apply(float a, float b) {
    a = Mode::in(a), b = Mode::in(b);
    const std::uint32_t size = bits_of(b) & 0x7fffffffu;
    if (size > 0x7e800000u && size < 0x7f800000u) {
      const std::uint32_t sign = (bits_of(a) ^ bits_of(b)) & 0x80000000u;
      return a - a == 0 ? float_of(sign) : canonical(std::numeric_limits<float>::quiet_NaN());
    }
    return Mode::out(a / b);
  }
};
template <class Mode, Round round>
struct Rcp {
  static float apply(float a) { return Div<Mode, round>::apply(1.0f, a); }
};
template <class Mode, Round round>
struct Sqrt {
  static float apply(float a) {
    a = Mode::in(a);
    if constexpr (round == Round::rn) return Mode::out(__builtin_sqrtf(a));
    const double s = std::sqrt(double{a});
    if (!(s - s == 0) || s == 0) return Mode::out(static_cast<float>(s));
    return Mode::out(narrowed<round>(to_odd(s, -std::fma(s, s, -double{a}))));
  }
};
template <class Mode>
struct Rsqrt {
  static float apply(float a) {
    return Mode::out(static_cast<float>(1.0 / std::sqrt(double{Mode::in(a)})));
  }
};
template <class Mode>
struct Ex2 {
  static float apply(float a) {
    return Mode::out(static_cast<float>(std::exp2(double{Mode::in(a)})));
  }
};
template <class Mode>
struct Lg2 {
  static float apply(float a) {
    return Mode::out(static_cast<float>(std::log2(double{Mode::in(a)})));
  }
};
template <class Mode>
struct Sin {
  static float apply(float a) {
    return Mode::out(static_cast<float>(std::sin(double{Mode::in(a)})));
  }
};
template <class Mode>
struct Cos {
  static float apply(float a) {
    return Mode::out(static_cast<float>(std::cos(double{Mode::in(a)})));
  }
};

// Nearest to tanh, of which the ISA allows a relative error of 2^-11; subnormals go through.
template <class Mode>
struct Tanh {
  static float apply(float a) {
    return Mode::out(static_cast<float>(std::tanh(double{Mode::in(a)})));
  }
};

// 9.7.3.11: the number where one is NaN; -0 is less than +0.
template <class Mode>
struct Min {
  static float apply(float a, float b) {
    a = Mode::in(a), b = Mode::in(b);
    const float smaller = a < b ? a : b < a ? b : float_of(bits_of(a) | bits_of(b));
    return Mode::out(a != a ? b : b != b ? a : smaller);
  }
};
template <class Mode>
struct Max {
  static float apply(float a, float b) {
    a = Mode::in(a), b = Mode::in(b);
    const float larger = a > b ? a : b > a ? b : float_of(bits_of(a) & bits_of(b));
    return Mode::out(a != a ? b : b != b ? a : larger);
  }
};
template <class Mode>
struct Abs {
  static float apply(float a) { return Mode::out(float_of(bits_of(a) & 0x7fffffffu)); }
};
template <class Mode>
struct Neg {
  static float apply(float a) { return Mode::out(float_of(bits_of(a) ^ 0x80000000u)); }
};

// 9.7.3.2: bits go through as they are, NaN too.
struct Copysign {
  static float apply(float a, float b) {
    return float_of((bits_of(a) & 0x80000000u) | (bits_of(b) & 0x7fffffffu));
  }
};

// f64, to nearest.
struct Add64 {
  static double apply(double a, double b) { return canonical(a + b); }
};
struct Sub64 {
  static double apply(double a, double b) { return canonical(a - b); }
};
struct Mul64 {
  static double apply(double a, double b) { return canonical(a * b); }
};
struct Div64 {
  static double apply(double a, double b) { return canonical(a / b); }
};
struct Fma64 {
  static double apply(double a, double b, double c) { return canonical(std::fma(a, b, c)); }
};
struct Min64 {
  static double apply(double a, double b) {
    if (a != a || b != b) return canonical(a != a ? b : a);
    return a < b || (a == b && std::signbit(a)) ? a : b;
  }
};
struct Max64 {
  static double apply(double a, double b) {
    if (a != a || b != b) return canonical(a != a ? b : a);
    return a > b || (a == b && !std::signbit(a)) ? a : b;
  }
};
struct Abs64 {
  static double apply(double a) { return canonical(std::fabs(a)); }
};
struct Neg64 {
  static double apply(double a) { return canonical(-a); }
};

// Ordered comparisons are false of NaN, the ...u forms true (9.7.6.2).
template <class Mode>
struct Eq {
  template <class T>
  static bool apply(T a, T b) {
    return Mode::in(a) == Mode::in(b);
  }
};
template <class Mode>
struct Ne {
  template <class T>
  static bool apply(T a, T b) {
    return Mode::in(a) < Mode::in(b) || Mode::in(a) > Mode::in(b);
  }
};
template <class Mode>
struct Lt {
  template <class T>
  static bool apply(T a, T b) {
    return Mode::in(a) < Mode::in(b);
  }
};
template <class Mode>
struct Le {
  template <class T>
  static bool apply(T a, T b) {
    return Mode::in(a) <= Mode::in(b);
  }
};
template <class Mode>
struct Gt {
  template <class T>
  static bool apply(T a, T b) {
    return Mode::in(a) > Mode::in(b);
  }
};
template <class Mode>
struct Ge {
  template <class T>
  static bool apply(T a, T b) {
    return Mode::in(a) >= Mode::in(b);
  }
};
template <class C>
struct Negated {
  template <class T>
  static bool apply(T a, T b) {
    return !C::apply(a, b);
  }
};
struct Ordered {
  template <class T>
  static bool apply(T a, T b) {
    return a == a && b == b;
  }
};
struct Identity {
  template <class T>
  static T in(T f) {
    return f;
  }
};

template <class T, class C>
Handler compare_with(Logic logic) {
  switch (logic) {
    case Logic::none:
      return compare<C, T, Logic::none>;
    case Logic::and_:
      return compare<C, T, Logic::and_>;
    case Logic::or_:
      return compare<C, T, Logic::or_>;
    case Logic::xor_:
      return compare<C, T, Logic::xor_>;
  }
  return nullptr;
}

template <class T, class Mode>
Handler setp(const ptx::Instruction& i) {
  const Logic logic = i.modifiers.logic();
  switch (i.modifiers.compare()) {
    case Compare::eq:
      return compare_with<T, Eq<Mode>>(logic);
    case Compare::ne:
      return compare_with<T, Ne<Mode>>(logic);
    case Compare::lt:
      return compare_with<T, Lt<Mode>>(logic);
    case Compare::le:
      return compare_with<T, Le<Mode>>(logic);
    case Compare::gt:
      return compare_with<T, Gt<Mode>>(logic);
    case Compare::ge:
      return compare_with<T, Ge<Mode>>(logic);
    case Compare::equ:
      return compare_with<T, Negated<Ne<Mode>>>(logic);
    case Compare::neu:
      return compare_with<T, Negated<Eq<Mode>>>(logic);
    case Compare::ltu:
      return compare_with<T, Negated<Ge<Mode>>>(logic);
    case Compare::leu:
      return compare_with<T, Negated<Gt<Mode>>>(logic);
    case Compare::gtu:
      return compare_with<T, Negated<Le<Mode>>>(logic);
    case Compare::geu:
      return compare_with<T, Negated<Lt<Mode>>>(logic);
    case Compare::num:
      return compare_with<T, Ordered>(logic);
    case Compare::nan:
      return compare_with<T, Negated<Ordered>>(logic);
    default:
      return nullptr;
  }
}

template <class Mode, Round round>
Handler rounded(Op op) {
  switch (op) {
    case Op::add:
      return binary<Add<Mode, round>, float, float>;
    case Op::sub:
      return binary<Sub<Mode, round>, float, float>;
    case Op::mul:
      return binary<Mul<Mode, round>, float, float>;
    case Op::mad:
    case Op::fma:
      return ternary<Fma<Mode, round>, float, float>;
    case Op::div:
      return binary<Div<Mode, round>, float, float>;
    case Op::rcp:
      return unary<Rcp<Mode, round>, float, float>;
    case Op::sqrt:
      return unary<Sqrt<Mode, round>, float, float>;
    default:
      return nullptr;
  }
}

template <class Mode>
Handler in_mode(const ptx::Instruction& i) {
  switch (i.op) {
    case Op::min:
      return binary<Min<Mode>, float, float>;
    case Op::max:
      return binary<Max<Mode>, float, float>;
    case Op::abs:
      return unary<Abs<Mode>, float, float>;
    case Op::neg:
      return unary<Neg<Mode>, float, float>;
    case Op::rsqrt:
      return unary<Rsqrt<Mode>, float, float>;
    case Op::ex2:
      return unary<Ex2<Mode>, float, float>;
    case Op::lg2:
      return unary<Lg2<Mode>, float, float>;
    case Op::sin:
      return unary<Sin<Mode>, float, float>;
    case Op::cos:
      return unary<Cos<Mode>, float, float>;
    case Op::tanh:
      return unary<Tanh<Mode>, float, float>;
    case Op::div:
      if (i.modifiers.approx() == Approx::approx) return binary<DivApprox<Mode>, float, float>;
      break;
    default:
      break;
  }
  switch (i.modifiers.round()) {
    case Round::none:
    case Round::rn:
      return rounded<Mode, Round::rn>(i.op);
    case Round::rz:
      return rounded<Mode, Round::rz>(i.op);
    case Round::rm:
      return rounded<Mode, Round::rm>(i.op);
    case Round::rp:
      return rounded<Mode, Round::rp>(i.op);
    case Round::rna:
      return nullptr;
  }
  return nullptr;
}

Handler of_f64(const ptx::Instruction& i) {
  switch (i.op) {
    case Op::add:
      return binary<Add64, double, double>;
    case Op::sub:
      return binary<Sub64, double, double>;
    case Op::mul:
      return binary<Mul64, double, double>;
    case Op::div:
      return binary<Div64, double, double>;
    case Op::mad:
    case Op::fma:
      return ternary<Fma64, double, double>;
    case Op::min:
      return binary<Min64, double, double>;
    case Op::max:
      return binary<Max64, double, double>;
    case Op::abs:
      return unary<Abs64, double, double>;
    case Op::neg:
      return unary<Neg64, double, double>;
    case Op::setp:
      return setp<double, Identity>(i);
    default:
      return nullptr;
  }
}

}  // namespace

Handler floating_handler(const ptx::Instruction& i) {
  const bool ftz = i.modifiers.has(Field::ftz), sat = i.modifiers.has(Field::sat);
  if (i.modifiers.type() == Type::f64) return of_f64(i);
  if (i.modifiers.type() != Type::f32) return half_handler(i);
  if (i.op == Op::copysign) return binary<Copysign, float, float>;
  if (i.op == Op::setp) return ftz ? setp<float, Ftz>(i) : setp<float, Plain>(i);
  if (sat) return ftz ? in_mode<Sat<Ftz>>(i) : in_mode<Sat<Plain>>(i);
  return ftz ? in_mode<Ftz>(i) : in_mode<Plain>(i);
}

}  // namespace tilescope::sim::TILESCOPE_LANES
