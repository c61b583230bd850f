#include "tests/conformance/copies.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
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

}  // namespace

int copies(std::uint64_t count) {
  const char* library = std::getenv("TILESCOPE_CUDA_DRIVER");
  const auto device = gpu::GpuDevice::open(library ? library : "");
  if (!device) {
    fmt::print(stderr, "{}\n", device.error().sentence);
    return 4;
  }
  constexpr std::string_view modes[] = {"boxes", "four rows", "im2col"};
  std::map<std::string_view, std::pair<std::uint64_t, std::uint64_t>> told;  // equal, all
  bool differ = false;
  for (std::uint64_t number = 0; number < count; ++number) {
    const test::RandomCopy copy = test::random_copy(number, test::Generation::hopper);
    const std::string found = difference(**device, copy);
    auto& [equal, all] = told[modes[static_cast<std::size_t>(copy.mode)]];
    ++all;
    equal += found.empty();
    if (found.empty()) continue;
    differ = true;
    fmt::print("{}\n    {}\n", test::text(copy), found);
  }
  for (const auto& [mode, n] : told)
    fmt::print("{}: {} of {} as the model says\n", mode, n.first, n.second);
  return differ ? 1 : 0;
}

}  // namespace tilescope::conformance
