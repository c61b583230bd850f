// A simulator test in one text file: a PTX program, its launch, and what must come of it.
//
//   // launch: entry=scale grid=2 block=32 dynamic_smem=64 step=1 cluster=2 cooperative=1
//   resident=4 (grid, block, cluster: up to x,y,z; resident: blocks that have room together;
//   order=turns: what comes of it depends on who comes first, and by the clock somebody else does)
//   // buffer: X f32 4x16 = 0..63           (values of the first elements; the rest is 0)
//   // buffer: Y f32 64 = undefined
//   // buffer: Y f32 64x64 16x64 = 0         (of which a block computes tiles of 16 x 64)
//   // arg: X        // arg: X+16        // arg: i32 7        // arg: f32 1.5
//   // arg: tensormap X box=64x8 swizzle=128B dims=64x32 strides=128 steps=1x2 dtype=f16 oob=nan
//           interleave=16B offset=16   (in one line; innermost dimension first; only box must be)
//   // arg: tensormap X lower=-1x-1 upper=-1x-1 channels=64 pixels=32 wide=w      (in place of box)
//   // arg: texture X width=8 height=4 format=f32x1 filter=linear address=clamp normalized (depth,
//           pitch, read=normalized, border=0.5; surface likewise)
//   // expect: Y = 0 2 4 61*0
//   // expect-fault: out_of_bounds | sentence, or a part of it
//   // expect-why: a part of a deadlock's cause (core/run/deadlock_cause.h)
//   // expect-found: a part of what a report says was found; each of them in one
//   // expect-site: PTX line 21, block (0,0,0), warp 0, lane 3
//   // expect-printed: hello 3             (a line of what vprintf printed; each line in its order)
//   // expect-hazard: shared_race | sentence, or a part of it | 3       (how often at its site)
//   // expect-note: unwritten | 12 of the 128 bytes
//   // expect-error: unsupported | sentence, or a part of it | where
//
// Values: numbers; `n*v` for v n times; `a..b` for the integers from a to b; 0x... are an element's
// bits. `expect` compares the first elements, bit for bit.
#pragma once

#include <string>
#include <vector>

#include "core/run/job.h"

namespace tilescope::test {

struct Expectation {
  std::string buffer;
  std::vector<std::byte> bytes;
};

struct SimProgram {
  Job job;
  std::uint64_t step = 0;      // instructions a call of run(); 0: all at once
  bool in_turns = false;       // what becomes of it depends on who comes first: not by the clock
  std::uint32_t resident = 0;  // Options::resident_blocks; 0: as it is
  std::vector<Expectation> memory;
  std::string fault, fault_text, site, why;
  std::string note, note_text;
  std::vector<std::string> found;
  struct Hazard {
    std::string kind, text, count;
  };
  std::vector<Hazard> hazards;
  std::string printed;
  std::string error, error_text, error_where;
  std::string mistake;  // what is wrong with the test file itself
};

SimProgram read_program(const std::string& path);

}  // namespace tilescope::test
