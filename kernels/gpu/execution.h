// One job on the GPU: loaded, its buffers in the GPU's memory, launched by the first advance().
#pragma once

#include <string>
#include <vector>

#include "core/ptx/module.h"
#include "core/run/chip_execution.h"
#include "kernels/gpu/resources.h"

namespace tilescope::gpu {

// cuTensorMapEncodeTiled or, where it has pixels, -Im2col: a map's 128 bytes, at a multiple of 64.
Result encode_map(const Driver& driver, const MapFields& map, std::byte* bits);

class GpuExecution : public ChipExecution {
 public:
  // `entry` belongs to the job's PTX and fits its launch and arguments.
  static Outcome<std::unique_ptr<GpuExecution>> prepare(std::shared_ptr<Context> context,
                                                        const Chip& chip,
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

  GpuExecution(std::shared_ptr<Context> context, Job job, std::string entry, Dim3 cluster)
      : context_(std::move(context)),
        driver_(context_->driver()),
        job_(std::move(job)),
        entry_(std::move(entry)),
        cluster_(cluster) {}
  std::optional<Error> load_module(const Chip& chip);
  std::optional<Error> allow_launch(const Chip& chip);
  std::optional<Error> upload(const Chip& chip);
  std::optional<Error> place_arguments();
  std::optional<Error> place_map(Argument& argument, const Argument::Map& at);
  Result launch();
  Result elapsed(double& seconds) const;
  Result finish();
  void note_unwritten();
  RunState failed(Result result);

  std::shared_ptr<Context> context_;
  const Driver& driver_;
  Job job_;
  std::string entry_;
  Dim3 cluster_;
  Module module_;
  CUfunction function_ = nullptr;
  std::vector<Memory> memory_;  // of each buffer
  Event begin_, end_;
  State state_ = State::ready;
  std::optional<double> seconds_;
  std::vector<Report> reports_;
};

}  // namespace tilescope::gpu
