// What L2 had when, of the buffers that were read through it, as the simulator's L2 counts it
// (core/sim/time/processor.h).
#pragma once

#include <cstdint>
#include <vector>

#include "core/record/event.h"

namespace tilescope::sim {

// A buffer as a matrix (memory_use.h), cut into rows x columns cells of equal extents, the last of
// a row or column perhaps smaller.
struct CachedBuffer {
  static constexpr std::uint32_t most_cells = 64;  // of a row or column; of a buffer of one row:
  static constexpr std::uint32_t most_of_one_row = 1024;

  std::uint32_t buffer = 0;             // of Record::buffers
  std::uint32_t rows = 1, columns = 1;  // cells
  // Row by row: when all lines of a cell that were ever read had come, the last time if they came
  // several times; 0: before the run. never_ends: nothing of it was read. What is only written
  // counts as not read.
  std::vector<Cycle> since;
  bool operator==(const CachedBuffer&) const = default;
};

}  // namespace tilescope::sim
