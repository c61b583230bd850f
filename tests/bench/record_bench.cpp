// Records of ten million events: writing one, indexing it, and what a window asks of it in a frame.
#include <benchmark/benchmark.h>

#include <memory>

#include "core/io/record_file.h"
#include "core/record/timeline.h"
#include "tests/sim/record/synthetic_record.h"

namespace tilescope::sim {
namespace {

SyntheticPipeline ten_million() {
  SyntheticPipeline pipeline;
  pipeline.processors = 148;
  pipeline.blocks = 148 * 60;
  pipeline.steps = 64;
  return pipeline;
}

const Record& big_record() {
  static const Record record = synthetic_record(ten_million());
  return record;
}

const Timeline& big_timeline() {
  static const Timeline timeline(big_record());
  return timeline;
}

// What one event costs whoever runs; then, where there is room for an eighth, with folding.
void add_an_event(benchmark::State& state) {
  const Record& record = big_record();
  RecordLimits limits;
  limits.bytes = static_cast<std::uint64_t>(state.range(0)) << 20;
  auto recorder = std::make_unique<Recorder>(limits);
  std::size_t at = 0;
  for (const Track& track : record.tracks) recorder->track(track);
  for (auto _ : state) {
    benchmark::DoNotOptimize(recorder->add(record.events[at]));
    if (++at < record.events.size()) continue;
    state.PauseTiming();
    at = 0;
    recorder = std::make_unique<Recorder>(limits);
    for (const Track& track : record.tracks) recorder->track(track);
    state.ResumeTiming();
  }
}
BENCHMARK(add_an_event)->Arg(1024)->Arg(64)->Iterations(10'000'000);

void index_ten_million(benchmark::State& state) {
  const Record& record = big_record();
  for (auto _ : state) benchmark::DoNotOptimize(Timeline(record));
  state.counters["events"] = static_cast<double>(record.events.size());
}
BENCHMARK(index_ten_million)->Unit(benchmark::kMillisecond);

// A hundred tracks of a thousand pixels; the argument: a share of the run's time, as 1/n.
void draw_100_tracks(benchmark::State& state) {
  const Timeline& timeline = big_timeline();
  const Cycle width = timeline.end() / static_cast<Cycle>(state.range(0));
  std::size_t spans = 0;
  Cycle from = 0;
  for (auto _ : state) {
    spans = 0;
    std::size_t tracks = 0;
    // Of blocks that were there at that time, as a window would show.
    for (const TrackGroup& group : timeline.groups()) {
      if (group.end <= from || group.begin >= from + width) continue;
      for (const TrackId track : group.tracks) {
        if (tracks++ == 100) break;
        spans += timeline.spans(track, from, from + width, 1000).size();
      }
      if (tracks > 100) break;
    }
    from = (from + width / 3) % (timeline.end() - width + 1);
  }
  state.counters["spans"] = static_cast<double>(spans);
}
BENCHMARK(draw_100_tracks)->RangeMultiplier(10)->Range(1, 10'000)->Unit(benchmark::kMillisecond);

// One warp that has all of the events: the worst case of a track.
void draw_100_long_tracks(benchmark::State& state) {
  static const Record record = [] {
    SyntheticPipeline pipeline;
    pipeline.processors = pipeline.blocks = 5;
    pipeline.steps = 1000;
    pipeline.tiles = 120;
    return synthetic_record(pipeline);
  }();
  static const Timeline timeline(record);
  const Cycle width = timeline.end() / static_cast<Cycle>(state.range(0));
  std::size_t spans = 0;
  Cycle from = 0;
  for (auto _ : state) {
    spans = 0;
    for (TrackId track = 0; track < 100; ++track) {
      spans += timeline.spans(track, from, from + width, 1000).size();
    }
    from = (from + width / 3) % (timeline.end() - width + 1);
  }
  state.counters["spans"] = static_cast<double>(spans);
  state.counters["events"] = static_cast<double>(record.events.size());
}
BENCHMARK(draw_100_long_tracks)
    ->RangeMultiplier(10)
    ->Range(1, 100'000)
    ->Unit(benchmark::kMillisecond);

void totals_of_100_tracks(benchmark::State& state) {
  const Timeline& timeline = big_timeline();
  for (auto _ : state) {
    for (TrackId track = 0; track < 100; ++track) {
      benchmark::DoNotOptimize(timeline.totals(track, 1000, timeline.end() / 2));
    }
  }
}
BENCHMARK(totals_of_100_tracks)->Unit(benchmark::kMillisecond);

// The next operation of any tensor core; an instruction that nobody executes.
void next_anywhere(benchmark::State& state) {
  const Timeline& timeline = big_timeline();
  EventFilter filter;
  if (state.range(0)) {
    filter.pcs = {1'000'000};
  } else {
    filter.unit = Unit::tensor;
  }
  for (auto _ : state) benchmark::DoNotOptimize(timeline.next(filter, timeline.end() / 2));
}
BENCHMARK(next_anywhere)->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

void arrows_of_100_tracks(benchmark::State& state) {
  const Timeline& timeline = big_timeline();
  std::vector<TrackId> tracks;
  for (TrackId track = 0; track < 100; ++track) tracks.push_back(track);
  std::size_t count = 0;
  for (auto _ : state) count = timeline.arrows(tracks, 1000, 5000, 1000).arrows.size();
  state.counters["arrows"] = static_cast<double>(count);
}
BENCHMARK(arrows_of_100_tracks)->Unit(benchmark::kMillisecond);

void write_ten_million(benchmark::State& state) {
  std::size_t bytes = 0;
  for (auto _ : state) bytes = write_record(big_record()).size();
  state.counters["bytes_per_event"] =
      static_cast<double>(bytes) / static_cast<double>(big_record().events.size());
}
BENCHMARK(write_ten_million)->Unit(benchmark::kMillisecond);

void read_ten_million(benchmark::State& state) {
  const std::vector<std::byte> file = write_record(big_record());
  for (auto _ : state) benchmark::DoNotOptimize(read_record(file, "big.tsr").ok());
  state.counters["bytes"] = static_cast<double>(file.size());
}
BENCHMARK(read_ten_million)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tilescope::sim
