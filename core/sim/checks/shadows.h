// Where the shadow of a register lies: for those who keep and read it.
#pragma once

#include <cstddef>

#include "core/sim/machine/model.h"

namespace tilescope::sim {

// Of the warp at hand, in the block's registers and their shadow.
inline std::size_t register_base(const Core& x) {
  return static_cast<std::size_t>(x.bank[0] - x.block->registers.data());
}
// Registers have shadows, constants none.
inline bool in_file(Reference r) {
  return r != nothing && !(r & constant_bit);
}

}  // namespace tilescope::sim
