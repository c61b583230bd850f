// The units' doors: each answers the handler of one instruction, or null where it has none.
// One set for each way that the lanes' files are compiled.
#pragma once

#include "core/sim/machine/code.h"

namespace tilescope::sim {

#define TILESCOPE_UNITS                                                            \
  Handler integer_handler(const ptx::Instruction& i);                              \
  Handler floating_handler(const ptx::Instruction& i);                             \
  Handler half_handler(const ptx::Instruction& i);                                 \
  Handler double_handler(const ptx::Instruction& i);                               \
  Handler mixed_handler(const ptx::Instruction& i);                                \
  Handler bits_handler(const ptx::Instruction& i);                                 \
  Handler carry_handler(const ptx::Instruction& i);                                \
  Handler comparison_handler(const ptx::Instruction& i);                           \
  Handler dot_handler(const ptx::Instruction& i);                                  \
  Handler convert_handler(const ptx::Program& program, const ptx::Instruction& i); \
  Handler move_handler(const ptx::Program& program, const ptx::Instruction& i);    \
  Handler memory_handler(const ptx::Program& program, const ptx::Instruction& i);

namespace base {
TILESCOPE_UNITS
}
namespace avx2 {
TILESCOPE_UNITS
}
#undef TILESCOPE_UNITS

// These look at few lanes' values, or take so long for each that one compilation will do.
Handler control_handler(const ptx::Instruction& i);
Handler barrier_handler(const ptx::Instruction& i);
Handler warp_handler(const ptx::Instruction& i);
// Of shfl.sync .up, .down, .bfly or .idx: whose value each lane gets.
void sources_of_shuffle(const Core& x, const Code& c, ptx::Operation how, int (&from)[32]);
Handler warp_barrier_handler();
Handler narrow_handler(const ptx::Instruction& i);
Handler pack_handler(const ptx::Instruction& i);
Handler atomic_handler(const ptx::Instruction& i);
Handler copy_handler(const ptx::Instruction& i);
Handler bulk_handler(const ptx::Instruction& i);  // of copy_handler's
Handler map_handler(const ptx::Instruction& i);   // of async_handler's
Handler rank_handler(const ptx::Instruction& i);  // mapa, getctarank
Handler cluster_barrier_handler(const ptx::Instruction& i);
Handler async_handler(const ptx::Instruction& i);
Handler launch_handler(const ptx::Instruction& i);       // of async_handler's
Handler async_store_handler(const ptx::Instruction& i);  // st.async, red.async
Handler bulk_store_handler();                            // st.bulk
Handler register_handler();                              // of async_handler's
Handler texture_handler(const ptx::Instruction& i);      // and surfaces; null for others
Handler hint_handler(const ptx::Instruction& i);         // caches, and which space an address is in

// Matrices of a warp (core/sim/matrix). An mma's handler finds the number of its form in
// Code::immediate, a wmma.load's or wmma.store's in Code::e.
Handler matrix_handler(const ptx::Instruction& i);
std::uint64_t mma_form(const ptx::Instruction& i);
std::uint32_t matrix_access(const ptx::Instruction& i);

// TMEM (core/sim/tcgen05).
Handler tensor_handler(const ptx::Instruction& i);

}  // namespace tilescope::sim
