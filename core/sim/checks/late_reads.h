// Loads that count where their value is stored. A compiler that gives few elements to many threads,
// as Triton's, has them all load, and by a predicate one of those that loaded the same store:
//
//   @%p1 ld.global.b32 %r1, [%rd1];   add.s32 %r2, %r1, 1;   @%p2 st.global.b32 [%rd1], %r2;
//
// By PTX's letter (8.7.1) what the others load races with that store. But nothing comes of it: they
// use it for nothing. So a load of global memory whose value goes into guarded stores alone, be it
// what they store or where, in one
// straight run of instructions with nothing that synchronises, is an access of the lanes that
// store, at the time when they do: what it is ordered with is the same. Where the load is guarded
// itself, the run sets the register before: else an older value could be stored.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/sim/machine/code.h"
#include "core/sim/machine/state.h"

namespace tilescope::ptx {
struct Program;
}

namespace tilescope::sim {

class LateReads {
 public:
  // Null where the program has no such load.
  static std::shared_ptr<const LateReads> of(const ptx::Program& program);

  bool is_late(std::uint32_t load) const { return stores_of_[load] != 0; }
  bool is_stored_by(std::uint32_t load, std::uint32_t store) const;

 private:
  std::vector<std::uint32_t> stores_of_;  // of each instruction: where in stores_; 0: no such load
  std::vector<std::uint32_t> stores_;     // their instructions, and behind those of a load its own
};

// Is this access one? Then it is kept for the warp's stores.
bool keep_late_read(Core& x, const Region& region, const MemoryAccess& access);
// Lanes `m` of the warp go elsewhere: what they have not stored by now they do not store.
inline void drop_late_reads(Core& x, std::uint32_t m) {
  for (LateRead& read : x.warp->late_reads) read.mask &= ~m;
}
}  // namespace tilescope::sim
