#include "core/tensor/element.h"

#include <array>

namespace tilescope {
namespace {

// In the order of ElementType.
constexpr std::array<std::string_view, 26> names = {
    "u1",    "s4",   "u4",  "e2m1", "e2m3", "e3m2", "e4m3", "e5m2", "ue8m0",
    "ue4m3", "s8",   "u8",  "s16",  "u16",  "f16",  "bf16", "s32",  "u32",
    "f32",   "tf32", "s64", "u64",  "f64",  "c64",  "u128", "u256"};

struct Alias {
  std::string_view name;
  ElementType type;
};

// CuTe's and CUTLASS's C++ names (include/cute/numeric/numeric_types.hpp), those of launch files,
// and TVM's.
constexpr Alias aliases[] = {{"half_t", ElementType::f16},
                             {"bfloat16_t", ElementType::bf16},
                             {"float", ElementType::f32},
                             {"tfloat32_t", ElementType::tf32},
                             {"double", ElementType::f64},
                             {"complex<double>", ElementType::c64},
                             {"float_e4m3_t", ElementType::e4m3},
                             {"float_e5m2_t", ElementType::e5m2},
                             {"float_e2m3_t", ElementType::e2m3},
                             {"float_e3m2_t", ElementType::e3m2},
                             {"float_e2m1_t", ElementType::e2m1},
                             {"float_ue8m0_t", ElementType::ue8m0},
                             {"float_ue4m3_t", ElementType::ue4m3},
                             {"uint1b_t", ElementType::u1},
                             {"int4b_t", ElementType::s4},
                             {"uint4b_t", ElementType::u4},
                             {"int8_t", ElementType::s8},
                             {"uint8_t", ElementType::u8},
                             {"int16_t", ElementType::s16},
                             {"uint16_t", ElementType::u16},
                             {"int", ElementType::s32},
                             {"int32_t", ElementType::s32},
                             {"uint32_t", ElementType::u32},
                             {"int64_t", ElementType::s64},
                             {"uint64_t", ElementType::u64},
                             {"uint128_t", ElementType::u128},
                             {"uint256_t", ElementType::u256},
                             {"i8", ElementType::s8},
                             {"i16", ElementType::s16},
                             {"i32", ElementType::s32},
                             {"i64", ElementType::s64},
                             {"float16", ElementType::f16},
                             {"bfloat16", ElementType::bf16},
                             {"float32", ElementType::f32},
                             {"float64", ElementType::f64},
                             {"float8_e4m3fn", ElementType::e4m3},
                             {"float8_e5m2", ElementType::e5m2},
                             {"float4_e2m1fn", ElementType::e2m1},
                             {"int8", ElementType::s8},
                             {"uint8", ElementType::u8},
                             {"int16", ElementType::s16},
                             {"uint16", ElementType::u16},
                             {"int32", ElementType::s32},
                             {"uint32", ElementType::u32},
                             {"int64", ElementType::s64},
                             {"uint64", ElementType::u64}};

bool same_but_for_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (lower(a[i]) != lower(b[i])) return false;
  }
  return true;
}

}  // namespace

std::string_view name_of(ElementType type) {
  return names[static_cast<std::size_t>(type)];
}

std::optional<ElementType> element_named(std::string_view name) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (same_but_for_case(names[i], name)) return static_cast<ElementType>(i);
  }
  for (const Alias& alias : aliases) {
    if (alias.name == name) return alias.type;
  }
  return std::nullopt;
}

std::string_view element_names() {
  return "u1 s4 u4 e2m1 e2m3 e3m2 e4m3 e5m2 ue8m0 ue4m3 s8 u8 s16 u16 f16 bf16 s32 u32 f32 tf32 "
         "s64 "
         "u64 f64 c64 u128 u256";
}

}  // namespace tilescope
