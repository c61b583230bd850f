// The product of one tcgen05.mma: D = A * B, or D += A * B, in TMEM (PTX ISA 9.7.16.10).
//
//   A (M, 32 bytes of K)   from shared memory, or from TMEM: row m in lane m, K along the columns
//   B (N, 32 bytes of K)   from shared memory
//   D (M, N)               in TMEM, 32 bits an element, in one of the organisations of 9.7.16.10.5:
//
//     M 128         lane m, column n                                      layout D
//     M 64          lane (m / 16) * 32 + m % 16, from lane 0 or 16 on     layout F
//     M 64, .ws     lane m + 64 * (n / (N/2)), column n % (N/2)           layout E
//     M 32, .ws     lane m + 32 * (n / (N/4)), column n % (N/4)           layout G
//
// Two CTAs (.cta_group::2) share a product of M 128 or 256: the even one has the first M/2 rows of
// A and D, the odd one the others; each has half of the columns of B in its shared memory, and all
// of them in its part of D. The part of one CTA is a Product of its own, of 128 lanes:
//
//     M 256         lane m % 128, column n                            layout A
//     M 128         lane m % 64 + 64 * (n / (N/2)), column n % (N/2)  layout B: `halves`
//
// With layout B the lanes from 64 on work with the same rows of A as those below; where A is in
// TMEM it is there twice (CuTe: TmemAllocMode::Duplicated).
//
// (CuTe's mma_traits_sm100_frag.hpp; the ISA shows them in figures.) Operands are read at one
// moment, the sum is written at another: what is between is kept here as bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/sim/matrix/operand.h"
#include "core/sim/matrix/sums.h"
#include "core/sim/tcgen05/instruction_descriptor.h"
#include "core/sim/tcgen05/tensor_memory.h"

namespace tilescope::sim {

// A part of D whose rows are neighbouring lanes: rows [row, row + rows) and columns [column, column
// + columns) of the matrix, and the cell of the first of them.
struct MatrixPart {
  std::uint32_t row = 0, rows = 0, column = 0, columns = 0;
  TensorAddress at;
};

struct Product {
  MmaShape shape;
  MmaKind kind = MmaKind::none;
  bool ws = false, accumulate = false;
  bool halves = false;  // the part of one of two CTAs, by layout B: shape.m is 128 lanes
  int scale = 0;        // D is multiplied by 2^-scale first
  TensorAddress d;
  std::uint64_t disabled[2] = {};  // lanes of TMEM that are not written
  // Scale factors, row after row of A and of B, where shape.scale_block says that there are some.
  const std::byte *a_scales = nullptr, *b_scales = nullptr;
  // Of a sparse A, whose operand has its zeros: which elements are stored, row after row.
  const std::uint8_t* stored = nullptr;

  std::vector<MatrixPart> parts() const;  // of D
};

// What is summed, and how.
SumOfProducts sum_of(const Product& product);

// A from TMEM as it is stored, 16-byte pieces packed into columns. Elements of 4 and 6 bits of
// kinds f8f6f4 and mxf8f6f4 are in bytes of their own there (9.7.16.10.4.3), as tcgen05.cp puts
// them (unpack() in core/sim/tcgen05/copy.h), and leave them without what is beside them.
OperandBytes read_operand(const Product& product, TensorAddress a, const TensorMemory& memory);

// How sums are calculated: as the chip adds (core/numeric/tensor_core.h); by fused multiply-add; or
// not at all, where only the time is asked for.
enum class Sums : std::uint8_t { exact, fast, none };

// The sum into TMEM. With an executor it may be calculated later, from operands that `keeps` holds
// until then; which elements are undefined is known at once.
void multiply(const Product& product, const std::byte* a, const std::uint8_t* a_undefined,
              const std::byte* b, const std::uint8_t* b_undefined, Sums sums, TensorMemory& memory,
              Executor* executor = nullptr, std::shared_ptr<const void> keeps = nullptr);

}  // namespace tilescope::sim
