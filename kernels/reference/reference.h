// What the kernels should compute, written as plainly as possible and in higher precision. Nothing
// here is shared with the kernels or the simulator: agreement means something.
#pragma once

#include "core/error.h"
#include "core/run/catalog_entry.h"
#include "core/run/job.h"

namespace tilescope::reference {

// a + b, element by element; the result is named "reference".
//
// Floats are added in double and rounded once to their type. That is the correctly rounded sum:
// rounding to double first is harmless where it has at least 2p + 2 bits for a format of p bits
// (Figueroa, "When is double rounding innocuous?", 1995), and 53 >= 2 * 24 + 2. For f64 the double
// sum is it. Integers wrap.
// Refused: tensors of different type or shape.
Outcome<Buffer> add(const Buffer& a, const Buffer& b);

// a (m,k) * b (n,k)^T, rounded once to their type; the result is named "reference".
//
// Products and sums are taken in double. Products of two f16 or bf16 are exact there; a sum of k of
// them errs by at most k units in the 53rd bit of the largest partial sum, far below what f16
// holds. Refused: matrices of different types, or whose rows have different lengths.
// `keep_on` is asked every few rows: where it says no, the product is given up (interrupted).
// By OpenBLAS, where it is there (products.h).
Outcome<Buffer> gemm(const Buffer& a, const Buffer& b, const Effort& effort = {});

// a (m,k) * b (k,n): the same, for a right matrix that is not transposed.
Outcome<Buffer> matmul(const Buffer& a, const Buffer& b, const Effort& effort = {});

// alpha a (l,m,k) * b (l,n,k)^T + beta c (l,m,n), rounded once to c's type and in its shape.
// Where an operand lies across, its last two extents are exchanged in memory: (l,k,m), (l,k,n),
// (l,n,m). Sums as above; a sum beyond what e4m3 has becomes its largest number.
struct DenseProblem {
  std::int64_t m = 0, n = 0, k = 0, l = 1;
  bool a_across = false, b_across = false, c_across = false;
  bool tf32 = false;           // of f32 operands only what tf32 has of them counts
  double alpha = 1, beta = 0;  // with a beta of 0, c's contents do not count
};
// Refused: tensors that have not as many elements as the problem says.
Outcome<Buffer> dense(const Buffer& a, const Buffer& b, const Buffer& c,
                      const DenseProblem& problem, const Effort& effort = {});

}  // namespace tilescope::reference
