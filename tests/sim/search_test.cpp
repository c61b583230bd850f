// Other orders: how they are written, that they are legal, and that a search finds those that
// matter.
#include "core/sim/machine/search.h"
#include "core/sim/machine/state.h"

#include <gtest/gtest.h>

#include "core/sim/machine/schedule_text.h"
#include "tests/sim/program.h"

namespace tilescope::sim {
namespace {

Machine machine_of(const std::string& name, std::vector<Hold> holds = {}) {
  Options options;
  options.holds = std::move(holds);
  Outcome<Machine> m =
      Machine::load(test::read_program(TILESCOPE_TESTS_DIR "/programs/" + name).job, options);
  EXPECT_TRUE(m.ok());
  return std::move(*m);
}

RunState finish(Search& search, std::uint64_t step = 1 << 20) {
  RunState state = RunState::running;
  for (int i = 0; i < 1'000'000 && state == RunState::running; ++i) state = search.advance(step);
  return state;
}

TEST(ScheduleText, ReadsBackWhatItWrites) {
  for (const char* text :
       {"0", "17", "0.4@1250", "7,0.4@1250,3.0@0", "refuse-waits", "7,refuse-waits,0.4@9",
        "refuse-grants", "2,refuse-waits,refuse-grants"}) {
    const Outcome<Schedule> schedule = parse_schedule(text);
    ASSERT_TRUE(schedule.ok()) << text;
    EXPECT_EQ(schedule_text(*schedule), text);
  }
}

TEST(ScheduleText, AFileHasItsWordsOnLines) {
  EXPECT_EQ(words_of_schedule("# what --prove found\n7\n0.4@1250 # late\r\n\nrefuse-waits"),
            "7,0.4@1250,refuse-waits");
  EXPECT_EQ(words_of_schedule("# nothing\n"), "");
}

TEST(ScheduleText, RefusesWhatIsNone) {
  for (const char* text : {"", "x", "-1", "1,2", "0.4", "4@5", "0.4@", "0.4@1,", "1@2.3", "0x10",
                           "99999999999999999999", "0.4@1250 "}) {
    EXPECT_FALSE(parse_schedule(text).ok()) << text;
  }
}

TEST(Hold, OfAWarpThatIsNotThereIsRefused) {
  const Job job = test::read_program(TILESCOPE_TESTS_DIR "/programs/overtaken_if_late.ptx").job;
  for (const Hold hold : {Hold{1, 0, 0}, Hold{0, 2, 0}}) {
    Options options;
    options.holds = {hold};
    EXPECT_FALSE(Machine::load(job, options).ok());
  }
}

// The warp that is held at the very beginning comes last of all; nothing else changes.
TEST(Hold, LastsUntilNothingElseCanGoOn) {
  for (std::uint32_t warp : {0u, 1u}) {
    Machine m = machine_of("locks_taken_crosswise.ptx", {{0, warp, 17}});
    bool alone = false;
    while (m.run(1) == RunState::running) {
      for (const Block& b : m.blocks()) {
        if (b.warps[warp].executed != 17) continue;
        alone = b.warps[1 - warp].live == 0;
      }
    }
    EXPECT_TRUE(alone);
    EXPECT_TRUE(m.reports().empty());
  }
}

TEST(Search, FindsLocksThatAreTakenCrosswise) {
  Search search(machine_of("locks_taken_crosswise.ptx"));
  ASSERT_EQ(finish(search), RunState::fault);
  EXPECT_EQ(search.found()->holds.size(), 1u);
  EXPECT_EQ(search.found()->reports.back().kind, "endless_loop");
}

TEST(Search, FindsAPhaseThatCanBeOvertaken) {
  Search search(machine_of("overtaken_if_late.ptx"));
  ASSERT_EQ(finish(search), RunState::fault);
  EXPECT_EQ(search.found()->reports.back().kind, "waiter_left_behind");
}

// A CTA that is held lets the others of a small grid go on, and what races only then is told.
TEST(Search, FindsHazardsThatOnlyALateCtaShows) {
  Machine usual = machine_of("newer_flag_read.ptx");
  ASSERT_EQ(usual.run(~std::uint64_t{0}), RunState::done);
  EXPECT_TRUE(usual.reports().empty());
  Search search(machine_of("newer_flag_read.ptx"), {.runs = 100});
  ASSERT_EQ(finish(search), RunState::done);
  ASSERT_EQ(search.hazards().size(), 1u);
  const Search::Hazard& h = search.hazards()[0];
  EXPECT_EQ(h.report.kind, "global_race");
  ASSERT_EQ(h.holds.size(), 1u);
  EXPECT_EQ(h.holds[0].block, 0u);
  Machine again = machine_of("newer_flag_read.ptx", h.holds);
  ASSERT_EQ(again.run(~std::uint64_t{0}), RunState::done);
  ASSERT_EQ(again.reports().size(), 1u);
  EXPECT_EQ(again.reports()[0].sentence, h.report.sentence);
}

// Of two strong accesses that race it is the scope that is wrong, and no order is missing.
TEST(Hazards, OfTwoStrongAccessesSayThatAScopeIsTooNarrow) {
  Machine m = machine_of("flag_of_narrow_scope_hazard.ptx");
  ASSERT_EQ(m.run(~std::uint64_t{0}), RunState::done);
  ASSERT_FALSE(m.reports().empty());
  const Report& first = m.reports().front();
  EXPECT_EQ(first.expected.rfind(".gpu or .sys on both", 0), 0u) << first.expected;
  EXPECT_EQ(first.found.rfind("two strong accesses, and the scope of one", 0), 0u) << first.found;
}

// What was found is found again: by the same search in other pieces, and by a run with its holds.
TEST(Search, SaysWhatShowsItAgain) {
  for (const char* name : {"locks_taken_crosswise.ptx", "overtaken_if_late.ptx"}) {
    Search whole(machine_of(name)), cut(machine_of(name));
    ASSERT_EQ(finish(whole), RunState::fault);
    ASSERT_EQ(finish(cut, 7), RunState::fault);
    EXPECT_EQ(whole.found()->holds, cut.found()->holds);
    EXPECT_EQ(whole.progress().tried, cut.progress().tried);
    Machine again = machine_of(name, whole.found()->holds);
    ASSERT_EQ(again.run(~std::uint64_t{0}), RunState::fault);
    EXPECT_EQ(again.reports().back().sentence, whole.found()->reports.back().sentence);
    EXPECT_EQ(text(again.reports().back().site), text(whole.found()->reports.back().site));
  }
}

// Of cluster_locks_in_a_ring.ptx: the blocks of each cluster that take locks.
Machine ring_of(std::uint32_t from, std::uint32_t count, std::vector<Hold> holds = {}) {
  Job job = test::read_program(TILESCOPE_TESTS_DIR "/programs/cluster_locks_in_a_ring.ptx").job;
  job.launch.grid = {4, 1, 1};
  job.arguments[1] = Argument::i32(static_cast<std::int32_t>(from));
  job.arguments[2] = Argument::i32(static_cast<std::int32_t>(count));
  Options options;
  options.holds = std::move(holds);
  Outcome<Machine> m = Machine::load(std::move(job), options);
  EXPECT_TRUE(m.ok());
  return std::move(*m);
}

// A deadlock of two blocks of a cluster, neither of which is the grid's first or last; and of
// three, which takes two warps that are late, each of another block. None of them deadlocks in
// order.
TEST(Search, FindsWhatOnlyBlocksOfAClusterTogetherShow) {
  struct Ring {
    std::uint32_t from, count;
    std::size_t holds;
  };
  for (const Ring ring : {Ring{1, 2, 1}, Ring{1, 3, 2}}) {
    SCOPED_TRACE(ring.count);
    EXPECT_EQ(ring_of(ring.from, ring.count).run(~std::uint64_t{0}), RunState::done);
    Search search(ring_of(ring.from, ring.count), {.runs = 10'000});
    ASSERT_EQ(finish(search), RunState::fault);
    const std::vector<Hold> holds = search.found()->holds;
    EXPECT_EQ(holds.size(), ring.holds);
    EXPECT_EQ(search.found()->reports.back().kind, "endless_loop");
    EXPECT_EQ(holds.front().block != holds.back().block, ring.holds == 2);
    const Outcome<Schedule> schedule = parse_schedule(schedule_text({0, holds}));
    ASSERT_TRUE(schedule.ok());
    Machine again = ring_of(ring.from, ring.count, schedule->holds);
    ASSERT_EQ(again.run(~std::uint64_t{0}), RunState::fault);
    EXPECT_EQ(again.reports().back().sentence, search.found()->reports.back().sentence);
  }
}

// Blocks that wait in turn for each other's arrivals, as they should.
TEST(Search, AccusesNoClusterThatWaitsForAll) {
  for (const char* name :
       {"cluster_remote_arrive.ptx", "cluster_ring.ptx", "cluster_multicast.ptx"}) {
    Search search(machine_of(name), {.runs = 400});
    EXPECT_EQ(finish(search), RunState::done) << name << search.found()->reports.back().sentence;
    EXPECT_GT(search.progress().points, 4u);
  }
}

TEST(Search, AccusesNobodyWhoWaitsForAll) {
  for (const char* name : {"mbarrier_told_of_phases.ptx", "matmul_tiled_sm_90.ptx"}) {
    Search search(machine_of(name), {.runs = 200});
    EXPECT_EQ(finish(search), RunState::done) << name;
    EXPECT_GT(search.progress().points, 4u);
    EXPECT_LE(search.progress().tried, 200u);
  }
}

// All orders with one hold come before those with two, and all of these before the end.
TEST(Search, EndsWhenAllOrdersAreTried) {
  Search one(machine_of("mbarrier_told_of_phases.ptx"), {.runs = 100'000, .holds = 1});
  ASSERT_EQ(finish(one), RunState::done);
  EXPECT_EQ(one.progress().tried, one.progress().points + 1);
  EXPECT_FALSE(one.cut_short());
  Search two(machine_of("mbarrier_told_of_phases.ptx"), {.runs = 100'000, .holds = 2});
  ASSERT_EQ(finish(two), RunState::done);
  EXPECT_GT(two.progress().tried, one.progress().tried);
  Search few(machine_of("mbarrier_told_of_phases.ptx"), {.runs = 3});
  ASSERT_EQ(finish(few), RunState::done);
  EXPECT_EQ(few.progress().tried, 3u);
  EXPECT_TRUE(few.cut_short());
}

}  // namespace
}  // namespace tilescope::sim
