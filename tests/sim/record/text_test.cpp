// A record as text.
#include "core/record/text.h"

#include <gtest/gtest.h>

#include "tests/sim/record/synthetic_record.h"

namespace tilescope::sim {
namespace {

const TextChoice timeless = [] {
  TextChoice choice;
  choice.times = false;
  choice.barriers = {
      {0, "full[0]"}, {8, "full[1]"}, {16, "empty[0]"}, {24, "empty[1]"}, {32, "sums"}};
  return choice;
}();

SyntheticPipeline tiny() {
  SyntheticPipeline pipeline;
  pipeline.processors = pipeline.blocks = 1;
  pipeline.steps = 3;
  pipeline.stages = 2;
  pipeline.writers = 1;
  return pipeline;
}

TEST(RecordText, WithoutTimesTellsWhatWarpsDo) {
  EXPECT_EQ(text(synthetic_record(tiny()), timeless), R"(CTA 0
  warp 0
    copies in of synthetic.cu:10, 16384 bytes
    copies in of synthetic.cu:11, 16384 bytes
    copies in of synthetic.cu:10, 16384 bytes
    copies in of synthetic.cu:11, 16384 bytes
    copies in of synthetic.cu:10, 16384 bytes
    copies in of synthetic.cu:11, 16384 bytes
  warp 1
    multiplies of synthetic.cu:12, 524288 multiply-adds (4 times)
    commits of synthetic.cu:13
    multiplies of synthetic.cu:12, 524288 multiply-adds (4 times)
    commits of synthetic.cu:13
    multiplies of synthetic.cu:12, 524288 multiply-adds (4 times)
    commits of synthetic.cu:13
  warp 2
    loads from TMEM of synthetic.cu:14, 4096 bytes
    32 arrivals at barrier 1 phase 0
    copies out of synthetic.cu:16, 16384 bytes
  barrier 1: 1 phase
  mbarrier full[0]: 2 phases
    each: 32768 bytes by copies in; 1 arrival
  mbarrier full[1]: 1 phase
    phase 0: 32768 bytes by copies in; 1 arrival
  mbarrier empty[0]: 2 phases
    each: 1 arrival by commits
  mbarrier empty[1]: 1 phase
    phase 0: 1 arrival by commits
  mbarrier sums: 1 phase
    phase 0: 1 arrival by commits
)");
}

// The lengths of everything are drawn from the seed; so is who waits.
TEST(RecordText, WithoutTimesDoesNotDependOnThem) {
  SyntheticPipeline pipeline;
  pipeline.blocks = 6;
  const std::string told = text(synthetic_record(pipeline), timeless);
  TextChoice timed;
  const std::string timed_told = text(synthetic_record(pipeline), timed);
  for (std::uint64_t seed = 2; seed < 20; ++seed) {
    pipeline.seed = seed;
    pipeline.open_phases = seed % 2;
    EXPECT_EQ(text(synthetic_record(pipeline), timeless), told);
    EXPECT_NE(text(synthetic_record(pipeline), timed), timed_told);
  }
  pipeline.steps = 15;
  EXPECT_NE(text(synthetic_record(pipeline), timeless), told);
}

TEST(RecordText, WithTimesTellsAllOfABlockOrUnit) {
  Record record = synthetic_record(tiny());
  TextChoice choice = timeless;
  choice.times = true;
  choice.unit = Unit::mbarrier;
  const std::string all = text(record, choice);
  EXPECT_NE(all.find("CTA 0 mbarrier full[1]  phase 0 is complete  <- copies in at "),
            std::string::npos)
      << all;
  choice.unit.reset();
  choice.block = 1;
  EXPECT_EQ(text(record, choice), "");
  choice.block = 0;
  const std::string block = text(record, choice);
  EXPECT_EQ(static_cast<std::size_t>(std::count(block.begin(), block.end(), '\n')),
            record.events.size());
  EXPECT_NE(block.find("warp 1  waits at synthetic.cu:12 for mbarrier full[0] phase 0  <- mbarrier "
                       "full[0] at "),
            std::string::npos)
      << block;
  EXPECT_NE(block.find("note: No machine made this record."), std::string::npos);
}

}  // namespace
}  // namespace tilescope::sim
