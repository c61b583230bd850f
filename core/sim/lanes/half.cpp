// Arithmetic of f16 and bf16, one in a register or two (PTX ISA 9.7.4).
//
// IEEE 754 with these differences: a NaN result is 0x7fff (the ISA: "an unspecified NaN"); with
// .ftz subnormal inputs and results are zeros of the same sign, where a result is subnormal if it
// is so before it is rounded, as of f32; .sat clamps to [0, 1] and NaN to 0; .relu makes what is
// below 0, and -0, +0 (of -0 the ISA says nothing). ex2 and tanh are the C library's double result,
// rounded: within half a unit in the last place, where the ISA allows errors of 2^-9.9 (f16) and
// 2^-7 (bf16) relative, 2^-10.987 and 2^-8 absolute.
#include "core/sim/lanes/half.h"

#include <type_traits>

#include "core/sim/lanes/extremes.h"
#include "core/sim/lanes/lanes.h"
#include "core/sim/lanes/units.h"

namespace tilescope::sim::TILESCOPE_LANES {
namespace {

using ptx::Field;
using ptx::Op;
using ptx::Type;
using u16 = std::uint16_t;

enum class Clamp : std::uint8_t { none, sat, relu };

// What happens to operands and results.
template <class F, bool ftz, Clamp clamp>
struct Mode {
  static float flushed(float f) {
    return std::fabs(f) < F::least_normal ? float_of(bits_of(f) & 0x80000000u) : f;
  }
  static float in(float f) { return ftz ? flushed(f) : f; }
  static float out(float f) {
    const float v = ftz ? flushed(f) : f;
    if constexpr (clamp == Clamp::sat) return v > 0 ? (v < 1 ? v : 1.0f) : 0.0f;
    if constexpr (clamp == Clamp::relu) return v > 0 || v != v ? v : 0.0f;
    return v;
  }
};

struct Add {
  static float apply(float a, float b) { return a + b; }
};
struct Sub {
  static float apply(float a, float b) { return a - b; }
};
struct Mul {
  static float apply(float a, float b) { return a * b; }
};
struct Neg {
  static float apply(float a) { return -a; }
};
struct Abs {
  static float apply(float a) { return std::fabs(a); }
};
struct Ex2 {
  static float apply(float a) { return float_to_odd(std::exp2(double{a})); }
};
struct Tanh {
  static float apply(float a) { return float_to_odd(std::tanh(double{a})); }
};

// A register of `parts` halves is an array of 32 * parts of them.
template <int parts>
using Register = std::conditional_t<parts == 2, std::uint32_t, u16>;

template <int parts>
void write(Core& x, const Code& c, Mask m, const u16* from) {
  using R = Register<parts>;
  R* d = lane_array<R>(x, c.d);
  if (m == x.live) {
    std::memcpy(d, from, 32 * sizeof(R));
  } else {
    blend(d, reinterpret_cast<const R*>(from), m);
  }
}

template <class Operation, class F, class Mode, int parts>
Flow unary_half(Core& x, const Code& c, Mask m) {
  alignas(64) u16 t[32 * parts];
  for (int part = 0; part < parts; ++part) {
    u16* d = t + 32 * part;
    const u16* a = lane_array<u16>(x, c.a) + 32 * part;
    TILESCOPE_FOR_LANES(l)
    d[l] = F::narrowed(Mode::out(Operation::apply(Mode::in(F::widened(a[l])))));
  }
  write<parts>(x, c, m, t);
  return Flow::next;
}

template <class Operation, class F, class Mode, int parts>
Flow binary_half(Core& x, const Code& c, Mask m) {
  alignas(64) u16 t[32 * parts];
  for (int part = 0; part < parts; ++part) {
    u16* d = t + 32 * part;
    const u16* a = lane_array<u16>(x, c.a) + 32 * part;
    const u16* b = lane_array<u16>(x, c.b) + 32 * part;
    TILESCOPE_FOR_LANES(l)
    d[l] = F::narrowed(
        Mode::out(Operation::apply(Mode::in(F::widened(a[l])), Mode::in(F::widened(b[l])))));
  }
  write<parts>(x, c, m, t);
  return Flow::next;
}

template <class F, class Mode, int parts>
Flow fused_half(Core& x, const Code& c, Mask m) {
  alignas(64) u16 t[32 * parts];
  for (int part = 0; part < parts; ++part) {
    u16* d = t + 32 * part;
    const u16* a = lane_array<u16>(x, c.a) + 32 * part;
    const u16* b = lane_array<u16>(x, c.b) + 32 * part;
    const u16* e = lane_array<u16>(x, c.c) + 32 * part;
    TILESCOPE_FOR_LANES(l)
    d[l] = F::narrowed(Mode::out(F::fused(Mode::in(F::widened(a[l])), Mode::in(F::widened(b[l])),
                                          Mode::in(F::widened(e[l])))));
  }
  write<parts>(x, c, m, t);
  return Flow::next;
}

template <class F, class Mode, int parts>
Handler rounded(Op op) {
  switch (op) {
    case Op::add:
      return binary_half<Add, F, Mode, parts>;
    case Op::sub:
      return binary_half<Sub, F, Mode, parts>;
    case Op::mul:
      return binary_half<Mul, F, Mode, parts>;
    case Op::fma:
      return fused_half<F, Mode, parts>;
    default:
      return nullptr;
  }
}

template <bool larger, class F, class Mode, int parts>
Handler extreme(const ptx::Instruction& i) {
  const bool nan_wins = i.modifiers.has(Field::nan);
  if (i.modifiers.has(Field::xorsign)) {
    return nan_wins ? binary_half<Extreme<larger, true, true>, F, Mode, parts>
                    : binary_half<Extreme<larger, false, true>, F, Mode, parts>;
  }
  return nan_wins ? binary_half<Extreme<larger, true, false>, F, Mode, parts>
                  : binary_half<Extreme<larger, false, false>, F, Mode, parts>;
}

template <class F, bool ftz, int parts>
Handler of_mode(const ptx::Instruction& i) {
  using Plain = Mode<F, ftz, Clamp::none>;
  switch (i.op) {
    case Op::neg:
      return unary_half<Neg, F, Plain, parts>;
    case Op::abs:
      return unary_half<Abs, F, Plain, parts>;
    case Op::ex2:
      return unary_half<Ex2, F, Plain, parts>;
    case Op::tanh:
      return unary_half<Tanh, F, Plain, parts>;
    case Op::min:
      return extreme<false, F, Plain, parts>(i);
    case Op::max:
      return extreme<true, F, Plain, parts>(i);
    default:
      break;
  }
  if (i.modifiers.has(Field::sat)) return rounded<F, Mode<F, ftz, Clamp::sat>, parts>(i.op);
  if (i.modifiers.has(Field::relu)) return rounded<F, Mode<F, ftz, Clamp::relu>, parts>(i.op);
  return rounded<F, Plain, parts>(i.op);
}

template <class F, int parts>
Handler of_format(const ptx::Instruction& i) {
  return i.modifiers.has(Field::ftz) ? of_mode<F, true, parts>(i) : of_mode<F, false, parts>(i);
}

}  // namespace

Handler half_handler(const ptx::Instruction& i) {
  switch (i.modifiers.type()) {
    case Type::f16:
      return of_format<F16, 1>(i);
    case Type::f16x2:
      return of_format<F16, 2>(i);
    case Type::bf16:
      return of_format<Bf16, 1>(i);
    case Type::bf16x2:
      return of_format<Bf16, 2>(i);
    default:
      return nullptr;
  }
}

}  // namespace tilescope::sim::TILESCOPE_LANES
