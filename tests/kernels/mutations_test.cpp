// Changes of synchronisation and data movement in right kernels (mutator.h): fixed ones, each of
// which the simulator must name for what it is, at its place; and a sample by seeds, of which all
// that harm must be named.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/kernels/mutants.h"
#include "tests/kernels/products.h"

namespace tilescope {
namespace {

using namespace test;

class PlantedMutation : public testing::TestWithParam<std::size_t> {};

TEST_P(PlantedMutation, IsNamed) {
  const Planted& planted = planted_mutations[GetParam()];
  const Subject& s = subject_named(planted.subject);
  const Mutation* m = s.mutator->of(planted.kind, planted.n);
  ASSERT_NE(m, nullptr) << planted.subject << " has not so many: " << planted.kind;
  SCOPED_TRACE(fmt::format("{}, {}", planted.subject, m->sentence));
  const Outcome<Fate> run = fate_of(s, *m, with(planted.schedule, planted.lazy));
  ASSERT_TRUE(run.ok()) << run.error().where << ": " << run.error().sentence;
  const std::string told = told_instead(s, *m, planted, run->reports);
  EXPECT_EQ(told, "") << "expected " << planted.report << ", " << planted.words << ", "
                      << planted.place << "; told was what stands above";
}

std::vector<std::size_t> fixed() {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < planted_mutations.size(); i += sanitized ? 6 : 1) out.push_back(i);
  return out;
}

INSTANTIATE_TEST_SUITE_P(Kernels, PlantedMutation, testing::ValuesIn(fixed()));

// ---- a sample ----

struct Exception {
  const char* kind;     // how it begins
  const char* subject;  // empty: of any
  const char* reason;
};

// What may be told nothing of, and the result right in all orders tried.
const Exception harmless[] = {
    {"twice wgmma.", "", "waits, fences and empty groups change nothing"},
    {"twice fence.", "", "nor does a fence"},
    {"twice bar.sync", "", "nor a barrier"},
    {"twice st", "", "nor the same bytes again (st.shared, stmatrix)"},
    {"twice cp.async.bulk.commit_group", "", "an empty group"},
    {"twice cp.async.bulk.wait_group", "", "waits again"},
    {"twice barrier.cluster", "", "the cluster meets again"},
    {"other bar.sync", "", "another number, where all threads of the CTA meet at it"},
    {"less wgmma.wait_group", "", "waits for more than it must"},
    {"less cp.async.bulk.wait_group", "", "waits for more than it must"},
    {"less setmaxnreg", "", "PTX's registers have no number: whether they suffice ptxas says"},
    {"drop setmaxnreg.inc", "", "the same"},
    {"move fence.proxy.async behind bar.sync", "", "the fence may stand at the reader"},
    {"move bar.sync behind wgmma.fence", "", "they order different things"},
    {"move bar.sync behind mbarrier.arrive.expect_tx", "", "who initialised it may use it"},
    {"move mbarrier.arrive.expect_tx behind cp.async.bulk", "",
     "bytes may come before they are expected, in the same phase"},
    {"drop fence.mbarrier_init", "", "no source says that a barrier behind it is not enough"},
    {"move mbarrier.init behind fence.mbarrier_init", "", "the same"},
    {"drop fence.proxy.async", "wgmma_release_previous", "the same, of an mbarrier's init"},
    {"drop fence.proxy.async", "wgmma_tma", "the same"},
    {"async.global for async.shared::cta in fence", "wgmma_release_previous", "the same"},
    {"async.global for async.shared::cta in fence", "wgmma_tma", "the same"},
    {"move mbarrier.init behind fence.proxy.async", "", "the same"},
    {"drop bar.sync", "",
     "a product comes after what its four warps did before they issued it (measured on an H100), "
     "and its end is taken to be that of all four: PTX says neither"},
    {"move wgmma.wait_group behind bar.sync", "wgmma_v1", "the same"},
    {"drop wgmma.fence", "", "sums of one shape follow each other without one"},
    {"move wgmma.fence behind wgmma.mma_async", "", "the same"},
    {".relaxed.cta for .release.cta in mbarrier.arrive.expect_tx", "", "it hands over nothing"},
    {"leading of ", "", "not used with a swizzle of 128 bytes"},
    {"16 bytes of ", "wgmma_stage_released", "all its elements are alike"},
    {"32 bytes of ", "wgmma_chain", "all its elements are alike"},
    {"move wgmma.commit_group behind wgmma.mma_async", "wgmma_two_groups",
     "the first group has one product more"},
    {"no first stage", "wgmma_v5", "with so many tiles along K it is never the last stage here"},
    {"no first stage", "wgmma_v6", "the same"},
    {"last barrier of mbarrier.try_wait", "wgmma_v7",
     "behind the last tile: a CTA leaves earlier, and a chip lets arrivals come to one that has "
     "left"},
    {"last barrier of mbarrier.try_wait", "wgmma_v8", "the same"},
    {"once mbarrier.try_wait", "", "seen only where try_wait gives up: by some seeds"},
};

// What makes another product of it, all of which PTX allows: only the difference tells.
const Exception other_product[] = {
    {"16 bytes of ", "", "other elements are multiplied"},
    {"32 bytes of ", "", "the same"},
    {"1024 bytes of ", "", "the same"},
    {"8192 bytes of ", "", "the same"},
    {"base of ", "", "the same"},
    {"leading of ", "", "the same"},
    {"stride of ", "", "the same"},
    {"swizzle of ", "", "the same"},
    {"column of cp.async.bulk", "", "other elements are copied"},
    {"few columns of cp.async.bulk", "", "the same"},
    {"row of cp.async.bulk", "", "the same"},
    {"drop stmatrix", "", "what lay there before is stored, and that was defined"},
};

template <std::size_t count>
const Exception* find(const Exception (&all)[count], const Subject& s, const Mutation& m) {
  for (const Exception& e : all) {
    if (m.kind.rfind(e.kind, 0) == 0 && (!*e.subject || s.name == e.subject)) return &e;
  }
  return nullptr;
}

const char* const subjects[] = {"wgmma_v1",
                                "wgmma_v2",
                                "wgmma_v3",
                                "wgmma_v4",
                                "wgmma_v5",
                                "wgmma_v6",
                                "wgmma_v7",
                                "wgmma_v8",
                                "wgmma_tma",
                                "wgmma_setmaxnreg",
                                "wgmma_stage_released",
                                "wgmma_release_previous",
                                "wgmma_two_groups",
                                "wgmma_chain"};

// Of the orders, those up to the first in which something is told.
TEST(Mutations, ThoseOfASampleThatHarmAreNamed) {
  const std::vector<sim::Options> orders = {with(0, false), with(0, true), with(7, false),
                                            with(15, true)};
  constexpr std::uint64_t seeds = sanitized ? 14 : 140;
  std::size_t named = 0, quiet = 0, different = 0;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const Subject& s = subject_named(subjects[seed % std::size(subjects)]);
    const Mutation& m = s.mutator->of_seed(seed);
    SCOPED_TRACE(fmt::format("{}, seed {}, \"{}\": {}", s.name, seed, m.kind, m.sentence));
    bool told = false, right = true;
    for (const sim::Options& order : orders) {
      const Outcome<Fate> run = fate_of(s, m, order);
      ASSERT_TRUE(run.ok()) << run.error().where << ": " << run.error().sentence;
      EXPECT_FALSE(run->state == RunState::running && run->reports.empty()) << "endless";
      right = right && (run->right || !run->reports.empty());
      told = told || !run->reports.empty();
      if (told) break;
    }
    named += told;
    if (told) continue;
    (right ? quiet : different) += 1;
    EXPECT_TRUE(right ? find(harmless, s, m) : find(other_product, s, m))
        << (right ? "nothing was told, and it is not known to be harmless"
                  : "the product is wrong, and nothing was told");
  }
  EXPECT_GT(named, seeds * 2 / 5) << quiet << " quiet, " << different << " different";
}

// An exception of a kind that there is not is a mistake.
TEST(Mutations, ExceptionsAreOfKindsThatThereAre) {
  std::set<std::string> missing;
  const auto look = [&](const Exception& e) {
    for (const char* name : subjects) {
      if (*e.subject && std::string(name) != e.subject) continue;
      for (const Mutation& m : subject_named(name).mutator->all()) {
        if (m.kind.rfind(e.kind, 0) == 0) return;
      }
    }
    missing.insert(e.kind);
  };
  for (const Exception& e : harmless) look(e);
  for (const Exception& e : other_product) look(e);
  for (const std::string& kind : missing) ADD_FAILURE() << kind;
}

// No line comes or goes, and the same seed makes the same change.
TEST(Mutations, KeepTheLinesOfTheText) {
  for (const char* name : subjects) {
    const Subject& s = subject_named(name);
    const std::string& ptx = s.job.program.ptx;
    const Mutator again(ptx);
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const Mutation& m = s.mutator->of_seed(seed);
      const std::string changed = s.mutator->apply(m);
      EXPECT_EQ(std::count(changed.begin(), changed.end(), '\n'),
                std::count(ptx.begin(), ptx.end(), '\n'));
      EXPECT_NE(changed, ptx) << m.sentence;
      EXPECT_EQ(again.of_seed(seed).sentence, m.sentence);
    }
  }
}

}  // namespace
}  // namespace tilescope
