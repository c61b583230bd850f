// Floating-point instructions of f32, and comparisons of f64 (PTX ISA 9.7.3, 9.7.6); what is IEEE
// 754 about them and what is not stands in core/sim/lanes/single.h.
//
// Division, reciprocal and square root are correctly rounded in every form, which is within the
// error that PTX allows the .approx and .full forms; ex2, lg2, sin, cos and rsqrt are the correctly
// rounded double result of the C library, rounded again: within half a unit in the last place.
#include <limits>
#include <type_traits>

#include "core/sim/lanes/extremes.h"
#include "core/sim/lanes/lanes.h"
#include "core/sim/lanes/single.h"
#include "core/sim/lanes/units.h"

namespace tilescope::sim::TILESCOPE_LANES {
namespace {

using ptx::Approx;
using ptx::Compare;
using ptx::Field;
using ptx::Logic;
using ptx::Op;
using ptx::Property;
using ptx::Type;

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

// min and max of two, or of three: the third goes against the result of the others.
template <class Mode, class Extreme>
struct Chosen {
  static float apply(float a, float b) {
    return Mode::out(Extreme::apply(Mode::in(a), Mode::in(b)));
  }
};
template <class Mode, class Extreme, bool magnitudes>
struct ChosenOfThree {
  static float in(float f) { return magnitudes ? std::fabs(Mode::in(f)) : Mode::in(f); }
  static float apply(float a, float b, float c) {
    return Mode::out(Extreme::apply(Extreme::apply(in(a), in(b)), in(c)));
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

template <class Mode, bool larger, bool nan_wins>
Handler extreme_with(const ptx::Instruction& i) {
  using Two = Extreme<larger, nan_wins, false>;
  if (i.modifiers.has(Field::xorsign)) {
    return binary<Chosen<Mode, Extreme<larger, nan_wins, true>>, float, float>;
  }
  if (i.count == 4) {
    return i.modifiers.has(Field::abs) ? ternary<ChosenOfThree<Mode, Two, true>, float, float>
                                       : ternary<ChosenOfThree<Mode, Two, false>, float, float>;
  }
  return binary<Chosen<Mode, Two>, float, float>;
}

template <class Mode, bool larger>
Handler extreme(const ptx::Instruction& i) {
  return i.modifiers.has(Field::nan) ? extreme_with<Mode, larger, true>(i)
                                     : extreme_with<Mode, larger, false>(i);
}

template <class Mode>
Handler in_mode(const ptx::Instruction& i) {
  switch (i.op) {
    case Op::min:
      return extreme<Mode, false>(i);
    case Op::max:
      return extreme<Mode, true>(i);
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
    case Round::rs:
      return nullptr;
  }
  return nullptr;
}

// testp (9.7.3.1): zeros count as normal.
template <class T>
bool has(Property property, T v) {
  const int kind = std::fpclassify(v);
  switch (property) {
    case Property::finite:
      return kind != FP_NAN && kind != FP_INFINITE;
    case Property::infinite:
      return kind == FP_INFINITE;
    case Property::number:
      return kind != FP_NAN;
    case Property::notanumber:
      return kind == FP_NAN;
    case Property::normal:
      return kind == FP_NORMAL || kind == FP_ZERO;
    case Property::subnormal:
      return kind == FP_SUBNORMAL;
    case Property::none:
      return false;
  }
  return false;
}

template <class T, Property property>
Flow test(Core& x, const Code& c, Mask m) {
  const T* a = lane_array<T>(x, c.a);
  Mask yes = 0;
  for (int l = 0; l < 32; ++l) yes |= has(property, a[l]) ? lane_bit[l] : 0u;
  set_predicates(x, c, m, yes, Logic::none);
  return Flow::next;
}

template <class T>
Handler testp(Property property) {
  switch (property) {
    case Property::finite:
      return test<T, Property::finite>;
    case Property::infinite:
      return test<T, Property::infinite>;
    case Property::number:
      return test<T, Property::number>;
    case Property::notanumber:
      return test<T, Property::notanumber>;
    case Property::normal:
      return test<T, Property::normal>;
    case Property::subnormal:
      return test<T, Property::subnormal>;
    case Property::none:
      return nullptr;
  }
  return nullptr;
}

}  // namespace

Handler floating_handler(const ptx::Instruction& i) {
  if (i.op == Op::set || i.op == Op::slct) return comparison_handler(i);
  const bool ftz = i.modifiers.has(Field::ftz), sat = i.modifiers.has(Field::sat);
  if (i.op == Op::testp) {
    const Property property = i.modifiers.property();
    return i.modifiers.type() == Type::f64 ? testp<double>(property) : testp<float>(property);
  }
  if (i.modifiers.type() == Type::f64) {
    return i.op == Op::setp ? setp<double, Identity>(i) : double_handler(i);
  }
  if (i.modifiers.type() == Type::f32x2 || i.modifiers.has(Field::type2)) return mixed_handler(i);
  if (i.modifiers.type() != Type::f32) {
    return i.op == Op::setp ? comparison_handler(i) : half_handler(i);
  }
  if (i.op == Op::copysign) return binary<Copysign, float, float>;
  if (i.op == Op::setp) return ftz ? setp<float, Ftz>(i) : setp<float, Plain>(i);
  if (sat) return ftz ? in_mode<Sat<Ftz>>(i) : in_mode<Sat<Plain>>(i);
  return ftz ? in_mode<Ftz>(i) : in_mode<Plain>(i);
}

}  // namespace tilescope::sim::TILESCOPE_LANES
