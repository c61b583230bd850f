#include "core/numeric/dtype.h"

#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/numeric/small_float.h"

namespace tilescope {
namespace {

struct Facts {
  std::string_view name;
  int bits;
  bool is_float, is_signed;
};

// In the order of DType.
constexpr std::array<Facts, 14> facts{{{"f16", 16, true, true},
                                       {"bf16", 16, true, true},
                                       {"f32", 32, true, true},
                                       {"f64", 64, true, true},
                                       {"e4m3", 8, true, true},
                                       {"e5m2", 8, true, true},
                                       {"u8", 8, false, false},
                                       {"i8", 8, false, true},
                                       {"u16", 16, false, false},
                                       {"i16", 16, false, true},
                                       {"u32", 32, false, false},
                                       {"i32", 32, false, true},
                                       {"u64", 64, false, false},
                                       {"i64", 64, false, true}}};
static_assert(facts.size() == static_cast<std::size_t>(DType::i64) + 1);

const Facts& facts_of(DType type) {
  return facts[static_cast<std::size_t>(type)];
}

template <class T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

template <class T>
void store(std::byte* at, T value) {
  std::memcpy(at, &value, sizeof value);
}

// The bits of one element, zero-extended.
std::uint64_t load_bits(DType type, const std::byte* at) {
  switch (bits_of(type)) {
    case 8:
      return load<std::uint8_t>(at);
    case 16:
      return load<std::uint16_t>(at);
    case 32:
      return load<std::uint32_t>(at);
    default:
      return load<std::uint64_t>(at);
  }
}

// trunc(value) modulo 2^64, as two's complement; NaN and infinities give 0.
std::uint64_t wrapped(double value) {
  if (!std::isfinite(value)) return 0;
  const double two64 = 18446744073709551616.0;
  const double rest = std::fmod(std::trunc(value), two64);  // exact, in (-2^64, 2^64)
  const auto magnitude = static_cast<std::uint64_t>(std::fabs(rest));
  return rest < 0 ? std::uint64_t{0} - magnitude : magnitude;
}

std::uint64_t integer_distance(DType type, const std::byte* a, const std::byte* b) {
  std::uint64_t x = load_bits(type, a), y = load_bits(type, b);
  if (is_signed_integer(type)) {
    // Moving the signed range up by half of it keeps distances and makes it unsigned.
    const std::uint64_t half = std::uint64_t{1} << (bits_of(type) - 1);
    x ^= half, y ^= half;
  }
  return x > y ? x - y : y - x;
}

}  // namespace

std::string_view name_of(DType type) {
  return facts_of(type).name;
}

std::optional<DType> dtype_named(std::string_view s) {
  for (std::size_t i = 0; i < facts.size(); ++i) {
    if (facts[i].name == s) return static_cast<DType>(i);
  }
  return std::nullopt;
}

int bits_of(DType type) {
  return facts_of(type).bits;
}
bool is_float(DType type) {
  return facts_of(type).is_float;
}
bool is_signed_integer(DType type) {
  return facts_of(type).is_signed && !facts_of(type).is_float;
}

double load_element(DType type, const std::byte* at) {
  switch (type) {
    case DType::f16:
      return decode(format_f16, load<std::uint16_t>(at));
    case DType::bf16:
      return decode(format_bf16, load<std::uint16_t>(at));
    case DType::f32:
      return load<float>(at);
    case DType::f64:
      return load<double>(at);
    case DType::e4m3:
      return decode(format_e4m3, load<std::uint8_t>(at));
    case DType::e5m2:
      return decode(format_e5m2, load<std::uint8_t>(at));
    case DType::u8:
      return load<std::uint8_t>(at);
    case DType::i8:
      return load<std::int8_t>(at);
    case DType::u16:
      return load<std::uint16_t>(at);
    case DType::i16:
      return load<std::int16_t>(at);
    case DType::u32:
      return load<std::uint32_t>(at);
    case DType::i32:
      return load<std::int32_t>(at);
    case DType::u64:
      return static_cast<double>(load<std::uint64_t>(at));
    case DType::i64:
      return static_cast<double>(load<std::int64_t>(at));
  }
  return 0;
}

void store_element(DType type, std::byte* at, double value) {
  switch (type) {
    case DType::f16:
      return store(at, static_cast<std::uint16_t>(encode(format_f16, value)));
    case DType::bf16:
      return store(at, static_cast<std::uint16_t>(encode(format_bf16, value)));
    case DType::f32:
      return store(at, encode(format_f32, value));
    case DType::f64:
      return store(at, value);
    case DType::e4m3:
      return store(at, static_cast<std::uint8_t>(encode(format_e4m3, value)));
    case DType::e5m2:
      return store(at, static_cast<std::uint8_t>(encode(format_e5m2, value)));
    case DType::u8:
    case DType::i8:
      return store(at, static_cast<std::uint8_t>(wrapped(value)));
    case DType::u16:
    case DType::i16:
      return store(at, static_cast<std::uint16_t>(wrapped(value)));
    case DType::u32:
    case DType::i32:
      return store(at, static_cast<std::uint32_t>(wrapped(value)));
    case DType::u64:
    case DType::i64:
      return store(at, wrapped(value));
  }
}

std::uint64_t ulp_distance(DType type, const std::byte* a, const std::byte* b) {
  if (!is_float(type)) return integer_distance(type, a, b);
  const bool nan_a = std::isnan(load_element(type, a)), nan_b = std::isnan(load_element(type, b));
  if (nan_a || nan_b) return nan_a && nan_b ? 0 : std::numeric_limits<std::uint64_t>::max();
  // Without the sign, patterns are ordered as the values are, one apart.
  const std::uint64_t sign = std::uint64_t{1} << (bits_of(type) - 1);
  const std::uint64_t x = load_bits(type, a), y = load_bits(type, b);
  const std::uint64_t mx = x & (sign - 1), my = y & (sign - 1);
  if ((x ^ y) & sign) return mx + my;
  return mx > my ? mx - my : my - mx;
}

}  // namespace tilescope
