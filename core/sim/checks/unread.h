// What a thread asks for and does not look at: loads whose value it does not have yet when it says
// that it is done with the memory, and waits whose answer it does not read.
#pragma once

#include <cstdint>
#include <vector>

namespace tilescope::ptx {
struct Program;
}

namespace tilescope::sim {

class Model;

// Does the thread that loads at `pc` tell others so (by an arrival, a barrier, a release, a copy
// that it issues) before an instruction uses what was loaded? As far as the instructions behind it
// say it in a row: not, where the way divides.
//
// Measured on an H200 (driver 580), 211 million rounds each: a thread reads 4 bytes of shared
// memory, and arrives; another waits, and overwrites them by cp.async.bulk. Where the value was not
// used before the arrival, other warps' bank conflicts held the load up so long that 98 of 100
// reads gave the new bytes; behind bar.sync 98, of the thread that copies itself 69. None did where
// a branch looked at the value before, or with a fence.proxy.async between; nor where a store
// overwrites.
bool tells_before_use(const ptx::Program& program, std::uint32_t pc);
// The instructions that test or wait for a phase of an mbarrier and whose answer nothing reads
// before the predicate is written again: who goes on behind one knows nothing. By instruction.
std::vector<bool> unread_waits(const ptx::Program& program);
// The atomics whose answer no instruction reads, as red has none. By instruction.
std::vector<bool> unread_atomics(const ptx::Program& program);
// tells_before_use() of the program at hand, where there are copies that could overtake such a
// load.
bool may_be_overtaken(Model& machine, std::uint32_t pc);

}  // namespace tilescope::sim
