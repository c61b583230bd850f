#include "tests/conformance/operands.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>

namespace tilescope::conformance {
namespace {

using ptx::Type;

// A binary floating-point format: sign, exponent, fraction.
struct Format {
  int exponent = 0, fraction = 0;  // bits
  int width() const { return 1 + exponent + fraction; }
  std::uint64_t sign() const { return std::uint64_t{1} << (exponent + fraction); }
  std::uint64_t one(int power = 0) const {  // 2^power
    const std::uint64_t bias = (std::uint64_t{1} << (exponent - 1)) - 1;
    return (bias + static_cast<std::uint64_t>(power)) << fraction;
  }
  std::uint64_t infinity() const { return ((std::uint64_t{1} << exponent) - 1) << fraction; }
};

Format format_of(Type type) {
  switch (type) {
    case Type::f16:
    case Type::f16x2:
      return {5, 10};
    case Type::bf16:
    case Type::bf16x2:
      return {8, 7};
    case Type::f32:
    case Type::f32x2:
    case Type::tf32:
      return {8, 23};
    case Type::f64:
      return {11, 52};
    case Type::e4m3:
    case Type::e4m3x2:
      return {4, 3};
    case Type::e5m2:
    case Type::e5m2x2:
      return {5, 2};
    default:
      return {};
  }
}

// Values in a register of a packed type; 1 of others.
int packed(Type type) {
  const Format f = format_of(type);
  if (f.exponent) return ptx::bits_of(type) == 2 * f.width() ? 2 : 1;
  return type == Type::u16x2 || type == Type::s16x2 ? 2 : 1;
}

std::uint64_t low_bits(int bits) {
  return bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
}

// Positive ones; their negatives are added.
std::vector<std::uint64_t> positive_floats(const Format& f) {
  const std::uint64_t one = f.one(), infinity = f.infinity();
  const std::uint64_t half_unit = std::uint64_t{1} << (f.fraction - 1);
  return {
      0,
      one,
      infinity,
      infinity | half_unit,                  // a quiet NaN
      infinity | half_unit | 1,              // with a payload
      infinity | 1,                          // a signalling NaN
      1,                                     // the smallest subnormal
      f.one() - 1,                           // just below one
      one + 1,                               // just above
      infinity - 1,                          // the largest number
      (std::uint64_t{1} << f.fraction) - 1,  // the largest subnormal
      std::uint64_t{1} << f.fraction,        // the smallest normal number
      f.one(-1),                             // 0.5, 1.5, 2.5: ties of rounding to integers
      one | half_unit,
      f.one(1) | half_unit >> 1,
      f.one(1),
      (std::uint64_t{1} << f.fraction) | 1,
      f.one(f.fraction + 1) | 1,  // an integer without room for halves
      f.one(f.fraction) | 1,
      f.one(std::min(31, (1 << (f.exponent - 1)) - 1)),
      f.one(std::min(63, (1 << (f.exponent - 1)) - 1)),
      f.one(1) | (half_unit | half_unit >> 3),  // about pi
      low_bits(f.fraction + f.exponent),        // all ones
  };
}

std::vector<std::uint64_t> float_specials(const Format& f) {
  std::vector<std::uint64_t> out;
  for (const std::uint64_t v : positive_floats(f)) {
    out.push_back(v);
    out.push_back(v | f.sign());
  }
  return out;
}

std::vector<std::uint64_t> integer_specials(int bits) {
  const std::uint64_t all = low_bits(bits), top = std::uint64_t{1} << (bits - 1);
  std::vector<std::uint64_t> out = {0,
                                    1,
                                    all,
                                    top,
                                    top - 1,
                                    top + 1,
                                    2,
                                    all - 1,
                                    3,
                                    7,
                                    8,
                                    15,
                                    16,
                                    31,
                                    32,
                                    33,
                                    63,
                                    64,
                                    65,
                                    127,
                                    128,
                                    255,
                                    256,
                                    0x5555555555555555,
                                    0xAAAAAAAAAAAAAAAA,
                                    0x0123456789ABCDEF,
                                    0xFFFF,
                                    0x8000,
                                    0x10000,
                                    0x7FFFFFFF,
                                    0x80000000,
                                    0xFFFFFFFF,
                                    0x100000000};
  for (std::uint64_t& v : out) v &= all;
  return out;
}

std::vector<std::uint64_t> specials_of(Type type) {
  const Format f = format_of(type);
  const int count = packed(type), bits = ptx::bits_of(type);
  std::vector<std::uint64_t> single =
      f.exponent ? float_specials(f) : integer_specials(std::max(1, bits / count));
  if (count == 1) return single;
  std::vector<std::uint64_t> out;
  for (std::size_t i = 0; i < single.size(); ++i) {
    out.push_back(single[i] | single[(i * 7 + 3) % single.size()] << (bits / 2));
  }
  return out;
}

std::uint64_t random_number(Type type, std::uint64_t bits) {
  const std::uint64_t way = bits >> 61, low = mix(bits);
  const Format f = format_of(type);
  if (packed(type) == 2) {
    const int half = ptx::bits_of(type) / 2;
    const Type part = f.exponent == 0   ? Type::u16
                      : f.width() == 32 ? Type::f32
                      : f.width() == 8  ? (f.exponent == 4 ? Type::e4m3 : Type::e5m2)
                      : f.exponent == 5 ? Type::f16
                                        : Type::bf16;
    return random_number(part, bits) | random_number(part, low) << half;
  }
  const std::uint64_t all = low_bits(ptx::bits_of(type));
  if (way < 2) return low & all;  // any bits
  if (f.exponent) {
    // Exponents from 2^-3 to 2^4 (way 2 to 4), or small integers and halves.
    if (way < 5 || f.width() < 16) {
      const int power = static_cast<int>(low >> 60 & 7) - 3;
      return (f.one(power) | (low & low_bits(f.fraction)) | (low >> 63 ? f.sign() : 0)) & all;
    }
    const std::uint64_t fraction = low & low_bits(f.fraction) & ~low_bits(f.fraction - 3);
    return f.one(static_cast<int>(low >> 59 & 3)) | fraction | (low >> 63 ? f.sign() : 0);
  }
  const std::uint64_t small = low & 0xFF;
  return (way < 5 ? small : way < 7 ? 0 - small : low >> (low & 63)) & all;
}

std::uint64_t amount(std::uint64_t bits) {
  constexpr std::array<std::uint64_t, 6> beyond = {64, 65, 127, 255, 256, 0xFFFFFFFF};
  const std::uint64_t low = mix(bits);
  if (bits >> 62 == 0) return low & 0xFFFFFFFF;
  if (bits >> 62 == 1) return beyond[low % beyond.size()];
  return low % 70;
}

std::uint64_t clamp(std::uint64_t bits) {
  constexpr std::array<std::uint64_t, 8> usual = {0x1F,   0x00,   0x181F, 0x1C1F,
                                                  0x1800, 0x100F, 0x1E01, 0x0007};
  return usual[mix(bits) % usual.size()];
}

// -(a * b), rounded: what makes a fused multiply-add cancel to the bits below the product's.
template <class Float, class Bits>
std::uint64_t cancelling(std::uint64_t a, std::uint64_t b) {
  const Bits narrow_a = static_cast<Bits>(a), narrow_b = static_cast<Bits>(b);
  Float x, y;
  std::memcpy(&x, &narrow_a, sizeof x);
  std::memcpy(&y, &narrow_b, sizeof y);
  // Which NaN a product of two is, a compiler may choose: here the first one's, quiet.
  constexpr Bits quiet = Bits{1} << (std::numeric_limits<Float>::digits - 2);
  constexpr Bits sign = Bits{1} << (sizeof(Bits) * 8 - 1);
  if (x != x) return (narrow_a | quiet) ^ sign;
  if (y != y) return (narrow_b | quiet) ^ sign;
  const Float product = -(x * y);
  Bits out;
  std::memcpy(&out, &product, sizeof out);
  return out;
}

// What a number of a matrix is like, by its block of 128 lanes: any finite one; exponents near each
// other; finite special values; and, once in 64 times, any special value.
std::uint64_t factor(Type type, std::uint64_t bits, std::uint32_t lane) {
  const Format f = format_of(type);
  if (packed(type) == 2) {
    const int half = ptx::bits_of(type) / 2;
    const Type part = f.width() == 8 ? (f.exponent == 4 ? Type::e4m3 : Type::e5m2)
                                     : (f.exponent == 5 ? Type::f16 : Type::bf16);
    return factor(part, bits, lane) | factor(part, mix(bits), lane) << half;
  }
  const std::uint64_t all = low_bits(ptx::bits_of(type)), low = mix(bits);
  const std::vector<std::uint64_t>& list = specials(type);
  if (!f.exponent) return (lane / 128 % 4 == 2 ? list[low % list.size()] : low) & all;
  const auto finite = [&](std::uint64_t v) {
    if (type == Type::e4m3) return (v & 0x7f) == 0x7f ? v ^ 1 : v;
    return (v & f.infinity()) == f.infinity() ? v ^ f.one() : v;
  };
  switch (lane / 128 % 4) {
    case 0:
      return finite(low & all);
    case 2:
      return finite(list[low % list.size()]);
    case 3:
      if (bits >> 58 == 0) return list[low % list.size()];
      [[fallthrough]];
    default:
      const int power = static_cast<int>(low >> 60 & 7) - 3;
      return (f.one(power) | (low & low_bits(f.fraction)) | (low >> 59 & 1 ? f.sign() : 0)) & all;
  }
}

// One of the words, four bits each, eight times.
template <std::size_t count>
std::uint64_t eight_of(const std::array<std::uint64_t, count>& words, std::uint64_t bits) {
  std::uint64_t out = 0;
  for (int i = 0; i < 8; ++i) out |= words[(bits = mix(bits)) % count] << (4 * i);
  return out;
}

}  // namespace

std::uint64_t mix(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9;
  x = (x ^ x >> 27) * 0x94D049BB133111EB;
  return x ^ x >> 31;
}

std::uint64_t hash_of(std::string_view text) {
  std::uint64_t h = 0xCBF29CE484222325;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  return h;
}

const std::vector<std::uint64_t>& specials(Type type) {
  static std::map<Type, std::vector<std::uint64_t>> known;
  const auto [at, fresh] = known.try_emplace(type);
  if (fresh) at->second = specials_of(type);
  return at->second;
}

std::uint64_t operand(std::string_view key, const std::vector<Source>& sources, std::size_t index,
                      std::uint32_t lane) {
  const Source& source = sources[index];
  const std::uint64_t bits = mix(mix(hash_of(key) + index) + lane);
  switch (source.use) {
    case Use::amount:
      return amount(bits) & low_bits(std::max(1, ptx::bits_of(source.type)));
    case Use::lane:
      return bits >> 60 == 0 ? mix(bits) & 0xFFFFFFFF : mix(bits) % 33;
    case Use::clamp:
      return clamp(bits);
    case Use::whole_warp:
      return 0xFFFFFFFF;
    case Use::few:
      return specials(source.type)[mix(bits) % 4];
    case Use::truth:
      return mix(bits) & 1;
    case Use::factor:
      return factor(source.type, bits, lane);
    case Use::finite:
      return factor(source.type, bits, lane / 128 % 4 == 3 ? 128 : lane);
    case Use::two_of_four:
      return eight_of(std::array<std::uint64_t, 6>{0x4, 0x8, 0xC, 0x9, 0xD, 0xE}, bits);
    case Use::one_of_two:
      return eight_of(std::array<std::uint64_t, 2>{0x4, 0xE}, bits);
    case Use::number:
      break;
  }
  const bool third = index == 2 && sources[0].type == source.type && sources[1].type == source.type;
  if (third && lane >= special_lanes && lane % 2 == 1) {
    const std::uint64_t a = operand(key, sources, 0, lane), b = operand(key, sources, 1, lane);
    if (source.type == Type::f32) return cancelling<float, std::uint32_t>(a, b);
    if (source.type == Type::f64) return cancelling<double, std::uint64_t>(a, b);
  }
  if (lane >= special_lanes) return random_number(source.type, bits);
  const std::vector<std::uint64_t>& list = specials(source.type);
  const auto numbers = std::count_if(sources.begin(), sources.end(),
                                     [](const Source& s) { return s.use == Use::number; });
  if (numbers > 2) return list[mix(bits) % list.size()];
  const auto before = std::count_if(sources.begin(), sources.begin() + static_cast<long>(index),
                                    [](const Source& s) { return s.use == Use::number; });
  if (before == 1) return list[lane / 32 % list.size()];
  return numbers == 2 ? list[lane % 32 % list.size()] : list[lane % list.size()];
}

}  // namespace tilescope::conformance
