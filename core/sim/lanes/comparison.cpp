// set and slct, and setp of f16 and bf16 (PTX ISA 9.7.6, 9.7.7).
//
// What is compared, and how, stands in Code::immediate: these are rare enough that one handler for
// each type that is read will do. setp of the other types is with their arithmetic.
#include "core/sim/lanes/half.h"
#include "core/sim/lanes/lanes.h"
#include "core/sim/lanes/units.h"

namespace tilescope::sim::TILESCOPE_LANES {
namespace {

using ptx::Compare;
using ptx::Logic;
using ptx::Op;
using ptx::Type;

Comparison comparison(const Code& c) {
  Comparison out;
  std::memcpy(&out, &c.immediate, sizeof out);
  return out;
}

template <class T, class F>
Mask where(const T* a, const T* b, F holds) {
  Mask out = 0;
  for (int l = 0; l < 32; ++l) out |= holds(a[l], b[l]) ? lane_bit[l] : 0u;
  return out;
}

// Ordered comparisons are false of NaN, the ...u forms true; lo, ls, hi, hs are for unsigned
// integers the same as lt, le, gt, ge (9.7.6.1).
template <class T>
Mask compared(Compare how, const T* a, const T* b) {
  switch (how) {
    case Compare::eq:
      return where(a, b, [](T x, T y) { return x == y; });
    case Compare::ne:
      return where(a, b, [](T x, T y) { return x < y || x > y; });
    case Compare::lt:
    case Compare::lo:
      return where(a, b, [](T x, T y) { return x < y; });
    case Compare::le:
    case Compare::ls:
      return where(a, b, [](T x, T y) { return x <= y; });
    case Compare::gt:
    case Compare::hi:
      return where(a, b, [](T x, T y) { return x > y; });
    case Compare::ge:
    case Compare::hs:
      return where(a, b, [](T x, T y) { return x >= y; });
    case Compare::equ:
      return ~compared(Compare::ne, a, b);
    case Compare::neu:
      return ~compared(Compare::eq, a, b);
    case Compare::ltu:
      return ~compared(Compare::ge, a, b);
    case Compare::leu:
      return ~compared(Compare::gt, a, b);
    case Compare::gtu:
      return ~compared(Compare::le, a, b);
    case Compare::geu:
      return ~compared(Compare::lt, a, b);
    case Compare::num:
      return where(a, b, [](T x, T y) { return x == x && y == y; });
    case Compare::nan:
      return ~compared(Compare::num, a, b);
    case Compare::none:
      return 0;
  }
  return 0;
}

inline float flushed(float f) {
  return std::fabs(f) < 0x1p-126f ? float_of(bits_of(f) & 0x80000000u) : f;
}

// Halves number `part` of registers with `parts` of them.
template <class F, int parts>
void read_halves(const Core& x, Reference r, int part, bool ftz, float* out) {
  const u16* a = lane_array<u16>(x, r);
  for (int l = 0; l < 32; ++l) {
    const float v = F::widened(a[l * parts + part]);
    out[l] = ftz && std::fabs(v) < F::least_normal ? 0.0f : v;
  }
}

// How each type is read: the comparison's outcome for one of its parts.
template <class T>
struct Plain {
  static constexpr int parts = 1;
  static Mask outcome(const Core& x, const Code& c, const Comparison& how, int) {
    return compared(how.compare, lane_array<T>(x, c.a), lane_array<T>(x, c.b));
  }
};
struct Single {
  static constexpr int parts = 1;
  static Mask outcome(const Core& x, const Code& c, const Comparison& how, int) {
    if (!how.ftz) return Plain<float>::outcome(x, c, how, 0);
    float a[32], b[32];
    for (int l = 0; l < 32; ++l) {
      a[l] = flushed(lane_array<float>(x, c.a)[l]);
      b[l] = flushed(lane_array<float>(x, c.b)[l]);
    }
    return compared(how.compare, a, b);
  }
};
template <class F, int count>
struct Halves {
  static constexpr int parts = count;
  static Mask outcome(const Core& x, const Code& c, const Comparison& how, int part) {
    float a[32], b[32];
    read_halves<F, count>(x, c.a, part, how.ftz, a);
    read_halves<F, count>(x, c.b, part, how.ftz, b);
    return compared(how.compare, a, b);
  }
};

Mask combined(const Core& x, const Code& c, const Comparison& how, Mask yes) {
  const Mask third = x.predicates[c.r] ^ c.flip;
  switch (how.logic) {
    case Logic::and_:
      return yes & third;
    case Logic::or_:
      return yes | third;
    case Logic::xor_:
      return yes ^ third;
    case Logic::none:
      return yes;
  }
  return yes;
}

// Of packed types p is for the lower half, q for the upper; else there is only p (9.7.7.2).
template <class Source>
Flow set_predicate(Core& x, const Code& c, Mask m) {
  const Comparison how = comparison(c);
  const std::uint32_t places[2] = {c.p, c.q};
  Mask out[2] = {};
  for (int part = 0; part < Source::parts; ++part) {
    out[part] = combined(x, c, how, Source::outcome(x, c, how, part));
  }
  for (int part = 0; part < Source::parts; ++part) {
    if (const u32 p = places[part]) x.predicates[p] = (x.predicates[p] & ~m) | (out[part] & m);
  }
  return Flow::next;
}

// What a true comparison writes; 0 is false.
u32 truth(Type type, bool packed) {
  switch (type) {
    case Type::f32:
      return 0x3f800000u;
    case Type::f16:
    case Type::f16x2:
      return 0x3c00u;
    case Type::bf16:
    case Type::bf16x2:
      return 0x3f80u;
    default:
      return packed || ptx::bits_of(type) == 16 ? 0xffffu : ~0u;
  }
}

template <class Source>
Flow set_value(Core& x, const Code& c, Mask m) {
  const Comparison how = comparison(c);
  const u32 yes = truth(how.to, Source::parts == 2);
  u32 t[32] = {};
  for (int part = 0; part < Source::parts; ++part) {
    const Mask lanes = combined(x, c, how, Source::outcome(x, c, how, part));
    for (int l = 0; l < 32; ++l) t[l] |= lanes & lane_bit[l] ? yes << (16 * part) : 0u;
  }
  if (ptx::bits_of(how.to) == 32) {
    blend(lane_array<u32>(x, c.d), t, m);
  } else {
    u16 narrow[32];
    for (int l = 0; l < 32; ++l) narrow[l] = static_cast<u16>(t[l]);
    blend(lane_array<u16>(x, c.d), narrow, m);
  }
  return Flow::next;
}

template <class Source>
Handler of_source(Op op) {
  return op == Op::setp ? set_predicate<Source> : set_value<Source>;
}

Handler compare_types(Op op, Type type) {
  switch (type) {
    case Type::b16:
    case Type::u16:
      return of_source<Plain<u16>>(op);
    case Type::s16:
      return of_source<Plain<std::int16_t>>(op);
    case Type::b32:
    case Type::u32:
      return of_source<Plain<u32>>(op);
    case Type::s32:
      return of_source<Plain<std::int32_t>>(op);
    case Type::b64:
    case Type::u64:
      return of_source<Plain<u64>>(op);
    case Type::s64:
      return of_source<Plain<std::int64_t>>(op);
    case Type::f32:
      return of_source<Single>(op);
    case Type::f64:
      return of_source<Plain<double>>(op);
    case Type::f16:
      return of_source<Halves<F16, 1>>(op);
    case Type::f16x2:
      return of_source<Halves<F16, 2>>(op);
    case Type::bf16:
      return of_source<Halves<Bf16, 1>>(op);
    case Type::bf16x2:
      return of_source<Halves<Bf16, 2>>(op);
    default:
      return nullptr;
  }
}

// slct (9.7.6.4): a where c is at least 0, which -0 is and NaN is not; else b.
template <class T>
Flow select_by_sign(Core& x, const Code& code, Mask m) {
  const Comparison how = comparison(code);
  const T* a = lane_array<T>(x, code.a);
  const T* b = lane_array<T>(x, code.b);
  const u32* c = lane_array<u32>(x, code.c);
  T t[32];
  for (int l = 0; l < 32; ++l) {
    const float f = how.ftz ? flushed(float_of(c[l])) : float_of(c[l]);
    const bool first = how.from == Type::f32 ? f >= 0 : !(c[l] >> 31);
    t[l] = first ? a[l] : b[l];
  }
  blend(lane_array<T>(x, code.d), t, m);
  return Flow::next;
}

}  // namespace

Handler comparison_handler(const ptx::Instruction& i) {
  if (i.op == Op::setp) return compare_types(i.op, i.modifiers.type());
  if (i.op == Op::set) return compare_types(i.op, i.modifiers.type2());
  switch (ptx::bits_of(i.modifiers.type())) {
    case 16:
      return select_by_sign<u16>;
    case 32:
      return select_by_sign<u32>;
    case 64:
      return select_by_sign<u64>;
    default:
      return nullptr;
  }
}

}  // namespace tilescope::sim::TILESCOPE_LANES
