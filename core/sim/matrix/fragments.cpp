#include "core/sim/matrix/fragments.h"

#include <fmt/format.h>

#include "core/sim/lanes/units.h"
#include "core/sim/machine.h"
#include "core/sim/together.h"

namespace tilescope::sim {
namespace {

using ptx::Shape;
using ptx::Type;

Layout pair(const Layout& a, const Layout& b) {
  return make_layout_of(a, b);
}

Fragment tabulated(const Layout& layout, int elements, int bits) {
  Fragment out;
  out.layout = layout;
  out.bits = bits;
  out.in_register = bits == 64 ? 1 : 32 / bits;
  out.registers = elements / out.in_register;
  for (int i = 0; i < elements * lanes; ++i) {
    out.place.push_back(static_cast<std::uint16_t>(layout(i)));
  }
  return out;
}

int elements_of_register(int bits) {
  return bits == 64 ? 1 : 32 / bits;
}

MatrixShape extents(Shape shape) {
  switch (shape) {
    case Shape::m8n8k4:
      return {8, 8, 4};
    case Shape::m8n8k16:
      return {8, 8, 16};
    case Shape::m16n8k4:
      return {16, 8, 4};
    case Shape::m16n8k8:
      return {16, 8, 8};
    case Shape::m16n8k16:
      return {16, 8, 16};
    case Shape::m16n8k32:
      return {16, 8, 32};
    default:
      return {};
  }
}

void add(std::vector<Mma>& forms, Shape name, Type d, Type a, Type b) {
  Mma out;
  out.name = name;
  out.d = d;
  out.a = a;
  out.b = b;
  out.shape = extents(name);
  out.a_fragment = fragment_of_a(out.shape, ptx::bits_of(a));
  out.b_fragment = fragment_of_b(out.shape, ptx::bits_of(b));
  out.c_fragment = fragment_of_c(out.shape, ptx::bits_of(d));
  forms.push_back(std::move(out));
}

std::vector<Mma> all_forms() {
  std::vector<Mma> out;
  for (Shape shape : {Shape::m16n8k8, Shape::m16n8k16}) {
    add(out, shape, Type::f32, Type::f16, Type::f16);
    add(out, shape, Type::f16, Type::f16, Type::f16);
    add(out, shape, Type::f32, Type::bf16, Type::bf16);
  }
  for (Shape shape : {Shape::m16n8k4, Shape::m16n8k8}) {
    add(out, shape, Type::f32, Type::tf32, Type::tf32);
  }
  for (Type a : {Type::e4m3, Type::e5m2}) {
    for (Type b : {Type::e4m3, Type::e5m2}) {
      for (Shape shape : {Shape::m16n8k16, Shape::m16n8k32}) {
        add(out, shape, Type::f32, a, b);
        add(out, shape, Type::f16, a, b);
      }
    }
  }
  for (Type a : {Type::s8, Type::u8}) {
    for (Type b : {Type::s8, Type::u8}) {
      for (Shape shape : {Shape::m8n8k16, Shape::m16n8k16, Shape::m16n8k32}) {
        add(out, shape, Type::s32, a, b);
      }
    }
  }
  for (Shape shape : {Shape::m8n8k4, Shape::m16n8k4, Shape::m16n8k8, Shape::m16n8k16}) {
    add(out, shape, Type::f64, Type::f64, Type::f64);
  }
  return out;
}

}  // namespace

Fragment fragment_of_a(MatrixShape shape, int bits) {
  const int e = elements_of_register(bits), k = shape.k;
  const Layout lane = pair({4, e}, {8, k});
  const Layout element =
      make_layout_of(Layout(e, 1), Layout(shape.m / 8, 8 * k), Layout(k / (4 * e), 4 * e));
  return tabulated(pair(lane, element), shape.m * k / lanes, bits);
}

Fragment fragment_of_b(MatrixShape shape, int bits) {
  const int e = elements_of_register(bits), n = shape.n;
  const Layout lane = pair({4, e * n}, {8, 1});
  const Layout element = pair({e, n}, {shape.k / (4 * e), 4 * e * n});
  return tabulated(pair(lane, element), shape.k * n / lanes, bits);
}

Fragment fragment_of_c(MatrixShape shape, int bits) {
  const int n = shape.n;
  const Layout lane = pair({4, 2}, {8, n});
  const Layout element = pair({2, 1}, {shape.m / 8, 8 * n});
  return tabulated(pair(lane, element), shape.m * n / lanes, bits);
}

const std::vector<Mma>& mma_forms() {
  static const std::vector<Mma> forms = all_forms();
  return forms;
}

std::uint64_t mma_form(const ptx::Instruction& i) {
  const std::vector<Mma>& forms = mma_forms();
  std::uint64_t number = 0;
  while (number < forms.size()) {
    const Mma& f = forms[number];
    if (f.name == i.modifiers.shape() && f.d == i.modifiers.type() && f.a == i.modifiers.type2() &&
        f.b == i.modifiers.type3()) {
      break;
    }
    ++number;
  }
  return number;
}

Flow whole_warp(Core& x, Mask m) {
  if (x.warp->live != ~Mask{0}) {
    const int lane = __builtin_ctz(m);
    return x.machine->fault(
        x, lane, "incomplete_warp",
        fmt::format("{} needs all 32 threads of the warp, but only {} are there",
                    ptx::opcode(x.machine->program().code[x.pc].op).name,
                    __builtin_popcount(x.warp->live)),
        "a warp of 32 threads of which none has exited",
        fmt::format("lanes 0x{:08x}", x.warp->live));
  }
  return together(x, m, x.warp->live, Wait::aligned);
}

}  // namespace tilescope::sim
