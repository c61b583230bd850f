// Fragments: how a warp holds a matrix in its registers (PTX ISA 9.7.14.5.1 to 9.7.14.5.13).
//
// A fragment is a layout from (lane, element) to the element's place in the matrix. The elements of
// a lane are counted through its registers, from the low bits up. All of mma's but m8n8k4's follow
// one pattern: four neighbouring lanes hold a row of A (a column of B), each as many elements side
// by side as fill a register; eight such groups hold eight rows; further registers hold the rows
// from 8 on, then the columns after those. Where an operand of wmma has more registers than its
// matrix has elements, they hold copies.
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

// One form of mma or wmma.mma: what it multiplies, and how a warp holds it.
struct Mma {
  ptx::Shape name = ptx::Shape::none;
  ptx::Type d = ptx::Type::none, a = ptx::Type::none, b = ptx::Type::none;
  ProductShape shape;
  Fragment a_fragment, b_fragment, c_fragment;
};
const std::vector<Mma>& mma_forms();

// What a form of wmma.load or wmma.store moves.
struct MatrixAccess {
  ptx::Shape shape = ptx::Shape::none;
  ptx::Part part = ptx::Part::none;
  ptx::Type type = ptx::Type::none;
  bool by_columns = false;  // in memory
  int rows = 0, columns = 0;
  Fragment fragment;
};
const std::vector<MatrixAccess>& matrix_accesses();

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
