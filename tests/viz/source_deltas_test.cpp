// The counters of a line of the source carry how much more or less they are than the baseline's.
#include <gtest/gtest.h>

#include "tests/viz/timeline_fixture.h"
#include "viz/machine/machine_scene.h"

namespace tilescope {
namespace {

constexpr const char* ptx = R"(.version 8.3
.target sm_90
.address_size 64
.visible .entry add(.param .u64 c)
{
  .reg .b32 %r<4>;
  .loc 1 2 0
  mov.u32 %r1, %tid.x;
  .loc 1 3 0
  add.u32 %r2, %r1, 1;
  ret;
}
.file 1 "kernels/now.cu"
)";

// A record of the program: each instruction issued so often, and stalled for so many cycles.
std::shared_ptr<const sim::Record> record_of(const std::string& file, std::uint64_t issued,
                                             std::uint64_t stalled,
                                             const std::vector<std::uint32_t>& lines) {
  auto record = std::make_shared<sim::Record>();
  record->kernel = "add";
  record->timed = true;
  record->end = 1000;
  record->sources = {file};
  for (const std::uint32_t line : lines) {
    sim::RecordedLine of;
    of.text = "add.u32";
    of.line = line;
    record->lines.push_back(of);
    sim::LineCounters counters;
    counters.issued = issued;
    counters.stalled[static_cast<std::size_t>(sim::Stall::global)] = stalled;
    record->counters.push_back(counters);
  }
  return record;
}

TEST(SourceDeltas, StandBesideTheCountersWhereBothHaveTheLine) {
  Job job;
  job.program = {"add", ptx};
  job.arguments.push_back(Argument::u64(0));
  auto stepper = sim::Stepper::load(std::move(job));
  ASSERT_TRUE(stepper.ok()) << stepper.error().sentence;
  LiveRun live(std::move(*stepper));
  const std::vector<std::string> now_text{"kernel {", "  x = tid;", "  y = x + 1;", "}"};
  const std::vector<std::string> old_text{"// old", "kernel {", "  x = tid;", "  y = x + 2;", "}"};
  live.sources["kernels/now.cu"] = now_text;
  auto before = std::make_shared<RunResult>(), now = std::make_shared<RunResult>();
  before->kernel.name = "hgemm_old";
  before->kernel.source = "kernels/old.cu";
  before->source = old_text;
  before->record = record_of("kernels/old.cu", 40, 500, {3, 4, 4, 4});
  now->kernel.name = "add";
  now->kernel.source = "kernels/now.cu";
  now->source = now_text;
  now->record = record_of("kernels/now.cu", 47, 200, {2, 3, 3, 3});
  const ComparisonView comparison(before, now);
  const RunCursor spot;
  const std::vector<Breakpoint> none;
  const MachineShown shown{live, spot, now->record.get(), light_theme(), none, &comparison};
  Scene scene;
  Scroll scroll;
  Box ptx_room;
  double most = 0;
  draw_source(scene, shown, {0, 0, 1400, 400}, scroll, ptx_room, most);
  const std::vector<std::string> texts = test::texts_of(scene);
  const auto count = [&](const std::string& text) {
    return std::count(texts.begin(), texts.end(), text);
  };
  EXPECT_EQ(count("+7"), 1) << "line 2 is line 3 of the baseline; line 3 is in neither other";
  EXPECT_EQ(count("-300"), 1);
  bool told = false;
  for (const Target& target : scene.targets) {
    told = told || target.hint ==
                       "issued 47 times, 7 more than in hgemm_old; stalled 200 cycles, "
                       "300 fewer than in hgemm_old";
  }
  EXPECT_TRUE(told);
  const MachineShown alone{live, spot, now->record.get(), light_theme(), none, nullptr};
  Scene without;
  draw_source(without, alone, {0, 0, 1400, 400}, scroll, ptx_room, most);
  EXPECT_EQ(test::texts_of(without).size() + 4, texts.size()) << "two columns with a number each";
}

}  // namespace
}  // namespace tilescope
