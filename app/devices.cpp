#include "app/devices.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "core/run/chip_execution.h"
#include "kernels/gpu/device.h"

namespace tilescope {
namespace {

// The driver writes to stdout what a kernel prints; but there are results alone, so while a kernel
// runs stdout leads to stderr.
class ResultsAside {
 public:
  ResultsAside() : results_(dup(STDOUT_FILENO)) {
    std::fflush(stdout);
    dup2(STDERR_FILENO, STDOUT_FILENO);
  }
  ResultsAside(const ResultsAside&) = delete;
  ~ResultsAside() {
    std::fflush(stdout);
    if (results_ >= 0) dup2(results_, STDOUT_FILENO), close(results_);
  }

 private:
  int results_;
};

}  // namespace

OpenDevice open_simulator(const Order& order) {
  return {make_simulator(order), "the CPU simulator: runs the kernel's PTX as it is"};
}

Outcome<OpenDevice> open_gpu() {
  const char* library = std::getenv("TILESCOPE_CUDA_DRIVER");
  Outcome<std::unique_ptr<gpu::GpuDevice>> gpu = gpu::GpuDevice::open(library ? library : "");
  if (!gpu) return gpu.error();
  std::string about =
      fmt::format("{}, driver for CUDA {}", (*gpu)->chip().text(), (*gpu)->driver().version_text());
  return OpenDevice{std::move(*gpu), std::move(about)};
}

Outcome<std::vector<Ran>> start_on(const std::vector<OpenDevice>& devices, const Job& job) {
  std::vector<Ran> out;
  for (const OpenDevice& open : devices) {
    Outcome<std::unique_ptr<Execution>> execution = open.device->start(job);
    if (!execution) return execution.error();
    Ran ran;
    ran.device = open.device->name();
    ran.about = open.about;
    ran.execution = std::move(*execution);
    out.push_back(std::move(ran));
  }
  return out;
}

std::optional<Error> finish(Ran& ran, std::string_view name, Terminal& terminal) {
  constexpr std::uint64_t piece = 200'000;  // warp instructions
  const auto begun = std::chrono::steady_clock::now();
  watch_for_interrupt();
  while (ran.state == RunState::running) {
    {
      const ResultsAside aside;
      ran.state = ran.execution->advance(piece);
    }
    const Progress progress = ran.execution->progress();
    if (progress.total > 0) {
      terminal.progress(name,
                        static_cast<double>(progress.done) / static_cast<double>(progress.total));
    }
    if (interrupted()) {
      terminal.end_progress();
      return Error{ErrorKind::interrupted,
                   fmt::format("Interrupted after {} of {} CTAs; nothing was written.",
                               progress.done, progress.total),
                   ""};
    }
  }
  terminal.end_progress();
  if (!ran.execution->printed().empty()) terminal.say(ran.execution->printed());
  ran.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  return std::nullopt;
}

std::optional<double> Ran::chip_seconds() const {
  const auto* chip = dynamic_cast<const ChipExecution*>(execution.get());
  return chip ? chip->seconds() : std::nullopt;
}

bool Ran::traces() const {
  return dynamic_cast<const ChipExecution*>(execution.get()) == nullptr;
}

std::string time_text(const Ran& ran) {
  if (const auto seconds = ran.chip_seconds()) {
    return fmt::format("{:.1f} us by the clock of {}", *seconds * 1e6, ran.about);
  }
  return fmt::format("{} PTX instructions by warps in {:.3f} s",
                     ran.execution->progress().instructions, ran.seconds);
}

}  // namespace tilescope
