// f32 in pairs, and f32 with operands of half precision (PTX ISA 9.7.3, 9.7.5): the arithmetic of
// core/sim/lanes/single.h on other registers.
#include "core/sim/lanes/half.h"
#include "core/sim/lanes/lanes.h"
#include "core/sim/lanes/single.h"
#include "core/sim/lanes/units.h"

namespace tilescope::sim::TILESCOPE_LANES {
namespace {

using ptx::Field;
using ptx::Op;
using ptx::Type;
using u16 = std::uint16_t;

// A register of f32x2 is an array of 64 floats.
void write_pairs(Core& x, const Code& c, Mask m, const float* from) {
  blend(lane_array<std::uint64_t>(x, c.d), reinterpret_cast<const std::uint64_t*>(from), m);
}

template <class Operation>
Flow binary_pairs(Core& x, const Code& c, Mask m) {
  alignas(64) float t[64];
  for (int part = 0; part < 64; part += 32) {
    float* d = t + part;
    const float* a = lane_array<float>(x, c.a) + part;
    const float* b = lane_array<float>(x, c.b) + part;
    TILESCOPE_FOR_LANES(l) d[l] = Operation::apply(a[l], b[l]);
  }
  write_pairs(x, c, m, t);
  return Flow::next;
}

template <class Operation>
Flow ternary_pairs(Core& x, const Code& c, Mask m) {
  alignas(64) float t[64];
  for (int part = 0; part < 64; part += 32) {
    float* d = t + part;
    const float* a = lane_array<float>(x, c.a) + part;
    const float* b = lane_array<float>(x, c.b) + part;
    const float* e = lane_array<float>(x, c.c) + part;
    TILESCOPE_FOR_LANES(l) d[l] = Operation::apply(a[l], b[l], e[l]);
  }
  write_pairs(x, c, m, t);
  return Flow::next;
}

// The halves become f32 first, exactly.
template <class Operation, class F>
struct WidenFirst {
  static float apply(u16 a, float b) { return Operation::apply(F::widened(a), b); }
};
template <class Operation, class F>
struct WidenTwo {
  static float apply(u16 a, u16 b, float c) {
    return Operation::apply(F::widened(a), F::widened(b), c);
  }
};

template <class Mode, Round round>
Handler pairs(Op op) {
  switch (op) {
    case Op::add:
      return binary_pairs<Add<Mode, round>>;
    case Op::sub:
      return binary_pairs<Sub<Mode, round>>;
    case Op::mul:
      return binary_pairs<Mul<Mode, round>>;
    case Op::fma:
      return ternary_pairs<Fma<Mode, round>>;
    default:
      return nullptr;
  }
}

template <class F, class Mode, Round round>
Handler with_halves(Op op) {
  switch (op) {
    case Op::add:
      return binary<WidenFirst<Add<Mode, round>, F>, float, u16, float>;
    case Op::sub:
      return binary<WidenFirst<Sub<Mode, round>, F>, float, u16, float>;
    case Op::fma:
      return ternary<WidenTwo<Fma<Mode, round>, F>, float, u16, u16, float>;
    default:
      return nullptr;
  }
}

template <Round round>
Handler rounded(const ptx::Instruction& i) {
  const bool sat = i.modifiers.has(Field::sat);
  switch (i.modifiers.type2()) {
    case Type::none:
      return i.modifiers.has(Field::ftz) ? pairs<Ftz, round>(i.op) : pairs<Plain, round>(i.op);
    case Type::f16:
      return sat ? with_halves<F16, Sat<Plain>, round>(i.op) : with_halves<F16, Plain, round>(i.op);
    case Type::bf16:
      return sat ? with_halves<Bf16, Sat<Plain>, round>(i.op)
                 : with_halves<Bf16, Plain, round>(i.op);
    default:
      return nullptr;
  }
}

}  // namespace

Handler mixed_handler(const ptx::Instruction& i) {
  switch (i.modifiers.round()) {
    case Round::none:
    case Round::rn:
      return rounded<Round::rn>(i);
    case Round::rz:
      return rounded<Round::rz>(i);
    case Round::rm:
      return rounded<Round::rm>(i);
    case Round::rp:
      return rounded<Round::rp>(i);
    case Round::rna:
    case Round::rs:
      return nullptr;
  }
  return nullptr;
}

}  // namespace tilescope::sim::TILESCOPE_LANES
