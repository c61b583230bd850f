#include "app/devices.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "app/heartbeat.h"
#include "app/proofs.h"
#include "core/run/chip_execution.h"
#include "core/sim/machine/device.h"
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
    if (results_ >= 0) results_go_to(results_);
  }
  ResultsAside(const ResultsAside&) = delete;
  ~ResultsAside() {
    std::fflush(stdout);
    if (results_ < 0) return;
    dup2(results_, STDOUT_FILENO);
    results_go_to(STDOUT_FILENO);
    close(results_);
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

std::optional<Error> finish(Ran& ran, std::string_view name, Terminal& terminal,
                            const RunLimits& limits) {
  const std::uint64_t most = limits.instructions;
  const std::optional<double> within =
      limits.within.empty() ? std::nullopt : seconds_of(limits.within);
  Pieces pieces;
  Heartbeat heartbeat(std::chrono::steady_clock::now());
  const auto begun = std::chrono::steady_clock::now();
  watch_for_interrupt();
  while (ran.state == RunState::running) {
    const Progress before = ran.execution->progress();
    if (most && before.instructions >= most) {
      terminal.end_progress();
      return Error{
          ErrorKind::mismatch,
          fmt::format("{} has executed {} PTX instructions by warps, and --max-instructions "
                      "allows {}; {} of {} CTAs have ended, and nothing was written. With "
                      "a larger number, or without it, the run goes on.",
                      name, before.instructions, most, before.done, before.total),
          ""};
    }
    const auto from = std::chrono::steady_clock::now();
    {
      const ResultsAside aside;
      ran.state = ran.execution->advance(most ? std::min(pieces.next(), most - before.instructions)
                                              : pieces.next());
    }
    const auto now = std::chrono::steady_clock::now();
    const Progress progress = ran.execution->progress();
    pieces.took(progress.instructions - before.instructions, now - from);
    if (const auto line = heartbeat.due(now, progress); line && ran.state == RunState::running) {
      terminal.say(fmt::format("{}: {}", name, *line));
    }
    if (progress.total > 0) {
      terminal.progress(name,
                        static_cast<double>(progress.done) / static_cast<double>(progress.total));
    }
    const double passed = std::chrono::duration<double>(now - begun).count();
    if (within && passed > *within && ran.state == RunState::running) {
      terminal.end_progress();
      return Error{
          ErrorKind::mismatch,
          fmt::format("{} has not ended in the first order that --prove begins with, after {} "
                      "(--within): {} of {} CTAs have, and nothing is proved. More time, or a "
                      "smaller launch, would work.",
                      name, limits.within, progress.done, progress.total),
          ""};
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
  const auto* simulated = dynamic_cast<const sim::SimExecution*>(ran.execution.get());
  const std::size_t threads = simulated ? simulated->machine().threads() : 1;
  return fmt::format("{} PTX instructions by warps in {:.3f} s{}",
                     ran.execution->progress().instructions, ran.seconds,
                     threads > 1 ? fmt::format(", the CTAs on {} threads", threads) : "");
}

}  // namespace tilescope
