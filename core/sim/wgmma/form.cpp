#include "core/sim/wgmma/form.h"

#include <map>
#include <mutex>
#include <tuple>

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

// One for each shape, width and operand, made when it is first asked for.
const Fragment& known(ProductShape shape, int bits, bool of_a) {
  using Key = std::tuple<int, int, int, bool>;
  static std::mutex mutex;
  static std::map<Key, Fragment> all;
  const std::lock_guard lock(mutex);
  const auto [at, fresh] = all.try_emplace(Key{shape.n, shape.k, bits, of_a});
  if (fresh) at->second = of_a ? fragment_of_a(shape, bits) : fragment_of_c(shape, bits);
  return at->second;
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
  return known({static_cast<int>(warp_rows), static_cast<int>(form.n), 0},
               form.d == SumType::f16 ? 16 : 32, false);
}

const Fragment& group_a_fragment(const GroupForm& form) {
  // Bits are held as bytes are: 32 of them in a register.
  const bool bits = form.a == ElementType::b1;
  const int k = static_cast<int>(bits ? form.k / 8 : form.sparse ? form.k / 2 : form.k);
  return known({static_cast<int>(warp_rows), 0, k}, bits ? 8 : bits_of(form.a), true);
}

}  // namespace tilescope::sim
