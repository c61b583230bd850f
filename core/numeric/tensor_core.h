// How tensor cores add: products of small floats, summed as the chips do it, bit for bit.
//
// PTX leaves the order, the rounding and subnormal inputs of mma open (PTX ISA 9.7.14.5.14); the
// chips follow one rule, which their bits show. A step takes a block of products and the
// accumulator at once:
//
//   1. products are exact; a product's exponent is the sum of its operands' exponents;
//   2. all terms are aligned to the largest exponent among them and truncated (towards zero) below
//      2^(largest - fraction);
//   3. their sum, exact, is truncated to `significant` bits: the accumulator of the next block. A
//      zero is +0.
//
// Subnormal inputs and sums count as what they are. Of an f16 accumulator only the last line
// differs: each block's sum is rounded to nearest even.
//
// Sources: Fasi, Higham, Mikaitis, Pranesh, "Numerical behavior of NVIDIA tensor cores", 2021;
// Khattak, Mikaitis, "Accurate Models of NVIDIA Tensor Cores", 2025, with measured bits, of which
// tests/kernels/tensor_core_test.cpp holds some. On an H200 (2026-11-21), mma.sync of f16, bf16,
// tf32 and f8, with f32 and f16 accumulators, zeros, subnormals, infinities and NaN among 500,000
// elements, gave the rule's bits.
#pragma once

#include <cstdint>
#include <vector>

#include "core/numeric/small_float.h"

namespace tilescope {

struct StepRule {
  int block = 16;                 // products in one step
  int fraction = 25;              // bits kept below the largest exponent
  int significant = 24;           // bits of a sum
  int lowest = -133;              // the largest exponent is taken to be at least this
  bool half_accumulator = false;  // C and D are f16, and sums are rounded to nearest even
};

// The numbers of an instruction that multiplies `k` deep. f16, bf16 and tf32 are alike on both
// chips (tf32: mma.sync's; wgmma's was not tried). f8 is wgmma's on Hopper, and on Blackwell what
// was measured of sums without C; mma.sync multiplies f8 as f16 (core/sim/matrix/mma.cpp).
enum class TensorChip : std::uint8_t { hopper, blackwell };
StepRule step_rule(TensorChip chip, FloatFormat format, int k);

// Numbers taken apart: value = significand * 2^(exponent - mantissa bits of the format).
// Zero, infinity and NaN have exponents of their own (tensor_core.cpp).
struct Factors {
  const std::int32_t* significand = nullptr;
  const std::int32_t* exponent = nullptr;
};
void take_apart(FloatFormat format, const std::uint32_t* patterns, int count,
                std::int32_t* significand, std::int32_t* exponent);

struct ProductShape {
  int m = 0, n = 0, k = 0;  // n is a multiple of 8, k of the rule's block
};

// C += A * B. A is m x k of `a_format`, B is k x n, C is m x n patterns of f32 (or f16, as the rule
// says), whose rows are `stride` apart; A and B are row after row. A NaN among the results is the
// canonical one: all ones but the sign.
void multiply_add(const StepRule& rule, ProductShape shape, FloatFormat a_format, Factors a,
                  FloatFormat b_format, Factors b, std::uint32_t* c, int stride);
inline void multiply_add(const StepRule& rule, ProductShape shape, FloatFormat a_format, Factors a,
                         FloatFormat b_format, Factors b, std::uint32_t* c) {
  multiply_add(rule, shape, a_format, a, b_format, b, c, shape.n);
}

// The same without vector instructions beyond those that every processor has: for tests.
void multiply_add_plain(const StepRule& rule, ProductShape shape, FloatFormat a_format, Factors a,
                        FloatFormat b_format, Factors b, std::uint32_t* c);

// How a step of one element came about. What is kept of its terms are multiples of 2^unit, with
// their signs: what was below that is gone.
struct StepTrace {
  int first = 0;                        // its first product, of k
  int largest = 0;                      // the exponent that terms are aligned to
  int unit = 0;                         // largest - fraction
  std::vector<std::int64_t> kept;       // of each product
  std::int64_t accumulator = 0;         // of the accumulator
  std::uint32_t before = 0, after = 0;  // the accumulator: patterns
  bool special = false;                 // infinities or NaN: `kept` means nothing
};

// One element, by the code that adds all others: a row of A, a column of B, k numbers each, and its
// accumulator. Answers what that becomes, and adds a trace for each step.
std::uint32_t multiply_add_traced(const StepRule& rule, int k, FloatFormat a_format, Factors a,
                                  FloatFormat b_format, Factors b, std::uint32_t c,
                                  std::vector<StepTrace>& trace);

}  // namespace tilescope
