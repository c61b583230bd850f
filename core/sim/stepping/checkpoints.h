// Copies of a machine along its run, to go back to.
//
// How far apart they are is measured in milliseconds of running: what it takes to come from one to
// the next. Near the present they are close, so that many small steps back are quick; further away
// the gaps grow with the distance, as far as the room asks for it: half of them may go there.
#pragma once

#include <cstdint>
#include <map>

#include "core/sim/machine/machine.h"

namespace tilescope::sim {

struct CheckpointLimits {
  std::uint64_t bytes = std::uint64_t{1} << 30;  // of all copies; the one at the beginning is kept
  double spacing = 6;                            // milliseconds of running, at least
};

struct Checkpoint {
  Machine machine;
  double cost = 0;  // milliseconds of running from the beginning to here
  std::uint64_t bytes = 0;
};

class Checkpoints {
 public:
  using Map = std::map<std::uint64_t, Checkpoint>;  // by position

  Checkpoints(const Machine& at_the_beginning, CheckpointLimits limits);

  const Map& all() const { return all_; }
  std::uint64_t bytes() const { return bytes_; }
  // The last one that is not after this position.
  const Checkpoint& before(std::uint64_t position) const;
  // Is one wanted here, on the way to a place that is so many milliseconds of running away?
  bool wants(std::uint64_t position, double cost, double remaining) const;
  // Keeps a copy; others may go.
  void keep(const Machine& machine, double cost);

 private:
  double gap(double distance) const;  // that may be around what is so far from the present

  CheckpointLimits limits_;
  Map all_;
  std::uint64_t bytes_ = 0;
  double copying_ = 0;   // milliseconds that a copy takes
  double furthest_ = 0;  // cost
  bool full_ = false;
};

}  // namespace tilescope::sim
