#include "core/sim/machine/early.h"

#include <algorithm>

#include "core/sim/machine/machine.h"
#include "core/sim/machine/model.h"

namespace tilescope::sim {

void tell_early(Machine& machine) {
  if (machine.model().access_log) machine.model().access_log->tell_early();
}

bool is_early(const Core& x) {
  const AccessLog& log = *x.machine->access_log;
  return log.is_early(x.machine->cluster_number(x.block->number), [&](const AccessLog::Wait& wait) {
    return !x.block->order.on() ||
           x.block->order.of(x.warp->index).has_seen(wait.agent, wait.epoch);
  });
}

void note_wait(Core& x) {
  if (x.machine->clock) {
    DependentTimes& times = x.machine->dependents;
    const double now = x.block->time.warps[x.warp->index].slot;
    times.waits = times.waits == DependentTimes::never ? now : std::min(times.waits, now);
  }
  if (!x.machine->access_log) return;
  AccessLog::Wait wait;
  if (x.block->order.on()) wait = {observer(x).me(), observer(x).epoch()};
  x.machine->access_log->waited(x.machine->cluster_number(x.block->number), wait);
}

void note_dependents(Core& x) {
  if (x.machine->access_log) x.machine->access_log->let_dependents_begin(is_early(x));
  if (!x.machine->clock || x.block->lets_dependents_begin) return;
  x.block->lets_dependents_begin = true;
  DependentTimes& times = x.machine->dependents;
  times.tells = std::max(times.tells, x.block->time.warps[x.warp->index].slot);
  ++times.blocks_tell;
}

}  // namespace tilescope::sim
