// Where an order is missing: the instructions on either side of the gap, as the warps executed them
// (Warp::visited, which has what orders, waits or issues, the last that a warp came to last). An
// order leads from the one behind what was done first to the one before what is done now; so what
// is missing, or what does not do what it was meant to do, stands between them or is one of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/sim/machine/code.h"

namespace tilescope::sim {

// A thread's instruction.
struct Done {
  const Block* block = nullptr;
  std::uint32_t thread = 0, pc = 0;
};

// What its warp came to behind it that is of another kind. Nothing: it has come to none yet, or
// what was done is none of what is noted.
std::optional<std::uint32_t> first_behind(const Model& machine, const Done& done);
// What a warp came to last, but the instruction at `pc`, where it is now.
std::optional<std::uint32_t> last_before(const Warp& warp, std::uint32_t pc);

// Of what its warp came to behind it the first arrival at an mbarrier, and of what a warp has come
// to the last wait at one, in the scope of a CTA: as PTX has it where none is written
// (9.7.13.15.13).
std::optional<std::uint32_t> narrow_behind(const Model& machine, const Done& done);
std::optional<std::uint32_t> narrow_before(const Model& machine, const Warp& warp);

// "; behind it warp 3 came to the mbarrier.arrive at a.cu:12 (PTX line 40), and before this
// warp 0 last to the bar.sync at a.cu:20 (PTX line 66)": of `done`, and of the warp of `x` now.
// What is not known is left out.
std::string gap_text(const Core& x, const Done& done);
// The same with who comes now by itself, where no instruction is executing.
std::string gap_text(const Model& machine, const Block& home, std::uint32_t thread,
                     std::uint32_t pc, const Done& done);

// "; warp 0 came last to the bar.sync at a.cu:20 (PTX line 66)": of one that has exited; and before
// an instruction that it has not come to again.
std::string last_text(const Model& machine, const Block& home, std::uint32_t thread);
std::string before_text(const Model& machine, const Block& home, std::uint32_t thread,
                        std::uint32_t pc);
// "; its warps came last to the bar.sync at a.cu:20 (PTX line 66)": of all of a block, each
// instruction once.
std::string exits_text(const Model& machine, const Block& block);

// "; warp 3 told of it last by the mbarrier.arrive at a.cu:30 (PTX line 90)": at a barrier of
// whatever kind. Empty: it has not.
std::string told_text(const Model& machine, const Block& home, std::uint32_t warp);

// "; its warp waited last by the wgmma.wait_group at a.cu:30 (PTX line 90)": of an operation that
// is waited for in groups, by its own threads. Empty: it is not.
std::string waited_text(const Model& machine, const Done& operation);
// "; it completes on the mbarrier at byte 0 of shared memory, for which warp 1 has never waited",
// or where it waited last, and for which phase: of an operation in flight, and the warp of `x`.
std::string unheard_text(const Core& x, std::uint32_t mbarrier);

// "; its parity, %r7, is made at PTX lines 40 and 66": of a wait, the instructions of the program
// that its parity goes back to, by moves, choices and flips. Empty: it has no parity, or that is a
// constant, or goes back to many.
std::string parity_text(const Model& machine, std::uint32_t wait);

// ", which nobody had written" of an undefined byte, with neighbours_text(); or ", which the
// st.shared.v4.b32 at a.cu:12 (PTX line 40) wrote without a value".
std::string undefined_text(const Model& machine, const Region& region, std::uint64_t offset);
// What is around bytes that nobody has written: "; the bytes before it were written at a.cu:12
// (PTX line 40), those behind at PTX line 44". Empty: nothing near.
std::string neighbours_text(const Model& machine, const Region& region, std::uint64_t offset);

}  // namespace tilescope::sim
