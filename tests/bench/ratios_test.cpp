// How fast one thing is beside another, in the same process and by turns: a ratio says the same on
// a quick machine and a slow one. Each limit is what docs/manual/benchmarks.md has as measured and
// a half more, so that what becomes half as fast again fails here; a limit is only ever lowered.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>

#include "core/io/device_file.h"
#include "core/record/recorder.h"
#include "core/sim/machine/machine.h"
#include "core/sim/tcgen05/product.h"
#include "kernels/catalog/catalog.h"

namespace tilescope::sim {
namespace {

std::string file(const std::string& name) {
  std::ifstream stream(TILESCOPE_SOURCE_DIR "/" + name);
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}

Job job_of(const std::string& kernel, std::map<std::string, std::int64_t> sizes) {
  Request request;
  for (const auto& [name, value] : sizes) request.sizes[name] = value;
  return *make_job(**find_kernel(kernel), request, file("assets/ptx/" + kernel + ".ptx"));
}

double seconds(const std::function<void()>& work) {
  const auto begun = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
}

// How many times as long as `base` does `work` take? By turns; what disturbs one of them only makes
// it slower, so that the quickest of each counts. Rounds end early where the limit is kept.
double ratio(const std::function<void()>& work, const std::function<void()>& base, double limit) {
  double best_work = 1e9, best_base = 1e9;
  for (int round = 0; round < 20; ++round) {
    best_base = std::min(best_base, seconds(base));
    best_work = std::min(best_work, seconds(work));
    if (round >= 2 && best_work / best_base < limit) break;
  }
  return best_work / best_base;
}

void run(const Job& job, const Options& options) {
  Outcome<Machine> machine = Machine::load(job, options);
  ASSERT_TRUE(machine.ok()) << machine.error().sentence;
  RunState last = RunState::running;
  while (last == RunState::running) last = machine->run(1u << 24);
  ASSERT_EQ(last, RunState::done);
}

void run_recorded(const Job& job) {
  const Outcome<DeviceDescription> device =
      parse_device_file(file("assets/devices/b200.toml"), "b200.toml");
  Recorder recorder;
  Options options;
  options.clocked = true;
  options.times = device->times;
  options.recorder = &recorder;
  run(job, options);
}

TEST(Ratios, ClockAndRecord) {
  const Job tiled = job_of("matmul_tiled", {{"m", 256}, {"n", 256}, {"k", 256}});
  EXPECT_LT(ratio([&] { run_recorded(tiled); }, [&] { run(tiled, {}); }, 8), 8);
  const Job ladder = job_of("hgemm_v10", {{"m", 512}, {"n", 512}, {"k", 512}});
  EXPECT_LT(ratio([&] { run_recorded(ladder); }, [&] { run(ladder, {}); }, 3), 3);
}

// What is looked at in shared memory: who is ordered behind whom.
TEST(Ratios, RaceChecks) {
  Options unchecked;
  unchecked.races = false;
  const Job tiled = job_of("matmul_tiled", {{"m", 256}, {"n", 256}, {"k", 256}});
  EXPECT_LT(ratio([&] { run(tiled, {}); }, [&] { run(tiled, unchecked); }, 2.6), 2.6);
}

// One product of 128 x 128 x 16, as one tcgen05.mma has it.
void multiply(Sums sums, int times) {
  Product product;
  product.kind = MmaKind::f16;
  product.shape = {128, 128, 16, SumType::f32, ElementType::f16, ElementType::f16};
  std::vector<std::byte> operand(128 * operand_row);
  for (std::size_t i = 0; i < operand.size(); i += 2) {
    store_element(DType::f16, &operand[i], static_cast<double>(i % 28) / 16 - 0.8);
  }
  const std::vector<std::uint8_t> defined(128);
  TensorMemory memory;
  memory.allocate({0, 128, 0, 0});
  product.accumulate = false;
  for (int k = 0; k < times; ++k) {
    sim::multiply(product, operand.data(), defined.data(), operand.data(), defined.data(), sums,
                  memory);
    product.accumulate = true;
  }
}

TEST(Ratios, ExactSumsOfTensorCores) {
  EXPECT_LT(ratio([] { multiply(Sums::exact, 200); }, [] { multiply(Sums::fast, 200); }, 7.5), 7.5);
}

}  // namespace
}  // namespace tilescope::sim
