// Rings that threads fill by cp.async, in records of real programs: which bytes, which groups, what
// says that a stage is full and free. Stages, steps and groups are counted by hand from the
// programs; times are those of the record's own barrier phases.
#include <gtest/gtest.h>

#include "core/profile/handoffs.h"
#include "core/record/recorder.h"
#include "core/sim/machine/machine.h"
#include "tests/sim/chip_times.h"
#include "tests/sim/program.h"

namespace tilescope::sim {
namespace {

struct Ran {
  explicit Ran(const std::string& name, bool clocked = true) {
    const test::SimProgram program =
        test::read_program(std::string(TILESCOPE_SOURCE_DIR) + "/tests/sim/programs/" + name);
    EXPECT_EQ(program.mistake, "");
    Recorder recorder;
    Options options;
    options.recorder = &recorder;
    options.clocked = clocked;
    if (clocked) options.times = test::chip_times();
    auto machine = Machine::load(program.job, options);
    EXPECT_TRUE(machine.ok());
    machine->run(~std::uint64_t{0});
    EXPECT_EQ(machine->state(), RunState::done);
    record = recorder.take();
    timeline.emplace(record);
    pipeline = pipeline_of(*timeline, statistics_of(record).roles, 0);
  }
  Cycle phase_end(std::size_t barrier, std::size_t phase) const {
    return record.events[pipeline.barriers.at(barrier).phases.at(phase)].end;
  }
  Record record;
  std::optional<Timeline> timeline;
  Pipeline pipeline;
};

std::vector<ByteSpan> bytes_of(const Pipeline& p) {
  std::vector<ByteSpan> out;
  for (const RingStage& s : p.stages) out.insert(out.end(), s.spans.begin(), s.spans.end());
  return out;
}

TEST(Rings, GroupsOfCpAsyncFillAndABarrierHandsOn) {
  for (const bool clocked : {true, false}) {
    SCOPED_TRACE(clocked);
    const Ran run("cp_async_ring.ptx", clocked);
    const Pipeline& p = run.pipeline;
    ASSERT_EQ(p.rings.size(), 1u);
    EXPECT_EQ(p.rings[0].holds, "IN");
    EXPECT_EQ(bytes_of(p), (std::vector<ByteSpan>{{0, 1024}, {1024, 2048}, {2048, 3072}}));
    for (std::uint32_t i = 0; i < 3; ++i) {
      const RingStage& s = p.stages[i];
      EXPECT_TRUE(s.groups && s.by_threads);
      EXPECT_EQ(s.own, clocked);  // threads' loads are known by the clock alone
      EXPECT_EQ(full_text(run.record, p, s), "wait_group 1, bar 0");
      ASSERT_EQ(s.fillings.size(), 2u);
      for (std::uint32_t use = 0; use < 2; ++use) {
        const Filling& f = s.fillings[use];
        const std::uint32_t step = i + 3 * use;
        EXPECT_EQ(f.phase, step);  // a group each step
        EXPECT_EQ(f.step, step);
        EXPECT_EQ(f.bytes, 1024u);
        EXPECT_EQ(f.copies.size(), 2u);  // of two warps
        ASSERT_EQ(f.parts.size(), 1u);
        EXPECT_EQ(part_text(run.record, f.parts[0]), "IN [" + std::to_string(4 * step) + ":" +
                                                         std::to_string(4 * step + 4) + ", 0:64]");
        // The barrier of each step is behind the wait for its group.
        EXPECT_LE(f.landed, f.awaited);
        EXPECT_LE(f.awaited, f.full);
        EXPECT_EQ(f.full, run.phase_end(*s.full, step));
        if (!clocked) continue;
        EXPECT_EQ(f.loads.size(), 2u);
        EXPECT_GE(f.read_begin, f.full);
        EXPECT_LE(f.read_begin, f.read_end);
        if (use == 0) {
          EXPECT_EQ(f.freed, run.phase_end(*s.free, step + 1));
        } else {
          EXPECT_TRUE(f.freed == never_ends || f.freed >= f.read_end);
        }
      }
      if (clocked) {
        ASSERT_TRUE(s.free);
        EXPECT_EQ(*s.free, *s.full);
        EXPECT_EQ(p.barriers[*s.free].unit, Unit::barrier);
      }
    }
    EXPECT_TRUE(absent_handoffs(run.record, p).empty());
  }
}

TEST(Rings, HandoffsSayWaitGroupAndBarrier) {
  const Ran run("cp_async_ring.ptx");
  const std::string text = handoffs_text(run.record, run.pipeline);
  EXPECT_NE(text.find("Shared memory: IN, 3 stages of 1024 bytes"), std::string::npos) << text;
  EXPECT_NE(text.find("cp.async, warps 0-1"), std::string::npos) << text;
  EXPECT_NE(text.find("wait_group 1, bar 0"), std::string::npos) << text;
  EXPECT_NE(text.find("ld.shared, warps 0-1"), std::string::npos) << text;
  EXPECT_NE(text.find("| group | awaited |"), std::string::npos) << text;
  EXPECT_NE(text.find("complete on no mbarrier"), std::string::npos) << text;
  EXPECT_EQ(text.find("Absent"), std::string::npos) << text;
}

TEST(Rings, CpAsyncThatAnMbarrierIsToldOf) {
  const Ran run("cp_async_ring_mbarrier.ptx");
  const Pipeline& p = run.pipeline;
  ASSERT_EQ(p.rings.size(), 1u);
  EXPECT_EQ(bytes_of(p), (std::vector<ByteSpan>{{0, 512}, {512, 1024}, {1024, 1536}}));
  for (std::uint32_t i = 0; i < 3; ++i) {
    const RingStage& s = p.stages[i];
    EXPECT_TRUE(s.by_threads);
    EXPECT_FALSE(s.groups);
    ASSERT_TRUE(s.full && s.free);
    EXPECT_EQ(p.barriers[*s.full].object, 1536 + 8 * i);
    EXPECT_EQ(p.barriers[*s.free].object, 1560 + 8 * i);
    ASSERT_EQ(s.fillings.size(), 2u);
    for (std::uint32_t use = 0; use < 2; ++use) {
      EXPECT_EQ(s.fillings[use].phase, use);
      EXPECT_EQ(s.fillings[use].bytes, 512u);
      EXPECT_EQ(s.fillings[use].full, run.phase_end(*s.full, use));
    }
  }
  EXPECT_TRUE(absent_handoffs(run.record, p).empty());
}

// Copies that are waited for once are stages that are used once.
TEST(Rings, ProgramsOfTwoStages) {
  const Ran run("cp_async_pipeline.ptx");
  ASSERT_EQ(run.pipeline.rings.size(), 1u);
  ASSERT_EQ(run.pipeline.stages.size(), 2u);
  for (std::uint32_t i = 0; i < 2; ++i) {
    const RingStage& s = run.pipeline.stages[i];
    EXPECT_EQ(s.spans, (std::vector<ByteSpan>{{2048 * i, 2048 * i + 2048}}));
    ASSERT_EQ(s.fillings.size(), 2u);
    EXPECT_EQ(s.fillings[1].phase, i + 2);
    // Two barriers each step: behind the wait, and behind the reads.
    EXPECT_EQ(s.fillings[0].full, run.phase_end(*s.full, 2 * i));
    EXPECT_EQ(s.fillings[0].freed, run.phase_end(*s.free, 2 * i + 1));
  }
}

}  // namespace
}  // namespace tilescope::sim
