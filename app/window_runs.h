// What the window runs: a kernel with its options, on which chip and in which order; its run with a
// record, and its machine to step through.
#pragma once

#include <memory>
#include <string_view>

#include "app/runs.h"
#include "core/record/recorder.h"
#include "viz/machine/live_run.h"
#include "viz/session/backend.h"

namespace tilescope {

struct WindowRun {
  PreparedRun run;
  Order order;
};

// A kernel of the catalog with sizes, inputs, seed, type; or a PTX file with --launch. Both take
// --device, --schedule, --lazy on and --numerics. By the clock of the chip, unless the order is
// drawn.
// `built`: what --source was compiled to. Without it the kernel is prepared as it is shipped, which
// is enough to know its sizes and inputs.
Outcome<WindowRun> prepare_window_run(std::string_view name, const KernelOptions& options,
                                      const std::shared_ptr<const Build>& built = nullptr);
// Refused: there is no such kernel, with the names that there are.
Outcome<const CatalogEntry*> entry_named(std::string_view name);

// The machine before its first instruction, with the sources available.
Outcome<std::shared_ptr<LiveRun>> live_run(const WindowRun& run);

// The first output of the run on the first GPU. Refused: there is none, or it faults there.
Outcome<std::shared_ptr<const Buffer>> output_of_gpu(const PreparedRun& run);

// A run that is recorded, and leaves its machine where it ended with copies on the way.
class RecordedRun : public Execution {
 public:
  static Outcome<std::unique_ptr<RecordedRun>> start(const WindowRun& run);

  RunState advance(std::uint64_t budget) override;
  Progress progress() const override { return machine().progress(); }
  const std::vector<Buffer>& buffers() const override;
  const std::vector<Report>& reports() const override { return machine().reports(); }
  std::optional<Site> writer(std::size_t buffer, std::size_t byte) const override {
    return machine().writer(buffer, byte);
  }

  const sim::Machine& machine() const { return live_->stepper.machine(); }
  std::uint64_t position() const { return live_->stepper.position(); }
  // Once, when it has stopped.
  sim::Record take_record(const PreparedRun& run);
  std::shared_ptr<LiveRun> take_live() { return std::move(live_); }

 private:
  RecordedRun() = default;

  std::unique_ptr<sim::Recorder> recorder_ = std::make_unique<sim::Recorder>();
  std::shared_ptr<LiveRun> live_;
  DeviceDescription device_;
  mutable std::vector<Buffer> buffers_;
};

}  // namespace tilescope
