// What the handlers of cvt share (PTX ISA 9.7.9.21): their operands as lanes of numbers.
//
// Source and destination registers may be wider than the types: a source is cut, an integer result
// is extended by the sign of its type, any other with zeros (9.4.1).
#pragma once

#include <type_traits>

#include "core/sim/lanes/half.h"
#include "core/sim/lanes/lanes.h"

namespace tilescope::sim::TILESCOPE_LANES {
namespace {

inline Conversion conversion(const Code& c) {
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
inline void write(Core& x, Reference r, int bytes, const std::int64_t* from, Mask m) {
  if (bytes == 2) return narrow<std::uint16_t>(x, r, from, m);
  if (bytes == 4) return narrow<std::uint32_t>(x, r, from, m);
  narrow<std::uint64_t>(x, r, from, m);
}

// What holds the values of a floating-point type: float for f16 and bf16.
template <class F>
using Number = std::conditional_t<std::is_same_v<F, double>, double, float>;

template <class F>
void read_numbers(const Core& x, Reference r, int bytes, Number<F>* out) {
  if constexpr (std::is_same_v<F, double>) {
    std::memcpy(out, lane_array<double>(x, r), 32 * sizeof(double));
  } else {
    using Bits = std::conditional_t<std::is_same_v<F, float>, std::uint32_t, std::uint16_t>;
    std::int64_t bits[32];
    read<Bits>(x, r, bytes, bits);
    for (int l = 0; l < 32; ++l) {
      if constexpr (std::is_same_v<F, float>) {
        out[l] = float_of(static_cast<std::uint32_t>(bits[l]));
      } else {
        out[l] = F::widened(static_cast<std::uint16_t>(bits[l]));
      }
    }
  }
}

inline void write_numbers(Core& x, const Code& c, const float* from, Mask m) {
  std::int64_t bits[32];
  TILESCOPE_FOR_LANES(l) bits[l] = static_cast<std::int64_t>(bits_of(from[l]));
  write(x, c.d, conversion(c).to_register, bits, m);
}
inline void write_numbers(Core& x, const Code& c, const double* from, Mask m) {
  blend(lane_array<double>(x, c.d), from, m);
}

// A signalling NaN becomes a quiet one, whether or not the host's rounding makes it so: compilers
// write it as a conversion to integers and back where the processor has no instruction for it.
inline double quiet(double v) {
  std::uint64_t bits;
  std::memcpy(&bits, &v, sizeof bits);
  bits |= v != v ? std::uint64_t{1} << 51 : 0;
  std::memcpy(&v, &bits, sizeof v);
  return v;
}
inline float quiet(float v) {
  return v != v ? float_of(bits_of(v) | 1u << 22) : v;
}

// An integral number in the direction of the rounding (.rni, .rzi, .rmi, .rpi).
template <class T>
T to_integral(T v, Round round) {
  switch (round) {
    case Round::rz:
      return std::trunc(quiet(v));
    case Round::rm:
      return std::floor(quiet(v));
    case Round::rp:
      return std::ceil(quiet(v));
    case Round::rn:
      return std::nearbyint(quiet(v));
    default:
      return v;
  }
}

inline float flush(float f) {
  return (bits_of(f) & 0x7f800000u) ? f : float_of(bits_of(f) & 0x80000000u);
}

// An integer as a double, rounded to odd: 64 bits may be more than a double has.
template <class S>
double integer_to_odd(std::int64_t v) {
  const bool negative = std::is_signed_v<S> && v < 0;
  const std::uint64_t size =
      negative ? 0 - static_cast<std::uint64_t>(v) : static_cast<std::uint64_t>(v);
  const double high = static_cast<double>(size >> 32) * 4294967296.0;
  const double odd = sum_to_odd(high, static_cast<double>(size & 0xffffffffu));
  return negative ? -odd : odd;
}

// A NaN of f64 as a narrower format's bits: sign, quiet, and the top of its payload (seen on an
// H200).
inline std::uint64_t nan_cut_to(double nan, int exponent_bits, int mantissa_bits) {
  std::uint64_t wide = 0;
  std::memcpy(&wide, &nan, sizeof wide);
  const std::uint64_t mantissa = (wide & 0xfffffffffffffu) >> (52 - mantissa_bits);
  const std::uint64_t exponent = (std::uint64_t{1} << exponent_bits) - 1;
  return (wide >> 63) << (exponent_bits + mantissa_bits) | exponent << mantissa_bits |
         std::uint64_t{1} << (mantissa_bits - 1) | mantissa;
}

}  // namespace
}  // namespace tilescope::sim::TILESCOPE_LANES
