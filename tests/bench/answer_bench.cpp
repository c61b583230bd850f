// How long a reader waits for an answer: PTX that is opened, results that are compared, a keystroke
// in the field. That these grow as they should is tested (tests/ptx, tests/kernels, tests/viz).
#include <benchmark/benchmark.h>

#include <cstring>
#include <random>
#include <string>

#include "core/diff/diff.h"
#include "core/ptx/module.h"
#include "tests/viz/ui_backend.h"
#include "viz/commands/commands.h"
#include "viz/session/build_scene.h"
#include "viz/session/panels.h"

namespace tilescope {
namespace {

void ten_megabytes_of_ptx(benchmark::State& state) {
  std::string text = ".version 8.0\n.target sm_80\n.address_size 64\n";
  for (int i = 0; text.size() < 10'000'000; ++i) {
    text += ".visible .entry k" + std::to_string(i) + "(.param .u64 a)\n{\n.reg .b32 %r<400>;\n";
    for (int k = 1; k < 400; ++k) {
      text += "\tadd.s32 \t%r" + std::to_string(k) + ", %r" + std::to_string(k - 1) + ", 7;\n";
    }
    text += "ret;\n}\n";
  }
  for (auto _ : state) benchmark::DoNotOptimize(ptx::parse_module("a.ptx", text));
}
BENCHMARK(ten_megabytes_of_ptx)->Unit(benchmark::kMillisecond);

Buffer random_numbers(unsigned seed) {
  Buffer out;
  out.dtype = DType::f32;
  out.shape = {1024, 1024};
  out.bytes.resize(std::size_t{4} << 20);
  std::mt19937 random(seed);
  for (std::size_t i = 0; i < out.bytes.size(); i += 4) {
    const float value = static_cast<float>(random() % 2000) / 1000 - 1;
    std::memcpy(&out.bytes[i], &value, 4);
  }
  return out;
}

void a_million_differences(benchmark::State& state) {
  const Buffer got = random_numbers(0), want = random_numbers(1);
  for (auto _ : state) benchmark::DoNotOptimize(diff(got, want, {}));
}
BENCHMARK(a_million_differences)->Unit(benchmark::kMillisecond);

// The last key of an expression: value, completions, picture.
void a_keystroke(benchmark::State& state) {
  Session session;
  test::FakeBackend backend;
  const std::string text = "zipped_divide((1024,1024):(1024,1), <64,64>)";
  for (auto _ : state) {
    type_field(session, backend, text.substr(0, text.size() - 1));
    type_field(session, backend, text);
    session.editor = {};
    session.editor.active = true;
    session.editor.caret = text.size();
    benchmark::DoNotOptimize(assistance(session, backend));
    benchmark::DoNotOptimize(picture(session, {1000, 700}));
  }
}
BENCHMARK(a_keystroke)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tilescope
