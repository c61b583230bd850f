// How an order of a run is written on a command line, or in a file: one of these or several, with
// commas or lines between them.
//
//   "7"              the seed (Options::schedule), first
//   "0.4@1250"       block 0's warp 4 executes 1250 instructions and then waits (Options::holds)
//   "refuse-waits"   each wait for an mbarrier is told no the first time
//                    (Options::first_waits_fail)
//   "refuse-grants"  each request for another cluster's work is told that there is none
//                    (Options::grants_fail)
//
// In a file `#` begins a comment.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/sim/machine/options.h"

namespace tilescope::sim {

struct Schedule {
  std::uint64_t seed = 0;
  std::vector<Hold> holds;
  bool refuses_waits = false, refuses_grants = false;
  bool is_usual() const { return seed == 0 && holds.empty() && !refuses_waits && !refuses_grants; }
};

Outcome<Schedule> parse_schedule(std::string_view text);
// The words of a file as the text of a command line.
std::string words_of_schedule(std::string_view file);
std::string schedule_text(const Schedule& schedule);

}  // namespace tilescope::sim
