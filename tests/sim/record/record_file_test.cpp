// A record as bytes and back.
#include "core/io/record_file.h"

#include <gtest/gtest.h>

#include <algorithm>

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

// A file as version 4 had it: without what lanes access.
TEST(RecordFile, OfTheVersionBeforeIsReadToo) {
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
TEST(RecordFile, OfTheVersionBeforeThatIsReadToo) {
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
