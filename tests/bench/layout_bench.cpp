// Layout operations without text, and the language: how long an answer takes while one types.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <string>
#include <vector>

#include "core/language/functions.h"

namespace tilescope {
namespace {

Layout layout_of(std::string_view expression) {
  return std::get<Layout>(std::get<Value>(evaluate(expression)));
}

const char* const wide = "(9,(4,8)):(59,(13,1))";

void coalesce_layout(benchmark::State& state) {
  const Layout layout = layout_of("((2,2,2),(2,2,2)):((1,16,4),(8,2,32))");
  for (auto _ : state) benchmark::DoNotOptimize(coalesce(layout));
}
BENCHMARK(coalesce_layout);

void zipped_divide_layout(benchmark::State& state) {
  const Layout layout = layout_of(wide);
  const Tiler tiler = std::get<Tiler>(std::get<Value>(evaluate("<3:3,(2,4):(1,8)>")));
  for (auto _ : state) benchmark::DoNotOptimize(zipped_divide(layout, tiler));
}
BENCHMARK(zipped_divide_layout);

void offset_of_coordinate(benchmark::State& state) {
  const Layout layout = layout_of(wide);
  std::int64_t i = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(layout(i));
    i = (i + 1) % 288;
  }
}
BENCHMARK(offset_of_coordinate);

void type_an_expression(benchmark::State& state) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(evaluate("zipped_divide((9,(4,8)):(59,(13,1)), <3:3,(2,4):(1,8)>)"));
  }
}
BENCHMARK(type_an_expression);

// The biggest atom: issue 5 asks for less than 5 ms.
void type_the_biggest_atom(benchmark::State& state) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        evaluate("layout_C_TV(make_tiled_mma(SM90_64x256x16_F32F16F16_SS<K,K>, (2,1,1)))"));
  }
}
BENCHMARK(type_the_biggest_atom);

void partition_for_a_thread(benchmark::State& state) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        evaluate("partition_C(make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN, "
                 "(2,2), <32,32,16>), 37, (128,128):(128,1))"));
  }
}
BENCHMARK(partition_for_a_thread);

// The expressions of tests/layout/cute.tsv, one a line.
std::vector<std::string> expressions() {
  std::ifstream file(std::string(TILESCOPE_SOURCE_DIR) + "/tests/layout/cute.tsv");
  std::vector<std::string> out;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line[0] != '#') out.push_back(line.substr(0, line.find('\t')));
  }
  return out;
}

// All of them as `eval -` answers them, text to text.
void evaluate_lines(benchmark::State& state) {
  const std::vector<std::string> lines = expressions();
  for (auto _ : state) {
    Scope scope;
    for (const std::string& line : lines) {
      benchmark::DoNotOptimize(text(std::get<Value>(*scope.evaluate(line))));
    }
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(lines.size()));
}
BENCHMARK(evaluate_lines)->Unit(benchmark::kMillisecond);

// f(A,B,...) with its arguments evaluated and converted; no function where it is no call.
struct Call {
  const language::Function* function = nullptr;
  language::Arguments arguments;
};
Call call_of(const std::string& line) {
  Call out;
  const std::size_t open = line.find('(');
  if (open == line.npos || open == 0 || line.back() != ')') return out;
  std::size_t begin = open + 1;
  int depth = 0;
  for (std::size_t i = begin; i < line.size(); ++i) {
    const bool ends = depth == 0 && (line[i] == ',' || i + 1 == line.size());
    if (line[i] == '(' || line[i] == '<') ++depth;
    if (line[i] == ')' || line[i] == '>') --depth;
    if (!ends) continue;
    language::Argument argument;
    argument.value = std::get<Value>(evaluate(line.substr(begin, i - begin)));
    out.arguments.push_back(std::move(argument));
    begin = i + 1;
  }
  out.function = language::find_function(line.substr(0, open));
  if (out.function && language::convert(*out.function, out.arguments)) out.function = nullptr;
  return out;
}

// Operations without text: the median of them all, in nanoseconds.
void median_operation(benchmark::State& state) {
  std::vector<Call> calls;
  for (const std::string& line : expressions()) {
    Call call = call_of(line);
    if (call.function) calls.push_back(std::move(call));
  }
  std::vector<double> nanoseconds;
  for (auto _ : state) {
    for (const Call& call : calls) {
      const auto begin = std::chrono::steady_clock::now();
      for (int k = 0; k < 10; ++k) {
        benchmark::DoNotOptimize(call.function->call(call.arguments));
      }
      const std::chrono::duration<double, std::nano> spent =
          std::chrono::steady_clock::now() - begin;
      nanoseconds.push_back(spent.count() / 10);
    }
  }
  const auto middle = nanoseconds.begin() + static_cast<std::ptrdiff_t>(nanoseconds.size() / 2);
  std::nth_element(nanoseconds.begin(), middle, nanoseconds.end());
  state.counters["median_ns"] = *middle;
  state.counters["operations"] = static_cast<double>(calls.size());
}
BENCHMARK(median_operation)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tilescope
