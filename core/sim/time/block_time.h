// What the clock knows of a block: how far its warps are, and what has been recorded of it.
// Plain values, as all of a Machine. Times are cycles since the launch.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "core/record/event.h"
#include "core/record/memory_use.h"

namespace tilescope::sim {

// What a warp is at, while it waits.
struct Standing {
  Stall stall = Stall::none;
  std::uint32_t pc = 0;
  std::uint32_t object = 0, phase = 0;  // of the barrier
};

// What a warp has begun by cp.async, as the record has it.
struct RecordedCopies {
  // Of no group yet, and not told to an mbarrier.
  struct Open {
    double issued = 0;  // the first of them
    std::uint64_t bytes = 0;
    std::vector<MemoryUse> uses;  // of each instruction, what it reads and then what it writes
  } open;
  // Groups that the warp has not waited for: their numbers, and their events.
  std::vector<std::pair<std::uint32_t, EventId>> groups;
};

// What each turn needs stands first, as the warps of a chip do not fit into a cache together.
struct WarpTime {
  double slot = 0;  // when its next instruction may be issued
  // Of the current straight run: when the last instruction to be issued was, which one, and what it
  // had waited for. An assembler orders these so that nobody waits for another's operands.
  double late = 0;
  double late_step = 0;  // by how much it was later than those before
  std::uint32_t late_pc = 0;
  Stall late_stall = Stall::none;
  std::uint8_t scheduler = 0;  // that issues its instructions
  std::vector<double> ready;   // by slot of the scoreboard: when the value is there
  std::vector<Stall> why;      // and what brings it
  // Registers that loads from memory will fill, of instructions that wait for them while others go
  // first: until when, and how many.
  std::vector<std::pair<double, std::uint32_t>> held;
  double written = 0;  // when what it stored can be seen

  // Recorded as one run until it waits.
  TrackId track = 0;
  EventId run = no_event;
  std::uint32_t last_pc = 0;
  std::uint64_t run_instructions = 0;
  std::array<std::uint32_t, static_cast<std::size_t>(Stall::count_)> run_stalled{};  // cycles

  bool waits = false;
  double since = 0;
  Standing standing;

  double loads = 0, stores = 0;                          // when its tcgen05.ld and .st are done
  std::vector<std::pair<std::uint32_t, double>> copies;  // groups of cp.async: when they are done
  double open_copies = 0;                                // those of no group yet
  RecordedCopies recorded_copies;

  void stall_in_run(Stall stall, double cycles) {
    run_stalled[static_cast<std::size_t>(stall)] += static_cast<std::uint32_t>(cycles);
  }
};

// Of a barrier: when its phase began, and the one before.
struct PhaseTime {
  TrackId track = 0;
  std::uint32_t phase = 0;
  double began = 0;
  double visible = 0;          // when the waiters can know that the last one is complete
  EventId last = no_event;     // of the last complete one
  EventId arrival = no_event;  // the last one of threads
};

struct BlockTime {
  double started = 0, ended = 0;
  std::uint64_t order = 0;       // in which it began, among all blocks
  std::uint32_t first_warp = 0;  // its place among those of the SM, which schedulers share
  std::vector<WarpTime> warps;
  std::vector<std::pair<std::uint32_t, double>>
      pipes;                                  // when the last of an operations' pipe is done
  std::map<std::uint64_t, PhaseTime> phases;  // by Unit << 32 | number or offset
  std::map<Unit, TrackId> tracks;             // of units
};

}  // namespace tilescope::sim
