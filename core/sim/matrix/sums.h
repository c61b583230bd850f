// Sums of products of matrices as a tensor core adds them: D += A * B, whatever holds D.
//
//   A (M, K)   row after row, each element in bytes of its own (of 4 and 6 bits too)
//   B (N, K)   likewise: a row of B is a column of the product
//   D (M, N)   patterns of 32 bits, in parts
//
// A bit (b1) is the exception: K / 8 bytes a row, eight in a byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/numeric/tensor_core.h"
#include "core/numeric/tile_groups.h"

namespace tilescope::sim {

enum class ElementType : std::uint8_t { f16, bf16, tf32, e4m3, e5m2, e2m3, e3m2, e2m1, u8, s8, b1 };
enum class SumType : std::uint8_t { f16, f32, s32 };

int bits_of(ElementType type);  // of an element: 1, 4, 6, 8, 16 or 32
FloatFormat format_of(ElementType type);
// Bytes of an element in a row of A or B: 1, 2 or 4. Not of bits.
std::uint32_t width_of(ElementType type);

// Factors of blocks of A's rows and of B's (core/numeric/tile_groups.h), row after row; B's of the
// same rows as B.
struct BlockScales {
  ScaleFormat format = ScaleFormat::ue8m0;
  std::uint32_t block = 0;  // elements that share one; 0: there are none
  bool packed = false;      // elements of 4 bits, two a byte
  const std::byte *a = nullptr, *b = nullptr;
};

struct SumOfProducts {
  std::uint32_t m = 0, n = 0, k = 0;
  ElementType a = ElementType::f16, b = ElementType::f16;
  SumType d = SumType::f32;
  bool saturate = false;                    // of integers: stops at the largest and the least
  bool negate_a = false, negate_b = false;  // of floats
  StepRule rule;                            // of floats: how the chip adds
  BlockScales scales{};
};

// A part of D: rows [row, row + rows) and columns [column, column + columns), rows `pitch` apart.
struct SumPart {
  std::uint32_t row = 0, rows = 0, column = 0, columns = 0;
  std::uint32_t* cells = nullptr;
  std::uint32_t pitch = 0;
};

// `exact`: as the chip adds (core/numeric/tensor_core.h); else by fused multiply-add, of floats.
// Integers are exact both ways; bits are counted where A and B both have one.
void add_products(const SumOfProducts& sum, const std::byte* a, const std::byte* b, bool exact,
                  const std::vector<SumPart>& parts);

// The same where all of D is in the registers of warps of 16 rows each (TileSums, core/numeric/
// tile_product.h), for sums of which that is true.
bool add_in_registers(const SumOfProducts& sum, bool exact);
void add_products(const SumOfProducts& sum, const std::byte* a, const std::byte* b, bool exact,
                  std::uint32_t* const* registers);

}  // namespace tilescope::sim
