// What a recorder keeps, and what becomes of the rest.
#include "core/record/recorder.h"

#include <gtest/gtest.h>

#include <map>
#include <tuple>

#include "tests/sim/record/synthetic_record.h"

namespace tilescope::sim {
namespace {

// An event, and what brought it about, without numbers that depend on what else was kept.
using Told = std::tuple<std::uint64_t, Unit, std::uint32_t, EventKind, Cycle, Cycle, Cycle,
                        std::uint64_t, std::uint32_t, std::uint32_t, std::uint32_t, Stall>;

Told told(const Record& record, const Event& event) {
  const Track& track = record.tracks[event.track];
  return {track.block, track.unit,   track.index,  event.kind,  event.issue, event.begin,
          event.end,   event.amount, event.object, event.phase, event.pc,    event.stall};
}

// Events of these clusters that touch [from, to), each with what brought it about where that is
// one of these, too.
std::vector<std::pair<Told, Told>> sequence(const Record& record, std::uint64_t cluster, Cycle from,
                                            Cycle to) {
  const auto asked = [&](const Event& event) {
    if (event.kind == EventKind::folded || event.kind == EventKind::report) return false;
    return cluster_of(record.launch, record.tracks[event.track].block) == cluster &&
           event.begin < to &&
           (event.end > from || (event.begin == event.end && event.end == from));
  };
  std::vector<std::pair<Told, Told>> out;
  for (const Event& event : record.events) {
    if (!asked(event)) continue;
    Told cause{};
    if (event.cause != no_event && asked(record.events[event.cause])) {
      cause = told(record, record.events[event.cause]);
    }
    out.emplace_back(told(record, event), cause);
  }
  return out;
}

std::uint64_t events_in(const Record& record) {
  std::uint64_t count = 0;
  for (const Event& event : record.events) {
    count += event.kind == EventKind::folded ? event.amount : 1;
  }
  return count;
}

// Cycles that something ran or waited on each track, whole events and folded ones together.
std::map<std::tuple<std::uint64_t, Unit, std::uint32_t>, std::pair<Cycle, Cycle>> cycles(
    const Record& record) {
  std::map<std::tuple<std::uint64_t, Unit, std::uint32_t>, std::pair<Cycle, Cycle>> out;
  for (const Event& event : record.events) {
    const Track& track = record.tracks[event.track];
    auto& [busy, waited] = out[{track.block, track.unit, track.index}];
    if (event.kind == EventKind::folded) {
      busy += event.until;
      waited += event.pc;
    } else if (event.kind == EventKind::wait) {
      waited += event.end - event.begin;
    } else if (event.kind == EventKind::run || event.kind == EventKind::operation) {
      busy += event.end - event.begin;
    }
  }
  return out;
}

RecordLimits limited_to(std::uint64_t bytes) {
  RecordLimits limits;
  limits.bytes = bytes;
  return limits;
}

const SyntheticPipeline several = {.processors = 4, .blocks = 16, .cluster = 2, .steps = 128};

TEST(Recorder, KeepsAllThatThereIsRoomFor) {
  const Record record = synthetic_record(several);
  std::size_t linked = 0;
  for (const Event& event : record.events) {
    EXPECT_NE(event.kind, EventKind::folded);
    if (event.cause == no_event) continue;
    ++linked;
    // Nothing is brought about by what has not begun.
    EXPECT_LE(record.events[event.cause].begin, event.end);
  }
  EXPECT_GT(record.events.size(), 16u * 128 * 15);
  EXPECT_GT(linked, record.events.size() / 2);
}

TEST(Recorder, GivesBackWhatDoesNotFitItsFields) {
  Recorder recorder;
  recorder.begin({});
  const TrackId track = recorder.track({3, Unit::tensor, 0, 1});
  EXPECT_EQ(recorder.track({3, Unit::tensor, 0, 1}), track);
  EXPECT_NE(recorder.track({3, Unit::tensor, 0, 2}), track);
  std::vector<Event> events(7);
  events[1] = {.issue = 5, .begin = 7, .end = 7 + (Cycle{1} << 33), .kind = EventKind::operation};
  events[2] = {.issue = 5, .begin = 7, .end = never_ends, .kind = EventKind::wait};
  events[3] = {.issue = Cycle{1} << 50, .begin = Cycle{1} << 50, .end = never_ends};
  events[4] = {.issue = 9, .begin = 7, .end = 3, .amount = ~std::uint64_t{0}};
  events[5] = {.issue = 2, .begin = 7, .end = 8, .until = 4, .kind = EventKind::operation};
  events[6] = {.issue = 7,
               .begin = 7,
               .end = 8,
               .amount = 5,
               .object = 1,
               .phase = 2,
               .pc = 3,
               .until = 4,
               .cause = 5,
               .kind = EventKind::run,
               .stall = Stall::siblings,
               .bytes = true};
  for (Event& event : events) {
    event.track = track;
    recorder.add(event);
  }
  recorder.change(3, [](Event& event) { event.end = event.begin + 4; });
  events[3].end = events[3].begin + 4;
  ASSERT_TRUE(recorder.find(2));
  EXPECT_EQ(recorder.find(2)->end, never_ends);
  const Record record = recorder.take();
  ASSERT_EQ(record.events.size(), events.size());
  for (std::size_t i = 0; i < events.size(); ++i) EXPECT_EQ(record.events[i], events[i]) << i;
}

class Bounded : public ::testing::TestWithParam<std::tuple<std::uint64_t, bool>> {};

TEST_P(Bounded, StaysWithinItsBytesAndLosesNoCount) {
  SyntheticPipeline pipeline = several;
  const auto [bytes, open] = GetParam();
  pipeline.open_phases = open;
  const Record whole = synthetic_record(pipeline);
  const Record record = synthetic_record(pipeline, limited_to(bytes));
  EXPECT_LE(record.events.size() * 44 + record.tracks.size() * 120, bytes);
  EXPECT_EQ(events_in(record), events_in(whole));
  EXPECT_EQ(cycles(record), cycles(whole));
  // The first cluster is there from its first event on; of all others there is something.
  const auto first = sequence(record, 0, 0, never_ends), all = sequence(whole, 0, 0, never_ends);
  ASSERT_GT(first.size(), bytes / 44 / 10);
  const Told nothing{};
  for (std::size_t i = 0; i < first.size() / 2; ++i) {
    EXPECT_EQ(first[i].first, all[i].first) << i;
    if (first[i].second != nothing) {
      EXPECT_EQ(first[i].second, all[i].second) << i;
    }
  }
  EXPECT_EQ(record.tracks, whole.tracks);
}

TEST_P(Bounded, FoldedEventsCoverTheirsAndDoNotOverlapOnAWarp) {
  SyntheticPipeline pipeline = several;
  const auto [bytes, open] = GetParam();
  pipeline.open_phases = open;
  const Record record = synthetic_record(pipeline, limited_to(bytes));
  std::map<TrackId, Cycle> until;
  std::size_t folded = 0;
  for (const Event& event : record.events) {
    EXPECT_LE(event.begin, event.end);
    if (event.cause != no_event) {
      ASSERT_LT(event.cause, record.events.size());
      EXPECT_NE(record.events[event.cause].kind, EventKind::folded);
    }
    folded += event.kind == EventKind::folded;
    if (record.tracks[event.track].unit != Unit::warp || event.kind == EventKind::report) continue;
    EXPECT_LE(until[event.track], event.begin);
    until[event.track] = event.end;
  }
  EXPECT_GT(folded, 0u);
}

INSTANTIATE_TEST_SUITE_P(Bytes, Bounded,
                         ::testing::Combine(::testing::Values(250'000, 400'000, 900'000),
                                            ::testing::Bool()));

TEST(Recorder, RecordsAgainWholeWhatIsAskedFor) {
  for (const bool open : {false, true}) {
    SyntheticPipeline pipeline = several;
    pipeline.open_phases = open;
    const Record whole = synthetic_record(pipeline);
    const Cycle middle = whole.end / 2;
    for (const auto& [block, from, to] : {std::tuple<std::uint64_t, Cycle, Cycle>{5, 0, never_ends},
                                          {0, 1000, 2000},
                                          {9, middle, middle + 500},
                                          {15, middle, never_ends}}) {
      const std::uint64_t cluster = block / 2;
      const Record part = synthetic_record(pipeline, {RecordLimits{}.bytes, block, from, to});
      EXPECT_EQ(sequence(part, cluster, from, to), sequence(whole, cluster, from, to))
          << block << " " << from << " " << to;
      EXPECT_EQ(events_in(part), events_in(whole));
      EXPECT_EQ(cycles(part), cycles(whole));
      EXPECT_LT(part.events.size(), whole.events.size() * 3 / 4);
    }
  }
}

TEST(Recorder, ManyBlocksShareATrackOfTheirProcessor) {
  const SyntheticPipeline pipeline = {.processors = 8, .blocks = 4000, .steps = 4, .writers = 1};
  const std::uint64_t bytes = 1 << 20;
  const Record whole = synthetic_record(pipeline);
  const Record record = synthetic_record(pipeline, limited_to(bytes));
  EXPECT_LT(record.events.size() * 44 + record.tracks.size() * 120, bytes);
  EXPECT_EQ(events_in(record), events_in(whole));
  EXPECT_GT(sequence(record, 0, 0, never_ends).size(), 10u);
  EXPECT_EQ(sequence(record, 0, 0, never_ends), sequence(whole, 0, 0, never_ends));
  std::size_t shared = 0;
  for (const Track& track : record.tracks) shared += track.block == many_blocks;
  EXPECT_EQ(shared, 8 * 8u);  // a warp's, an mbarrier's, a barrier's, and five units'
}

TEST(Recorder, FindsWhatIsLeftAfterFolding) {
  Recorder recorder(limited_to(10'000));
  recorder.begin({});
  const TrackId track = recorder.track({0, Unit::warp, 0, 0});
  Event open;
  open.track = track;
  open.end = never_ends;
  open.kind = EventKind::phase;
  const EventId first = recorder.add(open);
  EventId last = no_event;
  for (Cycle t = 0; t < 10'000; ++t) {
    Event event;
    event.track = track;
    event.issue = event.begin = t;
    event.end = t + 1;
    if (const EventId id = recorder.add(event); id != no_event) last = id;
  }
  EXPECT_TRUE(recorder.change(first, [](Event& event) { event.end = 77; }));
  EXPECT_FALSE(recorder.find(last));  // the latest are folded: the beginning stays
  EXPECT_FALSE(recorder.change(last, [](Event& event) { event.end = 0; }));
  ASSERT_TRUE(recorder.find(first));
  EXPECT_EQ(recorder.find(first)->end, 77u);
}

// Each use says its event's amount, which no other event of its kind has.
TEST(Recorder, UsesStayWithTheirEventsWhenOthersAreFolded) {
  constexpr std::uint32_t count = 20000;
  Recorder recorder(limited_to(count * 30));
  Record about;
  about.launch.grid = {8, 1, 1};
  recorder.begin(std::move(about));
  for (std::uint32_t i = 0; i < count; ++i) {
    Event e;
    e.kind = i % 3 ? EventKind::operation : EventKind::run;
    e.track = recorder.track({i % 8, i % 3 ? Unit::copy_in : Unit::warp, 0, 0});
    e.issue = e.begin = i;
    e.end = i + 5;
    e.amount = i;
    const EventId id = recorder.add(e);
    if (e.kind != EventKind::operation) continue;
    MemoryUse use;
    use.column = i;
    recorder.add_use(id, use);
  }
  const Record record = recorder.take();
  std::uint64_t whole = 0;
  for (const Event& event : record.events) whole += event.kind == EventKind::operation ? 1 : 0;
  ASSERT_GT(whole, 100u);
  ASSERT_LT(whole, count / 2);  // others were folded
  EXPECT_EQ(record.uses.size(), whole);
  EventId last = 0;
  for (const MemoryUse& use : record.uses) {
    EXPECT_GE(use.event, last);
    last = use.event;
    const Event event = record.events[use.event];
    EXPECT_EQ(event.kind, EventKind::operation);
    EXPECT_EQ(event.amount, use.column);
  }
}

TEST(Clusters, AreCountedLikeBlocks) {
  Launch launch;
  launch.grid = {6, 4, 2};
  EXPECT_EQ(cluster_of(launch, 17), 17u);
  launch.cluster = Dim3{2, 2, 1};
  EXPECT_EQ(cluster_of(launch, 0), 0u);
  EXPECT_EQ(cluster_of(launch, 7), 0u);   // (1, 1, 0)
  EXPECT_EQ(cluster_of(launch, 8), 1u);   // (2, 1, 0)
  EXPECT_EQ(cluster_of(launch, 12), 3u);  // (0, 2, 0)
  EXPECT_EQ(cluster_of(launch, 47), 11u);
}

}  // namespace
}  // namespace tilescope::sim
