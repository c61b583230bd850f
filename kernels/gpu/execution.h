// One job on the GPU: loaded, its buffers in the GPU's memory, launched by the first advance().
#pragma once

#include <string>
#include <vector>

#include "core/ptx/module.h"
#include "core/run/chip_execution.h"
#include "kernels/gpu/launcher.h"

namespace tilescope::gpu {

class GpuExecution : public ChipExecution {
 public:
  // `entry`, of `module`, belongs to the job's PTX and fits its launch and arguments.
  static Outcome<std::unique_ptr<GpuExecution>> prepare(std::shared_ptr<Context> context,
                                                        const Chip& chip, const ptx::Module& module,
                                                        const ptx::Function& entry, Job job);
  ~GpuExecution() override;

  // Waits for a moment at most, so that its caller can be interrupted.
  RunState advance(std::uint64_t budget) override;
  Progress progress() const override;
  // Of a kernel that faulted: as they were before it, since its memory cannot be read any more.
  const std::vector<Buffer>& buffers() const override { return job_.buffers; }
  const std::vector<Report>& reports() const override { return reports_; }
  std::optional<Site> writer(std::size_t, std::size_t) const override { return std::nullopt; }
  std::optional<double> seconds() const override { return seconds_; }

  // Puts a launch into the default stream and does not wait.
  Result enqueue();
  // Where buffer `i` is in the GPU's memory, and what is there now.
  CUdeviceptr address(std::size_t i) const { return memory_[i].get(); }
  Result read(std::size_t i, std::vector<std::byte>& out) const;

  // Launches once more and waits; only the time is wanted.
  Result measure(double& seconds);

 private:
  enum class State : std::uint8_t { ready, launched, done, fault };

  GpuExecution(std::shared_ptr<Context> context, Launcher launcher, Job job, std::string entry)
      : context_(std::move(context)),
        driver_(context_->driver()),
        launcher_(std::move(launcher)),
        job_(std::move(job)),
        entry_(std::move(entry)) {}
  std::optional<Error> upload(const Chip& chip);
  Result launch();
  Result elapsed(double& seconds) const;
  Result finish();
  void note_unwritten();
  RunState failed(Result result);

  std::shared_ptr<Context> context_;
  const Driver& driver_;
  Launcher launcher_;
  Job job_;
  std::string entry_;
  std::vector<Memory> memory_;  // of each buffer
  Event begin_, end_;
  State state_ = State::ready;
  std::optional<double> seconds_;
  std::vector<Report> reports_;
};

}  // namespace tilescope::gpu
