// What the instruction descriptor of a tcgen05.mma says, read from its 32 bits by the PTX ISA
// (9.7.16.4.2, tables 42 to 44), and which shapes and types there are (table 39).
//
//   0-1 sparsity selector | 2 sparse | 3 saturate | 4-5 D type | 7-9 A type | 10-12 B type
//   13 negate A | 14 negate B | 15 transpose A | 16 transpose B | 17-22 N >> 3 | 24-28 M >> 4
//   30-31 largest shift of .ws | 6, 23, 29 are 0
//
// and of the kinds with scale factors of blocks (D is f32):
//
//   2 sparse | 4-5 ID of B's factors | 7-9 A type | 10-12 B type (mxf4, mxf4nvf4: 10-11)
//   13 negate A | 14 negate B | 15 transpose A | 16 transpose B (mxf8f6f4) | 17-22 N >> 3
//   23 type of the factors: 1 ue8m0, 0 ue4m3 | 27-28 M >> 7 | 29-30 ID of A's factors
//   31 K 96 (mxf4, mxf4nvf4 on sm_103a) | 0, 1, 3, 6, 24-26 are 0
//
// (CUTLASS says M >> 4 in bits 24-28, which comes to the same. It knows no sign change of 4 bits,
// which the ISA's table 51 has.)
#pragma once

#include <cstdint>
#include <optional>

#include "core/numeric/tile_groups.h"
#include "core/ptx/opcodes.h"
#include "core/sim/matrix/operand.h"
#include "core/sim/matrix/shared_matrix.h"
#include "core/sim/matrix/sums.h"

namespace tilescope::sim {

// In the order of Field::kind's words.
enum class MmaKind : std::uint8_t { none, f16, tf32, f8f6f4, i8, mxf8f6f4, mxf4, mxf4nvf4 };
constexpr bool is_block_scaled(MmaKind kind) {
  return kind >= MmaKind::mxf8f6f4;
}
// Two elements of 4 bits in a byte.
constexpr bool is_packed(MmaKind kind) {
  return kind == MmaKind::mxf4 || kind == MmaKind::mxf4nvf4;
}

struct MmaShape {
  std::uint32_t m = 0, n = 0, k = 0;
  SumType d = SumType::f32;
  ElementType a = ElementType::f16, b = ElementType::f16;
  bool saturate = false, negate_a = false, negate_b = false, transpose_a = false,
       transpose_b = false;
  // Scale factors: how many elements of a row share one (0: there are none), and their IDs.
  ScaleFormat scale_format = ScaleFormat::ue8m0;
  std::uint32_t scale_block = 0, a_scale_id = 0, b_scale_id = 0;
  std::uint32_t scales() const { return scale_block ? k / scale_block : 0; }  // of a row
  // Half of A's elements are zeros: K counts them, and A's rows hold the others.
  bool sparse = false;
  std::uint32_t selector = 0;  // of its metadata
  // Of B, and of A with its zeros: 32; 48 with K 96, 64 where A is sparse.
  std::uint32_t row_bytes() const { return sparse ? 2 * operand_row : k == 96 ? 48 : operand_row; }
  std::uint32_t a_row_bytes() const { return row_bytes() / (sparse ? 2 : 1); }  // as it is stored
};

// What the instruction itself says. `pair`: of two CTAs (.cta_group::2), whose rows and columns are
// counted together. `ultra`: for sm_103a, which has K 96. (Of that table 39 lists M 256 of two
// CTAs; CuTe's SM103_MXF4_ULTRA_SS_VS has M 128 of one, and 128 and 256 of two, with N in steps
// of 16.)
struct MmaForm {
  MmaKind kind = MmaKind::none;
  bool ws = false, pair = false, sparse = false, ultra = false;
  ptx::ScaleVectors vectors = ptx::ScaleVectors::none;
};
std::optional<DescriptorError> decode(std::uint32_t bits, const MmaForm& form, MmaShape& out);

}  // namespace tilescope::sim
