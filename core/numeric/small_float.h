// Narrow floating-point formats as data, with exact conversion to and from double.
//
// A format is sign | exponent | mantissa, IEEE-style with gradual underflow:
//
//     exponent 0        (-1)^s * 0.mantissa * 2^(1 - bias)
//     else              (-1)^s * 1.mantissa * 2^(exponent - bias)
//     exponent all ones infinity (mantissa 0) or NaN, unless the format is finite_only: then these
//                       are ordinary values, but for the pattern of all ones, which is NaN unless
//                       the format is without_nan
//
// Laws: decode(encode(x)) is x for every x the format holds; encode rounds once, to nearest, ties
// to even, unless said otherwise. As every format here is narrower than double, converting a float
// by way of double also rounds once; so does a double that was itself rounded to odd.
// Sources: PTX ISA "Fundamental types, alternate floating-point data formats" (bf16, e4m3, e5m2,
// tf32, e2m3, e3m2, e2m1) and "cvt" (the canonical NaN); IEEE 754-2019 section 3 (binary16,
// binary32).
#pragma once

#include <bit>
#include <cstdint>

namespace tilescope {

struct FloatFormat {
  int exponent_bits;
  int mantissa_bits;
  bool finite_only = false;  // no infinity: e4m3
  bool without_nan = false;  // nor NaN: formats of 4 and 6 bits

  constexpr int bits() const { return 1 + exponent_bits + mantissa_bits; }
  constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  constexpr std::uint32_t sign_bit() const { return 1u << (bits() - 1); }
  constexpr std::uint32_t infinity() const {  // meaningful where !finite_only
    return ((1u << exponent_bits) - 1) << mantissa_bits;
  }
  constexpr std::uint32_t canonical_nan() const { return sign_bit() - 1; }
  // The first magnitude that is no finite number.
  constexpr std::uint32_t beyond() const {
    return without_nan ? sign_bit() : finite_only ? canonical_nan() : infinity();
  }
  constexpr bool is_nan(std::uint32_t pattern) const {
    const std::uint32_t magnitude = pattern & (sign_bit() - 1);
    if (without_nan) return false;
    return finite_only ? magnitude == canonical_nan() : magnitude > infinity();
  }
};

inline constexpr FloatFormat format_f16{5, 10};
inline constexpr FloatFormat format_bf16{8, 7};
inline constexpr FloatFormat format_tf32{8, 10};
inline constexpr FloatFormat format_f32{8, 23};
inline constexpr FloatFormat format_e4m3{4, 3, true};
inline constexpr FloatFormat format_e5m2{5, 2};
inline constexpr FloatFormat format_e2m3{2, 3, true, true};
inline constexpr FloatFormat format_e3m2{3, 2, true, true};
inline constexpr FloatFormat format_e2m1{2, 1, true, true};

enum class Rounding : std::uint8_t { nearest_even, nearest_away, zero, down, up };

constexpr double decode(FloatFormat format, std::uint32_t pattern) {
  const std::uint64_t sign = pattern & format.sign_bit() ? std::uint64_t{1} << 63 : 0;
  const std::uint32_t magnitude = pattern & (format.sign_bit() - 1);
  if (format.is_nan(pattern)) return std::bit_cast<double>(sign | 0x7ff8000000000000);
  if (!format.finite_only && magnitude == format.infinity()) {
    return std::bit_cast<double>(sign | 0x7ff0000000000000);
  }
  std::uint64_t mantissa = magnitude & ((1u << format.mantissa_bits) - 1);
  int exponent = static_cast<int>(magnitude >> format.mantissa_bits);
  if (exponent == 0) {
    if (mantissa == 0) return std::bit_cast<double>(sign);
    // A denormal here is a normal double: shift its leading one to the hidden place.
    exponent = 1;
    while (!(mantissa >> format.mantissa_bits)) mantissa <<= 1, --exponent;
    mantissa &= (1u << format.mantissa_bits) - 1;
  }
  const std::uint64_t wide_exponent = static_cast<std::uint64_t>(exponent - format.bias() + 1023);
  return std::bit_cast<double>(sign | wide_exponent << 52 |
                               mantissa << (52 - format.mantissa_bits));
}

// Where rounding leads, from a value with `rest` of 2 * `half` lost below a last bit `odd`.
constexpr bool rounds_away(Rounding rounding, bool negative, bool odd, std::uint64_t rest,
                           std::uint64_t half) {
  switch (rounding) {
    case Rounding::nearest_even:
      return rest > half || (rest == half && odd);
    case Rounding::nearest_away:
      return rest >= half;
    case Rounding::zero:
      return false;
    case Rounding::down:
      return negative && rest != 0;
    case Rounding::up:
      return !negative && rest != 0;
  }
  return false;
}

// Overflow gives infinity, or NaN where the format has none; when rounding leads back to the finite
// numbers, or with `saturate`, or where the format has neither, the largest of these. A NaN gives
// the canonical NaN, all ones with sign 0, as cvt does (without_nan: the largest number).
constexpr std::uint32_t encode(FloatFormat format, double value,
                               Rounding rounding = Rounding::nearest_even, bool saturate = false) {
  const std::uint64_t wide = std::bit_cast<std::uint64_t>(value);
  const bool negative = wide >> 63 != 0;
  const std::uint32_t sign = negative ? format.sign_bit() : 0;
  const std::uint64_t magnitude = wide & ~(std::uint64_t{1} << 63);
  const std::uint32_t beyond = format.beyond();
  if (magnitude > 0x7ff0000000000000) {
    return format.without_nan ? beyond - 1 : format.canonical_nan();
  }
  if (format.without_nan) saturate = true;
  if (magnitude == 0x7ff0000000000000) return sign | (saturate ? beyond - 1 : beyond);
  if (magnitude == 0) return sign;

  // The value is significand * 2^(exponent - 52); a double denormal is far below every format, so
  // only that it is not zero matters.
  const int exponent = static_cast<int>(magnitude >> 52) - 1023;
  std::uint64_t significand = (magnitude & 0xfffffffffffff) | (std::uint64_t{1} << 52);

  // How many low bits the format cannot hold; a denormal loses more of them, at most all 53 and
  // one above, so that what is left is less than half of a unit.
  const int lowest = 1 - format.bias();
  const int wanted = 52 - format.mantissa_bits + (exponent < lowest ? lowest - exponent : 0);
  const int lost = wanted < 54 ? wanted : 54;
  const std::uint64_t half = std::uint64_t{1} << (lost - 1);
  const std::uint64_t rest = significand & (2 * half - 1);
  significand >>= lost;
  if (rounds_away(rounding, negative, significand & 1, rest, half)) ++significand;

  // Adding the significand to the biased exponent lets a carry out of the mantissa move into it.
  const std::int64_t hidden = exponent < lowest ? 0 : exponent - lowest;
  const std::uint64_t pattern =
      (static_cast<std::uint64_t>(hidden) << format.mantissa_bits) + significand;
  if (pattern < beyond) return sign | static_cast<std::uint32_t>(pattern);
  const bool back = rounding == Rounding::zero || (rounding == Rounding::down && !negative) ||
                    (rounding == Rounding::up && negative);
  return sign | (saturate || back ? beyond - 1 : beyond);
}

}  // namespace tilescope
