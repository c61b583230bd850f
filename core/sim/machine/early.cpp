#include "core/sim/machine/early.h"

#include "core/sim/machine/machine.h"
#include "core/sim/machine/model.h"

namespace tilescope::sim {

void tell_early(Machine& machine) {
  if (machine.model().access_log) machine.model().access_log->tell_early();
}

bool is_early(const Core& x) {
  const AccessLog& log = *x.machine->access_log;
  return log.tells_early() && log.is_early(x.machine->cluster_number(x.block->number));
}

}  // namespace tilescope::sim
