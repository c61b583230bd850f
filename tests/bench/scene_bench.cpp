// Pictures: a scene and its SVG, a frame of a million cells, a PNG.
#include <benchmark/benchmark.h>

#include "viz/layout/layout_scene.h"
#include "viz/paint/cairo.h"
#include "viz/paint/svg.h"

namespace tilescope {
namespace {

LayoutView view_of(std::string_view expression) {
  return *LayoutView::of_expression(expression);
}

// From the view to the bytes: every one of 16,384 cells labelled.
void labelled_svg_128x128(benchmark::State& state) {
  const LayoutView view = view_of("(128,128):(128,1)");
  std::size_t bytes = 0;
  for (auto _ : state) bytes = paint_svg(build_scene(view, {}, light_theme())).size();
  state.counters["bytes"] = static_cast<double>(bytes);
}
BENCHMARK(labelled_svg_128x128)->Unit(benchmark::kMillisecond);

// What the pointer costs when it enters another thread's cells: all colours anew.
void hover_a_million_cells(benchmark::State& state) {
  const LayoutView view = view_of("(1024,1024):(1024,1)");
  const Frame frame = arrange(view, Viewport{Size{1600, 1000}});
  LayoutChoice choice;
  choice.colour = ColourBy::thread;
  std::int64_t row = 0;
  for (auto _ : state) {
    choice.hover = Cell{0, 0, row, 5};
    row = (row + 1) % 1024;
    benchmark::DoNotOptimize(build_scene(view, choice, light_theme(), frame));
  }
}
BENCHMARK(hover_a_million_cells)->Unit(benchmark::kMillisecond);

// What a frame costs while nothing changes.
void frame_of_a_million_cells(benchmark::State& state) {
  const LayoutView view = view_of("(1024,1024):(1024,1)");
  const Frame frame = arrange(view, Viewport{Size{1600, 1000}});
  RasterStore store;
  for (auto _ : state) {
    benchmark::DoNotOptimize(build_scene(view, {}, light_theme(), frame, &store));
  }
}
BENCHMARK(frame_of_a_million_cells)->Unit(benchmark::kMillisecond);

void png_of_a_million_cells(benchmark::State& state) {
  const Scene scene = build_scene(view_of("(1024,1024):(1024,1)"), {}, light_theme());
  for (auto _ : state) benchmark::DoNotOptimize(paint_png(scene, {}));
}
BENCHMARK(png_of_a_million_cells)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tilescope
