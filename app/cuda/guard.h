// The host, while the device may be at work: memory that both can reach, and that a launch or a
// copy works on which the host has not waited for, is kept from it by page protection. Who touches
// it all the same goes on, and is told of as a hazard (host_race).
//
// Only pages are guarded all of whose bytes are worked on, of memory that this library has mapped:
// on a page that has others the host may be right to be. Who waits for anything gets all of it
// back.
//
// The handler of SIGSEGV that this takes is in its place only while something is guarded. A fault
// that is none of ours is left to the handler that it stands before: that one is put back, all is
// opened, and the instruction faults once more.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/cuda/wire.h"

namespace tilescope::standin {

// From now on a program that reads memory of the device as if it were its own is told so before it
// ends by it; not where it has a handler of its own.
void watch_for_faults();

struct Work {
  using Kind = wire::Work;
  Kind kind = Kind::launch;
  std::uint64_t number = 0;  // of a launch
};

// The whole pages of [begin, end), or to the end of what was allocated. What is copied from there
// (copy_in) stays as it is, and may be read.
void guard(std::uint64_t begin, std::uint64_t end, Work work);
// The host has waited, or somebody has for it; how often.
void let_in();
std::uint64_t waits();
void let_in(std::uint64_t begin, std::uint64_t end);  // here alone
// With CUDA_LAUNCH_BLOCKING a launch comes back when it is over (CUDA C++ Programming Guide,
// "Environment Variables").
bool launches_wait();

// Where the host was too early.
struct EarlyUse {
  std::uint64_t address = 0;
  Work work;
  bool writes = false;
  std::string where;  // the instruction, in its file; empty: not known
};
// All since the last call. It asks the dynamic linker: not to be called under a lock that the
// constructor of a library could wait for.
std::vector<EarlyUse> take_early_uses();

}  // namespace tilescope::standin
