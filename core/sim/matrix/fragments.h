// Fragments: how a warp holds a matrix in its registers (PTX ISA 9.7.14.5.1 to 9.7.14.5.13).
//
// A fragment is a layout from (lane, element) to the element's place in the matrix. The elements of
// a lane are counted through its registers, from the low bits up. All of mma's but those of m8n8k4
// of f16 (9.7.14.5.1), which are four products side by side, follow one pattern: four neighbouring
// lanes hold a row of A (a column of B), each as many elements side by side as fill a register;
// eight such groups hold eight rows; further registers hold the rows from 8 on, then the columns
// after those. Where an operand of wmma has more registers than its matrix has elements, they hold
// copies.
#pragma once

#include <cstdint>
#include <vector>

#include "core/layout/layout.h"
#include "core/numeric/tensor_core.h"
#include "core/sim/machine/code.h"

namespace tilescope::sim {

struct Fragment {
  Layout layout;                     // ((4,8),(elements)) -> row * columns + column
  int bits = 0;                      // of an element
  int registers = 0;                 // that a lane needs
  int in_register = 1;               // elements in one
  std::vector<std::uint16_t> place;  // the layout, tabulated: [element][lane]
};

// Of A (m x k), B (k x n), and C or D (m x n). A register holds 32 bits; for f64, 64.
Fragment fragment_of_a(ProductShape shape, int bits, int copies = 1);
Fragment fragment_of_b(ProductShape shape, int bits, int copies = 1);
Fragment fragment_of_c(ProductShape shape, int bits);

// How mma.sync's elements are packed (9.7.14.5.14), as words of Field::mma_kind.
enum class WarpKind : std::uint8_t { none, f8f6f4, mxf8f6f4, mxf4, mxf4nvf4 };

// One form of mma or wmma.mma: what it multiplies, and how a warp holds it.
struct Mma {
  ptx::Shape name = ptx::Shape::none;
  ptx::Type d = ptx::Type::none, a = ptx::Type::none, b = ptx::Type::none, c = ptx::Type::none;
  ProductShape shape;
  WarpKind kind = WarpKind::none;
  bool sparse = false;  // A holds half of k: those that are not zero by rule
  // m8n8k4 of f16 is four products: A has the rows of all four, B their columns, and row r of A
  // goes with columns r / 8 * 8 to r / 8 * 8 + 7 of B.
  bool four = false;
  std::uint8_t layouts = 0;  // of m8n8k4: Field::a_layout * 4 + Field::b_layout
  Fragment a_fragment, b_fragment, c_fragment, d_fragment;

  int stored() const { return sparse ? shape.k / 2 : shape.k; }  // columns of A that are held
  int columns_of_b() const { return four ? 32 : shape.n; }
  // The column of B that goes into place `place` of D.
  int column(int place) const { return place % shape.n + (four ? place / shape.n / 8 * 8 : 0); }
};
const std::vector<Mma>& mma_forms();

// What a form of wmma.load or wmma.store moves.
struct MatrixAccess {
  ptx::Shape shape = ptx::Shape::none;
  ptx::Part part = ptx::Part::none;
  ptx::Type type = ptx::Type::none;
  bool by_columns = false;  // in memory
  int packed = 1;  // elements moved as one: of 4 bits and of one bit as many as fill a register
  int rows = 0, columns = 0;
  Fragment fragment;
};
const std::vector<MatrixAccess>& matrix_accesses();

// Of a sparse A what 32 lanes' words of metadata say of a chunk of a row: four bits.
std::uint32_t metadata_bits(const Mma& mma, const std::uint32_t* metadata, int selector, int row,
                            int chunk);
// What multiplies a form, of mma.cpp and of mma_narrow.cpp; null where nothing does.
Handler narrow_mma_handler(const ptx::Instruction& i, const Mma& mma);

// Where the registers of the operands begin: D, A, B, C. Behind C follow the bytes and lanes that
// choose scale factors: of A, of B.
struct MmaOperands {
  const Reference *d, *a, *b, *c, *scales;
  MmaOperands(const Core& x, const Code& code, const Mma& mma)
      : d(x.elements + code.target),
        a(d + mma.d_fragment.registers),
        b(a + mma.a_fragment.registers),
        c(b + mma.b_fragment.registers),
        scales(c + mma.c_fragment.registers) {}
};
// The patterns of a matrix, each in 32 bits, from registers of 32 bits; and back.
void gather(const Core& x, const Reference* registers, const Fragment& f, std::uint32_t* out);
void scatter(Core& x, const Reference* registers, const Fragment& f, const std::uint32_t* from);

// Tells Options::products of an mma that `run` executes, if it wants to be told (mma_watch.cpp).
Flow run_watched(Handler run, Core& x, const Code& code, Mask m);
bool is_watched(const Core& x);
// The handler that does so where somebody watches.
template <Handler run>
Flow told(Core& x, const Code& code, Mask m) {
  return is_watched(x) ? run_watched(run, x, code, m) : run(x, code, m);
}

// How a form of f16, bf16 and tf32 adds, or of f8, which are multiplied as f16 in two steps from
// zero: `place_in_steps` is where k comes to stand in these.
bool is_float8(const Mma& mma);
StepRule step_rule_of(const Mma& mma);
int place_in_steps(int k, int depth);
// What becomes of two products added, as add.rn does it.
std::uint32_t added(FloatFormat format, std::uint32_t a, std::uint32_t b);
// fma.rn of f64, with the chips' NaN.
double fused(double a, double b, double sum);

// mma, or wmma.mma.
inline bool multiplies(const ptx::Instruction& i) {
  return i.op == ptx::Op::mma || i.modifiers.operation() == ptx::Operation::mma;
}

// An instruction of this unit in a warp with undefined registers (core/sim/checks/undefined.h).
Flow run_matrix_carefully(Core& x, const Code& c, Mask m);

// Flow::next when all 32 lanes of the warp are at this .sync.aligned instruction. A fault where
// they cannot come: the ISA leaves it undefined if a thread of the warp has exited.
Flow whole_warp(Core& x, Mask m);

}  // namespace tilescope::sim
