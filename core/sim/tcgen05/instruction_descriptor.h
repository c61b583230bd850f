// What the instruction descriptor of a tcgen05.mma says, read from its 32 bits by the PTX ISA
// (9.7.16.4.2, table 42), and which shapes and types there are (table 39).
//
//   0-1 sparsity selector | 2 sparse | 3 saturate | 4-5 D type | 7-9 A type | 10-12 B type
//   13 negate A | 14 negate B | 15 transpose A | 16 transpose B | 17-22 N >> 3 | 24-28 M >> 4
//   30-31 largest shift of .ws | 6, 23, 29 are 0
#pragma once

#include <cstdint>
#include <optional>

#include "core/sim/matrix/shared_matrix.h"
#include "core/sim/matrix/sums.h"

namespace tilescope::sim {

enum class MmaKind : std::uint8_t { none, f16, tf32, f8f6f4, i8 };

struct MmaShape {
  std::uint32_t m = 0, n = 0, k = 0;
  SumType d = SumType::f32;
  ElementType a = ElementType::f16, b = ElementType::f16;
  bool saturate = false, negate_a = false, negate_b = false, transpose_a = false,
       transpose_b = false;
};

// `ws`: weight-stationary. `pair`: for two CTAs (.cta_group::2), whose rows and columns are counted
// together.
std::optional<DescriptorError> decode(std::uint32_t bits, MmaKind kind, bool ws, MmaShape& out,
                                      bool pair = false);

}  // namespace tilescope::sim
