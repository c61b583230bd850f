// The host, while the device may be at work: memory that both can reach, and that a launch or a
// copy works on which the host has not waited for, is kept from it by page protection. Who touches
// it all the same goes on, and is told of as a hazard (host_race).
//
// Only pages are guarded all of whose bytes are worked on, of memory that this library has mapped:
// on a page that has others the host may be right to be. Who waits for anything gets all of it
// back.
#pragma once

#include <cstdint>

namespace tilescope::standin {

// From now on a program that reads memory of the device as if it were its own is told so before it
// ends by it.
void watch_for_faults();

// What is at work.
enum class Work : std::uint8_t { launch, copy_out, copy_in };

// The whole pages of [begin, end), or to the end of what was allocated. `read`: the host may read
// them, as what is copied from there stays as it is.
void guard(std::uint64_t begin, std::uint64_t end, Work work, bool may_read = false);
// The host has waited, or somebody has for it.
void let_in();
void let_in(std::uint64_t begin, std::uint64_t end);  // here alone

// Calls say(address, writes, where) of each place where the host was too early, once a place;
// `where`: the instruction, in its file. Forgets them.
void each_early_use(void (*say)(std::uint64_t address, Work work, bool writes, const char* where));

}  // namespace tilescope::standin
