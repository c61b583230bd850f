// Planted bugs: kernels of the ladder with a patch of a line or so (tests/kernels/bugs), each of
// which the simulator must name for what it is, at its place, and not by another name.
//
//   bug: the sum is loaded before the products are done
//   run: hgemm_v1 128x128x64 lazy               (or schedule=1..20: by one of these seeds at least;
//                                                grid=1: so many blocks, for steps that persist)
//   expect: fault tmem_in_use | part of the sentence | part of the sentence or of its place
//                                               (several: by another seed it may show in another
//                                               way)
//   clock: fault tmem_in_use | ... | ...        (where by the clock somebody else comes first, and
//                                               it is told by another name, or `nothing` is)
//   missing: empty[0]                           (of a deadlock: the mbarrier at which somebody is
//                                               missing whom all others wait for)
//   why: part of the sentence that says why      (of a deadlock)
//   --- a/kernels/...                            the patch
//
// What was compiled is beside the patch, as what differs from the kernel's own PTX: ./dev ptx makes
// it. Patches keep the number of lines, as every line that moves is one more that differs.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "core/run/deadlock_cause.h"
#include "core/sim/machine/machine.h"
#include "core/sim/machine/search.h"
#include "kernels/catalog/catalog.h"
#include "tests/kernels/bugs.h"
#include "tests/sim/chip_times.h"

namespace tilescope {
namespace {

using namespace test;

class PlantedBug : public testing::TestWithParam<std::string> {};

TEST_P(PlantedBug, IsNamed) {
  const Bug bug = bug_of(GetParam());
  const Outcome<Job> job = job_of(bug);
  ASSERT_TRUE(job.ok()) << job.error().sentence;
  bool named = false;
  std::vector<sim::Options> ways;
  for (std::uint64_t seed = bug.first_seed; seed <= bug.last_seed; ++seed) {
    ways.emplace_back();
    ways.back().lazy = bug.lazy;
    ways.back().schedule = seed;
  }
  // What shows in the order of turns shows in that of a chip's clock, too.
  if (!bug.lazy && bug.last_seed == 0) {
    ways.emplace_back();
    ways.back().clocked = true;
    ways.back().times = test::chip_times();
  }
  for (sim::Options& options : ways) {
    SCOPED_TRACE(options.clocked ? "by the clock" : "in turns");
    options.exact = false;
    Outcome<sim::Machine> machine = sim::Machine::load(*job, options);
    ASSERT_TRUE(machine.ok()) << machine.error().sentence;
    machine->run(~std::uint64_t{0});
    for (const Report& r : machine->reports()) {
      // A fault may have hazards on its way, which are true as well.
      const auto& wanted = options.clocked ? bug.by_the_clock : bug.expected;
      const auto lighter = [&](const Expected& e) {
        return e.weight == "fault" || (e.weight == "hazard" && r.weight == Weight::note);
      };
      if (r.weight != Weight::fault && lighter(wanted[0])) continue;
      const std::string all = r.sentence + "\n" + r.expected + "\n" + r.found + "\n" + text(r.site);
      EXPECT_TRUE(std::any_of(wanted.begin(), wanted.end(),
                              [&](const Expected& e) { return e.is(r, all); }))
          << name_of(r.weight) << " " << r.kind << ": " << all;
      if (r.kind == "deadlock" && !bug.missing.empty()) {
        EXPECT_NE(r.expected.find(" of the mbarrier " + bug.missing + " "), std::string::npos)
            << all;
      }
      if (r.kind == "deadlock" && !options.clocked) {
        ASSERT_NE(r.deadlock, nullptr);
        EXPECT_FALSE(bug.why.empty()) << "its patch does not say why: " << r.deadlock->sentence;
        EXPECT_NE(r.deadlock->sentence.find(bug.why), std::string::npos) << r.deadlock->sentence;
      }
      named = true;
    }
    if (bug.last_seed == 0) {
      const bool unseen = options.clocked && bug.unseen_by_the_clock;
      EXPECT_EQ(std::exchange(named, false), !unseen) << "no report at all, or one too many";
    }
  }
  if (bug.last_seed) {
    EXPECT_TRUE(named) << "no report at all";
  }
}

// What takes a lucky seed to be seen is found by looking for it.
TEST(PlantedBugs, OfASeedAreFoundByASearch) {
  std::size_t found = 0;
  for (const auto& file : std::filesystem::directory_iterator(bugs_folder)) {
    if (file.path().extension() != ".patch") continue;
    const Bug bug = bug_of(file.path().stem().string());
    if (bug.first_seed == 0 || bug.expected[0].weight != "fault") continue;
    SCOPED_TRACE(bug.name);
    const Outcome<Job> job = job_of(bug);
    ASSERT_TRUE(job.ok()) << job.error().sentence;
    sim::Options options;
    options.exact = false;
    Outcome<sim::Machine> machine = sim::Machine::load(*job, options);
    ASSERT_TRUE(machine.ok()) << machine.error().sentence;
    sim::Search search(std::move(*machine), {.runs = 500});
    ASSERT_EQ(search.advance(~std::uint64_t{0}), RunState::fault);
    const std::string kind = search.found()->reports.back().kind;
    EXPECT_TRUE(std::any_of(bug.expected.begin(), bug.expected.end(), [&](const Expected& e) {
      return e.kind == kind;
    })) << kind;
    ++found;
  }
  EXPECT_GT(found, 0u);
}

INSTANTIATE_TEST_SUITE_P(Kernels, PlantedBug, testing::ValuesIn(all_bugs()),
                         [](const auto& bug) { return bug.param; });

}  // namespace
}  // namespace tilescope
