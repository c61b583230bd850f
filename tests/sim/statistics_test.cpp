// What a record's figures are, on one whose sums were made by hand (pipeline_record.h).
#include "core/profile/statistics_sum.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/sim/pipeline_record.h"

namespace tilescope::test {
namespace {

using namespace tilescope::sim;

const Role* role_of(const Statistics& s, const std::string& name) {
  for (const Role& r : s.roles) {
    if (r.name == name) return &r;
  }
  return nullptr;
}

double share_of(const std::vector<Waited>& waits, const WaitKey& key) {
  for (const Waited& w : waits) {
    if (w.key == key) return w.share;
  }
  return 0;
}

TEST(Statistics, SaysTimeRateAndShareOfThePeak) {
  const Statistics s = statistics_of(pipeline_record());
  EXPECT_EQ(s.end, 340u);
  EXPECT_DOUBLE_EQ(s.seconds, 200e-9);
  EXPECT_DOUBLE_EQ(s.rate, 60e9);                // 12000 operations in 200 ns
  EXPECT_DOUBLE_EQ(s.peak, 2 * 50 * 2 * 1.7e9);  // 50 multiply-adds, two processors, 1.7 GHz
  EXPECT_EQ(s.peak_of, "f16 MMAs");
  ASSERT_TRUE(find(s, Pipe::tensor));
  EXPECT_DOUBLE_EQ(find(s, Pipe::tensor)->busy, 60.0 / 340);
  EXPECT_DOUBLE_EQ(find(s, Pipe::memory)->busy, 0.1);
  EXPECT_EQ(find(s, Pipe::half), nullptr);  // never used
}

// The peak is that of what is multiplied, as the instruction has it, whatever its text is; and of
// arithmetic where no product was executed.
TEST(Statistics, TakesThePeakOfWhatIsMultiplied) {
  Record r = pipeline_record();
  r.device.times.tensor_f8 = 100;
  r.device.times.floating.lanes = 7;
  r.lines[3].product = ProductType::f8;
  Statistics s = statistics_of(r);
  EXPECT_EQ(s.peak_of, "f8 MMAs");
  EXPECT_DOUBLE_EQ(s.peak, 2 * 100 * 2 * 1.7e9);
  r.lines[0].product = ProductType::tf32;  // never executed
  EXPECT_EQ(statistics_of(r).peak_of, "f8 MMAs");
  r.lines[3].product = ProductType::none;
  s = statistics_of(r);
  EXPECT_EQ(s.peak_of, "f32 arithmetic");
  EXPECT_DOUBLE_EQ(s.peak, 2 * 7 * 2 * 1.7e9);
}

TEST(Statistics, NamesRolesByWhatWarpsIssue) {
  const Statistics s = statistics_of(pipeline_record());
  ASSERT_EQ(s.roles.size(), 3u);
  const Role* copies = role_of(s, "copies in");
  const Role* products = role_of(s, "MMAs");
  const Role* writers = role_of(s, "write back");
  ASSERT_TRUE(copies && products && writers);
  EXPECT_EQ(copies->warps, std::vector<std::uint32_t>{0});
  EXPECT_EQ(products->warps, std::vector<std::uint32_t>{1});
  EXPECT_EQ(writers->warps, (std::vector<std::uint32_t>{2, 3}));
  EXPECT_EQ(copies->instructions, 2 * 16u);
  // Of 80 cycles it ran 16 and waited 64 for the tensor core to free a stage.
  EXPECT_DOUBLE_EQ(copies->running, 16.0 / 80);
  EXPECT_DOUBLE_EQ(share_of(copies->waits, {Stall::mbarrier, Unit::commit}), 64.0 / 80);
  // Of 130, 19 and 42 + 12 + 57 for copies.
  EXPECT_DOUBLE_EQ(share_of(products->waits, {Stall::mbarrier, Unit::copy_in}), 111.0 / 130);
  EXPECT_DOUBLE_EQ(share_of(writers->waits, {Stall::tmem, Unit::count_}), 16.0 / 200);
}

// By one clock, the last moment of a run is the time that it took. A fault leaves CTAs of which no
// time is predicted: then it is the device's.
TEST(Statistics, TheClockOfARunIsThatOfItsTime) {
  Record r = test::pipeline_record();
  const RunTime time = run_time_of(r);
  EXPECT_NEAR(static_cast<double>(r.end) / time.clock * 1e-9, time.without_launch(), 1e-15);
  r.reports.emplace_back();
  r.reports.back().weight = Weight::hazard;
  EXPECT_EQ(run_time_of(r).clock, time.clock);
  r.reports.back().weight = Weight::fault;
  EXPECT_EQ(run_time_of(r).clock, 1.7);
  EXPECT_NEAR(run_time_of(r).without_launch(), 340 / 1.7e9, 1e-15);
}

// Without a clock, loads from TMEM are no operations of a record: the instructions of a
// run show them, but not those that it jumped over.
TEST(Statistics, NamesRolesByWhatWarpsExecute) {
  Record r = pipeline_record();
  r.timed = false;
  for (std::size_t i = 0; i < r.events.size(); ++i) {
    Event e = r.events[i];
    const Track& t = r.tracks[e.track];
    if (t.unit == Unit::tensor_load) e.cause = no_event;
    if (t.unit == Unit::warp && t.index >= 2) {
      e.stall = e.stall == Stall::tmem ? Stall::dependency : e.stall;
      if (e.kind == EventKind::run && e.amount == 4) e.pc = 3, e.until = 5;
    }
    if (t.unit == Unit::warp && t.index == 0 && e.kind == EventKind::run) {
      e.pc = 0, e.until = 5, e.amount = 1;
    }
    r.events.set(i, e);
  }
  const Statistics s = statistics_of(r);
  ASSERT_TRUE(role_of(s, "write back"));
  EXPECT_EQ(role_of(s, "write back")->warps, (std::vector<std::uint32_t>{2, 3}));
  ASSERT_TRUE(role_of(s, "copies in"));
  EXPECT_EQ(role_of(s, "copies in")->warps, std::vector<std::uint32_t>{0});
}

TEST(Statistics, SaysWhatFeedsAUnitWhileItIsIdle) {
  const Statistics s = statistics_of(pipeline_record());
  const UnitUse* tensor = find(s, Unit::tensor);
  ASSERT_TRUE(tensor);
  EXPECT_EQ(tensor->operations, 6u);
  EXPECT_EQ(tensor->amount, 6000u);
  EXPECT_FALSE(tensor->bytes);
  EXPECT_DOUBLE_EQ(tensor->busy, 60.0 / 200);  // from 50 to 90 and from 125 to 145
  EXPECT_DOUBLE_EQ(tensor->queued, 8.0 / 3);   // 1, 6 and 1
  EXPECT_DOUBLE_EQ(tensor->worked, 20);
  // Before 50 and from 145 on it has nothing to do. Between these it is idle from 90 to 125: its
  // warp waits until 122, and then runs.
  EXPECT_DOUBLE_EQ(tensor->outside, (50.0 + 55) / 200);
  EXPECT_DOUBLE_EQ(share_of(tensor->idle, {Stall::mbarrier, Unit::copy_in}), 32.0 / 200);
  EXPECT_DOUBLE_EQ(tensor->idle_running, 3.0 / 200);

  const UnitUse* copies = find(s, Unit::copy_in);
  ASSERT_TRUE(copies);
  EXPECT_TRUE(copies->bytes);
  EXPECT_EQ(copies->amount, 24576u);
  EXPECT_DOUBLE_EQ(copies->busy, 95.0 / 200);                   // 5 to 60 and 80 to 120
  EXPECT_DOUBLE_EQ(copies->in_flight, (41.0 + 52 + 42) / 200);  // from issue to end
}

TEST(Statistics, AddsUpStallsBytesAndConflicts) {
  const Statistics s = statistics_of(pipeline_record());
  EXPECT_EQ(s.stalled, 938u + 64 + 62);
  EXPECT_DOUBLE_EQ(share_of(s.stalls, {Stall::mbarrier, Unit::count_}), 938.0 / 1064);
  EXPECT_EQ(s.stalls.front().key.stall, Stall::mbarrier);
  EXPECT_EQ(s.shared.bytes, 24576u);
  EXPECT_DOUBLE_EQ(s.shared.share(), 24576.0 / 340 / 2 / 128);
  EXPECT_EQ(s.memory.bytes, 12288u);
  EXPECT_DOUBLE_EQ(s.memory.limit, 200);  // 340 GB/s at 1.7 GHz
  EXPECT_EQ(s.sum.wavefronts - s.sum.ideal_wavefronts, 8u);
  EXPECT_EQ(s.sum.sectors - s.sum.ideal_sectors, 32u);
  EXPECT_EQ(s.processors_used, 2u);
  EXPECT_DOUBLE_EQ(s.occupied, 400.0 / 680);
}

TEST(Statistics, PutsTheWorstLinesFirst) {
  const Statistics s = statistics_of(pipeline_record());
  ASSERT_EQ(s.lines.size(), 5u);  // the barrier's set-up was never executed
  EXPECT_EQ(s.lines[0].file, "pipeline.cu");
  EXPECT_EQ(s.lines[0].line, 6u);
  EXPECT_EQ(s.lines[0].stalls, 938u);
  EXPECT_EQ(s.lines[1].line, 9u);
  EXPECT_EQ(s.lines[2].file, "");  // without a source: the line of the PTX
  EXPECT_EQ(s.lines[2].ptx_line, 15u);
}

TEST(Statistics, SaysThatStartAndEndTakeMost) {
  const std::string verdict = statistics_of(pipeline_record()).verdict;
  EXPECT_EQ(verdict.find("Bound by prologue and epilogue of CTAs"), 0u) << verdict;
  EXPECT_NE(verdict.find("is busy 30%"), std::string::npos) << verdict;
  EXPECT_NE(verdict.find("52% of it"), std::string::npos) << verdict;
}

TEST(Statistics, SaysThatItWaitsForCopies) {
  // The third copy takes 800 cycles longer, and all that comes after it is as much later.
  Record r = pipeline_record();
  for (std::size_t i = 0; i < r.events.size(); ++i) {
    Event e = r.events[i];
    const Cycle o = r.tracks[e.track].block * 100;
    if (e.begin >= o + 122) e.issue += 800, e.begin += 800;
    if (e.end >= o + 120) e.end += 800;
    r.events.set(i, e);
  }
  r.end = 1140;
  const std::string verdict = statistics_of(r).verdict;
  EXPECT_EQ(verdict.find("Bound by load latency"), 0u) << verdict;
  EXPECT_NE(verdict.find("83% of it"), std::string::npos) << verdict;  // 832 of 1000
  EXPECT_NE(verdict.find("more stages"), std::string::npos) << verdict;
}

TEST(Statistics, SaysThatAUnitIsBusy) {
  Record r = pipeline_record();
  r.pipes[static_cast<std::size_t>(Pipe::l2)] = {300, 1};
  EXPECT_EQ(statistics_of(r).verdict.substr(0, 41), "Bound by L2's bandwidth: busy 88% of the ");
}

TEST(Statistics, CountsWhatWasSimulatedForTheWholeGrid) {
  Record r = pipeline_record();
  r.launch.grid = {20, 1, 1};  // of which two were simulated
  r.blocks_simulated = 2;
  r.end = 3400;
  const Statistics s = statistics_of(r);
  EXPECT_DOUBLE_EQ(find(s, Pipe::tensor)->busy, 600.0 / 3400);
  EXPECT_DOUBLE_EQ(s.l2.rate, 245760.0 / 3400);
}

TEST(Statistics, CountsTheBlocksOfAProcessorWhereTheRecordDoesNot) {
  Record r = pipeline_record();
  r.resident_blocks = r.resident_warps = 0;
  r.limited_by.clear();
  Statistics s = statistics_of(r);
  EXPECT_EQ(s.resident_blocks, 1u);
  EXPECT_EQ(s.resident_warps, 4u);
  EXPECT_EQ(s.limited_by, "the size of the grid");
  // On one processor they overlap; a third block has to wait for its threads.
  for (Track& t : r.tracks) t.processor = 0;
  r.launch.grid = {5, 1, 1};
  s = statistics_of(r);
  EXPECT_EQ(s.resident_blocks, 2u);
  EXPECT_EQ(s.limited_by, "threads");
}

TEST(Statistics, TextHasEveryPart) {
  const auto source = [](const std::string& file, std::uint32_t line) {
    return file == "pipeline.cu" && line == 6 ? std::string("  wait(full);") : std::string();
  };
  const std::string t = text(statistics_of(pipeline_record()), source, 3);
  for (const char* part :
       {"predicted 0.20 us with its launch, 0.19 us without, on A chip of two, 340 cycles at 1.79 "
        "GHz; 0.06 TFLOP/s, 17.6% of 0.34",
        "tensor core      17.6%", "warp 0: copies in", "warps 2-3: write back",
        "MMAs (mbarrier) 80.0%", "wavefronts of shared memory: 12, ideal 4, excess 8",
        "sectors of global memory: 64, ideal 32", "limited by shared memory",
        "pipeline.cu:6  [an mbarrier 100%]", "wait(full);", "PTX line 15"}) {
    EXPECT_NE(t.find(part), std::string::npos) << part << "\nin\n" << t;
  }
}

TEST(Statistics, WithoutTimeSaysSoAndShowsTheRest) {
  Record r = pipeline_record();
  r.timed = false;
  r.seconds = 0;
  const std::string t = text(statistics_of(r), nullptr);
  EXPECT_EQ(t.find("There is no time"), 0u) << t;
  EXPECT_EQ(t.find("predicted"), std::string::npos) << t;
  EXPECT_NE(t.find("sectors of global memory: 64"), std::string::npos) << t;
  EXPECT_NE(t.find("warp 1: MMAs"), std::string::npos) << t;
}

// A record may come from a file: its numbers may point nowhere.
TEST(Statistics, TakesWhateverNumbersARecordHas) {
  Record r = pipeline_record();
  r.tracks.resize(6);
  r.lines.resize(2);
  r.sources.clear();
  r.events.set(3, Event{900, 800, 700, 1, 2, 3, 99, 99, 2, 5, EventKind::operation, Stall::none});
  r.end = 0;
  r.device.times = {};
  r.launch.grid = {0, 0, 0};
  EXPECT_FALSE(text(statistics_of(r), nullptr).empty());
  EXPECT_FALSE(text(statistics_of(Record{}), nullptr).empty());
}

// ---- several launches ----

TEST(StatisticsSum, CountsAreAddedAndSharesAreOfAllTime) {
  const Statistics one = statistics_of(pipeline_record());
  Record longer = pipeline_record();
  longer.end *= 3;
  longer.seconds *= 3;
  StatisticsSum sum;
  sum.add(one);
  EXPECT_EQ(sum.take().verdict, one.verdict) << "one launch is what it is";
  EXPECT_DOUBLE_EQ(sum.take().launch, one.launch);
  sum.add(statistics_of(longer));
  const Statistics both = sum.take();
  EXPECT_EQ(sum.launches(), 2u);
  EXPECT_EQ(both.end, 4 * 340u);
  EXPECT_DOUBLE_EQ(both.seconds, 800e-9);
  EXPECT_EQ(both.blocks, 2 * one.blocks);
  EXPECT_EQ(both.sum.issued, 2 * one.sum.issued);
  EXPECT_EQ(both.stalled, 2 * one.stalled);
  EXPECT_EQ(both.l2.bytes, 2 * one.l2.bytes);
  // 60 cycles of 340, and 60 of 1020.
  EXPECT_DOUBLE_EQ(find(both, Pipe::tensor)->busy, 120.0 / 1360);
  EXPECT_DOUBLE_EQ(both.rate, 24000 / 800e-9);
  ASSERT_EQ(both.lines.size(), one.lines.size());
  for (std::size_t i = 0; i < one.lines.size(); ++i) {
    EXPECT_EQ(both.lines[i].stalls, 2 * one.lines[i].stalls);
    EXPECT_EQ(both.lines[i].counters.issued, 2 * one.lines[i].counters.issued);
  }
  double shares = 0;
  for (const Waited& w : both.stalls) shares += w.share;
  EXPECT_NEAR(shares, 1, 1e-9);
}

TEST(StatisticsSum, TheSameTwiceHasTheSameShares) {
  const Statistics one = statistics_of(pipeline_record());
  StatisticsSum sum;
  sum.add(one);
  sum.add(one);
  const Statistics both = sum.take();
  ASSERT_EQ(both.roles.size(), one.roles.size());
  const Role* copies = role_of(both, "copies in");
  ASSERT_TRUE(copies);
  EXPECT_DOUBLE_EQ(copies->running, 16.0 / 80);
  EXPECT_DOUBLE_EQ(share_of(copies->waits, {Stall::mbarrier, Unit::commit}), 64.0 / 80);
  EXPECT_EQ(copies->instructions, 4 * 16u);
  ASSERT_EQ(both.units.size(), one.units.size());
  for (std::size_t i = 0; i < one.units.size(); ++i) {
    EXPECT_DOUBLE_EQ(both.units[i].busy, one.units[i].busy);
    EXPECT_DOUBLE_EQ(both.units[i].worked, one.units[i].worked);
    EXPECT_EQ(both.units[i].operations, 2 * one.units[i].operations);
  }
  EXPECT_DOUBLE_EQ(both.l2.rate, one.l2.rate);
}

// A kernel that did something in one launch only.
TEST(StatisticsSum, WhatALaunchDidNotDoCountsAsNone) {
  const Statistics one = statistics_of(pipeline_record());
  Statistics idle = one;
  idle.units.clear();
  idle.pipes.clear();
  StatisticsSum before, behind;
  before.add(idle), before.add(one);
  behind.add(one), behind.add(idle);
  for (const StatisticsSum* sum : {&before, &behind}) {
    const Statistics both = sum->take();
    ASSERT_TRUE(find(both, Unit::tensor));
    EXPECT_DOUBLE_EQ(find(both, Unit::tensor)->busy, find(one, Unit::tensor)->busy / 2);
    EXPECT_DOUBLE_EQ(find(both, Unit::tensor)->worked, find(one, Unit::tensor)->worked);
    EXPECT_DOUBLE_EQ(find(both, Pipe::memory)->busy, 0.05);
  }
}

}  // namespace
}  // namespace tilescope::test
