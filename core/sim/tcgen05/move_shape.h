// Which cell of TMEM register r of lane l holds, of a tcgen05.ld or st (PTX ISA 9.7.16.8), from its
// address on, as (row, column):
//
//   32x32b    (l, r)
//   16x64b    (l/4 + 8(l%2), (l/2)%2 + 2r)
//   16x128b   (l/4 + 8(r%2), l%4 + 4(r/2))
//   16x256b   (l/4 + 8((r/2)%2), r%2 + 2(l%4) + 8(r/4))
//   16x32bx2  lanes 0-15: (l, r); lanes 16-31: (l - 16, split + r)
//
// (CuTe's copy_traits_sm100.hpp; figures 183 to 187.)
#pragma once

#include <cstdint>
#include <optional>

#include "core/ptx/program.h"

namespace tilescope::sim {

enum class MoveShape : std::uint8_t { none, lanes_32x32b, x64, x128, x256, split };  // Field::cells

struct MovedCell {
  std::uint32_t row = 0, column = 0;
};
// `each`: columns for a register, 2 with .pack::16b and .unpack::16b, of which this is the first;
// the split counts columns as they are (9.7.16.8.3).
constexpr MovedCell moved_cell(MoveShape shape, std::uint32_t l, std::uint32_t r,
                               std::uint32_t split, std::uint32_t each) {
  switch (shape) {
    case MoveShape::x64:
      return {l / 4 + 8 * (l % 2), (l / 2 % 2 + 2 * r) * each};
    case MoveShape::x128:
      return {l / 4 + 8 * (r % 2), (l % 4 + 4 * (r / 2)) * each};
    case MoveShape::x256:
      return {l / 4 + 8 * (r / 2 % 2), (r % 2 + 2 * (l % 4) + 8 * (r / 4)) * each};
    case MoveShape::split:
      return {l % 16, r * each + (l < 16 ? 0 : split)};
    default:
      return {l, r * each};
  }
}

// The lane and the register that get a cell, counted from where the ld's cells begin; of 16x32bx2
// `split` is how far its second half is from the first. Nothing: it is none of them.
struct Mover {
  std::uint32_t lane = 0, reg = 0;
};
inline std::optional<Mover> mover_of(const ptx::Program& program, const ptx::Instruction& i,
                                     std::uint32_t row, std::uint32_t column, std::uint32_t split) {
  const auto shape = static_cast<MoveShape>(i.modifiers[ptx::Field::cells]);
  const std::uint32_t each = i.modifiers.has(ptx::Field::packing) ? 2 : 1;
  for (std::uint32_t r = 0; r < program.operands_of(i)[0].count; ++r) {
    for (std::uint32_t l = 0; l < 32; ++l) {
      const MovedCell at = moved_cell(shape, l, r, split, each);
      if (at.row == row && column - at.column < each) return Mover{l, r};
    }
  }
  return {};
}

}  // namespace tilescope::sim
