// How an order of a run is written on a command line: a seed, warps that are held back, or both.
//
//   "7"                  the seed (Options::schedule)
//   "0.4@1250"           block 0's warp 4 executes 1250 instructions and then waits
//   (Options::holds) "7,0.4@1250,0.1@90"  all of these
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
};

Outcome<Schedule> parse_schedule(std::string_view text);
std::string schedule_text(const Schedule& schedule);

}  // namespace tilescope::sim
