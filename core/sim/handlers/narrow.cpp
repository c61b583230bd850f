// cvt to types narrower than f32, and to and from packed ones (PTX ISA 9.7.9.21).
//
// A value goes from its type into a double, exactly or rounded to odd, and from there into the
// result's format, so that it is rounded once. A NaN becomes the format's canonical one: 0x7fff of
// f16 and bf16, 0x7f of e4m3 and e5m2, 0xff of ue8m0, the largest number of formats that have none.
// Of tf32, whose lower 13 bits the ISA leaves open, these are 0, as on an H200.
// Of two operands the first goes to the upper half of the result. The commonest conversions have
// handlers of their own in core/sim/lanes/convert.cpp.
#include "core/numeric/small_float.h"
#include "core/sim/lanes/conversion.h"
#include "core/sim/lanes/units.h"

namespace tilescope::sim {
namespace {

using base::Bf16;
using base::bits_of;
using base::conversion;
using base::F16;
using base::integer_to_odd;
using base::Number;
using base::read;
using base::read_numbers;
using base::Round;
using base::to_integral;
using base::write;
using ptx::Type;
using u32 = std::uint32_t;

// A packed type is two elements of `bits` each.
struct Elements {
  int count;
  int bits;
};
Elements elements_of(Type type) {
  switch (type) {
    case Type::f16x2:
    case Type::bf16x2:
      return {2, 16};
    case Type::e4m3x2:
    case Type::e5m2x2:
    case Type::e2m3x2:
    case Type::e3m2x2:
    case Type::ue8m0x2:
    case Type::s2f6x2:
      return {2, 8};
    case Type::e2m1x2:
      return {2, 4};
    default:
      return {1, 32};
  }
}

FloatFormat format_of(Type type) {
  switch (type) {
    case Type::f16:
    case Type::f16x2:
      return format_f16;
    case Type::bf16:
    case Type::bf16x2:
      return format_bf16;
    case Type::e4m3x2:
      return format_e4m3;
    case Type::e5m2x2:
      return format_e5m2;
    case Type::e2m3x2:
      return format_e2m3;
    case Type::e3m2x2:
      return format_e3m2;
    case Type::e2m1x2:
      return format_e2m1;
    case Type::tf32:
      return format_tf32;
    default:
      return format_f32;
  }
}

Rounding rounding_of(Round round) {
  switch (round) {
    case Round::rz:
      return Rounding::zero;
    case Round::rm:
      return Rounding::down;
    case Round::rp:
      return Rounding::up;
    case Round::rna:
      return Rounding::nearest_away;
    default:
      return Rounding::nearest_even;
  }
}

// ue8m0 is 2^(bits - 127) without a sign, which conversion drops; 255 is NaN. What is below 2^-127
// has no place: toward zero it stays 0 (as CUDA's cuda_fp8.hpp does it without the instruction).
u32 encode_scale(double value, Round round, bool saturate) {
  const u32 b = bits_of(static_cast<float>(std::fabs(value)));  // from f32 or bf16: exact
  if (b > 0x7f800000u) return 0xff;
  const bool above = round == Round::rp && (b & 0x7fffffu) && b > 0x400000u;
  const u32 out = (b >> 23) + (above ? 1 : 0);
  return saturate && out == 0xff ? 0xfe : out;
}
double decode_scale(u32 bits) {
  return bits == 0xff ? std::nan("") : std::ldexp(1.0, static_cast<int>(bits) - 127);
}

// s2f6 is an integer of 8 bits times 2^-6 (5.2.4), rounded to nearest even; a NaN becomes the
// largest number, as of the other formats that have none.
u32 encode_fixed(double value) {
  if (value != value) return 0x7f;
  const double scaled = std::nearbyint(std::fmin(std::fmax(value * 64, -128.0), 127.0));
  return static_cast<u32>(static_cast<std::int32_t>(scaled)) & 0xff;
}
double decode_fixed(u32 bits) {
  return static_cast<std::int8_t>(bits) / 64.0;
}

// .rs: away from zero where adding the random bits to those of f32's significand that are cut off
// carries. f16 cuts off 13 of them and bf16 16, and as many random bits there are (9.7.9.21); where
// the result is subnormal more are cut off, and the random bits are added at their upper end.
u32 encode_by_chance(FloatFormat format, double value, u32 random, bool saturate) {
  const u32 down = encode(format, value, Rounding::zero, saturate);
  const double below = std::fabs(decode(format, down)), size = std::fabs(value);
  if (value != value || below == size || std::isinf(value)) return down;
  const u32 magnitude = down & (format.sign_bit() - 1);
  // One unit in the last place of the result.
  const int exponent = static_cast<int>(std::max(magnitude >> format.mantissa_bits, 1u));
  const double unit = std::ldexp(1.0, exponent - format.bias() - format.mantissa_bits);
  const int bits = 23 - format.mantissa_bits;
  const double cut = (size - below) / unit, chance = std::ldexp(static_cast<double>(random), -bits);
  if (magnitude + 1 >= format.beyond()) {  // beyond the largest number
    return cut + chance < 1
               ? down
               : encode(format, value > 0 ? HUGE_VAL : -HUGE_VAL, Rounding::nearest_even, saturate);
  }
  return cut + chance < 1 ? down : down + 1;
}

u32 encoded(const Conversion& w, double v) {
  // Not on the way to f16 (seen on an H200).
  if (w.ftz && w.to != Type::f16 && std::fabs(v) < 0x1p-126) v = std::copysign(0.0, v);
  if (w.sat) v = v > 0 ? (v < 1 ? v : 1.0) : 0.0;
  if (w.relu) v = v > 0 || v != v ? v : 0.0;
  if (w.to == Type::s2f6x2) return encode_fixed(v);
  if (w.to == Type::ue8m0x2) return encode_scale(v, w.round, w.satfinite);
  if (v != v && w.from == Type::f64 && w.to == Type::f16)
    return static_cast<u32>(base::nan_cut_to(v, 5, 10));
  if (v != v && w.from == Type::f64 && w.to == Type::bf16)
    return static_cast<u32>(base::nan_cut_to(v, 8, 7));
  if (w.to == Type::tf32) {
    return v != v ? 0x7fffe000u : encode(format_tf32, v, rounding_of(w.round), w.satfinite) << 13;
  }
  return encode(format_of(w.to), v, rounding_of(w.round), w.satfinite);
}

double decoded(Type type, u32 bits) {
  if (type == Type::s2f6x2) return decode_fixed(bits);
  return type == Type::ue8m0x2 ? decode_scale(bits) : decode(format_of(type), bits);
}

template <class S>
void read_integers(const Core& x, Reference r, int bytes, double* out) {
  std::int64_t v[32];
  read<S>(x, r, bytes, v);
  for (int l = 0; l < 32; ++l) out[l] = integer_to_odd<S>(v[l]);
}

template <class F>
void read_floats(const Core& x, Reference r, int bytes, double* out) {
  Number<F> v[32];
  read_numbers<F>(x, r, bytes, v);
  for (int l = 0; l < 32; ++l) out[l] = static_cast<double>(v[l]);
}

// One operand of a type that is not packed.
void read_scalars(const Core& x, Reference r, const Conversion& w, double* out) {
  const int bytes = w.from_register;
  switch (w.from) {
    case Type::u8:
      return read_integers<std::uint8_t>(x, r, bytes, out);
    case Type::u16:
      return read_integers<std::uint16_t>(x, r, bytes, out);
    case Type::u32:
      return read_integers<std::uint32_t>(x, r, bytes, out);
    case Type::u64:
      return read_integers<std::uint64_t>(x, r, bytes, out);
    case Type::s8:
      return read_integers<std::int8_t>(x, r, bytes, out);
    case Type::s16:
      return read_integers<std::int16_t>(x, r, bytes, out);
    case Type::s32:
      return read_integers<std::int32_t>(x, r, bytes, out);
    case Type::s64:
      return read_integers<std::int64_t>(x, r, bytes, out);
    case Type::f16:
      return read_floats<F16>(x, r, bytes, out);
    case Type::bf16:
      return read_floats<Bf16>(x, r, bytes, out);
    case Type::f64:
      return read_floats<double>(x, r, bytes, out);
    default:
      return read_floats<float>(x, r, bytes, out);
  }
}

// cvt.rna.tf32.f32 of a NaN: .rna leaves it as it is but for the lower bits, the others make it
// canonical (seen on an H200).
void keep_nans(const Core& x, const Code& c, std::int64_t* out) {
  const u32* from = base::lane_array<u32>(x, c.a);
  for (int l = 0; l < 32; ++l) {
    if ((from[l] & 0x7fffffffu) > 0x7f800000u) out[l] = from[l] & 0xffffe000u;
  }
}

// To f16, bf16 or tf32 from anything that is not packed; to f16 and bf16 also an integral number.
template <bool integral>
Flow to_narrow(Core& x, const Code& c, Mask m) {
  Conversion w = conversion(c);
  double v[32];
  read_scalars(x, c.a, w, v);
  std::int64_t t[32];
  for (int l = 0; l < 32; ++l) {
    t[l] = static_cast<std::int64_t>(encoded(w, integral ? to_integral(v[l], w.round) : v[l]));
  }
  if (w.to == Type::tf32 && w.round == Round::rna && !w.satfinite) keep_nans(x, c, t);
  write(x, c.d, w.to_register, t, m);
  return Flow::next;
}

// .scaled::n2::ue8m0: what goes to a narrow type is divided by its factor before, what comes from
// one is multiplied by it. The first operand's factor is the upper byte.
void scale(const Core& x, Reference factors, const Conversion& w, double* upper, double* lower) {
  const auto* pair = base::lane_array<std::uint16_t>(x, factors);
  const bool divides = w.to != Type::bf16x2;
  for (int l = 0; l < 32; ++l) {
    const double a = decode_scale(pair[l] >> 8), b = decode_scale(pair[l] & 0xff);
    upper[l] = divides ? upper[l] / a : upper[l] * a;
    lower[l] = divides ? lower[l] / b : lower[l] * b;
  }
}

// Two f32, or the two elements of a packed register, into the two elements of another.
Flow to_packed(Core& x, const Code& c, Mask m) {
  const Conversion w = conversion(c);
  const Elements from = elements_of(w.from), to = elements_of(w.to);
  double upper[32], lower[32];
  if (from.count == 1) {
    read_scalars(x, c.a, w, upper);
    read_scalars(x, c.b, w, lower);
  } else {
    std::int64_t bits[32];
    read<u32>(x, c.a, w.from_register, bits);
    const u32 mask = (1u << from.bits) - 1;
    for (int l = 0; l < 32; ++l) {
      upper[l] = decoded(w.from, static_cast<u32>(bits[l]) >> from.bits & mask);
      lower[l] = decoded(w.from, static_cast<u32>(bits[l]) & mask);
    }
  }
  if (const Reference factors = from.count == 1 ? c.c : c.b; factors != nothing) {
    scale(x, factors, w, upper, lower);
  }
  std::int64_t t[32];
  for (int l = 0; l < 32; ++l) {
    t[l] = static_cast<std::int64_t>(encoded(w, upper[l]) << to.bits | encoded(w, lower[l]));
  }
  write(x, c.d, w.to_register, t, m);
  return Flow::next;
}

// The random bits of the first operand are the upper half of c, those of the second the lower; of
// f16 only the lower 13 of each count.
Flow by_chance(Core& x, const Code& c, Mask m) {
  const Conversion w = conversion(c);
  const FloatFormat format = format_of(w.to);
  const u32 mask = (1u << (23 - format.mantissa_bits)) - 1;
  const u32* random = base::lane_array<u32>(x, c.c);
  double upper[32], lower[32];
  read_scalars(x, c.a, w, upper);
  read_scalars(x, c.b, w, lower);
  const auto one = [&](double v, u32 bits) {
    if (w.relu) v = v > 0 || v != v ? v : 0.0;
    return encode_by_chance(format, v, bits & mask, w.satfinite);
  };
  std::int64_t t[32];
  for (int l = 0; l < 32; ++l) {
    t[l] =
        static_cast<std::int64_t>(one(upper[l], random[l] >> 16) << 16 | one(lower[l], random[l]));
  }
  write(x, c.d, w.to_register, t, m);
  return Flow::next;
}

// cvt.pack (9.7.9.22): a and b cut to the range of T with `bits`, a above b, and c above these.
template <class T, int bits>
Flow pack(Core& x, const Code& c, Mask m) {
  constexpr std::int64_t most = (std::int64_t{1} << (std::is_signed_v<T> ? bits - 1 : bits)) - 1;
  constexpr std::int64_t least = std::is_signed_v<T> ? -most - 1 : 0;
  const auto cut = [](std::int32_t v) {
    const std::int64_t inside = v > most ? most : v < least ? least : v;
    return static_cast<u32>(inside) & ((1u << bits) - 1);
  };
  const auto* a = base::lane_array<std::int32_t>(x, c.a);
  const auto* b = base::lane_array<std::int32_t>(x, c.b);
  u32 t[32];
  for (int l = 0; l < 32; ++l) {
    t[l] = cut(a[l]) << bits | cut(b[l]);
    if constexpr (bits < 16) t[l] |= base::lane_array<u32>(x, c.c)[l] << (2 * bits);
  }
  base::blend(base::lane_array<u32>(x, c.d), t, m);
  return Flow::next;
}

}  // namespace

Handler pack_handler(const ptx::Instruction& i) {
  switch (i.modifiers[ptx::Field::packed]) {
    case 1:
      return pack<u32, 16>;
    case 2:
      return pack<std::int32_t, 16>;
    case 3:
      return pack<u32, 8>;
    case 4:
      return pack<std::int32_t, 8>;
    case 5:
      return pack<u32, 4>;
    case 6:
      return pack<std::int32_t, 4>;
    case 7:
      return pack<u32, 2>;
    case 8:
      return pack<std::int32_t, 2>;
    default:
      return nullptr;
  }
}

Handler narrow_handler(const ptx::Instruction& i) {
  if (i.modifiers.round() == ptx::Round::rs) return by_chance;
  if (elements_of(i.modifiers.type()).count == 2) return to_packed;
  return i.modifiers.integral() != Round::none ? to_narrow<true> : to_narrow<false>;
}

}  // namespace tilescope::sim
