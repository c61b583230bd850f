// Element types of tensors: their names, widths, and the exact way to and from double.
//
// Every value of every type here up to 32 bits is exactly a double. 64-bit integers are not:
// code that compares them must use the integers themselves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tilescope {

enum class DType : std::uint8_t {
  f16,
  bf16,
  f32,
  f64,
  e4m3,
  e5m2,
  u8,
  i8,
  u16,
  i16,
  u32,
  i32,
  u64,
  i64
};

std::string_view name_of(DType type);                  // "f16", as in launch files and --dtype
std::optional<DType> dtype_named(std::string_view s);  // the inverse; nothing for an unknown name
int bits_of(DType type);
inline std::size_t bytes_of(DType type) {
  return static_cast<std::size_t>(bits_of(type)) / 8;
}
bool is_float(DType type);
bool is_signed_integer(DType type);

// One element in memory (little-endian) as a double; 64-bit integers round to nearest.
double load_element(DType type, const std::byte* at);

// A double into memory in `type`: floats round to nearest even (overflow: infinity where the type
// has one, else NaN for e4m3 as the hardware's non-saturating form does; a NaN becomes the
// canonical one, see small_float.h), integers truncate towards zero and wrap.
void store_element(DType type, std::byte* at, double value);

// Distance in units in the last place: how many values of `type` are between a and b. Two NaNs are
// 0 apart, a NaN and a number are UINT64_MAX; +0 and -0 are 0 apart. Integers: |a - b|.
std::uint64_t ulp_distance(DType type, const std::byte* a, const std::byte* b);

}  // namespace tilescope
