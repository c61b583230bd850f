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
    case Shape::m8n8k32:
      return {8, 8, 32};
    case Shape::m8n8k128:
      return {8, 8, 128};
    case Shape::m16n8k4:
      return {16, 8, 4};
    case Shape::m16n8k8:
      return {16, 8, 8};
    case Shape::m16n8k16:
      return {16, 8, 16};
    case Shape::m16n8k32:
      return {16, 8, 32};
    case Shape::m16n8k64:
      return {16, 8, 64};
    case Shape::m16n8k128:
      return {16, 8, 128};
    case Shape::m16n8k256:
      return {16, 8, 256};
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

// Elements of 4 and 6 bits are bytes of their own but where all are of 4 (9.7.14.5.14).
int bits_held(WarpKind kind, Type type) {
  const bool bytes = kind == WarpKind::f8f6f4 || kind == WarpKind::mxf8f6f4;
  return bytes ? 8 : ptx::bits_of(type);
}

void add(std::vector<Mma>& forms, Shape name, Type d, Type a, Type b, Type c,
         WarpKind kind = WarpKind::none, bool sparse = false) {
  Mma out;
  out.name = name;
  out.d = d;
  out.a = a;
  out.b = b;
  out.c = c;
  out.kind = kind;
  out.sparse = sparse;
  out.shape = extents(name);
  const auto [m, n, k] = out.shape;
  const ProductShape stored{m, n, out.stored()};
  out.a_fragment = fragment_of_a(stored, bits_held(kind, a), copies(name, a, m * k));
  out.b_fragment = fragment_of_b(out.shape, bits_held(kind, b), copies(name, b, k * n));
  out.c_fragment = fragment_of_c(out.shape, ptx::bits_of(c));
  out.d_fragment = fragment_of_c(out.shape, ptx::bits_of(d));
  forms.push_back(std::move(out));
}

void add(std::vector<Mma>& forms, Shape name, Type d, Type a, Type b) {
  add(forms, name, d, a, b, d);
}

void add_integers(std::vector<Mma>& forms, Shape shape, Type s, Type u, bool sparse = false) {
  for (Type a : {s, u}) {
    for (Type b : {s, u}) {
      add(forms, shape, Type::s32, a, b, Type::s32, WarpKind::none, sparse);
    }
  }
}

// 9.7.14.5.1: lane l belongs to product l / 4 % 4, and has rows (columns) l % 4 and from 16 on the
// next four.
void add_four(std::vector<Mma>& forms, Type d, Type c) {
  constexpr std::uint8_t row = 1, col = 2;
  const auto accumulator = [](Type type) {
    if (type == Type::f16) {
      return tabulated(make_layout_of(make_layout_of(Layout(4, 8), Layout(4, 64), Layout(2, 32)),
                                      make_layout_of(Layout(8, 1))),
                       8, 16);
    }
    return tabulated(
        make_layout_of(make_layout_of(Layout(2, 8), Layout(2, 2), Layout(4, 64), Layout(2, 32)),
                       make_layout_of(Layout(2, 1), Layout(2, 16), Layout(2, 4))),
        8, 32);
  };
  for (std::uint8_t a : {row, col}) {
    for (std::uint8_t b : {row, col}) {
      Mma out;
      out.name = Shape::m8n8k4;
      out.d = d;
      out.a = out.b = Type::f16;
      out.c = c;
      out.shape = extents(out.name);
      out.four = true;
      out.layouts = static_cast<std::uint8_t>(a * 4 + b);
      // A is 32 x 4, B 4 x 32, D 32 x 8.
      const Layout four = make_layout_of(Layout(4, 1));
      out.a_fragment = tabulated(
          make_layout_of(a == row ? make_layout_of(Layout(4, 4), Layout(4, 32), Layout(2, 16))
                                  : make_layout_of(Layout(4, 1), Layout(4, 32), Layout(2, 16)),
                         a == row ? four : make_layout_of(Layout(4, 4))),
          4, 16);
      out.b_fragment = tabulated(
          make_layout_of(b == row ? make_layout_of(Layout(4, 32), Layout(4, 8), Layout(2, 4))
                                  : make_layout_of(Layout(4, 1), Layout(4, 8), Layout(2, 4)),
                         b == row ? four : make_layout_of(Layout(4, 32))),
          4, 16);
      out.c_fragment = accumulator(c);
      out.d_fragment = accumulator(d);
      forms.push_back(std::move(out));
    }
  }
}

// Half of A's elements are zeros (9.7.14.6).
void add_sparse(std::vector<Mma>& forms) {
  const auto sparse = [&](Shape shape, Type d, Type a, Type b) {
    add(forms, shape, d, a, b, d, WarpKind::none, true);
  };
  for (Shape shape : {Shape::m16n8k16, Shape::m16n8k32}) {
    sparse(shape, Type::f16, Type::f16, Type::f16);
    sparse(shape, Type::f32, Type::f16, Type::f16);
    sparse(shape, Type::f32, Type::bf16, Type::bf16);
  }
  for (Shape shape : {Shape::m16n8k8, Shape::m16n8k16}) {
    sparse(shape, Type::f32, Type::tf32, Type::tf32);
  }
  for (Shape shape : {Shape::m16n8k32, Shape::m16n8k64}) {
    add_integers(forms, shape, Type::s8, Type::u8, true);
  }
  for (Shape shape : {Shape::m16n8k64, Shape::m16n8k128}) {
    add_integers(forms, shape, Type::s4, Type::u4, true);
  }
  for (Type a : {Type::e4m3, Type::e5m2}) {
    for (Type b : {Type::e4m3, Type::e5m2}) {
      sparse(Shape::m16n8k64, Type::f32, a, b);
      sparse(Shape::m16n8k64, Type::f16, a, b);
    }
  }
}

// Of sm_120 (9.7.14.5.14): all pairs of narrow elements, and those with scale factors.
void add_kinds(std::vector<Mma>& forms) {
  constexpr Type narrow[] = {Type::e4m3, Type::e5m2, Type::e3m2, Type::e2m3, Type::e2m1};
  for (bool sparse : {false, true}) {
    const Shape bytes = sparse ? Shape::m16n8k64 : Shape::m16n8k32;
    for (Type a : narrow) {
      for (Type b : narrow) {
        add(forms, bytes, Type::f32, a, b, Type::f32, WarpKind::f8f6f4, sparse);
        add(forms, bytes, Type::f16, a, b, Type::f16, WarpKind::f8f6f4, sparse);
        add(forms, bytes, Type::f32, a, b, Type::f32, WarpKind::mxf8f6f4, sparse);
      }
    }
    for (WarpKind kind : {WarpKind::mxf4, WarpKind::mxf4nvf4}) {
      add(forms, sparse ? Shape::m16n8k128 : Shape::m16n8k64, Type::f32, Type::e2m1, Type::e2m1,
          Type::f32, kind, sparse);
    }
  }
}

std::vector<Mma> all_forms() {
  std::vector<Mma> out;
  for (Shape shape :
       {Shape::m16n8k8, Shape::m16n8k16, Shape::m16n16k16, Shape::m8n32k16, Shape::m32n8k16}) {
    add(out, shape, Type::f32, Type::f16, Type::f16);
    add(out, shape, Type::f16, Type::f16, Type::f16);
    add(out, shape, Type::f32, Type::bf16, Type::bf16);
    if (!of_wmma(shape)) continue;
    add(out, shape, Type::f32, Type::f16, Type::f16, Type::f16);
    add(out, shape, Type::f16, Type::f16, Type::f16, Type::f32);
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
    add_integers(out, shape, Type::s8, Type::u8);
  }
  for (Shape shape : {Shape::m8n8k32, Shape::m16n8k32, Shape::m16n8k64}) {
    add_integers(out, shape, Type::s4, Type::u4);
  }
  for (Shape shape : {Shape::m8n8k128, Shape::m16n8k128, Shape::m16n8k256}) {
    add(out, shape, Type::s32, Type::b1, Type::b1);
  }
  for (Shape shape : {Shape::m8n8k4, Shape::m16n8k4, Shape::m16n8k8, Shape::m16n8k16}) {
    add(out, shape, Type::f64, Type::f64, Type::f64);
  }
  add_four(out, Type::f32, Type::f32);
  add_four(out, Type::f32, Type::f16);
  add_four(out, Type::f16, Type::f16);
  add_sparse(out);
  add_kinds(out);
  return out;
}

void add(std::vector<MatrixAccess>& accesses, const Mma& mma, ptx::Part part) {
  using ptx::Part;
  MatrixAccess out;
  out.shape = mma.name;
  out.part = part;
  out.type = part == Part::a ? mma.a : part == Part::b ? mma.b : mma.d;
  const bool operand = part == Part::a || part == Part::b;
  const int bits = ptx::bits_of(out.type);
  out.packed = operand && bits < 8 ? 32 / bits : 1;
  const ProductShape shape{mma.shape.m, mma.shape.n, mma.shape.k / out.packed};
  out.rows = part == Part::b ? shape.k : shape.m;
  out.columns = part == Part::a ? shape.k : shape.n;
  out.fragment = part == Part::a   ? mma.a_fragment
                 : part == Part::b ? mma.b_fragment
                                   : mma.d_fragment;
  if (out.packed > 1) {
    out.fragment = part == Part::a ? fragment_of_a(shape, 32) : fragment_of_b(shape, 32);
  }
  for (bool by_columns : {false, true}) {
    out.by_columns = by_columns;
    accesses.push_back(out);
  }
}

std::vector<MatrixAccess> all_accesses() {
  std::vector<MatrixAccess> out;
  for (const Mma& mma : mma_forms()) {
    const bool shared = mma.name == Shape::m8n8k32 || mma.name == Shape::m8n8k128 ||
                        (mma.name == Shape::m8n8k4 && mma.d == Type::f64);
    if (!of_wmma(mma.name) && !shared) continue;
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
  const auto kind = static_cast<WarpKind>(i.modifiers[ptx::Field::mma_kind]);
  const bool sparse = i.modifiers.has(ptx::Field::sparse);
  const int layouts = i.modifiers[ptx::Field::a_layout] * 4 + i.modifiers[ptx::Field::b_layout];
  std::uint64_t number = 0;
  while (number < forms.size()) {
    const Mma& f = forms[number];
    if (f.name == i.modifiers.shape() && f.d == i.modifiers.type() && f.a == a && f.b == b &&
        f.c == i.modifiers.type4() && f.kind == kind && f.sparse == sparse &&
        (!f.four || f.layouts == layouts)) {
      break;
    }
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
