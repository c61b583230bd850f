#include "core/sim/wgmma/form.h"

#include <vector>

namespace tilescope::sim {
namespace {

using ptx::Field;
using ptx::Operand;
using ptx::Type;
using u32 = std::uint32_t;

ElementType element_of(Type type) {
  switch (type) {
    case Type::bf16:
      return ElementType::bf16;
    case Type::tf32:
      return ElementType::tf32;
    case Type::e4m3:
      return ElementType::e4m3;
    case Type::e5m2:
      return ElementType::e5m2;
    case Type::s8:
      return ElementType::s8;
    case Type::u8:
      return ElementType::u8;
    case Type::b1:
      return ElementType::b1;
    default:
      return ElementType::f16;
  }
}

constexpr u32 most_n = 256;

// Of D, by N / 8 - 1: sums of 16 bits, or of 32.
std::vector<Fragment> sums(int bits) {
  std::vector<Fragment> out;
  for (int n = 8; n <= static_cast<int>(most_n); n += 8) {
    out.push_back(fragment_of_c({static_cast<int>(warp_rows), n, 0}, bits));
  }
  return out;
}

// Of A, 32 bytes a row: elements of so many bits.
Fragment operand(int bits) {
  return fragment_of_a({static_cast<int>(warp_rows), 0, 32 * 8 / bits}, bits);
}

}  // namespace

GroupForm group_form(const ptx::Program& program, const ptx::Instruction& i) {
  const ptx::Modifiers& how = i.modifiers;
  GroupForm out;
  out.n = how.group_shape().n;
  out.k = how.group_shape().k;
  out.a = element_of(how.type2());
  out.b = element_of(how.type3());
  out.d = how.type() == Type::f16   ? SumType::f16
          : how.type() == Type::s32 ? SumType::s32
                                    : SumType::f32;
  out.sparse = how.has(Field::sparse);
  out.saturate = how.has(Field::satfinite);
  const Operand* o = program.operands_of(i);
  out.a_in_registers = o[1].kind == Operand::Kind::vector;
  // Constants in their order: the selector; then signs, then transposes.
  u32 next = 3;
  if (out.sparse) {
    out.selector = static_cast<u32>(o[4].value);
    next = 5;
  }
  ++next;  // scale-d
  const auto constant = [&] {
    return next < i.count ? static_cast<std::int32_t>(o[next++].value) : 0;
  };
  if (out.d == SumType::s32) return out;
  out.negate_a = constant() < 0;
  out.negate_b = constant() < 0;
  if (!out.a_in_registers) out.transpose_a = constant() != 0;
  out.transpose_b = constant() != 0;
  return out;
}

const Fragment& group_d_fragment(const GroupForm& form) {
  static const std::vector<Fragment> halves = sums(16), words = sums(32);
  return (form.d == SumType::f16 ? halves : words)[form.n / 8 - 1];
}

const Fragment& group_a_fragment(const GroupForm& form) {
  static const Fragment bytes = operand(8), halves = operand(16), words = operand(32);
  const int bits = bits_of(form.a);  // single bits are held as bytes are
  return bits == 32 ? words : bits == 16 ? halves : bytes;
}

}  // namespace tilescope::sim
