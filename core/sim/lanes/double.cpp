// Floating-point instructions of f64 (PTX ISA 9.7.3), IEEE 754 in each of the four roundings. A NaN
// result is an operand's, quieted, with its sign and payload, also of abs and neg; where several
// are NaN b's goes before c's and a's, in div a's before b's. Where none is, it is
// 0xfff8000000000000 (all seen on an H200: tests/conformance).
//
// To nearest, the host computes. In the other directions sums, products and quotients are computed
// with integers that are exact but for their last bit, which says whether anything was lost below;
// that is enough to round any way.
// rcp and rsqrt .approx.ftz have the nearest value of 20 mantissa bits ("a gross approximation", of
// the operand's upper word); rsqrt.approx is within one unit of the last place (no bound is given).
#include "core/sim/lanes/lanes.h"
#include "core/sim/lanes/rounding.h"
#include "core/sim/lanes/units.h"

namespace tilescope::sim::TILESCOPE_LANES {
namespace {

using ptx::Approx;
using ptx::Field;
using ptx::Op;
using u64 = std::uint64_t;
using u128 = unsigned __int128;

inline u64 bits_of(double v) {
  u64 b;
  std::memcpy(&b, &v, 8);
  return b;
}
inline double double_of(u64 b) {
  double v;
  std::memcpy(&v, &b, 8);
  return v;
}
inline double quieted(double nan) {
  return double_of(bits_of(nan) | u64{1} << 51);
}
// v, or if it is NaN the first of the operands that is.
inline double canonical(double v, double first) {
  if (v == v) return v;
  return first != first ? quieted(first) : double_of(0xfff8000000000000u);
}
template <class... Others>
inline double canonical(double v, double first, Others... others) {
  return v == v || first == first ? canonical(v, others...) : quieted(first);
}
inline bool is_finite(double v) {
  return v - v == 0;
}

// significand * 2^exponent, where the last bit also stands for anything smaller that is not 0
struct Exact {
  bool negative = false;
  int exponent = 0;
  u128 significand = 0;
};

inline int length_of(u128 v) {
  const u64 high = static_cast<u64>(v >> 64), low = static_cast<u64>(v);
  return high ? 128 - __builtin_clzll(high) : low ? 64 - __builtin_clzll(low) : 0;
}

// A finite number; one that is not 0 with all 53 bits.
inline Exact exact_of(double v) {
  const u64 b = bits_of(v);
  const int field = static_cast<int>(b >> 52 & 0x7ff);
  const u64 mantissa = b & 0xfffffffffffffu;
  Exact out{b >> 63 != 0, (field ? field : 1) - 1075, field ? mantissa | u64{1} << 52 : mantissa};
  if (mantissa && !field) {
    const int shift = 53 - length_of(out.significand);
    out.significand <<= shift;
    out.exponent -= shift;
  }
  return out;
}

inline u128 shifted_down(u128 v, int by) {
  if (by == 0 || v == 0) return v;
  if (by > 127) return 1;
  return v >> by | (v << (128 - by) ? 1 : 0);
}

// The direction in which magnitudes go up.
inline bool grows(Round round, bool negative) {
  return (round == Round::rm && negative) || (round == Round::rp && !negative);
}

inline double rounded(const Exact& v, Round round) {
  const u64 sign = v.negative ? u64{1} << 63 : 0;
  if (v.significand == 0) return double_of(sign);
  const int top = v.exponent + length_of(v.significand);  // below 2^top
  const int unit = top - 53 > -1074 ? top - 53 : -1074;
  // Two bits below the unit: a half, and whether anything is left.
  const int drop = unit - 2 - v.exponent;
  const u128 kept = drop > 0 ? shifted_down(v.significand, drop) : v.significand << -drop;
  const u64 rest = static_cast<u64>(kept) & 3;
  u64 q = static_cast<u64>(kept >> 2);
  const bool up = round == Round::rn ? rest == 3 || (rest == 2 && (q & 1))
                                     : rest != 0 && grows(round, v.negative);
  if (up) ++q;
  // A carry out of the mantissa moves into the exponent.
  const int biased = unit + 1074;
  const u64 out = q + (static_cast<u64>(biased) << 52);
  if (out < 0x7ff0000000000000u && biased < 2046) return double_of(sign | out);
  const bool infinite = round == Round::rn || grows(round, v.negative);
  return double_of(sign | (infinite ? 0x7ff0000000000000u : 0x7fefffffffffffffu));
}

inline Exact product_of(double a, double b) {
  const Exact x = exact_of(a), y = exact_of(b);
  return {x.negative != y.negative, x.exponent + y.exponent, x.significand * y.significand};
}

// The larger goes to the top of 126 bits, the smaller below it.
inline Exact sum_of(Exact a, Exact b) {
  if (a.significand == 0) return b;
  if (b.significand == 0) return a;
  const auto raise = [](Exact& v) {
    const int shift = 126 - length_of(v.significand);
    v.significand <<= shift;
    v.exponent -= shift;
  };
  raise(a), raise(b);
  if (a.exponent < b.exponent || (a.exponent == b.exponent && a.significand < b.significand)) {
    std::swap(a, b);
  }
  const u128 smaller = shifted_down(b.significand, a.exponent - b.exponent);
  a.significand = a.negative == b.negative ? a.significand + smaller : a.significand - smaller;
  return a;
}

// Exact zeros: of like signs that sign, else - only when rounding down.
inline double sum(const Exact& a, const Exact& b, Round round) {
  const Exact out = sum_of(a, b);
  if (out.significand != 0) return rounded(out, round);
  const bool negative = a.negative == b.negative ? a.negative : round == Round::rm;
  return negative ? -0.0 : 0.0;
}

template <Round round>
struct Add {
  static double apply(double a, double b) {
    if (round == Round::rn || !is_finite(a) || !is_finite(b)) return canonical(a + b, b, a);
    return sum(exact_of(a), exact_of(b), round);
  }
};
template <Round round>
struct Sub {
  static double apply(double a, double b) {
    if (round == Round::rn || b != b) return canonical(a - b, b, a);
    return Add<round>::apply(a, -b);
  }
};
template <Round round>
struct Mul {
  static double apply(double a, double b) {
    if (round == Round::rn || !is_finite(a) || !is_finite(b)) return canonical(a * b, b, a);
    return rounded(product_of(a, b), round);
  }
};
template <Round round>
struct Fma {
  static double apply(double a, double b, double c) {
    if (round == Round::rn || !is_finite(a) || !is_finite(b) || !is_finite(c)) {
      return canonical(std::fma(a, b, c), b, c, a);
    }
    return sum(product_of(a, b), exact_of(c), round);
  }
};
template <Round round>
struct Div {
  static double apply(double a, double b) {
    if (round == Round::rn || !is_finite(a) || !is_finite(b) || a == 0 || b == 0) {
      return canonical(a / b, a, b);
    }
    const Exact x = exact_of(a), y = exact_of(b);
    const u128 dividend = x.significand << 64;
    const u128 quotient = dividend / y.significand;
    const u128 left = dividend % y.significand ? 1 : 0;
    return rounded({x.negative != y.negative, x.exponent - 64 - y.exponent, quotient | left},
                   round);
  }
};
template <Round round>
struct Rcp {
  static double apply(double a) { return Div<round>::apply(1.0, a); }
};
template <Round round>
struct Sqrt {
  static double apply(double a) {
    const double nearest = std::sqrt(a);
    if (round == Round::rn || !(a > 0) || !is_finite(a)) return canonical(nearest, a);
    // Scaled, so that what is left of a can be told exactly.
    const bool tiny = a < 0x1p-900;
    const double scaled = tiny ? a * 0x1p200 : a, root = tiny ? nearest * 0x1p100 : nearest;
    const double left = std::fma(-root, root, scaled);
    u64 b = bits_of(nearest);
    if (left < 0 && round != Round::rp) --b;
    if (left > 0 && round == Round::rp) ++b;
    return double_of(b);
  }
};

struct Min {
  static double apply(double a, double b) {
    if (a != a || b != b) return canonical(a != a ? b : a, b);
    return a < b || (a == b && std::signbit(a)) ? a : b;
  }
};
struct Max {
  static double apply(double a, double b) {
    if (a != a || b != b) return canonical(a != a ? b : a, b);
    return a > b || (a == b && !std::signbit(a)) ? a : b;
  }
};
struct Abs {
  static double apply(double a) { return canonical(std::fabs(a), a); }
};
struct Neg {
  static double apply(double a) { return canonical(-a, a); }
};
// 9.7.3.2: bits go through as they are, NaN too.
struct Copysign {
  static double apply(double a, double b) {
    return double_of((bits_of(a) & u64{1} << 63) | (bits_of(b) & ~(u64{1} << 63)));
  }
};

struct Rsqrt {
  static double apply(double a) { return canonical(1.0 / std::sqrt(a), a); }
};

// 9.7.3.14, 9.7.3.17: of the upper word of a, with 32 zeros below; NaN is 0x7fffffff00000000.
struct UpperWord {
  static double in(double a) {
    const u64 b = bits_of(a) & 0xffffffff00000000u;
    return double_of(b & 0x7ff0000000000000u ? b : b & u64{1} << 63);
  }
  static double out(double v) {
    if (v != v) return double_of(0x7fffffff00000000u);
    const u64 b = bits_of(v);
    if (!(b & 0x7ff0000000000000u)) return double_of(b & u64{1} << 63);
    return double_of((b + 0x7fffffffu + (b >> 32 & 1)) & 0xffffffff00000000u);
  }
};
struct RcpApprox {
  static double apply(double a) { return UpperWord::out(1.0 / UpperWord::in(a)); }
};
struct RsqrtApprox {
  static double apply(double a) {
    const double in = UpperWord::in(a);
    return UpperWord::out(1.0 / std::sqrt(in));  // of -0 the root is -0, and this -infinity
  }
};

template <Round round>
Handler in_direction(Op op) {
  switch (op) {
    case Op::add:
      return binary<Add<round>, double, double>;
    case Op::sub:
      return binary<Sub<round>, double, double>;
    case Op::mul:
      return binary<Mul<round>, double, double>;
    case Op::mad:
    case Op::fma:
      return ternary<Fma<round>, double, double>;
    case Op::div:
      return binary<Div<round>, double, double>;
    case Op::rcp:
      return unary<Rcp<round>, double, double>;
    case Op::sqrt:
      return unary<Sqrt<round>, double, double>;
    default:
      return nullptr;
  }
}

Handler exact_or_approximate(const ptx::Instruction& i) {
  const bool upper = i.modifiers.has(Field::ftz);
  switch (i.op) {
    case Op::min:
      return binary<Min, double, double>;
    case Op::max:
      return binary<Max, double, double>;
    case Op::abs:
      return unary<Abs, double, double>;
    case Op::neg:
      return unary<Neg, double, double>;
    case Op::copysign:
      return binary<Copysign, double, double>;
    case Op::rsqrt:
      return upper ? unary<RsqrtApprox, double, double> : unary<Rsqrt, double, double>;
    case Op::rcp:
      return upper ? unary<RcpApprox, double, double> : nullptr;
    default:
      return nullptr;
  }
}

}  // namespace

Handler double_handler(const ptx::Instruction& i) {
  if (Handler h = exact_or_approximate(i)) return h;
  switch (i.modifiers.round()) {
    case Round::none:
    case Round::rn:
      return in_direction<Round::rn>(i.op);
    case Round::rz:
      return in_direction<Round::rz>(i.op);
    case Round::rm:
      return in_direction<Round::rm>(i.op);
    case Round::rp:
      return in_direction<Round::rp>(i.op);
    case Round::rna:
    case Round::rs:
      return nullptr;
  }
  return nullptr;
}

}  // namespace tilescope::sim::TILESCOPE_LANES
