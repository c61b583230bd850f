#include "core/sim/time/reached.h"

#include <algorithm>

#include "core/sim/machine/machine.h"
#include "core/sim/stepping/find_block.h"

namespace tilescope::sim {

double time_reached(const Machine& machine) {
  const Stops& stops = machine.stops();
  if (stops.hit() && stops.where().cycle < StopAt::no_cycle) return stops.where().cycle;
  const double now = machine.now();
  if (!machine.times() || !machine.is_behind_instruction()) return now;
  const Executed& last = machine.last_executed();
  const Block* block = find_block(machine, last.block);
  if (!block || last.warp >= block->time.warps.size()) return now;
  return std::max(now, block->time.warps[last.warp].slot);
}

}  // namespace tilescope::sim
