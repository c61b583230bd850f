// A record that no machine made: a warp-specialised matrix product as a pipeline of Hopper and
// Blackwell goes, for tests and benchmarks of whatever reads records.
//
// A block has a warp that issues copies, one that issues products, and warps that write results:
//
//     warp 0     waits for empty[s], issues two copies, which complete full[s]
//     warp 1     waits for full[s], issues four products and a commit, which completes empty[s];
//                after the last step of a tile another commit completes the barrier `sums`
//     warps 2..  wait for sums, load them from TMEM, meet at barrier 1; warp 2 copies them out
//
// Each processor has one block after the other. Lengths are drawn; same numbers: same record.
#pragma once

#include <cstdint>

#include "core/record/recorder.h"

namespace tilescope::sim {

struct SyntheticPipeline {
  std::uint32_t processors = 4, blocks = 8, cluster = 1;  // cluster: blocks in it, all along x
  std::uint32_t tiles = 1;                                // of a block
  std::uint32_t steps = 16;                               // along K, of a tile
  std::uint32_t stages = 4;
  std::uint32_t writers = 4;  // warps from 2 on
  std::uint64_t seed = 1;
  bool open_phases = false;  // phases are added when they begin, and changed when they end
};

// Into a recorder, as a machine would: begin(), then events in the order of their ends.
void synthesize(Recorder& recorder, const SyntheticPipeline& pipeline);

Record synthetic_record(const SyntheticPipeline& pipeline, RecordLimits limits = {});

}  // namespace tilescope::sim
