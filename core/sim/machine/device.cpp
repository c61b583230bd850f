#include "core/sim/machine/device.h"

namespace tilescope::sim {

Outcome<std::unique_ptr<Execution>> SimDevice::start(Job job) {
  Outcome<Machine> machine = Machine::load(std::move(job), options_);
  if (!machine.ok()) return machine.error();
  return std::unique_ptr<Execution>(std::make_unique<SimExecution>(std::move(*machine)));
}

const std::vector<Buffer>& SimExecution::buffers() const {
  if (copied_at_ != machine_.instructions()) {
    buffers_ = machine_.buffers();
    copied_at_ = machine_.instructions();
  }
  return buffers_;
}

}  // namespace tilescope::sim
