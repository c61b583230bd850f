// What a wgmma.mma_async multiplies, as its modifiers and constants say, and how a warp holds it.
#pragma once

#include <cstdint>

#include "core/sim/machine/code.h"
#include "core/sim/matrix/fragments.h"
#include "core/sim/matrix/sums.h"

namespace tilescope::sim {

// Rows of a product: 16 of each warp.
constexpr std::uint32_t group_rows = 64, warp_rows = 16;

struct GroupForm {
  std::uint32_t n = 0, k = 0;  // k: of the sum; of .sp twice what A holds
  ElementType a = ElementType::f16, b = ElementType::f16;
  SumType d = SumType::f32;
  bool sparse = false, saturate = false;
  bool a_in_registers = false;
  bool negate_a = false, negate_b = false, transpose_a = false, transpose_b = false;
  std::uint32_t selector = 0;  // of .sp: which lanes hold the metadata
  bool operator==(const GroupForm&) const = default;

  std::uint32_t a_bytes() const { return operand_bytes(a) / (sparse ? 2 : 1); }  // of a row
  std::uint32_t b_bytes() const { return operand_bytes(b); }
  std::uint32_t d_registers() const { return d == SumType::f16 ? n / 4 : n / 2; }

 private:
  std::uint32_t operand_bytes(ElementType type) const {
    return k * static_cast<std::uint32_t>(bits_of(type)) / 8;
  }
};
GroupForm group_form(const ptx::Program& program, const ptx::Instruction& i);

// A warp's rows of D, and of A in registers: 16 rows, as Layout values
// (core/sim/matrix/fragments.h).
const Fragment& group_d_fragment(const GroupForm& form);
const Fragment& group_a_fragment(const GroupForm& form);

}  // namespace tilescope::sim
