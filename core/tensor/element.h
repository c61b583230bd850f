// The element types that tensors and atoms name: what a tensor core, a copy or a tensor holds.
//
// core/numeric's DType is what the simulator computes with; here also are the types that only
// move (u128: a 16-byte copy) or that only a tensor core knows (tf32, s4, u1, the fp6 and fp4
// formats, complex f64). Names are PTX's; CuTe's (half_t, float, uint128_t...) are understood too.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tilescope {

enum class ElementType : std::uint8_t {
  u1,
  s4,
  u4,
  e2m1,
  e2m3,
  e3m2,
  e4m3,
  e5m2,
  ue8m0,
  ue4m3,
  s8,
  u8,
  s16,
  u16,
  f16,
  bf16,
  s32,
  u32,
  f32,
  tf32,
  s64,
  u64,
  f64,
  c64,
  u128,
  u256
};

constexpr int bits_of(ElementType type) {
  constexpr std::uint16_t bits[] = {1,  4,  4,  4,  6,  6,  8,  8,  8,  8,  8,   8,   16,
                                    16, 16, 16, 32, 32, 32, 32, 64, 64, 64, 128, 128, 256};
  return bits[static_cast<int>(type)];
}

std::string_view name_of(ElementType type);                       // "f16"
std::optional<ElementType> element_named(std::string_view name);  // also "half_t", "F16"
std::string_view element_names();                                 // all of them, for sentences

}  // namespace tilescope
