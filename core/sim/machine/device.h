// The simulator as a core/run Device: takes any job, needs no GPU.
#pragma once

#include "core/run/job.h"
#include "core/sim/machine/machine.h"
#include "core/sim/machine/options.h"

namespace tilescope::sim {

class SimDevice : public Device {
 public:
  explicit SimDevice(Options options = {}) : options_(options) {}
  std::string_view name() const override { return "sim"; }
  Outcome<std::unique_ptr<Execution>> start(Job job) override;

 private:
  Options options_;
};

class SimExecution : public Execution {
 public:
  explicit SimExecution(Machine machine) : machine_(std::move(machine)) {}
  RunState advance(std::uint64_t budget) override { return machine_.run(budget); }
  Progress progress() const override { return machine_.progress(); }
  const std::vector<Buffer>& buffers() const override;
  const std::vector<Report>& reports() const override { return machine_.reports(); }
  std::string_view printed() const override { return machine_.printed(); }
  std::optional<Site> writer(std::size_t buffer, std::size_t byte) const override {
    return machine_.writer(buffer, byte);
  }
  const Machine& machine() const { return machine_; }

 private:
  Machine machine_;
  mutable std::vector<Buffer> buffers_;  // as of `copied_at_`
  mutable std::uint64_t copied_at_ = ~std::uint64_t{0};
};

}  // namespace tilescope::sim
