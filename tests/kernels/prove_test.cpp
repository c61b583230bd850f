// Both ladders are proved: at a few tiles, ragged, and with as many blocks along K as fill each
// stage more than once.
#include "core/sim/machine/prove.h"

#include <gtest/gtest.h>

#include "tests/kernels/shipped.h"

namespace tilescope::sim {
namespace {

struct Proved {
  const char* kernel;
  Sizes sizes;
  std::uint32_t grid = 0;  // CTAs; 0: as many as the catalog says
};

void PrintTo(const Proved& p, std::ostream* out) {
  *out << p.kernel;
}

class Rung : public testing::TestWithParam<Proved> {};

TEST_P(Rung, DoesTheSameInEveryOrder) {
  Job job = test::shipped_job(GetParam().kernel, GetParam().sizes);
  if (GetParam().grid) job.launch.grid = {GetParam().grid, 1, 1};
  Options options;
  options.exact = false;
  Outcome<Proof> proof = Proof::begin(std::move(job), options);
  ASSERT_TRUE(proof.ok()) << proof.error().sentence;
  while (proof->verdict() == Proof::Verdict::running && !proof->searches()) {
    ASSERT_TRUE(proof->advance(1'000'000).ok());
  }
  EXPECT_EQ(proof->verdict(), Proof::Verdict::proved);
  EXPECT_EQ(proof->runs(), 5u);
  for (const std::string& reason : proof->reasons()) ADD_FAILURE() << reason;
  for (const Proof::Pair& pair : proof->pairs()) {
    ADD_FAILURE() << text(pair.earlier) << " and " << text(pair.later);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Kernels, Rung,
    testing::Values(Proved{"hgemm_v1", {128, 128, 64}}, Proved{"hgemm_v2", {128, 128, 320}},
                    Proved{"hgemm_v3", {256, 256, 192}}, Proved{"hgemm_v4", {200, 264, 200}},
                    Proved{"hgemm_v5", {200, 264, 328}}, Proved{"hgemm_v6", {264, 392, 328}, 2},
                    Proved{"hgemm_v7", {264, 392, 328}, 2}, Proved{"hgemm_v8", {264, 392, 648}, 2},
                    Proved{"hgemm_v9", {520, 520, 648}, 2}, Proved{"hgemm_v10", {520, 520, 648}, 2},
                    Proved{"wgmma_v1", {128, 256, 192}}, Proved{"wgmma_v2", {72, 264, 328}},
                    Proved{"wgmma_v3", {72, 264, 696}}, Proved{"wgmma_v4", {72, 264, 696}},
                    Proved{"wgmma_v5", {136, 264, 696}}, Proved{"wgmma_v6", {136, 264, 696}, 2}),
    [](const auto& test) { return std::string(test.param.kernel); });

}  // namespace
}  // namespace tilescope::sim
