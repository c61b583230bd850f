// What exercises of lessons are told of real runs, beside what the kernels' texts say must be so.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "app/lesson_trial.h"
#include "app/window_backend.h"
#include "viz/commands/commands.h"
#include "viz/session/lesson_evidence.h"

namespace tilescope {
namespace {

class Evidence : public ::testing::Test {
 protected:
  const RunFacts& ran(const std::string& kernel) {
    for (const std::string& line : {"open " + kernel, std::string("run")}) {
      const auto answer = execute(session, backend, line);
      EXPECT_TRUE(answer.ok()) << line << ": " << answer.error().sentence;
    }
    backend.wait();
    take_result(session, backend);
    evidence = evidence_of(session, backend);
    EXPECT_TRUE(evidence.facts);
    return *evidence.facts;
  }

  Session session;
  AppBackend backend;
  RunEvidence evidence;
};

// Two stages of A (128,64) and B (128,64) in f16; `free` takes an arrival of each of 128 threads
// (kernels/blackwell/hgemm_v7.cu: init).
TEST_F(Evidence, BarriersExpectWhatTheKernelSays) {
  const RunFacts& facts = ran("hgemm_v7 --m 256 --n 256 --k 512");
  EXPECT_EQ(facts.stages, 2u);
  std::map<std::string, RunFacts::Barrier> by_name;
  for (const RunFacts::Barrier& barrier : facts.barriers) by_name[barrier.name] = barrier;
  for (const char* full : {"full[0]", "full[1]"}) {
    EXPECT_EQ(by_name[full].bytes, std::vector<std::uint64_t>(4, 32768)) << "8 k-steps, 2 stages";
    EXPECT_EQ(by_name[full].arrivals, 1u);
  }
  EXPECT_EQ(by_name["free"].arrivals, 128u);
  EXPECT_EQ(by_name["empty[1]"].arrivals, 1u);
  EXPECT_EQ(facts.bound_says.find("Bound by " + facts.bound), 0u);
}

// K is no multiple of 64: the last boxes reach beyond the matrices, and bring zeros for what lies
// outside (hgemm_v4.cu expects whole tiles, 128 x 64 in f16, twice). However late in its phase the
// first byte comes.
TEST_F(Evidence, APhaseAtTheEdgeExpectsWholeBoxes) {
  for (const int k : {72, 88, 104, 136, 144, 152}) {
    const RunFacts& facts = ran("hgemm_v4 --m 128 --n 128 --k " + std::to_string(k));
    const auto full =
        std::find_if(facts.barriers.begin(), facts.barriers.end(),
                     [](const RunFacts::Barrier& barrier) { return barrier.name == "full"; });
    ASSERT_NE(full, facts.barriers.end()) << k;
    const auto steps = static_cast<std::size_t>((k + 63) / 64);
    EXPECT_EQ(full->bytes, std::vector<std::uint64_t>(steps, 32768)) << k;
  }
}

// k-step i is read from stage i mod 2, in the phase i / 2 of its `full`; warps 0 to 3 wait for
// `ready` until the last one is done, warp 7 loads and waits for `empty` alone, warp 4 for `full`.
TEST_F(Evidence, EachMomentFollowsTheKernelsOrder) {
  const RunFacts& facts = ran("hgemm_v7 --m 256 --n 256 --k 512");
  ASSERT_TRUE(facts.at);
  std::set<std::int64_t> steps;
  std::int64_t last = 0;
  std::set<std::string> loader, multiplier;
  for (std::uint64_t cycle = 0; cycle < facts.end; cycle += 40) {
    const RunFacts::Moment now = facts.at(cycle);
    std::map<std::string, std::uint32_t> phase(now.phases.begin(), now.phases.end());
    if (now.step) {
      ASSERT_TRUE(now.stage) << cycle;
      EXPECT_EQ(*now.stage, *now.step % 2) << cycle;
      EXPECT_GE(*now.step, last) << cycle;
      last = *now.step;
      steps.insert(last);
      const std::string full = "full[" + std::to_string(*now.stage) + "]";
      EXPECT_GT(phase[full], *now.step / 2) << "its phase is complete at " << cycle;
    }
    for (const RunFacts::Moment::Wait& wait : now.waits) {
      if (wait.warp == 7 && wait.barrier[0] != 'b') loader.insert(wait.barrier);
      if (wait.warp == 4 && wait.barrier[0] != 'b') multiplier.insert(wait.barrier);
      if (now.step && *now.step < 7 && wait.warp < 4) {
        EXPECT_EQ(wait.barrier, "ready") << cycle;
      }
    }
    if (now.step && *now.step == 4) {
      std::set<std::uint32_t> writers;
      for (const RunFacts::Moment::Wait& wait : now.waits) {
        if (wait.warp < 4) writers.insert(wait.warp);
      }
      EXPECT_EQ(writers.size(), 4u) << cycle;
    }
  }
  EXPECT_EQ(steps, (std::set<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(loader, (std::set<std::string>{"empty[0]", "empty[1]"}));
  EXPECT_EQ(multiplier, (std::set<std::string>{"full[0]", "full[1]"}));
}

// `free` is initialised with 256, and 128 threads arrive (kernels/lessons/hgemm_stuck.cu): the
// multiplier waits for it, and all that follows from that waits too.
TEST_F(Evidence, ADeadlockNamesWhoWaitsInVain) {
  const RunFacts& facts =
      ran("hgemm_v7 --m 256 --n 256 --k 256 --grid 1 --ptx ptx/hgemm_stuck.ptx");
  std::map<std::string, std::vector<std::uint32_t>> stuck;
  for (const RunFacts::Stuck& each : facts.stuck) stuck[each.barrier] = each.warps;
  EXPECT_EQ(stuck["free"], (std::vector<std::uint32_t>{4}));
  EXPECT_EQ(stuck["ready"], (std::vector<std::uint32_t>{0, 1, 2, 3}));
  EXPECT_FALSE(facts.source.empty());
}

TEST_F(Evidence, ATrialSaysWhetherItIsRightAndHowLongItTakes) {
  const auto right = try_kernel("hgemm_v5 --m 128 --n 128 --k 256");
  const auto longer = try_kernel("hgemm_v5 --m 128 --n 128 --k 1024");
  ASSERT_TRUE(right.ok() && longer.ok());
  EXPECT_TRUE(right->right) << right->problem;
  EXPECT_GT(longer->seconds, right->seconds);
  const auto wrong = try_kernel("elementwise_add --m 37 --n 150 --ptx ptx/swapped_tiles.ptx");
  ASSERT_TRUE(wrong.ok());
  EXPECT_FALSE(wrong->right);
  EXPECT_FALSE(wrong->problem.empty());
  // Its result is right; a fence is missing.
  const auto hazard =
      try_kernel("hgemm_v7 --m 256 --n 256 --k 256 --grid 1 --ptx ptx/hgemm_unfenced.ptx");
  ASSERT_TRUE(hazard.ok());
  EXPECT_FALSE(hazard->right);
  EXPECT_FALSE(try_kernel("nosuch").ok());
}

}  // namespace
}  // namespace tilescope
