#include "core/sim/machine/early.h"

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
  if (!x.machine->access_log) return;
  AccessLog::Wait wait;
  if (x.block->order.on()) wait = {observer(x).me(), observer(x).epoch()};
  x.machine->access_log->waited(x.machine->cluster_number(x.block->number), wait);
}

void note_dependents(Core& x) {
  if (x.machine->access_log) x.machine->access_log->let_dependents_begin();
}

}  // namespace tilescope::sim
