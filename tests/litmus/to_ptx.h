// A litmus test as a kernel: one PTX text for the simulator, another form of it for a chip, which
// runs it many times and under stress.
//
// A thread of the test is a warp whose other lanes have left. Variables lie 128 bytes apart: those
// of global memory in a buffer of `memory_bytes` for each run, those of shared memory at the same
// offset in each CTA. Registers that are observed go into a buffer of `results` words for each run.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/litmus/reader.h"

namespace tilescope::litmus {

struct Kernel {
  std::string ptx;
  std::uint32_t ctas = 1, cluster = 1, block = 32;
  std::uint32_t memory_bytes = 0;        // of global variables, of a run
  std::uint32_t results = 0;             // words, of a run
  std::map<Place, std::uint32_t> lines;  // of the PTX text, from 1: where each instruction is
};

// Entry `litmus`, parameters: memory, results (addresses). Runs once; nothing but the test itself,
// and before it what gives shared memory its initial values.
Kernel to_ptx(const Test& test);

// Entry `stress`, parameters: memory, results, counters (4 bytes for each instance, 0), scratch
// (addresses; 4 MiB); iterations, instances, seed (u32). The first `instances` * ctas CTAs run the
// test, `iterations` times each, run number instance * iterations + iteration; all others make
// traffic. Threads meet before each run where they can, and wait a random while.
Kernel to_stress_ptx(const Test& test);

// What global memory holds before a run.
std::vector<std::uint32_t> initial_memory(const Test& test);
// The outcome of a run, of its part of both buffers.
Values outcome_of(const Test& test, const std::uint32_t* memory, const std::uint32_t* results);

}  // namespace tilescope::litmus
