// Products of tensor cores, told as they are added: what was multiplied, and D before and after.
//
// A Machine with Options::products asks its watch of each product whether it wants to be told of
// it, and then tells it: of a tcgen05.mma and a wgmma.mma_async at the moment at which its sum is
// written, of an mma.sync or wmma.mma when its warp has executed it. Looking changes nothing in the
// run. A pair's tcgen05.mma is two: each CTA has its own rows of A and D, and all of B.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/sim/async/operation.h"
#include "core/sim/matrix/shared_matrix.h"
#include "core/sim/matrix/sums.h"
#include "core/sim/tcgen05/instruction_descriptor.h"
#include "core/sim/tcgen05/tensor_memory.h"

namespace tilescope::sim {

enum class ProductUnit : std::uint8_t { tcgen05, wgmma, warp };

// Which product it is.
struct ProductIssue {
  ProductUnit unit = ProductUnit::warp;
  std::uint64_t block = 0;  // whose part of D it is
  std::uint64_t home = 0;   // whose thread issued it: of a pair the one for both
  std::uint32_t warp = 0;   // that issued it: of its own block, but for the odd one of a pair
  std::uint32_t pc = 0;
  std::uint64_t number = 0;  // the operation's, in its block; of mma.sync the warp's instructions
  // The time that it works, by the clock; of mma.sync both are when it is executed.
  double begin = 0, end = 0;
  std::uint32_t group = 0;  // of wgmma: the warpgroup, in its block
};

// An operand in shared memory: what its descriptor says, and whose bytes.
struct ProductOperand {
  std::uint64_t bits = 0;  // the descriptor; of A in TMEM its address
  // Of a pair the second one's half of the rows is behind the first one's.
  std::vector<std::uint64_t> blocks;
  std::uint32_t rows = 0;                 // in one block
  std::uint32_t row_bytes = 0;            // of K
  std::optional<SharedMatrix> matrix;     // nothing: in registers, or TMEM
  std::optional<CellRange> cells;         // of TMEM
  ElementType stored = ElementType::f16;  // what pieces are read as: bytes, where two are in one
};

struct ProductSeen {
  ProductIssue issue;
  ProductOperand a_from, b_from;
  std::uint32_t instruction = 0;  // the instruction descriptor of tcgen05
  MmaKind kind = MmaKind::none;
  bool pair = false, ws = false, sparse = false, accumulate = false, exact = true;
  std::uint64_t disabled[2] = {};  // lanes of TMEM that stay as they were
  int scale = 0;                   // D is multiplied by 2^-scale first
  // What the machine read at that moment, by its own account of bytes in use: A's and B's pieces in
  // the shared memory of the block that issued it.
  std::vector<Range> reads;

  // ---- of tcgen05 and wgmma ----
  SumOfProducts sum;  // without scale factors' bytes: these are a_scales and b_scales
  std::vector<std::byte> a, b, a_scales, b_scales;
  bool row_by_row = false;       // a sparse A whose rows have elements of B each: `b` is no matrix
  std::vector<SumPart> parts;    // of D, by rows and columns; with its cells:
  std::vector<CellRange> cells;  // of each part; empty: in registers

  // ---- of mma.sync: patterns of A (m x k, or what of it is stored) and of B (k x n) ----
  std::size_t form = 0;  // in mma_forms()
  std::vector<std::uint64_t> a_patterns, b_patterns;

  // D, m x n patterns, row after row.
  std::uint32_t m = 0, n = 0, k = 0;
  std::vector<std::uint64_t> before, after;
};

class ProductWatch {
 public:
  virtual ~ProductWatch() = default;
  virtual bool wants(const ProductIssue& issue) = 0;
  virtual void seen(ProductSeen&& product) = 0;
};

}  // namespace tilescope::sim
