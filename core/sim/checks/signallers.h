// The instructions of a program that can bring a barrier's phase on: for the cause of a deadlock.
#pragma once

#include <cstdint>
#include <optional>

#include "core/ptx/program.h"

namespace tilescope::sim {

// An instruction that does something to a barrier that others wait for.
struct Signaller {
  std::uint32_t pc = 0;
  ptx::Operand place;  // the mbarrier's address; the barrier's number
  bool arrives = false, expects = false, brings = false;
  bool by_rank = false;  // its address says which CTA's mbarrier; else that may be others' too
};

// Of an mbarrier: arrivals, bytes expected or brought (PTX ISA 9.7.13.15), commits, copies.
// Nothing: it is none of these.
std::optional<Signaller> mbarrier_signaller(const ptx::Program& program, std::uint32_t pc);
// bar.sync, bar.arrive, bar.red and their synonyms.
std::optional<Signaller> bar_signaller(const ptx::Program& program, std::uint32_t pc);
// barrier.cluster.arrive.
std::optional<Signaller> cluster_signaller(const ptx::Program& program, std::uint32_t pc);

// Any of these, and products of a warpgroup (wgmma.mma_async), which its four warps issue together.
bool brings_others_on(const ptx::Program& program, std::uint32_t pc);

}  // namespace tilescope::sim
