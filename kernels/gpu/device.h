// The GPU as a core/run Device: hands the same PTX, launch, buffers and arguments to the CUDA
// driver as the simulator interprets.
//
// What a GPU cannot tell: who wrote a byte, which instruction faulted, and that undefined bytes
// were read. Buffers that start undefined are filled with undefined_fill, so that what nobody wrote
// is at least the same in every run, and what still looks like it at the end is told in a note.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/run/job.h"
#include "kernels/gpu/chip.h"
#include "kernels/gpu/resources.h"

namespace tilescope::gpu {

class GpuExecution;
class Launcher;

constexpr unsigned char undefined_fill = 0xFB;

class GpuDevice : public Device {
 public:
  // The driver's first GPU. `driver`: the library to load, or empty for libcuda.so.1.
  static Outcome<std::unique_ptr<GpuDevice>> open(const std::string& driver);

  std::string_view name() const override { return "gpu"; }
  const Chip& chip() const { return chip_; }
  const Driver& driver() const { return *driver_; }

  // Refused: what does not fit the entry (as on the simulator), PTX that the driver does not
  // assemble (unsupported, with the driver's own words), PTX for another chip (no_device), more
  // memory than there is (mismatch).
  Outcome<std::unique_ptr<Execution>> start(Job job) override;

  // As start(): to be launched again and again.
  Outcome<std::unique_ptr<GpuExecution>> prepare(Job job);
  // As start(), but of a kernel alone: its buffers are the caller's, and need no bytes.
  Outcome<std::unique_ptr<Launcher>> load(const Job& job);
  // Memory in the context that all runs share, which becomes the calling thread's.
  Outcome<Memory> allocate(std::size_t bytes);
  // Seconds by the GPU's clock that it needs for what `enqueue` puts into the default stream. A
  // fault or a refusal is an Error.
  Outcome<double> seconds_of(const std::function<Result()>& enqueue);

  // Seconds that each of `launches` launches takes, one after another on the same buffers, by the
  // GPU's clock; after one that is not counted. A fault is an Error.
  Outcome<std::vector<double>> time(Job job, int launches);

 private:
  GpuDevice(std::shared_ptr<const Driver> driver, Chip chip)
      : driver_(std::move(driver)), chip_(std::move(chip)) {}
  Outcome<std::shared_ptr<Context>> context();
  // An entry of PTX, once it is known to fit the job and the chip.
  struct Fitting;
  Outcome<Fitting> fitting(const Job& job);

  std::shared_ptr<const Driver> driver_;
  Chip chip_;
  std::shared_ptr<Context> context_;
};

}  // namespace tilescope::gpu
