// How many registers the warps of a block own, where setmaxnreg moves them about (PTX ISA
// 9.7.19.5).
//
// A block starts with what its kernel was compiled for, which is known where .maxnreg says so, or
// .minnctapersm beside the number of threads: without one ptxas 13 leaves setmaxnreg out ("unable
// to determine register count at entry"). What warps give up goes into the block's pool, from which
// others take; who wants more than there are waits.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/ptx/program.h"
#include "core/sim/order/vector_clock.h"

namespace tilescope::sim {

struct Block;
class Model;

// A setmaxnreg that a warp has executed.
struct RegisterChange {
  std::uint32_t warp = 0, pc = 0;
  std::uint32_t registers = 0;  // of a thread, from now on
  bool more = false;            // .inc
};

struct RegisterPool {
  std::uint32_t free = 0;  // registers of each thread of a warp
  // Where orders are logged: what all setmaxnreg.inc want; what is given by those .dec that come
  // behind none of these; and who executed an .inc.
  std::uint64_t wanted = 0, given = 0;
  struct Taken {
    Agent agent;
    std::uint32_t epoch = 0;
  };
  std::vector<Taken> taken;
  // Of each warpgroup, four warps, which all execute the same ones: who was first to.
  std::array<std::vector<RegisterChange>, 8> changes;
};

constexpr std::uint32_t registers_of_processor = 65536;

// Registers of a thread at the start of a kernel, in the steps of 8 that they are given in; 0 where
// nothing says so. As ptxas 13 reckons for sm_90a and sm_100a: the warps that are to be resident
// share four quarters of the SM's registers, and a thread has at most 255; nor does one start with
// more than the largest number that a setmaxnreg.inc of the kernel names.
std::uint32_t registers_at_entry(const ptx::Program& program);

// All of a block's threads have exited: did the warps of each warpgroup change their registers
// alike? A hazard where not.
void leave_registers(Model& machine, const Block& block);

}  // namespace tilescope::sim
