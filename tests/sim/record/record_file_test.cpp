// A record as bytes and back.
#include "core/io/record_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "core/run/deadlock_cause.h"

#include "tests/sim/record/random_record.h"
#include "tests/sim/record/synthetic_record.h"

namespace tilescope::sim {
namespace {

void expect_same(const Record& a, const Record& b) {
  EXPECT_EQ(a.kernel, b.kernel);
  EXPECT_EQ(a.what, b.what);
  EXPECT_EQ(a.launch.entry, b.launch.entry);
  EXPECT_EQ(a.launch.grid, b.launch.grid);
  EXPECT_EQ(a.launch.block, b.launch.block);
  EXPECT_EQ(a.launch.cluster, b.launch.cluster);
  EXPECT_EQ(a.launch.dynamic_shared, b.launch.dynamic_shared);
  EXPECT_EQ(a.device.name, b.device.name);
  EXPECT_EQ(a.device.major, b.device.major);
  EXPECT_EQ(a.device.minor, b.device.minor);
  EXPECT_EQ(a.device.processors, b.device.processors);
  EXPECT_EQ(a.device.registers, b.device.registers);
  EXPECT_EQ(a.device.times.clock, b.device.times.clock);
  EXPECT_EQ(a.device.times.l2_size, b.device.times.l2_size);
  EXPECT_EQ(a.device.times.shuffle.latency, b.device.times.shuffle.latency);
  EXPECT_EQ(a.timed, b.timed);
  EXPECT_EQ(a.work, b.work);
  EXPECT_EQ(a.end, b.end);
  EXPECT_EQ(a.seconds, b.seconds);
  EXPECT_EQ(a.blocks_simulated, b.blocks_simulated);
  EXPECT_EQ(a.uncertain, b.uncertain);
  EXPECT_EQ(a.resident_blocks, b.resident_blocks);
  EXPECT_EQ(a.resident_warps, b.resident_warps);
  EXPECT_EQ(a.limited_by, b.limited_by);
  EXPECT_EQ(a.sources, b.sources);
  ASSERT_EQ(a.lines.size(), b.lines.size());
  for (std::size_t i = 0; i < a.lines.size(); ++i) {
    EXPECT_EQ(a.lines[i].text, b.lines[i].text);
    EXPECT_EQ(a.lines[i].ptx_line, b.lines[i].ptx_line);
    EXPECT_EQ(a.lines[i].file, b.lines[i].file);
    EXPECT_EQ(a.lines[i].line, b.lines[i].line);
    EXPECT_EQ(a.lines[i].product, b.lines[i].product);
  }
  ASSERT_EQ(a.reports.size(), b.reports.size());
  for (std::size_t i = 0; i < a.reports.size(); ++i) {
    EXPECT_EQ(a.reports[i].weight, b.reports[i].weight);
    EXPECT_EQ(a.reports[i].kind, b.reports[i].kind);
    EXPECT_EQ(a.reports[i].sentence, b.reports[i].sentence);
    EXPECT_EQ(a.reports[i].count, b.reports[i].count);
    EXPECT_EQ(text(a.reports[i].site), text(b.reports[i].site));
  }
  EXPECT_EQ(a.tracks, b.tracks);
  EXPECT_TRUE(a.events == b.events);
  EXPECT_EQ(a.buffers, b.buffers);
  EXPECT_EQ(a.uses, b.uses);
  EXPECT_EQ(a.accesses, b.accesses);
  EXPECT_EQ(a.lane_offsets, b.lane_offsets);
  EXPECT_EQ(a.cached, b.cached);
  EXPECT_EQ(a.cache_overflowed, b.cache_overflowed);
  ASSERT_EQ(a.counters.size(), b.counters.size());
  for (std::size_t i = 0; i < a.counters.size(); ++i) {
    EXPECT_EQ(a.counters[i].issued, b.counters[i].issued);
    EXPECT_EQ(a.counters[i].stalled, b.counters[i].stalled);
    EXPECT_EQ(a.counters[i].global_bytes, b.counters[i].global_bytes);
    EXPECT_EQ(a.counters[i].ideal_sectors, b.counters[i].ideal_sectors);
  }
  for (std::size_t i = 0; i < a.pipes.size(); ++i) {
    EXPECT_EQ(a.pipes[i].busy, b.pipes[i].busy);
    EXPECT_EQ(a.pipes[i].copies, b.pipes[i].copies);
  }
}

Record read(const std::vector<std::byte>& file) {
  Outcome<Record> record = read_record(file, "a.tsr");
  EXPECT_TRUE(record.ok()) << record.error().sentence << " " << record.error().where;
  return record.ok() ? std::move(*record) : Record{};
}

// Of each kind, of several events.
void add_uses(Record& record) {
  record.buffers = {{"A", DType::f16, {300, 256}}, {"B", DType::e4m3, {}}};
  for (EventId id = 1; id < record.events.size(); id += 7) {
    for (const auto of : {MemoryUse::Of::shared, MemoryUse::Of::tensor, MemoryUse::Of::registers,
                          MemoryUse::Of::global}) {
      MemoryUse use;
      use.event = id;
      use.of = of;
      use.writes = id % 2;
      use.operand = static_cast<MemoryUse::Operand>(id % 5);
      use.rank = static_cast<std::uint8_t>(id % 16);
      use.buffer = id % 2;
      use.row = id;
      use.rows = 128;
      use.column = ~id;
      use.columns = 70000;
      record.uses.push_back(use);
    }
  }
}

// Of each kind and place, of lanes in order and in none.
void add_accesses(Record& record) {
  for (std::uint32_t i = 0; i < 300; ++i) {
    WarpAccess access;
    access.track = i % static_cast<std::uint32_t>(record.tracks.size());
    access.begin = 1000 - i;  // not in order
    access.end = access.begin + i % 7 * 100;
    access.pc = i;
    access.mask = i % 3 ? ~0u : 0x8000'0101u;
    access.kind = static_cast<WarpAccess::Kind>(i % 5);
    access.of = static_cast<WarpAccess::Of>(i % 3);
    access.bytes = static_cast<std::uint8_t>(1u << i % 5);
    access.buffer = i % 4 ? i % 2 : WarpAccess::none;
    access.passes = i;
    access.ideal = i / 2;
    access.from_l2 = 128 * i;
    access.from_memory = 64 * i;
    std::uint64_t at[32];
    for (std::uint64_t lane = 0; lane < 32; ++lane) {
      at[lane] = i % 2 ? 100'000 + lane * i - (i % 4 == 1 ? 2 * lane * i : 0) : lane * lane * i;
    }
    set_lanes(access, at, record.lane_offsets);
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
      const bool takes_part = access.mask >> lane & 1;
      EXPECT_TRUE(!takes_part || access.at(lane, record.lane_offsets) == at[lane]);
    }
    record.accesses.push_back(access);
  }
}

TEST(RecordFile, WhatLanesAccessIsGivenBack) {
  Record record = synthetic_record({});
  add_uses(record);
  add_accesses(record);
  EXPECT_GT(record.lane_offsets.size(), 0u);
  EXPECT_LT(record.lane_offsets.size(), 32 * record.accesses.size());  // some follow a rule
  expect_same(read(write_record(record)), record);
}

TEST(RecordFile, WhatL2HadIsGivenBack) {
  Record record = synthetic_record({});
  add_uses(record);
  for (MemoryUse& use : record.uses) {
    if (use.of != MemoryUse::Of::global) continue;
    use.asked = 32768;
    use.missed = use.event % 32768;
  }
  record.cached = {{1, 2, 3, {500, 20, never_ends, 0, never_ends, 1u << 30}}};
  record.cache_overflowed = true;
  expect_same(read(write_record(record)), record);
}

// The reasons that a deadlock's cause gives, and all that they are made of.
std::shared_ptr<DeadlockCause> some_cause() {
  auto cause = std::make_shared<DeadlockCause>();
  cause->cluster_size = 2;
  cause->cycle = {1, 0};
  cause->sentence = "Nobody can go on.";
  DeadlockCause::NotCome why;
  why.why = DeadlockCause::Why::predicate;
  why.warps = {1, std::uint64_t{1} << 63};
  why.lanes = 0xff;
  why.others_came = why.is_ahead = true;
  why.phases = 7;
  why.pc = 40;
  why.site.ptx_line = 413;
  why.site.ptx_place = "b.ptx:12";
  why.waits_for = 1;
  why.detail = "%p3 is false";
  DeadlockCause::Source source;
  source.pc = 41;
  source.opcode = "mbarrier.arrive";
  source.arrives = source.certain = true;
  source.bytes = 1u << 20;
  source.times = 3;
  source.not_come = {why, {}};
  DeadlockCause::WaitedFor full, cluster;
  full.name = "full[1]";
  full.object = 98312;
  full.phase = 4;
  full.count = 2;
  full.pending = 1;
  full.bytes = -16384;
  full.made.source = "kernels/a.cu";
  full.sources = {source};
  full.would_help = true;
  cluster.of = DeadlockCause::WaitedFor::Of::cluster;
  cluster.everyone = true;
  cause->barriers = {full, cluster};
  DeadlockCause::Waiting waiting;
  waiting.warps = {0, 0xf0};
  waiting.lanes = ~0u;
  waiting.opcode = "mbarrier.try_wait";
  waiting.waits_for = 0;
  waiting.phase = 4;
  waiting.words = ", for its bulk groups";
  cause->waiting = {waiting, {}};
  return cause;
}

TEST(RecordFile, WhyNobodyCouldGoOnIsGivenBack) {
  Record record = synthetic_record({});
  record.reports.resize(2);
  record.reports[1].deadlock = some_cause();
  const std::vector<std::byte> file = write_record(record);
  const Record back = read(file);
  ASSERT_EQ(back.reports.size(), 2u);
  EXPECT_FALSE(back.reports[0].deadlock);
  ASSERT_TRUE(back.reports[1].deadlock);
  const DeadlockCause& cause = *back.reports[1].deadlock;
  EXPECT_EQ(text_of(cause), text_of(*some_cause()));
  EXPECT_EQ(cause.cycle, some_cause()->cycle);
  EXPECT_EQ(cause.barriers[0].bytes, -16384);
  EXPECT_EQ(cause.barriers[0].sources[0].not_come[0].warps, (DeadlockCause::Warps{1, 1ull << 63}));
  EXPECT_EQ(cause.barriers[0].sources[0].not_come[0].lanes, 0xffu);
  EXPECT_EQ(cause.barriers[0].sources[0].not_come[0].site.ptx_place, "b.ptx:12");
  EXPECT_EQ(cause.barriers[0].sources[0].not_come[1].waits_for, DeadlockCause::none);
  EXPECT_EQ(cause.waiting[0].words, ", for its bulk groups");
  EXPECT_EQ(write_record(back), file);
}

// It would be read beyond the end of a list.
TEST(RecordFile, ACauseThatNamesABarrierThatIsNotThereIsRefused) {
  for (const int where : {0, 1, 2}) {
    Record record = synthetic_record({});
    const auto cause = some_cause();
    if (where == 0) cause->waiting[0].waits_for = 2;
    if (where == 1) cause->cycle[0] = 2;
    if (where == 2) cause->barriers[0].sources[0].not_come[0].waits_for = 2;
    record.reports.resize(1);
    record.reports[0].deadlock = cause;
    const Outcome<Record> back = read_record(write_record(record), "a.tsr");
    ASSERT_FALSE(back.ok()) << where;
    EXPECT_NE(back.error().sentence.find("names a barrier that is not there"), std::string::npos);
  }
}

// A file as version 5 had it: without causes and L2.
TEST(RecordFile, OfTheVersionBeforeIsReadToo) {
  Record record = synthetic_record({});
  add_uses(record);
  add_accesses(record);
  std::vector<std::byte> file = write_record(record);
  const std::vector<std::byte> last = {std::byte{'C'}, std::byte{'A'}, std::byte{'U'},
                                       std::byte{'S'}};
  const auto causes = std::find_end(file.begin(), file.end(), last.begin(), last.end());
  ASSERT_NE(causes, file.end());
  file.erase(causes, file.end());
  file[8] = std::byte{5};
  file[12] = std::byte{9};
  expect_same(read(file), record);
}

// A file as version 4 had it: without what lanes access.
TEST(RecordFile, OfVersionFourIsReadToo) {
  Record record = synthetic_record({});
  add_uses(record);
  std::vector<std::byte> file = write_record(record);
  const std::vector<std::byte> last = {std::byte{'L'}, std::byte{'A'}, std::byte{'N'},
                                       std::byte{'E'}};
  const auto lanes = std::find_end(file.begin(), file.end(), last.begin(), last.end());
  ASSERT_NE(lanes, file.end());
  file.erase(lanes, file.end());
  file[8] = std::byte{4};
  file[12] = std::byte{8};
  expect_same(read(file), record);
}

// A file as version 3 had it: without what operations use.
TEST(RecordFile, OfVersionThreeIsReadToo) {
  const Record record = synthetic_record({});
  std::vector<std::byte> file = write_record(record);
  const std::vector<std::byte> last = {std::byte{'U'}, std::byte{'S'}, std::byte{'E'},
                                       std::byte{'S'}};
  const auto uses = std::find_end(file.begin(), file.end(), last.begin(), last.end());
  ASSERT_NE(uses, file.end());
  file.erase(uses, file.end());
  file[8] = std::byte{3};
  file[12] = std::byte{7};
  const Record old = read(file);
  EXPECT_TRUE(old.events == record.events);
  EXPECT_TRUE(old.uses.empty());
}

TEST(RecordFile, WhatOperationsUseIsGivenBack) {
  Record record = synthetic_record({});
  add_uses(record);
  expect_same(read(write_record(record)), record);
}

TEST(RecordFile, GivesBackWhatWasWritten) {
  SyntheticPipeline pipeline;
  pipeline.cluster = 2;
  Record record = synthetic_record(pipeline);
  record.work = 1e12 / 3;
  record.uncertain = 0.07;
  record.launch.dynamic_shared = 131072;
  record.device.name = "A chip with \"quotes\" and \xc3\xa4";
  record.device.times.l2_size = 52428800;
  record.device.times.shuffle.latency = 23.5;
  record.counters[3].ideal_sectors = ~std::uint64_t{0};
  record.reports[0].expected = "expected";
  record.reports[0].site.block = {3, 2, 1};
  record.reports[0].count = 12;
  const std::vector<std::byte> file = write_record(record);
  expect_same(read(file), record);
  EXPECT_EQ(write_record(read(file)), file);
  EXPECT_LT(file.size(), record.events.size() * 12);
}

TEST(RecordFile, GivesBackRandomEvents) {
  for (std::uint64_t seed = 1; seed < 30; ++seed) {
    Record record = random_record(seed);
    record.counters.resize(record.lines.size());
    record.sources = {"a.cu"};
    record.reports.resize(400);
    record.tracks[2].block = many_blocks;
    // What packing and deltas might lose.
    Event event;
    event.track = 4;
    event.kind = EventKind::operation;
    event.begin = 5;
    event.issue = 9;
    event.end = 2;
    event.amount = ~std::uint64_t{0};
    event.object = event.phase = event.pc = event.until = ~0u;
    event.bytes = true;
    record.events.push_back(event);
    event.kind = EventKind::wait;
    event.stall = Stall::siblings;
    event.begin = never_ends - 1;
    event.end = never_ends;
    event.object = 0;
    event.cause = static_cast<EventId>(record.events.size());  // itself
    record.events.push_back(event);
    expect_same(read(write_record(record)), record);
  }
}

TEST(RecordFile, GivesBackNothing) {
  expect_same(read(write_record(Record{})), Record{});
}

// A view goes on from a saved record as from a fresh one: folded events are there, too.
TEST(RecordFile, GivesBackFoldedEvents) {
  SyntheticPipeline pipeline;
  pipeline.blocks = 64;
  RecordLimits limits;
  limits.bytes = 200'000;
  const Record record = synthetic_record(pipeline, limits);
  std::size_t folded = 0;
  for (const Event& event : record.events) folded += event.kind == EventKind::folded;
  EXPECT_GT(folded, 0u);
  expect_same(read(write_record(record)), record);
}

}  // namespace
}  // namespace tilescope::sim
