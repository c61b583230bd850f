#include "core/sim/time/reached.h"

#include <algorithm>

#include "core/sim/machine/machine.h"
#include "core/sim/stepping/find_block.h"

namespace tilescope::sim {

double time_reached(const Machine& machine) {
  const Stops& stops = machine.stops();
  if (stops.hit() && stops.where().cycle < StopAt::no_cycle) return stops.where().cycle;
  const double now = machine.now();
  if (!machine.times() || machine.last_executed().mask == 0) return now;
  const auto executed = machine.last_executed().block;
  const Block* block =
      find_block(machine, stops.hit() ? stops.where().block.value_or(executed) : executed);
  double furthest = now;
  for (std::size_t i = 0; block && i < block->time.warps.size(); ++i) {
    furthest = std::max(furthest, block->time.warps[i].slot);
  }
  return furthest;
}

}  // namespace tilescope::sim
