#include "core/ptx/types.h"

namespace tilescope::ptx {
namespace {

struct Row {
  Type type;
  std::string_view name;
  int bits;
  Class kind;
};

constexpr Row rows[] = {
    {Type::none, "", 0, Class::none},
    {Type::pred, "pred", 1, Class::predicate},
    {Type::b8, "b8", 8, Class::bits},
    {Type::b16, "b16", 16, Class::bits},
    {Type::b32, "b32", 32, Class::bits},
    {Type::b64, "b64", 64, Class::bits},
    {Type::b128, "b128", 128, Class::bits},
    {Type::u8, "u8", 8, Class::unsigned_integer},
    {Type::u16, "u16", 16, Class::unsigned_integer},
    {Type::u32, "u32", 32, Class::unsigned_integer},
    {Type::u64, "u64", 64, Class::unsigned_integer},
    {Type::s8, "s8", 8, Class::signed_integer},
    {Type::s16, "s16", 16, Class::signed_integer},
    {Type::s32, "s32", 32, Class::signed_integer},
    {Type::s64, "s64", 64, Class::signed_integer},
    {Type::f16, "f16", 16, Class::floating},
    {Type::bf16, "bf16", 16, Class::floating},
    {Type::tf32, "tf32", 32, Class::floating},
    {Type::f32, "f32", 32, Class::floating},
    {Type::f64, "f64", 64, Class::floating},
    {Type::f16x2, "f16x2", 32, Class::floating},
    {Type::bf16x2, "bf16x2", 32, Class::floating},
    {Type::f32x2, "f32x2", 64, Class::floating},
    {Type::u16x2, "u16x2", 32, Class::unsigned_integer},
    {Type::s16x2, "s16x2", 32, Class::signed_integer},
    {Type::e4m3, "e4m3", 8, Class::floating},
    {Type::e5m2, "e5m2", 8, Class::floating},
    {Type::e4m3x2, "e4m3x2", 16, Class::floating},
    {Type::e5m2x2, "e5m2x2", 16, Class::floating},
    {Type::e2m1x2, "e2m1x2", 8, Class::floating},
    {Type::e2m3x2, "e2m3x2", 16, Class::floating},
    {Type::e3m2x2, "e3m2x2", 16, Class::floating},
    {Type::ue8m0x2, "ue8m0x2", 16, Class::floating},
    {Type::b1, "b1", 1, Class::bits},
    {Type::u4, "u4", 4, Class::unsigned_integer},
    {Type::s4, "s4", 4, Class::signed_integer},
    {Type::e2m1, "e2m1", 4, Class::floating},
    {Type::e2m3, "e2m3", 6, Class::floating},
    {Type::e3m2, "e3m2", 6, Class::floating},
    {Type::ue8m0, "ue8m0", 8, Class::floating},
    {Type::ue4m3, "ue4m3", 8, Class::floating},
    {Type::s2f6x2, "s2f6x2", 16, Class::floating},
};

constexpr bool in_order() {
  for (std::size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
    if (static_cast<std::size_t>(rows[i].type) != i) return false;
  }
  return true;
}
static_assert(in_order(), "the rows stand in the order of the enumeration");

const Row& row(Type type) {
  return rows[static_cast<std::size_t>(type)];
}

}  // namespace

int bits_of(Type type) {
  return row(type).bits;
}
Class class_of(Type type) {
  return row(type).kind;
}
std::string_view name_of(Type type) {
  return row(type).name;
}

Type type_named(std::string_view s) {
  if (s.empty()) return Type::none;
  for (const Row& r : rows) {
    if (r.name == s) return r.type;
  }
  return Type::none;
}

Type bits_type(int bits) {
  switch (bits) {
    case 1:
      return Type::pred;
    case 8:
      return Type::b8;
    case 16:
      return Type::b16;
    case 32:
      return Type::b32;
    case 64:
      return Type::b64;
    case 128:
      return Type::b128;
    default:
      return Type::none;
  }
}

Type widened(Type type) {
  for (const Row& r : rows) {
    if (r.kind == class_of(type) && r.bits == 2 * bits_of(type)) return r.type;
  }
  return Type::none;
}

std::string_view name_of(Space space) {
  switch (space) {
    case Space::generic:
      return "generic";
    case Space::reg:
      return "reg";
    case Space::param:
      return "param";
    case Space::global:
      return "global";
    case Space::shared:
      return "shared";
    case Space::local:
      return "local";
    case Space::constant:
      return "const";
  }
  return "";
}

}  // namespace tilescope::ptx
