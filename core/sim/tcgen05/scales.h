// Scale factors of a tcgen05.mma with .block_scale in TMEM (PTX ISA 9.7.16.10.7): a byte for each
// block of 32 or 16 elements of a row of A, or of a column of B.
//
//   factor f of row r      lane r % 32, column r / 32, byte ID + f of the cell
//
// from the address's column on, and that in all four quarters of the lanes: "scale factors for A
// and B matrices need to be duplicated to all 32 lane partitions". So tcgen05.cp.32x128b.warpx4
// lays 512 bytes whose byte (r % 32) * 16 + r / 32 * 4 + f is factor f of row r: CUTLASS's
// Sm1xxBlockScaledBasicChunk, and what DeepGEMM transposes into. 128 rows have four columns, 256
// have eight.
//
//   .scale_vec::1X             one factor a row; SFA_ID, SFB_ID 0 to 3: the byte of the cell
//   .scale_vec::2X             two; ID 0 or 2: the first of them
//   .scale_vec::4X             four, the whole cell; ID 0
//   K 96, .block32             three; ID 0 to 3
//   K 96, .block16             six; ID 0 or 2
//
// Those of K 96 run on into the cell of the next four factors: as many columns further as the first
// four of all rows have, which for B are counted for 128 or 256 columns (so CuTe's tmem_sf_frg and
// the figures, which for B tell N up to 128 from N above).
//
// Two CTAs with M 256: each has the factors of its own 128 rows, and those of all columns of B.
// With M 128 each has 64 rows, whose D is in all 128 lanes (layout B): the lanes below 64 multiply
// the first half of B's columns, and find the factors of column n < N / 2 as those of row n; the
// others likewise the second half. (The ISA's figures do not show pairs; so it is in CuTe's
// tmem_sf_frg, mma_traits_sm100_frag.hpp, ScaleFactorDuplicated4by1 and 2by2. Its MXF8F6F4_2x1SM
// takes only M 256, where the ISA's table 39 lists 128 too.)
//
// What comes out where the quarters are not the same nobody says: rows of which that is true count
// as undefined.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/sim/matrix/operand.h"
#include "core/sim/tcgen05/instruction_descriptor.h"
#include "core/sim/tcgen05/tensor_memory.h"

namespace tilescope::sim {

struct ScaleFactors {
  std::uint32_t column = 0;
  std::uint32_t rows = 0;           // of A that a block has; columns of B
  std::uint32_t id = 0, count = 0;  // the first byte of a cell, and how many
  bool halves = false;              // B's columns with layout B
  std::uint32_t chunk = 4;          // columns from four factors of a row to the next four

  std::vector<CellRange> cells() const;
  // The row whose factors a cell holds, where it holds some.
  std::optional<std::uint32_t> row_in(TensorAddress cell) const;
};

// The address of scale factors, whose descriptor has this ID. CUTLASS leaves the ID in the upper
// two bits of the address, too.
std::optional<DescriptorError> decode_scale_address(std::uint32_t address, std::uint32_t id,
                                                    const char* whose, ScaleFactors& out);

// `count` bytes a row, and of each row why it is none: 0 it is one.
enum class ScaleState : std::uint8_t { fine, undefined, different };
OperandBytes read_scales(const ScaleFactors& factors, const TensorMemory& memory);

}  // namespace tilescope::sim
