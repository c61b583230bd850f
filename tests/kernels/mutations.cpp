#include "tests/kernels/mutants.h"

namespace tilescope::test {

// clang-format off
const std::vector<Planted> planted_mutations = {
    // Tiles written by threads.
    {"wgmma_v1", "drop wgmma.fence", 0, 0, false, "hazard wgmma_fence", "no wgmma.fence", "next wgmma.mma_async"},
    {"wgmma_v1", "drop fence.proxy.async", 0, 0, false, "hazard missing_proxy_fence", "wgmma.mma_async reads byte", "next wgmma.mma_async"},
    {"wgmma_v1", "move st.shared behind fence.proxy.async", 0, 0, false, "hazard missing_proxy_fence", "wgmma.mma_async reads byte", "here"},
    {"wgmma_v1", "drop wgmma.commit_group", 0, 0, false, "fault operand_overwritten", "st writes byte", "last wgmma.mma_async"},
    {"wgmma_v1", "more wgmma.wait_group", 0, 0, false, "fault operand_overwritten", "st writes byte", "last wgmma.mma_async"},
    {"wgmma_v1", "drop st.shared", 0, 0, false, "fault undefined_output", "wgmma.mma_async", ""},
    // One mbarrier.
    {"wgmma_v2", "drop mbarrier.try_wait", 0, 0, false, "fault operand_overwritten", "wgmma.mma_async reads", "next wgmma.mma_async"},
    {"wgmma_v2", "once mbarrier.try_wait", 0, 7, true, "hazard shared_race", "wgmma.mma_async reads byte", "next wgmma.mma_async"},
    {"wgmma_v2", "half mbarrier.arrive.expect_tx", 0, 0, false, "fault deadlock", "full", "next mbarrier.try_wait"},
    {"wgmma_v2", "twice mbarrier.arrive.expect_tx", 0, 0, false, "fault too_many_arrivals", "full", "here"},
    {"wgmma_v2", ".relaxed.cta for .acquire.cta in mbarrier.try_wait", 0, 0, false, "hazard shared_race", "acquires nothing", "here"},
    {"wgmma_v2", "no flip", 0, 0, false, "fault operand_overwritten", "", ""},
    {"wgmma_v2", "twice mbarrier.init", 0, 0, false, "hazard mbarrier_initialised_twice", "full", "here"},
    // Four stages.
    {"wgmma_v3", "drop wgmma.wait_group", 1, 0, true, "fault operand_overwritten", "still in flight", "next cp.async.bulk.tensor"},
    {"wgmma_v3", "next stage of cp.async.bulk", 0, 0, false, "fault operand_overwritten", "cp.async.bulk.tensor writes", "here"},
    {"wgmma_v3", "less mbarrier.init", 1, 0, false, "fault bad_arrival_count", "full[1]", "here"},
    {"wgmma_v3", "drop cp.async.bulk", 1, 0, false, "fault deadlock", "full[0]", ""},
    // Producer and consumer.
    {"wgmma_v4", "more mbarrier.init", 1, 0, false, "fault deadlock", "empty[0]", ""},
    {"wgmma_v4", "drop mbarrier.arrive", 1, 0, false, "fault deadlock", "empty[0]", ""},
    {"wgmma_v4", ".relaxed.cta for .release.cta in mbarrier.arrive", 1, 0, false, "hazard shared_race", "releases nothing", "here"},
    {"wgmma_v4", "next barrier of mbarrier.arrive", 1, 0, false, "fault deadlock", "empty", ""},
    {"wgmma_v4", "drop bar.sync", 0, 0, false, "hazard mbarrier_not_visible", "full[0]", "last mbarrier.init"},
    {"wgmma_v4", "move wgmma.commit_group behind wgmma.wait_group", 1, 0, true, "fault operand_overwritten", "still in flight", ""},
    {"wgmma_v4", "drop mbarrier.init", 2, 0, false, "fault mbarrier_not_initialised", "mbarrier.init", ""},
    // Two consumers, and registers that move.
    {"wgmma_v5", "drop setmaxnreg.dec", 0, 0, false, "fault deadlock", "registers that nobody will release", "next setmaxnreg.inc"},
    {"wgmma_v5", "more setmaxnreg.inc", 0, 0, false, "fault deadlock", "registers that nobody will release", "here"},
    {"wgmma_v5", "flip mbarrier.try_wait", 0, 0, false, "fault deadlock", "empty[0]", "here"},
    {"wgmma_v5", "twice mbarrier.arrive", 1, 0, true, "fault operand_overwritten", "cp.async.bulk.tensor writes", ""},
    {"wgmma_v5", "barrier of cp.async.bulk", 0, 0, false, "fault deadlock", "full[0]", ""},
    // Persistent.
    {"wgmma_v6", "drop mbarrier.arrive.expect_tx", 1, 0, false, "fault deadlock", "full[1]", ""},
    {"wgmma_v6", "move wgmma.mma_async behind wgmma.commit_group", 1, 0, true, "fault operand_overwritten", "still in flight", ""},
    {"wgmma_v6", "last barrier of mbarrier.try_wait", 8, 0, false, "hazard shared_race", "wgmma.mma_async reads byte", "next wgmma.mma_async"},
    // Clusters.
    {"wgmma_v7", "drop barrier.cluster.wait", 0, 0, false, "hazard peer_not_started", "nothing guarantees that it has started", ""},
    {"wgmma_v7", "drop barrier.cluster.arrive", 0, 0, false, "fault cluster_barrier", "", "next barrier.cluster.wait"},
    {"wgmma_v7", "nothing for .multicast::cluster in cp.async.bulk", 0, 0, false, "fault deadlock", "full[0]", ""},
    {"wgmma_v7", "outside cp.async.bulk", 0, 0, false, "fault bad_mask", "", "here"},
    {"wgmma_v7", "not first cp.async.bulk", 0, 0, false, "fault deadlock", "full[0]", ""},
    // D by way of shared memory.
    {"wgmma_v8", "drop cp.async.bulk.wait_group", 0, 0, true, "fault operand_overwritten", "stmatrix writes byte", "next stmatrix"},
    {"wgmma_v8", "drop fence.proxy.async", 0, 0, false, "hazard missing_proxy_fence", "cp.async.bulk.tensor reads byte", "next cp.async.bulk.tensor"},
    {"wgmma_v8", "other bar.sync", 0, 0, false, "fault deadlock", "", "here"},
    {"wgmma_v8", "move bar.sync behind stmatrix", 0, 0, true, "fault operand_overwritten", "", "here"},
    // Small programs.
    {"wgmma_chain", "drop wgmma.fence", 0, 0, false, "hazard wgmma_fence", "no wgmma.fence", "next wgmma.mma_async"},
    {"wgmma_tma", "drop mbarrier.try_wait", 0, 0, false, "fault operand_overwritten", "wgmma.mma_async reads", "next wgmma.mma_async"},
    {"wgmma_setmaxnreg", "move fence.proxy.async behind mbarrier.arrive", 0, 0, false, "hazard missing_proxy_fence", "wgmma.mma_async reads byte", "next wgmma.mma_async"},
    {"wgmma_k_major", "8192 bytes of B's descriptor of wgmma.mma_async", 0, 0, false, "fault out_of_bounds", "the descriptor of B", "here"},
    {"wgmma_release_previous", "move wgmma.wait_group behind mbarrier.arrive", 0, 0, false, "fault operand_overwritten", "still in flight", "last wgmma.mma_async"},
    {"wgmma_k_major", "drop wgmma.commit_group", 0, 0, false, "hazard wgmma_in_use", "has not waited for it", "last wgmma.mma_async"},
};
// clang-format on

}  // namespace tilescope::test
