// Looks whether what the run is to stop at has happened (core/sim/machine/stops.h). Keeps nothing:
// what is asked for is in Grid::stops, and what was written in the regions that are watched.
#pragma once

#include "core/sim/machine/code.h"
#include "core/sim/machine/stops.h"

namespace tilescope::sim {

class Watcher {
 public:
  explicit Watcher(Model& model) : model_(&model) {}

  void stop_at(StopAt at);
  void settle_stops();
  // All that is watched; a block that begins brings a region of its own.
  void watch_regions();
  // A warp has executed up to here.
  void look_for_stop(const Block& block, const Warp& warp, std::uint32_t pc, Mask mask);
  // An operation in flight in `block`, with guards in these others, has come from a stage to
  // another.
  void look_for_stop(const Block& block, const AsyncOperation& operation, Stage from,
                     std::uint32_t guards);

 private:
  Region* watched(const Watch& watch);
  void watch_nothing();
  void note_write(std::uint32_t number, const Block& by, std::uint32_t warp, std::uint32_t pc);
  void note_touched(const Block& by, std::uint32_t warp, std::uint32_t pc);

  Model* model_;
};

}  // namespace tilescope::sim
