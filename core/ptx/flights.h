// Where the registers of a wgmma.mma_async may still be in use: from it on to each wgmma.wait_group
// 0 that follows (core/sim/wgmma/warpgroup.h).
#pragma once

#include <cstdint>
#include <vector>

#include "core/ptx/program.h"

namespace tilescope::ptx {

inline bool is_group_product(const Instruction& i) {
  return i.modifiers.group_step() == GroupStep::mma_async;
}

// Instructions [from, to] of a block.
struct Stretch {
  std::uint32_t block = 0, from = 0, to = 0;
};
// `block_of`: of each instruction.
std::vector<Stretch> flight_of(const Program& program, const std::vector<std::uint32_t>& block_of,
                               std::uint32_t product);

// Calls f(register, operand) for the registers of a product: D's (operand 0), A's where it is in
// registers (1), the metadata of .sp (3).
template <class F>
void each_in_flight(const Program& program, const Instruction& product, F f) {
  const Operand* o = program.operands_of(product);
  for (std::uint32_t k = 0; k < 2; ++k) {
    for (std::uint32_t e = 0; o[k].kind == Operand::Kind::vector && e < o[k].count; ++e) {
      f(program.elements[o[k].index + e].index, k);
    }
  }
  if (product.modifiers.has(Field::sparse) && o[3].kind == Operand::Kind::reg) f(o[3].index, 3u);
}

// Does it add to its accumulator? Not where scale-d is a constant 0.
inline bool adds_to_registers(const Program& program, const Instruction& product) {
  const Operand& scale = program.operands_of(product)[product.modifiers.has(Field::sparse) ? 5 : 3];
  return scale.index != no_register || !scale.negated;
}

}  // namespace tilescope::ptx
