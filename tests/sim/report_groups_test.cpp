#include "core/run/report_groups.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <random>
#include <string>
#include <vector>

#include "core/sim/machine/device.h"
#include "core/sim/machine/machine.h"
#include "tests/sim/program.h"

namespace tilescope {
namespace {

Report report(std::string kind, std::uint32_t line, std::uint32_t ptx_line,
              std::uint64_t count = 1) {
  Report r;
  r.weight = Weight::hazard;
  r.kind = std::move(kind);
  r.site.kernel = "k";
  r.site.source = line ? "k.cu" : "";
  r.site.source_line = line;
  r.site.ptx_line = ptx_line;
  r.count = count;
  return r;
}

TEST(ReportGroups, PutALineAndAKindTogetherInOrderOfFirstAppearance) {
  const std::vector<ReportGroup> found =
      groups({report("b", 8, 100, 3), report("a", 7, 90), report("b", 8, 104, 2),
              report("a", 8, 100), report("b", 8, 104)});
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].members, (std::vector<std::size_t>{0, 2, 4}));
  EXPECT_EQ(found[0].places, 2u);
  EXPECT_EQ(found[0].times, 6u);
  EXPECT_EQ(found[1].members, std::vector<std::size_t>{1});
  EXPECT_EQ(found[2].members, std::vector<std::size_t>{3});
}

TEST(ReportGroups, CountInlinedCodeUnderTheLineThatCallsIt) {
  Report first = report("a", 40, 100), second = report("a", 44, 120);
  first.site.source = second.site.source = "wrapper.h";
  first.site.caller = second.site.caller = "k.cu";
  first.site.caller_line = second.site.caller_line = 51;
  EXPECT_EQ(groups({first, second, report("a", 51, 130)}).size(), 1u);
  second.site.caller_line = 52;
  EXPECT_EQ(groups({first, second}).size(), 2u);
}

TEST(ReportGroups, TakeThePtxLineWhereThereIsNoSourceAndKeepWholeKernelsApart) {
  EXPECT_EQ(groups({report("a", 0, 10), report("a", 0, 10), report("a", 0, 11)}).size(), 2u);
  EXPECT_EQ(groups({report("a", 0, 0), report("a", 0, 0)}).size(), 2u);
  // PTX line 10 is not line 10 of a file.
  EXPECT_EQ(groups({report("a", 0, 10), report("a", 10, 10)}).size(), 2u);
}

TEST(ReportGroups, PutWhatNothingOrdersTogetherByTheKindsOfBoth) {
  Report first = report("tmem_order", 0, 100, 3), second = report("tmem_order", 0, 140, 2);
  first.pair = second.pair = "tcgen05.mma, then tcgen05.cp";
  Report other = report("tmem_order", 0, 100);
  other.pair = "tcgen05.cp, then tcgen05.cp";
  const std::vector<ReportGroup> found = groups({first, second, other});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].members, (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(text_of_counts(found[0]),
            "5 times tcgen05.mma, then tcgen05.cp: 2 PTX lines, 1 warp of 1 CTA");
  second.site.kernel = "l";
  EXPECT_EQ(groups({first, second}).size(), 2u);
}

TEST(ReportGroups, KeepWeightsApart) {
  Report fault = report("a", 8, 100);
  fault.weight = Weight::fault;
  EXPECT_EQ(groups({report("a", 8, 100), fault}).size(), 2u);
}

TEST(ReportGroups, CountAWarpOnce) {
  Report first = report("a", 8, 100, 3), second = report("a", 8, 104, 2);
  first.warps.add(0, 1);
  first.warps.add(5, 31);
  second.warps.add(0, 1);
  second.warps.add(0, 2);
  const std::vector<ReportGroup> found = groups({first, second});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].warps, 3u);
  EXPECT_EQ(found[0].blocks, 2u);
  EXPECT_EQ(text_of_counts(found[0]), "5 times at this line: 2 PTX lines, 3 warps of 2 CTAs");
  EXPECT_EQ(text_of_counts(groups({report("a", 8, 100)})[0]), "");
}

TEST(ReportGroups, LoseNoReportAndNoCount) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    std::vector<Report> reports(random() % 40);
    std::uint64_t times = 0;
    for (Report& r : reports) {
      r = report(std::string(1, static_cast<char>('a' + random() % 2)),
                 static_cast<std::uint32_t>(random() % 4), static_cast<std::uint32_t>(random() % 4),
                 random() % 9 + 1);
      times += r.count;
    }
    std::vector<int> seen(reports.size(), 0);
    std::size_t last_first = 0;
    for (const ReportGroup& group : groups(reports)) {
      ASSERT_FALSE(group.members.empty());
      EXPECT_GE(group.members.front(), last_first);
      EXPECT_LE(group.blocks, group.warps);
      last_first = group.members.front();
      times -= group.times;
      for (const std::size_t i : group.members) ++seen[i];
    }
    EXPECT_EQ(times, 0u);
    EXPECT_EQ(seen, std::vector<int>(reports.size(), 1));
  }
}

// What the machine tells of an unrolled loop is one entry, with all who took part.
TEST(ReportGroups, MakeOneOfAnUnrolledLoop) {
  const test::SimProgram program =
      test::read_program(TILESCOPE_TESTS_DIR "/programs/unrolled_race_hazard.ptx");
  Outcome<sim::Machine> machine = sim::Machine::load(program.job, {});
  ASSERT_TRUE(machine.ok());
  while (machine->run(1 << 20) == RunState::running) {
  }
  EXPECT_EQ(machine->reports().size(), 8u);
  const std::vector<ReportGroup> found = groups(machine->reports());
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(text_of_counts(found[0]), "16 times at this line: 8 PTX lines, 2 warps of 2 CTAs");
}

}  // namespace
}  // namespace tilescope
