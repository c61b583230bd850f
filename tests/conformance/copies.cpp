#include "tests/conformance/copies.h"

#include <fmt/format.h>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <new>
#include <numeric>

#include "kernels/gpu/device.h"
#include "tests/sim/random_copy.h"

namespace tilescope::conformance {
namespace {

// What the chip leaves otherwise; empty where all is as the model says.
std::string difference(Device& device, const test::RandomCopy& copy) {
  const Job job = test::job_of(copy);
  auto run = device.start(job);
  if (!run) return "refused: " + run.error().sentence.substr(0, 300);
  RunState state = RunState::running;
  while (state == RunState::running) state = (*run)->advance(1'000'000);
  if (state != RunState::done) {
    return "a fault: " + ((*run)->reports().empty() ? "" : (*run)->reports().back().sentence);
  }
  const auto wanted = test::expected(copy, job);
  for (std::size_t b = 0; b < wanted.size(); ++b) {
    const std::vector<std::byte>& found = (*run)->buffers()[b].bytes;
    const auto at = std::mismatch(wanted[b].begin(), wanted[b].end(), found.begin());
    if (at.first == wanted[b].end()) continue;
    const auto bytes = std::inner_product(
        wanted[b].begin(), wanted[b].end(), found.begin(), std::size_t{0}, std::plus<>(),
        [](std::byte x, std::byte y) { return std::size_t{x != y}; });
    return fmt::format("{} bytes of {}, the first {}: the chip 0x{:02x}, the model 0x{:02x}", bytes,
                       (*run)->buffers()[b].name, at.first - wanted[b].begin(),
                       std::to_integer<int>(*at.second), std::to_integer<int>(*at.first));
  }
  return "";
}

// What the processes share.
struct Told {
  std::uint64_t next = 0;
  std::uint64_t equal[3] = {}, all[3] = {};  // by mode
  bool no_gpu = false;
};

// From the next number on, until all are told or one is a fault.
void go_on(Told& told, std::uint64_t count, CopyOf copy_of) {
  const char* library = std::getenv("TILESCOPE_CUDA_DRIVER");
  const auto device = gpu::GpuDevice::open(library ? library : "");
  if (!device) {
    fmt::print(stderr, "{}\n", device.error().sentence);
    told.no_gpu = true;
    return;
  }
  while (told.next < count) {
    const test::RandomCopy copy = copy_of(told.next++);
    const auto mode = static_cast<std::size_t>(copy.mode);
    ++told.all[mode];
    const std::string found = difference(**device, copy);
    told.equal[mode] += found.empty();
    if (found.empty()) continue;
    fmt::print("{}\n    {}\n", test::text(copy), found);
    if (found.rfind("a fault", 0) == 0) return;
  }
}

}  // namespace

int copies(std::uint64_t count, CopyOf copy_of) {
  void* shared =
      mmap(nullptr, sizeof(Told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return 4;
  Told& told = *new (shared) Told;
  while (told.next < count && !told.no_gpu) {
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
      go_on(told, count, copy_of);
      std::fflush(nullptr);
      _exit(0);
    }
    if (child < 0 || waitpid(child, nullptr, 0) != child) return 4;
  }
  if (told.no_gpu) return 4;
  constexpr std::string_view modes[] = {"boxes", "four rows", "im2col"};
  bool differ = false;
  for (std::size_t m = 0; m < std::size(modes); ++m) {
    if (told.all[m] == 0) continue;
    fmt::print("{}: {} of {} as the model says\n", modes[m], told.equal[m], told.all[m]);
    differ = differ || told.equal[m] != told.all[m];
  }
  return differ ? 1 : 0;
}

}  // namespace tilescope::conformance
