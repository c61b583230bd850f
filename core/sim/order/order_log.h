// What of a run could have come in another order and would have meant something else.
//
// Two steps that nothing orders may change places. Most of them mean the same then: two arrivals in
// one phase, two waits. Where a run has no race, and whatever depends on an order is ordered, every
// other order of its steps does the same (what happens-before says of it is the same, step by
// step). So one run shows that, and says which steps there are for which it is not so:
//
//   an arrival at an mbarrier, or bytes that come there, in a phase that may have begun only by
//   luck:
//     it does not come behind what completed the phase before
//   an arrival at a barrier of the CTA, likewise
//   accesses of one place of memory that synchronise, of which one writes
//   an access of another CTA's shared memory, and the end of that CTA
//
// A wait for a phase that may be over too early is a hazard of its own (phase_too_early).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/sim/order/observer.h"
#include "core/sim/order/vector_clock.h"

namespace tilescope::sim {

// An instruction of a warp: the one that it executes behind `at` others.
struct RunStep {
  std::uint64_t block = 0;
  std::uint32_t warp = 0, pc = 0;
  std::uint64_t at = 0;
};

struct Reversal {
  enum class Kind : std::uint8_t { mbarrier, barrier, memory, exit };
  Kind kind = Kind::mbarrier;
  RunStep earlier, later;
};

// The last access of a place of memory that synchronises, by one warp.
struct FlagAccess {
  Agent agent;
  std::uint32_t epoch = 0;
  bool writes = false;
  std::uint32_t adds = 0;  // instruction of a red whose order among its like means nothing; 0: none
  RunStep step;
  std::uint32_t lane = 0, turn = 0;
};

// A strong store of one value, or an atomic, at a place of memory; for who goes round a loop until
// it is there.
struct FlagWrite {
  Agent agent;
  Home home;
  std::uint32_t epoch = 0;
  std::uint64_t place = 0;  // of its first byte
  std::uint32_t bytes = 0;
  bool stores = false;  // not an atomic: the value is known
  std::uint64_t value = 0, before = 0;
};

class OrderLog {
 public:
  // A warp does something that others could notice: all that it does so, in a row, is its part of
  // the run. `what` tells steps apart that are not alike.
  void step(std::uint64_t block, std::uint32_t warp, std::uint64_t what);
  // The two could change places. Once for the two instructions.
  void may_change(Reversal::Kind kind, const RunStep& earlier, const RunStep& later);

  // Bytes [begin, end) of the region at `base` are read past the caches that writes keep up to date
  // (ld.global.nc, textures and surfaces), or written.
  void use_region(std::uint64_t base, std::uint64_t begin, std::uint64_t end, bool writes);

  // ---- loops that wait for a flag ----
  // By instruction: may it be what such a loop reads? Empty: the program has none.
  std::vector<bool> may_wait;
  // What was written at each 4 bytes, where it has some.
  std::map<std::uint64_t, std::vector<FlagWrite>> flag_writes;
  // What a thread had seen when it first read there in vain, by block, thread and instruction.
  struct Vain {
    std::uint64_t place = 0;
    VectorClock seen;
  };
  std::map<std::array<std::uint64_t, 3>, Vain> vain;

  // Something that may go otherwise, of which nothing is followed: in words, once.
  void blind(const std::string& why);

  const std::vector<Reversal>& reversals() const { return reversals_; }
  const std::vector<std::string>& blinds() const { return blinds_; }
  // What every warp did, whenever: two runs in which it is the same differ by their order alone.
  std::uint64_t trace() const;
  std::uint64_t steps() const { return steps_; }
  // The decimal logarithm of how many orders its warps' steps have, each warp's in its own.
  double orders() const;

 private:
  struct Part {
    std::uint64_t hash = 0, steps = 0;
  };
  std::map<std::pair<std::uint64_t, std::uint32_t>, Part> warps_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, bool> known_;  // by their instructions
  struct Used {
    std::uint64_t begin = ~std::uint64_t{0}, end = 0;
    void add(std::uint64_t from, std::uint64_t to) {
      begin = begin < from ? begin : from;
      end = end > to ? end : to;
    }
  };
  std::map<std::uint64_t, std::array<Used, 2>> regions_;  // [0] read so, [1] written
  std::vector<Reversal> reversals_;
  std::vector<std::string> blinds_;
  std::uint64_t steps_ = 0;
};

}  // namespace tilescope::sim
