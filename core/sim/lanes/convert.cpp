// cvt (PTX ISA 9.7.9.21) to integers, f32 and f64; core/sim/handlers/narrow.cpp has the narrower
// ones. Float to integer clamps to the type's range in every form.
#include <limits>
#include <type_traits>

#include "core/sim/lanes/conversion.h"
#include "core/sim/lanes/units.h"

namespace tilescope::sim::TILESCOPE_LANES {
namespace {

using ptx::Class;
using ptx::Field;
using ptx::Type;

template <class D, class S>
struct Cast {
  static D apply(S a) { return static_cast<D>(a); }
};

template <class D, class S>
Flow between_integers(Core& x, const Code& c, Mask m) {
  const Conversion w = conversion(c);
  std::int64_t v[32];
  read<S>(x, c.a, w.from_register, v);
  for (int l = 0; l < 32; ++l) {
    if (w.sat) {
      const __int128 value =
          std::is_unsigned_v<S> ? static_cast<__int128>(static_cast<std::uint64_t>(v[l])) : v[l];
      const __int128 most = std::numeric_limits<D>::max(), least = std::numeric_limits<D>::min();
      v[l] = static_cast<std::int64_t>(value > most ? most : value < least ? least : value);
    } else {
      v[l] = static_cast<std::int64_t>(static_cast<D>(v[l]));
    }
  }
  write(x, c.d, w.to_register, v, m);
  return Flow::next;
}

template <class T>
T saturated(T v) {
  return v > 0 ? (v < 1 ? v : T{1}) : T{0};  // NaN is not above 0
}

// NaN becomes 0, but 1 << (width - 1) from f64 and to 64 bits.
template <class D, class F>
Flow float_to_integer(Core& x, const Code& c, Mask m) {
  using N = Number<F>;
  const Conversion w = conversion(c);
  N a[32];
  read_numbers<F>(x, c.a, w.from_register, a);
  constexpr int digits = std::numeric_limits<D>::digits;
  constexpr bool wide = sizeof(D) == 8 || sizeof(N) == 8;
  const N above = std::ldexp(N{1}, digits);  // the first value that is too large
  std::int64_t v[32];
  for (int l = 0; l < 32; ++l) {
    N r = a[l];
    if constexpr (std::is_same_v<F, float>) r = w.ftz ? flush(r) : r;
    r = to_integral(r, w.round);
    D d;
    if (r != r) {
      d = wide ? static_cast<D>(std::uint64_t{1} << (sizeof(D) * 8 - 1)) : D{0};
    } else if (r >= above) {
      d = std::numeric_limits<D>::max();
    } else if (r < static_cast<N>(std::numeric_limits<D>::min())) {
      d = std::numeric_limits<D>::min();
    } else {
      d = static_cast<D>(r);
    }
    v[l] = static_cast<std::int64_t>(d);
  }
  write(x, c.d, w.to_register, v, m);
  return Flow::next;
}

float rounded(double odd, Round round) {
  switch (round) {
    case Round::rz:
      return narrowed<Round::rz>(odd);
    case Round::rm:
      return narrowed<Round::rm>(odd);
    case Round::rp:
      return narrowed<Round::rp>(odd);
    default:
      return narrowed<Round::rn>(odd);
  }
}

template <class S>
Flow integer_to_f32(Core& x, const Code& c, Mask m) {
  const Conversion w = conversion(c);
  std::int64_t v[32];
  read<S>(x, c.a, w.from_register, v);
  float t[32];
  for (int l = 0; l < 32; ++l) {
    t[l] = rounded(integer_to_odd<S>(v[l]), w.round);
    if (w.sat) t[l] = saturated(t[l]);
  }
  write_numbers(x, c, t, m);
  return Flow::next;
}

// The nearest double, or its neighbour on the other side of v.
template <class S>
double integer_as_double(S v, Round round) {
  const double nearest = static_cast<double>(v);
  const __int128 back = static_cast<__int128>(nearest), exact = v;
  if (back == exact || round == Round::rn) return nearest;
  const bool above = back > exact;
  const bool up = round == Round::rp || (round == Round::rz && exact < 0);
  if (above == up) return nearest;
  return std::nextafter(nearest, up ? HUGE_VAL : -HUGE_VAL);
}

template <class S>
Flow integer_to_f64(Core& x, const Code& c, Mask m) {
  const Conversion w = conversion(c);
  std::int64_t v[32];
  read<S>(x, c.a, w.from_register, v);
  double t[32];
  for (int l = 0; l < 32; ++l) {
    t[l] = integer_as_double(static_cast<S>(v[l]), w.round);
    if (w.sat) t[l] = saturated(t[l]);
  }
  write_numbers(x, c, t, m);
  return Flow::next;
}

// From f16, bf16 and f32, all exact but for rounding to an integer. A NaN becomes the canonical
// one, but stays as it is from bf16, which is the upper half of an f32, and from f32 where nothing
// is to be done; with .ftz it is canonical there too (seen on an H200).
template <class F>
Flow number_to_f32(Core& x, const Code& c, Mask m) {
  const Conversion w = conversion(c);
  float t[32];
  read_numbers<F>(x, c.a, w.from_register, t);
  for (int l = 0; l < 32; ++l) {
    float v = w.ftz ? flush(t[l]) : t[l];
    if constexpr (std::is_same_v<F, float>) v = to_integral(v, w.round);
    const bool stays =
        !w.ftz && (std::is_same_v<F, Bf16> || (std::is_same_v<F, float> && w.round == Round::none));
    if (v != v && !stays) v = float_of(0x7fffffffu);
    if (w.sat) v = saturated(v);
    t[l] = v;
  }
  write_numbers(x, c, t, m);
  return Flow::next;
}

template <Round round>
Flow f64_to_f32(Core& x, const Code& c, Mask m) {
  const Conversion w = conversion(c);
  const double* a = lane_array<double>(x, c.a);
  float t[32];
  for (int l = 0; l < 32; ++l) {
    float v = narrowed<round>(a[l]);
    if (w.ftz) v = flush(v);
    if (v != v) v = float_of(static_cast<std::uint32_t>(nan_cut_to(a[l], 8, 23)));
    if (w.sat) v = saturated(v);
    t[l] = v;
  }
  write_numbers(x, c, t, m);
  return Flow::next;
}

template <class F>
Flow number_to_f64(Core& x, const Code& c, Mask m) {
  const Conversion w = conversion(c);
  Number<F> a[32];
  read_numbers<F>(x, c.a, w.from_register, a);
  double t[32];
  for (int l = 0; l < 32; ++l) {
    if constexpr (std::is_same_v<F, float>) a[l] = w.ftz ? flush(a[l]) : a[l];
    t[l] = static_cast<double>(a[l]);
    // With .ftz by way of f32's canonical NaN (seen on an H200).
    if (w.ftz && a[l] != a[l]) t[l] = static_cast<double>(float_of(0x7fffffffu));
    if constexpr (std::is_same_v<F, double>) t[l] = to_integral(t[l], w.round);
    if (w.sat) t[l] = saturated(t[l]);
  }
  write_numbers(x, c, t, m);
  return Flow::next;
}

template <class D>
Handler to_integer(Type from) {
  switch (from) {
    case Type::u8:
      return between_integers<D, std::uint8_t>;
    case Type::u16:
      return between_integers<D, std::uint16_t>;
    case Type::u32:
      return between_integers<D, std::uint32_t>;
    case Type::u64:
      return between_integers<D, std::uint64_t>;
    case Type::s8:
      return between_integers<D, std::int8_t>;
    case Type::s16:
      return between_integers<D, std::int16_t>;
    case Type::s32:
      return between_integers<D, std::int32_t>;
    case Type::s64:
      return between_integers<D, std::int64_t>;
    case Type::f16:
      return float_to_integer<D, F16>;
    case Type::bf16:
      return float_to_integer<D, Bf16>;
    case Type::f32:
      return float_to_integer<D, float>;
    case Type::f64:
      return float_to_integer<D, double>;
    default:
      return nullptr;
  }
}

template <class S>
Handler from_integer(Type to) {
  return to == Type::f32 ? integer_to_f32<S> : integer_to_f64<S>;
}

Handler to_float(Type to, Type from, Round round) {
  switch (from) {
    case Type::u8:
      return from_integer<std::uint8_t>(to);
    case Type::u16:
      return from_integer<std::uint16_t>(to);
    case Type::u32:
      return from_integer<std::uint32_t>(to);
    case Type::u64:
      return from_integer<std::uint64_t>(to);
    case Type::s8:
      return from_integer<std::int8_t>(to);
    case Type::s16:
      return from_integer<std::int16_t>(to);
    case Type::s32:
      return from_integer<std::int32_t>(to);
    case Type::s64:
      return from_integer<std::int64_t>(to);
    case Type::f16:
      return to == Type::f32 ? number_to_f32<F16> : number_to_f64<F16>;
    case Type::bf16:
      return to == Type::f32 ? number_to_f32<Bf16> : number_to_f64<Bf16>;
    case Type::f32:
      return to == Type::f32 ? number_to_f32<float> : number_to_f64<float>;
    case Type::f64:
      if (to == Type::f64) return number_to_f64<double>;
      switch (round) {
        case Round::rz:
          return f64_to_f32<Round::rz>;
        case Round::rm:
          return f64_to_f32<Round::rm>;
        case Round::rp:
          return f64_to_f32<Round::rp>;
        default:
          return f64_to_f32<Round::rn>;
      }
    default:
      return nullptr;
  }
}

template <class F>
struct Narrowed {
  static std::uint16_t apply(float a) { return F::narrowed(a); }
};
template <class F>
struct Packed {
  static std::uint32_t apply(float a, float b) {
    return static_cast<std::uint32_t>(F::narrowed(a)) << 16 | F::narrowed(b);
  }
};
template <class F>
struct Widened {
  static float apply(std::uint16_t a) { return F::widened(a); }
};
template <>
struct Widened<F16> {
  static float apply(std::uint16_t a) {
    const float v = F16::widened(a);
    return v == v ? v : float_of(0x7fffffffu);
  }
};

// The conversions that kernels are full of, where the registers are as wide as the types.
Handler common(Type to, Type from, Round round) {
  if (to == Type::u64 && from == Type::u32)
    return unary<Cast<std::uint64_t, std::uint32_t>, std::uint64_t, std::uint32_t>;
  if (to == Type::s64 && from == Type::s32)
    return unary<Cast<std::int64_t, std::int32_t>, std::int64_t, std::int32_t>;
  if (to == Type::u32 && from == Type::u64)
    return unary<Cast<std::uint32_t, std::uint64_t>, std::uint32_t, std::uint64_t>;
  if (to == Type::f32 && from == Type::s32 && round == Round::rn)
    return unary<Cast<float, std::int32_t>, float, std::int32_t>;
  if (from == Type::f32 && round == Round::rn) {
    if (to == Type::f16) return unary<Narrowed<F16>, std::uint16_t, float>;
    if (to == Type::bf16) return unary<Narrowed<Bf16>, std::uint16_t, float>;
    if (to == Type::f16x2) return binary<Packed<F16>, std::uint32_t, float>;
    if (to == Type::bf16x2) return binary<Packed<Bf16>, std::uint32_t, float>;
  }
  if (to == Type::f32 && from == Type::f16) return unary<Widened<F16>, float, std::uint16_t>;
  if (to == Type::f32 && from == Type::bf16) return unary<Widened<Bf16>, float, std::uint16_t>;
  return nullptr;
}

bool as_wide_as_types(const ptx::Program& program, const ptx::Instruction& i) {
  const ptx::Operand* o = program.operands_of(i);
  for (std::uint32_t k = 0; k < i.count; ++k) {
    const Type type = k ? i.modifiers.type2() : i.modifiers.type();
    if (o[k].kind == ptx::Operand::Kind::reg &&
        ptx::bits_of(program.registers[o[k].index].type) != ptx::bits_of(type)) {
      return false;
    }
  }
  return true;
}

bool is_plain(const ptx::Modifiers& m) {
  return !m.has(Field::ftz) && !m.has(Field::sat) && !m.has(Field::relu) &&
         !m.has(Field::satfinite) && m.integral() == Round::none;
}

}  // namespace

Handler convert_handler(const ptx::Program& program, const ptx::Instruction& i) {
  if (i.modifiers.has(Field::pack)) return pack_handler(i);
  const Type to = i.modifiers.type(), from = i.modifiers.type2();
  if (is_plain(i.modifiers) && as_wide_as_types(program, i)) {
    if (Handler h = common(to, from, i.modifiers.round())) return h;
  }
  switch (to) {
    case Type::u8:
      return to_integer<std::uint8_t>(from);
    case Type::u16:
      return to_integer<std::uint16_t>(from);
    case Type::u32:
      return to_integer<std::uint32_t>(from);
    case Type::u64:
      return to_integer<std::uint64_t>(from);
    case Type::s8:
      return to_integer<std::int8_t>(from);
    case Type::s16:
      return to_integer<std::int16_t>(from);
    case Type::s32:
      return to_integer<std::int32_t>(from);
    case Type::s64:
      return to_integer<std::int64_t>(from);
    case Type::f32:
    case Type::f64:
      return to_float(to, from, i.modifiers.round());
    default:
      return narrow_handler(i);
  }
}

}  // namespace tilescope::sim::TILESCOPE_LANES
