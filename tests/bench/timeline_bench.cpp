// A frame of a timeline of a million events: zoomed out, zooming (each frame another range), still
// under the pointer, and with every block open.
#include <benchmark/benchmark.h>

#include <memory>

#include "tests/sim/record/synthetic_record.h"
#include "viz/timeline/timeline_scene.h"

namespace tilescope {
namespace {

std::shared_ptr<const sim::Record> million() {
  static const auto record = [] {
    sim::SyntheticPipeline pipeline;
    pipeline.processors = 148;
    pipeline.blocks = 148 * 6;
    pipeline.cluster = 2;
    pipeline.steps = 64;
    auto out = std::make_shared<sim::Record>(sim::synthetic_record(pipeline));
    out->timed = true;
    out->seconds = 0;
    out->device.times.clock = 2;
    return out;
  }();
  return record;
}

const TimelineView& view() {
  static const TimelineView out(million(), std::make_shared<const sim::Timeline>(*million()));
  return out;
}

TimelineViewport viewport() {
  TimelineViewport out;
  out.size = {1600, 1000};
  return out;
}

TimelineChoice folded() {
  TimelineChoice out;
  for (std::uint32_t g = 0; g < view().groups().size(); ++g) out = view().folded(out, g, true);
  return out;
}
TimelineChoice unfolded() {
  TimelineChoice out;
  for (std::uint32_t g = 0; g < view().groups().size(); ++g) out = view().folded(out, g, false);
  return out;
}

void open_a_timeline(benchmark::State& state) {
  for (auto _ : state) {
    const auto timeline = std::make_shared<const sim::Timeline>(*million());
    benchmark::DoNotOptimize(TimelineView(million(), timeline));
  }
  state.counters["events"] = static_cast<double>(million()->events.size());
}
BENCHMARK(open_a_timeline)->Unit(benchmark::kMillisecond);

// Every frame another zoom, from the whole run to a few thousand cycles and back.
void zoom(benchmark::State& state, const TimelineChoice& choice) {
  RasterStore store;
  TimelineFrame frame = arrange(view(), choice, viewport());
  double factor = 1.1;
  std::size_t items = 0;
  for (auto _ : state) {
    const TimelineViewport next = zoomed(view(), frame, {900, 400}, factor);
    frame = arrange(view(), choice, next);
    if (frame.viewport.range.length() < 2000) factor = 1 / 1.1;
    if (frame.viewport.range.length() >= view().end()) factor = 1.1;
    items = std::max(items, build_scene(view(), choice, light_theme(), frame, &store).items.size());
  }
  state.counters["items"] = static_cast<double>(items);
}
void zoom_as_opened(benchmark::State& state) {
  zoom(state, {});
}
void zoom_all_folded(benchmark::State& state) {
  zoom(state, folded());
}
void zoom_all_open(benchmark::State& state) {
  zoom(state, unfolded());
}
BENCHMARK(zoom_as_opened)->Unit(benchmark::kMillisecond);
BENCHMARK(zoom_all_folded)->Unit(benchmark::kMillisecond);
BENCHMARK(zoom_all_open)->Unit(benchmark::kMillisecond);

void still(benchmark::State& state) {
  RasterStore store;
  const TimelineFrame frame = arrange(view(), {}, viewport());
  TimelineChoice choice;
  for (auto _ : state) {
    ++choice.hovered;
    benchmark::DoNotOptimize(
        build_scene(view(), choice, light_theme(), arrange(view(), choice, viewport()), &store));
  }
}
BENCHMARK(still)->Unit(benchmark::kMillisecond);

void point(benchmark::State& state) {
  const TimelineFrame frame = arrange(view(), {}, viewport());
  double x = frame.lanes.x;
  for (auto _ : state) {
    x = x + 1 < frame.lanes.right() ? x + 1 : frame.lanes.x;
    benchmark::DoNotOptimize(hit(view(), {}, frame, {x, frame.lanes.y + 90}));
  }
}
BENCHMARK(point)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace tilescope
