// cvt (PTX ISA 9.7.9.21): between integers, between integers and f32 or f64, between f32 and f64.
//
// Source and destination registers may be wider than the types: a source is cut, a result is
// extended by the sign of its type. Float to integer clamps to the type's range in every form.
#include <limits>
#include <type_traits>

#include "core/sim/lanes/lanes.h"
#include "core/sim/lanes/rounding.h"
#include "core/sim/lanes/units.h"

namespace tilescope::sim::TILESCOPE_LANES {
namespace {

using ptx::Class;
using ptx::Field;
using ptx::Type;

Conversion conversion(const Code& c) {
  Conversion w;
  std::memcpy(&w, &c.immediate, sizeof w);
  return w;
}

// The lanes of a register, cut to S and extended to 64 bits by S's sign.
template <class S>
void read(const Core& x, Reference r, int bytes, std::int64_t* out) {
  if (bytes == 2) {
    const auto* a = lane_array<std::uint16_t>(x, r);
    TILESCOPE_FOR_LANES(l) out[l] = static_cast<std::int64_t>(static_cast<S>(a[l]));
  } else if (bytes == 4) {
    const auto* a = lane_array<std::uint32_t>(x, r);
    TILESCOPE_FOR_LANES(l) out[l] = static_cast<std::int64_t>(static_cast<S>(a[l]));
  } else {
    const auto* a = lane_array<std::uint64_t>(x, r);
    TILESCOPE_FOR_LANES(l) out[l] = static_cast<std::int64_t>(static_cast<S>(a[l]));
  }
}

template <class R>
void narrow(Core& x, Reference r, const std::int64_t* from, Mask m) {
  R t[32];
  TILESCOPE_FOR_LANES(l) t[l] = static_cast<R>(from[l]);
  blend(lane_array<R>(x, r), t, m);
}

// Values already extended, into a register of any width.
void write(Core& x, Reference r, int bytes, const std::int64_t* from, Mask m) {
  if (bytes == 2) return narrow<std::uint16_t>(x, r, from, m);
  if (bytes == 4) return narrow<std::uint32_t>(x, r, from, m);
  narrow<std::uint64_t>(x, r, from, m);
}

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

template <class F>
F to_integral(F v, Round round) {
  switch (round) {
    case Round::rz:
      return std::trunc(v);
    case Round::rm:
      return std::floor(v);
    case Round::rp:
      return std::ceil(v);
    case Round::rn:
      return std::nearbyint(v);
    case Round::none:
      return v;
  }
  return v;
}

inline float flush(float f) {
  return (bits_of(f) & 0x7f800000u) ? f : float_of(bits_of(f) & 0x80000000u);
}
inline double flush(double f) {
  return f;
}

// NaN becomes 0 from f32 to at most 32 bits, and 1 << (width - 1) otherwise.
template <class D, class F>
Flow float_to_integer(Core& x, const Code& c, Mask m) {
  const Conversion w = conversion(c);
  const F* a = lane_array<F>(x, c.a);
  constexpr int digits = std::numeric_limits<D>::digits;
  constexpr bool wide = sizeof(D) == 8 || sizeof(F) == 8;
  const F above = std::ldexp(F{1}, digits);  // the first value that is too large
  std::int64_t v[32];
  for (int l = 0; l < 32; ++l) {
    const F r = to_integral(w.ftz ? flush(a[l]) : a[l], w.round);
    D d;
    if (r != r) {
      d = wide ? static_cast<D>(std::uint64_t{1} << (sizeof(D) * 8 - 1)) : D{0};
    } else if (r >= above) {
      d = std::numeric_limits<D>::max();
    } else if (r < static_cast<F>(std::numeric_limits<D>::min())) {
      d = std::numeric_limits<D>::min();
    } else {
      d = static_cast<D>(r);
    }
    v[l] = static_cast<std::int64_t>(d);
  }
  write(x, c.d, w.to_register, v, m);
  return Flow::next;
}

template <class S>
float rounded(std::int64_t v, Round round) {
  const bool negative = std::is_signed_v<S> && v < 0;
  const std::uint64_t size =
      negative ? 0 - static_cast<std::uint64_t>(v) : static_cast<std::uint64_t>(v);
  const double high = static_cast<double>(size >> 32) * 4294967296.0;
  double exact = sum_to_odd(high, static_cast<double>(size & 0xffffffffu));
  if (negative) exact = -exact;
  switch (round) {
    case Round::rz:
      return narrowed<Round::rz>(exact);
    case Round::rm:
      return narrowed<Round::rm>(exact);
    case Round::rp:
      return narrowed<Round::rp>(exact);
    default:
      return narrowed<Round::rn>(exact);
  }
}

template <class S>
Flow integer_to_f32(Core& x, const Code& c, Mask m) {
  const Conversion w = conversion(c);
  std::int64_t v[32];
  read<S>(x, c.a, w.from_register, v);
  float t[32];
  for (int l = 0; l < 32; ++l) {
    t[l] = rounded<S>(v[l], w.round);
    if (w.sat) t[l] = t[l] > 0 ? (t[l] < 1 ? t[l] : 1.0f) : 0.0f;
  }
  blend(lane_array<float>(x, c.d), t, m);
  return Flow::next;
}

template <class S>
Flow integer_to_f64(Core& x, const Code& c, Mask m) {
  const Conversion w = conversion(c);
  std::int64_t v[32];
  read<S>(x, c.a, w.from_register, v);
  double t[32];
  for (int l = 0; l < 32; ++l) {
    t[l] = std::is_signed_v<S> ? static_cast<double>(v[l])
                               : static_cast<double>(static_cast<std::uint64_t>(v[l]));
  }
  blend(lane_array<double>(x, c.d), t, m);
  return Flow::next;
}

Flow f32_to_f32(Core& x, const Code& c, Mask m) {
  const Conversion w = conversion(c);
  const float* a = lane_array<float>(x, c.a);
  float t[32];
  for (int l = 0; l < 32; ++l) {
    float v = to_integral(w.ftz ? flush(a[l]) : a[l], w.round);
    if (v != v) v = float_of(0x7fffffffu);
    if (w.sat) v = v > 0 ? (v < 1 ? v : 1.0f) : 0.0f;
    t[l] = v;
  }
  blend(lane_array<float>(x, c.d), t, m);
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
    if (v != v) v = float_of(0x7fffffffu);
    if (w.sat) v = v > 0 ? (v < 1 ? v : 1.0f) : 0.0f;
    t[l] = v;
  }
  blend(lane_array<float>(x, c.d), t, m);
  return Flow::next;
}

Flow f32_to_f64(Core& x, const Code& c, Mask m) {
  const Conversion w = conversion(c);
  const float* a = lane_array<float>(x, c.a);
  double t[32];
  for (int l = 0; l < 32; ++l) t[l] = static_cast<double>(w.ftz ? flush(a[l]) : a[l]);
  blend(lane_array<double>(x, c.d), t, m);
  return Flow::next;
}

Flow f64_to_f64(Core& x, const Code& c, Mask m) {
  const Conversion w = conversion(c);
  const double* a = lane_array<double>(x, c.a);
  double t[32];
  for (int l = 0; l < 32; ++l) t[l] = to_integral(a[l], w.round);
  blend(lane_array<double>(x, c.d), t, m);
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
    case Type::f32:
      return to == Type::f32 ? f32_to_f32 : f32_to_f64;
    case Type::f64:
      if (to == Type::f64) return f64_to_f64;
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

// The conversions that index arithmetic is full of, where the registers are as wide as the types.
Handler common(Type to, Type from, Round round) {
  if (to == Type::u64 && from == Type::u32)
    return unary<Cast<std::uint64_t, std::uint32_t>, std::uint64_t, std::uint32_t>;
  if (to == Type::s64 && from == Type::s32)
    return unary<Cast<std::int64_t, std::int32_t>, std::int64_t, std::int32_t>;
  if (to == Type::u32 && from == Type::u64)
    return unary<Cast<std::uint32_t, std::uint64_t>, std::uint32_t, std::uint64_t>;
  if (to == Type::f32 && from == Type::s32 && round == Round::rn)
    return unary<Cast<float, std::int32_t>, float, std::int32_t>;
  return nullptr;
}

}  // namespace

Handler convert_handler(const ptx::Program& program, const ptx::Instruction& i) {
  const Type to = i.modifiers.type(), from = i.modifiers.type2();
  const ptx::Operand* o = program.operands_of(i);
  const auto exact = [&](const ptx::Operand& operand, Type type) {
    return operand.kind != ptx::Operand::Kind::reg ||
           ptx::bits_of(program.registers[operand.index].type) == ptx::bits_of(type);
  };
  if (!i.modifiers.has(Field::sat) && exact(o[0], to) && exact(o[1], from)) {
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
    default:
      return to_float(to, from, i.modifiers.round());
  }
}

}  // namespace tilescope::sim::TILESCOPE_LANES
