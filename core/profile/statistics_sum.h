// Several launches of a kernel as one table of figures.
#pragma once

#include <cstdint>
#include <vector>

#include "core/profile/statistics.h"

namespace tilescope::sim {

// Counts and times added up, and shares of all their time together. What is no sum, as the CTAs
// that an SM has at once, is that of the longest launch.
class StatisticsSum {
 public:
  void add(const Statistics& launch);
  std::uint64_t launches() const { return launches_; }
  double launching() const { return launching_; }  // seconds of the whole that launches cost
  // With one figure for the time, with what launches cost.
  Statistics take() const;

 private:
  Statistics sum_;
  std::uint64_t launches_ = 0;
  double launching_ = 0;
  Cycle longest_ = 0;
};

// The parts that statistics_of has in common with it.
void add_stalls(Statistics& statistics);  // anew, from its sum of all lines
void worst_first(std::vector<LineUse>& lines);

}  // namespace tilescope::sim
