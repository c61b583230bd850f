// The simulator on one thread: warp instructions a second on 256^3 f32 matrix products, and the
// time of a million additions by the elementwise kernel; with bounds, undefined values and writers
// looked after as always. And the tensor cores' units alone: multiply-adds a second of 128 x 128 x
// 16 f16, as one tcgen05.mma has them, and of 64 x 256 x 16, as one wgmma.mma_async does, from
// operands as they were read; the same of f8 and of kinds with scale factors. And how long it takes
// to step forwards and backwards and to jump in the run of hgemm_v10 at 1024^3, once that is known
// to its end: each time from a place that is drawn. And what that run costs more by the clock and
// with its record, beside one without either.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <random>
#include <sstream>
#include <thread>

#include "app/workers.h"
#include "core/io/device_file.h"
#include "core/record/recorder.h"
#include "core/sim/machine/device.h"
#include "core/sim/stepping/stepper.h"
#include "core/sim/tcgen05/product.h"
#include "kernels/catalog/catalog.h"

namespace {

using namespace tilescope;

std::string file(const std::string& name) {
  std::ifstream stream(TILESCOPE_SOURCE_DIR "/" + name);
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}

Buffer matrix(std::string name, std::int64_t n, bool undefined) {
  Buffer b;
  b.name = std::move(name);
  b.shape = {n, n};
  b.undefined = undefined;
  b.bytes.resize(static_cast<std::size_t>(n * n) * 4);
  if (!undefined) {
    for (std::size_t i = 0; i < b.bytes.size(); i += 4) {
      store_element(DType::f32, b.bytes.data() + i, static_cast<double>(i % 28) - 13);
    }
  }
  return b;
}

Job product(const std::string& name, std::int32_t n, int sizes) {
  Job job;
  job.program = {name, file("tests/sim/programs/" + name)};
  job.launch.entry = "matmul";
  job.launch.block = {16, 16, 1};
  job.launch.grid = {static_cast<std::uint32_t>(n) / 16, static_cast<std::uint32_t>(n) / 16, 1};
  job.buffers = {matrix("A", n, false), matrix("B", n, false), matrix("C", n, true)};
  for (std::uint32_t b = 0; b < 3; ++b) job.arguments.push_back(Argument::pointer(b));
  for (int k = 0; k < sizes; ++k) job.arguments.push_back(Argument::i32(n));
  return job;
}

// C = A + B of n x n elements: a block owns a tile of 16 x 128.
Job addition(std::int32_t n) {
  Job job = {};
  job.program = {"elementwise_add.ptx", file("assets/ptx/elementwise_add.ptx")};
  job.launch.entry = "elementwise_add";
  job.launch.block = {128, 1, 1};
  job.launch.grid = {static_cast<std::uint32_t>(n / 16 * (n / 128)), 1, 1};
  job.buffers = {matrix("A", n, false), matrix("B", n, false), matrix("C", n, true)};
  for (std::uint32_t b = 0; b < 3; ++b) job.arguments.push_back(Argument::pointer(b));
  for (int k = 0; k < 2; ++k) job.arguments.push_back(Argument::i32(n));
  return job;
}

void run(benchmark::State& state, const Job& job) {
  std::uint64_t instructions = 0;
  for (auto _ : state) {
    sim::SimDevice device;
    auto execution = device.start(job);
    if (!execution.ok()) return state.SkipWithError(execution.error().sentence.c_str());
    RunState last = RunState::running;
    while (last == RunState::running) last = (*execution)->advance(1u << 24);
    if (last != RunState::done) return state.SkipWithError("a fault");
    instructions += (*execution)->progress().instructions;
  }
  state.counters["warp_instructions"] =
      benchmark::Counter(static_cast<double>(instructions), benchmark::Counter::kIsRate);
}

void naive_product(benchmark::State& state) {
  run(state, product("matmul_naive_sm_80.ptx", 256, 3));
}
void tiled_product(benchmark::State& state) {
  run(state, product("matmul_tiled_sm_80.ptx", 256, 1));
}
void million_additions(benchmark::State& state) {
  run(state, addition(1024));
}

// On several threads, and how many times as fast as on one, each run beside one of these.
void side_by_side(benchmark::State& state, const Job& job) {
  const auto threads = static_cast<std::uint32_t>(state.range(0));
  const auto seconds = [&](const sim::Options& options) {
    const auto begun = std::chrono::steady_clock::now();
    auto execution = sim::SimDevice(options).start(job);
    if (!execution.ok()) return 0.0;
    RunState last = RunState::running;
    while (last == RunState::running) last = (*execution)->advance(1u << 22);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  };
  Workers workers(threads - 1);
  sim::Options options;
  options.executor = &workers;
  options.beside = threads - 1;
  double alone = 0, together = 0;
  for (auto _ : state) {
    alone += seconds({});
    const double one = seconds(options);
    together += one;
    state.SetIterationTime(one);
  }
  state.counters["ratio"] = alone / together;
}

void tensor_core(benchmark::State& state, bool exact) {
  sim::Product product;
  product.kind = sim::MmaKind::f16;
  product.shape = {128, 128, 16, sim::SumType::f32, sim::ElementType::f16, sim::ElementType::f16};
  std::vector<std::byte> operand(128 * sim::operand_row);
  for (std::size_t i = 0; i < operand.size(); i += 2) {
    store_element(DType::f16, &operand[i], static_cast<double>(i % 28) / 16 - 0.8);
  }
  const std::vector<std::uint8_t> defined(128);
  sim::TensorMemory memory;
  memory.allocate({0, 128, 0, 0});
  product.accumulate = false;
  for (auto _ : state) {
    sim::multiply(product, operand.data(), defined.data(), operand.data(), defined.data(),
                  exact ? sim::Sums::exact : sim::Sums::fast, memory);
    product.accumulate = true;
  }
  state.counters["multiply_adds"] = benchmark::Counter(
      128.0 * 128 * 16 * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

// The same of 128 x 256 x 32 e4m3, and with scale factors; of 4 bits 64 deep.
void narrow_product(benchmark::State& state, sim::MmaKind kind, std::uint32_t scale_block,
                    bool exact) {
  const bool packed = is_packed(kind);
  sim::Product product;
  product.kind = kind;
  sim::MmaShape& s = product.shape;
  s = {128, 256, packed ? 64u : 32u};
  s.a = s.b = packed ? sim::ElementType::e2m1 : sim::ElementType::e4m3;
  s.scale_block = scale_block;
  s.scale_format = scale_block == 16 ? ScaleFormat::ue4m3 : ScaleFormat::ue8m0;
  std::vector<std::byte> operand(256 * sim::operand_row), scales(256 * 4);
  for (std::size_t i = 0; i < operand.size(); ++i)
    operand[i] = static_cast<std::byte>(i * 37 & 0xb7);
  for (std::size_t i = 0; i < scales.size(); ++i) {
    scales[i] = static_cast<std::byte>(scale_block == 16 ? 0x30 + i % 16 : 120 + i % 16);
  }
  product.a_scales = product.b_scales = scales.data();
  const std::vector<std::uint8_t> defined(256);
  sim::TensorMemory memory;
  memory.allocate({0, 256, 0, 0});
  for (auto _ : state) {
    sim::multiply(product, operand.data(), defined.data(), operand.data(), defined.data(),
                  exact ? sim::Sums::exact : sim::Sums::fast, memory);
    product.accumulate = true;
  }
  state.counters["multiply_adds"] = benchmark::Counter(
      128.0 * 256 * s.k * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

void wgmma(benchmark::State& state, bool exact) {
  constexpr std::uint32_t m = 64, n = 256, k = 16;
  sim::SumOfProducts sum;
  sum.m = m;
  sum.n = n;
  sum.k = k;
  sum.rule = step_rule(TensorChip::hopper, format_f16, k);
  std::vector<std::byte> operand(n * k * 2);
  for (std::size_t i = 0; i < operand.size(); i += 2) {
    store_element(DType::f16, &operand[i], static_cast<double>(i % 28) / 16 - 0.8);
  }
  std::vector<std::uint32_t> cells(m * n);
  std::vector<std::uint32_t*> registers;
  for (std::size_t at = 0; at < cells.size(); at += 32) registers.push_back(&cells[at]);
  for (auto _ : state) {
    sim::add_products(sum, operand.data(), operand.data(), exact, registers.data());
  }
  state.counters["multiply_adds"] = benchmark::Counter(
      double{m} * n * k * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

sim::Stepper known_run(bool exact) {
  Request request;
  request.sizes = {{"m", 1024}, {"n", 1024}, {"k", 1024}};
  const Outcome<Job> job =
      make_job(**find_kernel("hgemm_v10"), request, file("assets/ptx/hgemm_v10.ptx"));
  sim::Options options;
  options.exact = exact;
  sim::Stepper stepper = *sim::Stepper::load(*job, options);
  stepper.to_the_end();
  stepper.arrive();
  return stepper;
}

// Where a step by this, back or not, or a jump (moment) takes the worst of so many drawn places.
void stepping(benchmark::State& state, bool exact, sim::StepBy by, bool back) {
  sim::Stepper stepper = known_run(exact);
  std::mt19937_64 draw(1);
  const std::uint64_t end = stepper.position();
  double worst = 0;
  for (auto _ : state) {
    const auto go = [&] {
      stepper.go_to(draw() % end);
      stepper.arrive();
    };
    const bool jumps = by == sim::StepBy::moment;
    if (!jumps) go();
    const auto start = std::chrono::steady_clock::now();
    if (jumps) {
      go();
    } else {
      stepper.step({.by = by, .back = back});
      stepper.arrive();
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    state.SetIterationTime(took.count());
    worst = std::max(worst, took.count());
  }
  state.counters["worst_ms"] = worst * 1e3;
  state.counters["copies_MB"] = static_cast<double>(stepper.checkpoints().bytes()) / 1e6;
}

// Runs without and with a record by turns, and one with a clock alone; ratios are of the quickest
// of each.
void recording(benchmark::State& state, const std::string& kernel, std::int64_t n, bool exact) {
  Request request;
  for (const SizeParameter& size : (*find_kernel(kernel))->sizes) request.sizes[size.name] = n;
  const Outcome<Job> job =
      make_job(**find_kernel(kernel), request, file("assets/ptx/" + kernel + ".ptx"));
  const Outcome<DeviceDescription> device =
      parse_device_file(file("assets/devices/b200.toml"), "b200.toml");
  const auto run = [&](bool clocked, bool records) {
    sim::Recorder recorder;
    sim::Options options;
    options.exact = exact;
    options.clocked = clocked;
    if (clocked) options.times = device->times;
    if (records) options.recorder = &recorder;
    Outcome<sim::Machine> machine = sim::Machine::load(*job, options);  // a copy would not record
    const auto start = std::chrono::steady_clock::now();
    while (machine->run(1 << 20) == RunState::running) {
    }
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  double plain = 1e9, clocked = 1e9, recorded = 1e9;
  for (auto _ : state) {
    plain = std::min(plain, run(false, false));
    clocked = std::min(clocked, run(true, false));
    const double took = run(true, true);
    recorded = std::min(recorded, took);
    state.SetIterationTime(took);
  }
  state.counters["plain_ms"] = plain * 1e3;
  state.counters["ratio"] = recorded / plain;
  state.counters["to_clocked"] = recorded / clocked;
}

#define RECORDING(name, kernel, n, exact)              \
  BENCHMARK_CAPTURE(recording, name, kernel, n, exact) \
      ->Unit(benchmark::kMillisecond)                  \
      ->UseManualTime()                                \
      ->Iterations(7)
RECORDING(hgemm_v10_fast, "hgemm_v10", 1024, false);
RECORDING(hgemm_v10_exact, "hgemm_v10", 1024, true);
RECORDING(matmul_tiled, "matmul_tiled", 512, true);
RECORDING(elementwise_add, "elementwise_add", 2048, true);
BENCHMARK_CAPTURE(tensor_core, fast, false);
BENCHMARK_CAPTURE(tensor_core, exact, true);
BENCHMARK_CAPTURE(narrow_product, f8_fast, sim::MmaKind::f8f6f4, 0, false);
BENCHMARK_CAPTURE(narrow_product, f8_exact, sim::MmaKind::f8f6f4, 0, true);
BENCHMARK_CAPTURE(narrow_product, mxf8_fast, sim::MmaKind::mxf8f6f4, 32, false);
BENCHMARK_CAPTURE(narrow_product, mxf8_exact, sim::MmaKind::mxf8f6f4, 32, true);
BENCHMARK_CAPTURE(narrow_product, mxf4_fast, sim::MmaKind::mxf4, 32, false);
BENCHMARK_CAPTURE(narrow_product, mxf4_exact, sim::MmaKind::mxf4, 32, true);
BENCHMARK_CAPTURE(narrow_product, nvf4_fast, sim::MmaKind::mxf4nvf4, 16, false);
BENCHMARK_CAPTURE(narrow_product, nvf4_exact, sim::MmaKind::mxf4nvf4, 16, true);
BENCHMARK_CAPTURE(wgmma, fast, false);
BENCHMARK_CAPTURE(wgmma, exact, true);
BENCHMARK_CAPTURE(side_by_side, naive, product("matmul_naive_sm_80.ptx", 512, 3))
    ->Arg(2)
    ->Arg(static_cast<int>(std::max(2u, std::thread::hardware_concurrency())))
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(side_by_side, tiled, product("matmul_tiled_sm_80.ptx", 512, 1))
    ->Arg(2)
    ->Arg(static_cast<int>(std::max(2u, std::thread::hardware_concurrency())))
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(naive_product)->Unit(benchmark::kMillisecond);
BENCHMARK(tiled_product)->Unit(benchmark::kMillisecond);
BENCHMARK(million_additions)->Unit(benchmark::kMillisecond);
#define STEPPING(name, exact, by, back)                           \
  BENCHMARK_CAPTURE(stepping, name, exact, sim::StepBy::by, back) \
      ->Unit(benchmark::kMillisecond)                             \
      ->UseManualTime()                                           \
      ->Iterations(30)
STEPPING(jump_fast, false, moment, false);
STEPPING(jump_exact, true, moment, false);
STEPPING(instruction_fast, false, instruction, false);
STEPPING(instruction_back_fast, false, instruction, true);
STEPPING(instruction_back_exact, true, instruction, true);
STEPPING(line_back_exact, true, line, true);
STEPPING(phase_exact, true, phase, false);
STEPPING(phase_back_exact, true, phase, true);

}  // namespace
