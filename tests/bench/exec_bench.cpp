// What a launch costs under `tilescope exec` beside what it executes, and what its checks cost.
#include <benchmark/benchmark.h>

#include <cstring>
#include <regex>
#include <vector>

#include "app/simulated_device.h"
#include "app/terminal.h"

namespace tilescope {
namespace {

// data[i] = data[i] * 3 + 1, as often as `rounds` says.
constexpr const char* text = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry work(.param .u64 data, .param .u32 rounds) {
  .reg .pred %p;
  .reg .b32 %r<6>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [data];
  ld.param.u32 %r1, [rounds];
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, %ctaid.x;
  mov.u32 %r4, %ntid.x;
  mad.lo.u32 %r2, %r3, %r4, %r2;
  mul.wide.u32 %rd2, %r2, 4;
  add.s64 %rd3, %rd1, %rd2;
loop:
  ld.global.u32 %r5, [%rd3];
  mad.lo.u32 %r5, %r5, 3, 1;
  st.global.u32 [%rd3], %r5;
  sub.u32 %r1, %r1, 1;
  setp.ne.u32 %p, %r1, 0;
  @%p bra loop;
  ret;
}
)";

// Arguments: CTAs of 128 threads, rounds of the loop, whether launches are checked.
void launch(benchmark::State& state) {
  Terminal terminal;
  ExecOptions options;
  options.quiet = true;
  if (!state.range(2)) options.only = std::regex("no kernel");
  SimulatedDevice device(std::move(options), terminal);
  const auto loading = device.load(Program{"bench.ptx", text});
  if (loading.result != DriverResult::success) return state.SkipWithError("the PTX is refused");
  const auto blocks = static_cast<std::uint32_t>(state.range(0));
  const auto rounds = static_cast<std::uint32_t>(state.range(1));
  const std::uint64_t bytes = std::uint64_t{blocks} * 128 * 4;
  const auto data = device.memory().allocate(bytes, "data");
  if (!data) return state.SkipWithError("no memory");
  const std::vector<std::byte> zeros(bytes);
  device.memory().copy_in(*data, zeros.data(), bytes);
  SimulatedDevice::Request request;
  request.module = loading.module;
  request.entry = "work";
  request.grid = {blocks, 1, 1};
  request.block = {128, 1, 1};
  request.parameters.resize(12);
  std::memcpy(request.parameters.data(), &*data, 8);
  std::memcpy(request.parameters.data() + 8, &rounds, 4);
  for (auto _ : state) {
    if (device.launch(request) != DriverResult::success) return state.SkipWithError("it failed");
  }
  const double instructions = static_cast<double>(blocks) * 4 * (9 + 6 * rounds);
  state.counters["warp instructions"] =
      benchmark::Counter(instructions, benchmark::Counter::kIsIterationInvariantRate);
}

BENCHMARK(launch)
    ->ArgNames({"ctas", "rounds", "checked"})
    ->Args({1, 1, 1})
    ->Args({1, 1, 0})
    ->Args({64, 64, 1})
    ->Args({64, 64, 0})
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace tilescope
