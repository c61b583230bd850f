// Layout operations without text, and the language: how long an answer takes while one types.
#include <benchmark/benchmark.h>

#include "core/layout/language.h"

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

}  // namespace
}  // namespace tilescope
