#include "core/sim/matrix/fragments.h"

#include <fmt/format.h>

#include "core/sim/lanes/units.h"
#include "core/sim/machine/model.h"
#include "core/sim/machine/together.h"

namespace tilescope::sim {
namespace {

using ptx::Shape;
using ptx::Type;

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

ProductShape extents(Shape shape) {
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
    case Shape::m16n16k8:
      return {16, 16, 8};
    case Shape::m16n16k16:
      return {16, 16, 16};
    case Shape::m8n32k16:
      return {8, 32, 16};
    case Shape::m32n8k16:
      return {32, 8, 16};
    default:
      return {};
  }
}

// wmma's shapes that mma does not have.
bool of_wmma(Shape shape) {
  return shape >= Shape::m16n16k8;
}

// How often a fragment of wmma holds each element: its A and B of f16 have eight registers in every
// shape (9.7.14.4.1).
int copies(Shape shape, Type type, int elements) {
  return of_wmma(shape) && type == Type::f16 ? 512 / elements : 1;
}

void add(std::vector<Mma>& forms, Shape name, Type d, Type a, Type b) {
  Mma out;
  out.name = name;
  out.d = d;
  out.a = a;
  out.b = b;
  out.shape = extents(name);
  const auto [m, n, k] = out.shape;
  out.a_fragment = fragment_of_a(out.shape, ptx::bits_of(a), copies(name, a, m * k));
  out.b_fragment = fragment_of_b(out.shape, ptx::bits_of(b), copies(name, b, k * n));
  out.c_fragment = fragment_of_c(out.shape, ptx::bits_of(d));
  forms.push_back(std::move(out));
}

void add_integers(std::vector<Mma>& forms, Shape shape) {
  for (Type a : {Type::s8, Type::u8}) {
    for (Type b : {Type::s8, Type::u8}) add(forms, shape, Type::s32, a, b);
  }
}

std::vector<Mma> all_forms() {
  std::vector<Mma> out;
  for (Shape shape :
       {Shape::m16n8k8, Shape::m16n8k16, Shape::m16n16k16, Shape::m8n32k16, Shape::m32n8k16}) {
    add(out, shape, Type::f32, Type::f16, Type::f16);
    add(out, shape, Type::f16, Type::f16, Type::f16);
    add(out, shape, Type::f32, Type::bf16, Type::bf16);
  }
  for (Shape shape : {Shape::m16n8k4, Shape::m16n8k8, Shape::m16n16k8}) {
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
  for (Shape shape : {Shape::m8n8k16, Shape::m16n8k16, Shape::m16n8k32, Shape::m16n16k16,
                      Shape::m8n32k16, Shape::m32n8k16}) {
    add_integers(out, shape);
  }
  for (Shape shape : {Shape::m8n8k4, Shape::m16n8k4, Shape::m16n8k8, Shape::m16n8k16}) {
    add(out, shape, Type::f64, Type::f64, Type::f64);
  }
  return out;
}

void add(std::vector<MatrixAccess>& accesses, const Mma& mma, ptx::Part part) {
  using ptx::Part;
  MatrixAccess out;
  out.shape = mma.name;
  out.part = part;
  out.type = part == Part::a ? mma.a : part == Part::b ? mma.b : mma.d;
  out.rows = part == Part::b ? mma.shape.k : mma.shape.m;
  out.columns = part == Part::a ? mma.shape.k : mma.shape.n;
  out.fragment = part == Part::a   ? mma.a_fragment
                 : part == Part::b ? mma.b_fragment
                                   : mma.c_fragment;
  for (bool by_columns : {false, true}) {
    out.by_columns = by_columns;
    accesses.push_back(out);
  }
}

std::vector<MatrixAccess> all_accesses() {
  std::vector<MatrixAccess> out;
  for (const Mma& mma : mma_forms()) {
    if (!of_wmma(mma.name) && !(mma.name == Shape::m8n8k4 && mma.d == Type::f64)) continue;
    for (ptx::Part part : {ptx::Part::a, ptx::Part::b, ptx::Part::c, ptx::Part::d}) {
      add(out, mma, part);
    }
  }
  return out;
}

}  // namespace

Fragment fragment_of_a(ProductShape shape, int bits, int copies) {
  const int e = elements_of_register(bits), k = shape.k;
  const Layout lane = make_layout_of(Layout(4, e), Layout(8, k));
  const Layout element = make_layout_of(Layout(e, 1), Layout(shape.m / 8, 8 * k),
                                        Layout(k / (4 * e), 4 * e), Layout(copies, 0));
  return tabulated(make_layout_of(lane, element), copies * shape.m * k / lanes, bits);
}

Fragment fragment_of_b(ProductShape shape, int bits, int copies) {
  const int e = elements_of_register(bits), n = shape.n;
  const Layout lane = make_layout_of(Layout(4, e * n), Layout(8, 1));
  const Layout element = make_layout_of(Layout(e, n), Layout(shape.k / (4 * e), 4 * e * n),
                                        Layout(n / 8, 8), Layout(copies, 0));
  return tabulated(make_layout_of(lane, element), copies * shape.k * n / lanes, bits);
}

Fragment fragment_of_c(ProductShape shape, int bits) {
  const int n = shape.n;
  const Layout lane = make_layout_of(Layout(4, 2), Layout(8, n));
  const Layout element = make_layout_of(Layout(2, 1), Layout(shape.m / 8, 8 * n), Layout(n / 8, 8));
  return tabulated(make_layout_of(lane, element), shape.m * n / lanes, bits);
}

const std::vector<Mma>& mma_forms() {
  static const std::vector<Mma> forms = all_forms();
  return forms;
}

const std::vector<MatrixAccess>& matrix_accesses() {
  static const std::vector<MatrixAccess> accesses = all_accesses();
  return accesses;
}

std::uint64_t mma_form(const ptx::Instruction& i) {
  const std::vector<Mma>& forms = mma_forms();
  // wmma.mma of f16 does not say so.
  const bool said = i.modifiers.has(ptx::Field::type2);
  const Type a = said ? i.modifiers.type2() : Type::f16;
  const Type b = said ? i.modifiers.type3() : Type::f16;
  std::uint64_t number = 0;
  while (number < forms.size()) {
    const Mma& f = forms[number];
    if (f.name == i.modifiers.shape() && f.d == i.modifiers.type() && f.a == a && f.b == b) break;
    ++number;
  }
  return number;
}

std::uint32_t matrix_access(const ptx::Instruction& i) {
  constexpr std::uint8_t col = 2;  // the second word of the field
  const std::vector<MatrixAccess>& accesses = matrix_accesses();
  std::uint32_t number = 0;
  while (number < accesses.size()) {
    const MatrixAccess& a = accesses[number];
    if (a.shape == i.modifiers.shape() && a.part == i.modifiers.part() &&
        a.type == i.modifiers.type() &&
        a.by_columns == (i.modifiers[ptx::Field::a_layout] == col)) {
      break;
    }
    ++number;
  }
  return number;
}

Flow whole_warp(Core& x, Mask m) {
  if (x.warp->live != ~Mask{0}) {
    const int lane = __builtin_ctz(m);
    return x.reports->fault(
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
