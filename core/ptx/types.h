// The fundamental types of PTX (PTX ISA 5.2) and the state spaces (PTX ISA 5.1), as one byte each.
#pragma once

#include <cstdint>
#include <string_view>

namespace tilescope::ptx {

// 0 is "no type". b* are untyped bits; packed types hold two values in one register.
// clang-format off
enum class Type : std::uint8_t {
  none,
  pred,
  b8, b16, b32, b64, b128,
  u8, u16, u32, u64,
  s8, s16, s32, s64,
  f16, bf16, tf32, f32, f64,
  f16x2, bf16x2, f32x2, u16x2, s16x2,
  e4m3, e5m2, e4m3x2, e5m2x2, e2m1x2, e2m3x2, e3m2x2, ue8m0x2,
  b1,
  u4, s4, e2m1, e2m3, e3m2, ue8m0, ue4m3,  // elements of matrices only
  s2f6x2,
};
constexpr Type last_type = Type::s2f6x2;
// clang-format on

enum class Class : std::uint8_t {
  none,
  predicate,
  bits,
  unsigned_integer,
  signed_integer,
  floating
};

int bits_of(Type type);  // 1 for pred, 0 for none
inline int bytes_of(Type type) {
  return bits_of(type) / 8;
}
Class class_of(Type type);
std::string_view name_of(Type type);  // "f32"
Type type_named(std::string_view s);  // none where there is no such type
Type bits_type(int bits);             // b8 ... b128
Type widened(Type type);              // twice the width, same class: what .wide makes of a type

enum class Space : std::uint8_t { generic, reg, param, global, shared, local, constant };

std::string_view name_of(Space space);  // "const" for constant, "generic" for generic

}  // namespace tilescope::ptx
