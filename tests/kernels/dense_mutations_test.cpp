// Planted bugs of dense_gemm: changes (mutator.h) of forms that are shipped, each of which the
// simulator must name for what it is, at its place. Where all that happens is allowed and only the
// product is wrong, nothing is told, and the comparison with the reference finds it.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "core/diff/diff.h"
#include "kernels/catalog/catalog.h"
#include "tests/kernels/asked.h"
#include "tests/kernels/images.h"
#include "tests/kernels/mutants.h"
#include "tests/kernels/products.h"

namespace tilescope {
namespace {

using namespace test;

// Forms, of sizes at which stages are filled again, edges are ragged, and, but for slices, a CTA
// has several tiles; `odd`, an odd number of boxes.
const char* const tall =
    "--tile 128x256 --cluster 2x1 --split-k 1 --m 264 --n 264 --k 456 --processors 2";
const char* const wide =
    "--tile 256x128 --cluster 1x2 --split-k 1 --m 264 --n 264 --k 456 --processors 2";
const char* const square =
    "--tile 128x128 --cluster 2x2 --a-major m --b-major n --split-k 1 --m 264 --n 264 --k 712 "
    "--processors 4";
const char* const odd =
    "--tile 128x192 --cluster 2x1 --split-k 1 --m 264 --n 392 --k 72 --processors 2";
const char* const turns =
    "--tile 64x256 --cluster 1x1 --split-k 1 --m 264 --n 264 --k 456 --processors 1";
const char* const slices =
    "--tile 128x128 --cluster 2x1 --split-k 3 --m 136 --n 136 --k 1544 --processors 8";
const char* const thick =
    "--tile 256x128 --cluster 1x2 --split-k 2 --m 264 --n 264 --k 1032 --processors 8";
const char* const alone =
    "--tile 64x64 --cluster 1x1 --split-k 4 --m 72 --n 72 --k 648 --processors 8";

// Waits are numbered as they stand: three of a producer's last stages of a tile behind four of all
// others, then those after its last load, then consumers'. Meetings of a cluster: a producer's,
// then those of a warpgroup without sums, then a consumer's; where there is multicast, one comes
// before all of them. Left out are all that belong together.
//
// A report of "difference": none, and a product that the reference is not.
// clang-format off
const std::vector<Planted> planted = {
    // Multicast: how many give a stage back, and to whom.
    {tall, "less mbarrier.init #1", 0, 0, true, "fault operand_overwritten", "cp.async.bulk.tensor writes", "next wgmma.mma_async"},
    {tall, "more mbarrier.init #1", 0, 0, false, "fault deadlock", "phase 0 of the mbarrier empty[0]", "here"},
    {tall, "own only of mbarrier.arrive #*", 0, 0, false, "fault deadlock", "lacks 2 of 4 arrivals", ""},
    {tall, "first of mbarrier.arrive #*", 0, 0, true, "fault operand_overwritten", "cp.async.bulk.tensor writes", ""},
    {tall, "twice mbarrier.arrive #1", 0, 0, true, "fault operand_overwritten", "cp.async.bulk.tensor writes", ""},
    {tall, ".relaxed.cta for .release.cta in mbarrier.arrive #*", 0, 0, true, "hazard shared_race", "releases nothing", ""},
    {wide, "less mbarrier.init #1", 0, 0, true, "fault operand_overwritten", "cp.async.bulk.tensor writes", "next wgmma.mma_async"},
    {wide, "own only of mbarrier.arrive #*", 0, 0, false, "fault deadlock", "lacks 2 of 4 arrivals", ""},
    {square, "less mbarrier.init #1", 0, 0, true, "fault operand_overwritten", "cp.async.bulk.tensor writes", ""},
    {square, "more mbarrier.init #1", 0, 0, false, "fault deadlock", "phase 0 lacks 1 of 7 arrivals", "here"},
    {square, "own only of mbarrier.arrive #*", 0, 0, false, "fault deadlock", "lacks 4 of 6 arrivals", ""},
    {square, "drop barrier.cluster.arrive #0 & drop barrier.cluster.wait #0", 0, 0, false, "hazard peer_not_started", "nothing guarantees that it has started", "next cp.async.bulk.tensor"},
    // Multicast: what is sent to whom.
    {tall, "only one cp.async.bulk #*", 0, 0, false, "fault deadlock", "lacks 32768 bytes", ""},
    {wide, "not first cp.async.bulk #*", 0, 0, false, "fault deadlock", "lacks 32768 bytes", ""},
    {wide, "outside cp.async.bulk #0", 0, 0, false, "fault bad_mask", "names CTAs that the cluster does not have", "here"},
    {square, "outside cp.async.bulk #0", 0, 0, true, "fault operand_overwritten", "cp.async.bulk.tensor writes", "here"},
    {square, "only one cp.async.bulk #0", 0, 0, false, "fault bad_mask", "names no CTA", "here"},
    {square, "drop cp.async.bulk #0", 0, 0, false, "fault deadlock", "lacks 16384 bytes", ""},
    {square, "next stage of cp.async.bulk #0", 0, 0, true, "fault operand_overwritten", "cp.async.bulk.tensor writes", "here"},
    {square, "column of cp.async.bulk #0", 0, 0, true, "difference", "", ""},
    // The producer leaves before all have arrived.
    {tall, "drop mbarrier.try_wait #7,8,9,10", 0, 0, false, "hazard peer_exited", "this mbarrier goes to CTA 0", "next mbarrier.arrive.release"},
    {wide, "drop mbarrier.try_wait #7,8,9,10", 0, 0, true, "hazard peer_exited", "this mbarrier goes to CTA 0", "next mbarrier.arrive.release"},
    // A consumer does not wait for its stage.
    {tall, "drop mbarrier.try_wait #11", 0, 0, false, "hazard shared_race", "wgmma.mma_async reads byte", "next wgmma.mma_async"},
    {alone, "drop mbarrier.try_wait #9", 0, 0, true, "fault operand_overwritten", "wgmma.mma_async reads", "next wgmma.mma_async"},
    // Slices: the cluster meets before parts are read, and before they are overwritten or gone.
    {alone, "cluster.arrive.relaxed for cluster.arrive.release in barrier.cluster.arrive #2", 0, 0, false, "hazard shared_race", "of CTA 0's shared memory", "next ld.shared::cluster"},
    {alone, "drop barrier.cluster.arrive #0,2,4 & drop barrier.cluster.wait #0,2,4", 0, 0, false, "hazard peer_not_started", "nothing guarantees that it has started", ""},
    {alone, "drop barrier.cluster.arrive #1,3,5 & drop barrier.cluster.wait #1,3,5", 0, 0, false, "hazard peer_exited", "all of whose threads have exited", ""},
    {slices, "drop barrier.cluster.arrive #1,3,5 & drop barrier.cluster.wait #1,3,5", 0, 0, true, "fault operand_overwritten", "ld reads byte", ""},
    {slices, "drop barrier.cluster.arrive #2,4,6 & drop barrier.cluster.wait #2,4,6", 0, 0, false, "hazard peer_exited", "all of whose threads have exited", ""},
    {thick, "drop barrier.cluster.arrive #2,6,10 & drop barrier.cluster.wait #2,6,10", 0, 0, false, "hazard shared_race", "of CTA 2's shared memory", ""},
    // Slices: consumers meet before their parts lie where the other one's stages were.
    {slices, "drop bar.sync #0", 0, 0, true, "fault operand_overwritten", "st writes byte", ""},
    {thick, "drop bar.sync #0", 0, 1, false, "fault operand_overwritten", "st writes byte", ""},
    // Slices: what is copied.
    {slices, "column of cp.async.bulk #*", 0, 0, true, "difference", "", ""},
    {slices, "less mbarrier.arrive.expect_tx #0", 0, 0, false, "fault deadlock", "16 bytes more than expected arrived", "here"},
    {slices, "more mbarrier.arrive.expect_tx #0", 0, 0, false, "fault deadlock", "phase 0 lacks 16 bytes", "here"},
    {slices, "half mbarrier.arrive.expect_tx #*", 0, 0, true, "fault operand_overwritten", "wgmma.mma_async reads", ""},
    // Ping-pong.
    {turns, "drop bar.sync #1", 0, 0, true, "fault operand_overwritten", "still in flight", "next wgmma.mma_async"},
    {turns, "drop bar.sync #1 & drop bar.arrive #0,1", 0, 0, true, "fault operand_overwritten", "still in flight", ""},
    {turns, "drop bar.arrive #0", 0, 0, false, "fault deadlock", "bar 3: 128 of 256 threads are there", ""},
    {turns, "drop bar.arrive #1", 0, 0, false, "fault deadlock", "bar 4: 128 of 256 threads are there", ""},
    {turns, "twice bar.arrive #1", 0, 0, true, "fault operand_overwritten", "wgmma.mma_async reads", ""},
    // The way back, by two boxes.
    {odd, "drop fence.proxy.async #0", 0, 0, false, "hazard missing_proxy_fence", "cp.async.bulk.tensor reads", "next cp.async.bulk.tensor"},
    {odd, "drop fence.proxy.async #2", 0, 0, false, "hazard missing_proxy_fence", "cp.async.bulk.tensor reads", "next cp.async.bulk.tensor"},
    {odd, "drop cp.async.bulk.wait_group #0", 0, 0, true, "fault operand_overwritten", "stmatrix writes byte", "next stmatrix"},
    {odd, "drop cp.async.bulk.wait_group #2", 0, 0, true, "fault operand_overwritten", "stmatrix writes byte", "next stmatrix"},
    {odd, "more cp.async.bulk.wait_group #0", 0, 0, true, "fault operand_overwritten", "stmatrix writes byte", "next stmatrix"},
    {odd, "drop cp.async.bulk.commit_group #0", 0, 0, true, "fault operand_overwritten", "stmatrix writes byte", "last cp.async.bulk.tensor"},
    {odd, "turn not kept", 0, 0, true, "fault operand_overwritten", "stmatrix writes byte", "next stmatrix"},
    {odd, "no turn", 0, 0, true, "fault operand_overwritten", "stmatrix writes byte", "next stmatrix"},
    {odd, "drop bar.sync #0", 0, 0, true, "fault operand_overwritten", "stmatrix writes byte", "next stmatrix"},
    {odd, "drop bar.sync #1", 0, 0, true, "hazard operand_overwritten", "stmatrix writes byte", ""},
    {odd, "drop cp.async.bulk.wait_group #3", 0, 0, true, "hazard exit_in_flight", "may still read bytes", ""},
};
// clang-format on

struct Form {
  Subject subject;
  Buffer want;
  Tolerance tolerance;
};

bool is_as_the_reference(const Form& form, const Buffer& product) {
  DiffOptions how;
  how.tolerance = form.tolerance;
  const auto compared = diff(product, form.want, how);
  EXPECT_TRUE(compared.ok());
  return compared->ok();
}

const Form& form_of(const std::string& line) {
  static std::map<std::string, Form> all;
  const auto at = all.find(line);
  if (at != all.end()) return at->second;
  const CatalogEntry& dense_gemm = **find_kernel("dense_gemm");
  const Request request = asked(line);
  const Outcome<Fit> fitted = fit(dense_gemm, request);
  EXPECT_TRUE(fitted.ok()) << line << (fitted.ok() ? "" : fitted.error().sentence);
  Form form;
  form.subject.name = line;
  form.subject.entry = fitted->variant.entry;
  form.subject.known = dense_gemm.known;
  form.subject.job = make_job(dense_gemm, *fitted, request, image(fitted->variant.image));
  form.subject = ready(std::move(form.subject));
  const auto want = dense_gemm.reference(form.subject.job, *fitted, {});
  EXPECT_TRUE(want.ok());
  form.want = want->front();
  form.tolerance = {fitted->variant.rtol, fitted->variant.atol};
  Buffer product = form.subject.job.buffers[2];
  product.bytes = form.subject.memory[0].bytes;
  EXPECT_TRUE(is_as_the_reference(form, product)) << line;
  return all.emplace(line, std::move(form)).first->second;
}

class DenseMutation : public testing::TestWithParam<std::size_t> {};

TEST_P(DenseMutation, IsNamed) {
  const Planted& bug = planted[GetParam()];
  const Form& form = form_of(bug.subject);
  const Mutation m = form.subject.mutator->together(bug.kind, bug.n);
  ASSERT_FALSE(m.edits.empty()) << bug.subject << " has not so many: " << bug.kind;
  SCOPED_TRACE(std::string(bug.subject) + ", " + bug.kind + ": " + m.sentence);
  const Outcome<Fate> run = fate_of(form.subject, m, with(bug.schedule, bug.lazy));
  ASSERT_TRUE(run.ok()) << run.error().where << ": " << run.error().sentence;
  const std::string told =
      told_instead(form.subject, m, bug,
                   std::string(bug.report).rfind("note", 0) == 0 ? run->notes : run->reports);
  if (std::string(bug.report) == "difference") {
    EXPECT_EQ(told, "nothing");
    EXPECT_EQ(run->state, RunState::done);
    EXPECT_FALSE(is_as_the_reference(form, run->buffers[2]));
  } else {
    EXPECT_EQ(told, "") << "expected " << bug.report << ", " << bug.words << ", " << bug.place
                        << "; told was what stands above";
  }
}

std::vector<std::size_t> some() {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < planted.size(); i += sanitized ? 6 : 1) out.push_back(i);
  return out;
}

INSTANTIATE_TEST_SUITE_P(Kernels, DenseMutation, testing::ValuesIn(some()));

}  // namespace
}  // namespace tilescope
