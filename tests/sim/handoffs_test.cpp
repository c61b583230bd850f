// Who hands what on to whom, read out of a record whose times were made by hand
// (pipeline_record.h).
#include "core/profile/handoffs.h"

#include <gtest/gtest.h>

#include "tests/sim/pipeline_record.h"

namespace tilescope::sim {
namespace {

struct Made {
  explicit Made(Record of) : record(std::move(of)), timeline(record) {}
  Pipeline pipeline(std::uint64_t cluster = 0) const {
    return pipeline_of(timeline, statistics_of(record).roles, cluster);
  }
  Record record;
  Timeline timeline;
};

Record with_uses() {
  Record record = test::pipeline_record();
  test::add_uses(record);
  return record;
}

TEST(Handoffs, StagesAreFoundWithTheirBarriersAndTimes) {
  const Made made(with_uses());
  const Pipeline p = made.pipeline();
  ASSERT_EQ(p.rings.size(), 1u);
  EXPECT_EQ(p.rings[0].holds, "A");
  ASSERT_EQ(p.rings[0].stages.size(), 2u);
  const RingStage& first = p.stages[p.rings[0].stages[0]];
  EXPECT_EQ(first.spans, (std::vector<ByteSpan>{{0, 4096}}));
  ASSERT_TRUE(first.full && first.free);
  EXPECT_EQ(p.barriers[*first.full].object, 0x400u);
  EXPECT_EQ(p.barriers[*first.free].object, 0x410u);
  ASSERT_EQ(first.fillings.size(), 2u);
  const Filling& use = first.fillings[0];
  EXPECT_EQ(use.issued, 4u);
  EXPECT_EQ(use.begin, 5u);
  EXPECT_EQ(use.full, 45u);
  EXPECT_EQ(use.read_begin, 50u);
  EXPECT_EQ(use.read_end, 70u);
  EXPECT_EQ(use.freed, 72u);
  EXPECT_EQ(use.bytes, 4096u);
  const Filling& second = first.fillings[1];
  EXPECT_EQ(second.issued, 78u);
  EXPECT_EQ(second.phase, 2u);
  EXPECT_EQ(second.read_begin, 125u);
  EXPECT_EQ(second.freed, never_ends);
  const RingStage& other = p.stages[p.rings[0].stages[1]];
  ASSERT_EQ(other.fillings.size(), 1u);
  EXPECT_EQ(other.fillings[0].read_begin, 70u);
  EXPECT_FALSE(other.free);  // it is used once: nobody waits for it
}

TEST(Handoffs, SumsAreFoundWithTheirStepsAndBarriers) {
  const Made made(with_uses());
  const Pipeline p = made.pipeline();
  ASSERT_EQ(p.accumulators.size(), 1u);
  const Accumulator& d = p.accumulators[0];
  EXPECT_EQ(d.where.columns, 32u);
  ASSERT_EQ(d.sums.size(), 1u);
  EXPECT_EQ(d.sums[0].products.size(), 3u);
  EXPECT_EQ(d.sums[0].steps, (std::vector<std::uint32_t>{0, 1, 2}));
  EXPECT_EQ(d.sums[0].begin, 50u);
  EXPECT_EQ(d.sums[0].end, 145u);
  EXPECT_EQ(d.sums[0].complete, 147u);
  EXPECT_EQ(d.sums[0].read_begin, 151u);
  EXPECT_EQ(d.sums[0].read_end, 171u);
  ASSERT_TRUE(d.complete);
  EXPECT_EQ(p.barriers[*d.complete].object, 0x420u);
  EXPECT_EQ(p.stages[p.rings[0].stages[0]].fillings[1].step, 2u);
  EXPECT_EQ(p.stages[p.rings[0].stages[1]].fillings[0].step, 1u);
}

// The third product begins when the sum has been read: it begins another one.
TEST(Handoffs, ASumThatWasReadIsOver) {
  Record record = with_uses();
  std::vector<EventId> products;
  for (EventId id = 0; id < record.events.size(); ++id) {
    const Event e = record.events[id];
    const Track& track = record.tracks[e.track];
    if (e.kind == EventKind::operation && track.unit == Unit::tensor && track.block == 0) {
      products.push_back(id);
    }
  }
  ASSERT_EQ(products.size(), 3u);
  Event third = record.events[products[2]];
  third.issue = 175;  // the loads are from 151 to 171
  third.begin = 176;
  third.end = 196;
  record.events.set(products[2], third);
  const Made made(std::move(record));
  const Pipeline p = made.pipeline();
  ASSERT_EQ(p.accumulators.size(), 1u);
  ASSERT_EQ(p.accumulators[0].sums.size(), 2u);
  EXPECT_EQ(p.accumulators[0].sums[0].products.size(), 2u);
  EXPECT_EQ(p.accumulators[0].sums[0].read_end, 171u);
  EXPECT_EQ(p.accumulators[0].sums[1].begin, 176u);
}

// Whatever completes behind the last product of a sum that nobody reads says nothing about it.
TEST(Handoffs, ASumThatNobodyReadHasNoBarrier) {
  Record record = with_uses();
  std::erase_if(record.uses, [&](const MemoryUse& use) {
    return record.tracks[record.events[use.event].track].unit == Unit::tensor_load;
  });
  const Made made(std::move(record));
  ASSERT_EQ(made.pipeline().accumulators.size(), 1u);
  EXPECT_FALSE(made.pipeline().accumulators[0].complete);
}

// Products of each CTA read what is in the other's shared memory, and add to the TMEM of both.
TEST(Handoffs, WhatOfAPairIsWhoseIsSaid) {
  Record record = with_uses();
  record.launch.cluster = Dim3{2, 1, 1};
  std::vector<MemoryUse> uses;
  for (MemoryUse use : record.uses) {
    const auto own = static_cast<std::uint8_t>(record.tracks[record.events[use.event].track].block);
    use.rank = use.operand == MemoryUse::Operand::a ? 1 - own : own;
    uses.push_back(use);
    if (use.operand != MemoryUse::Operand::d || own != 0) continue;
    use.rank = 1;
    uses.push_back(use);
  }
  record.uses = std::move(uses);
  const Made made(std::move(record));
  const std::string text = handoffs_text(made.record, made.pipeline());
  const auto has = [&](std::string_view what) { return text.find(what) != std::string::npos; };
  EXPECT_TRUE(has("columns 0-31 of CTAs 0 and 1")) << text;
  EXPECT_TRUE(has("tcgen05.ld, warps 2-3 of each CTA")) << text;
  EXPECT_TRUE(has("tcgen05.mma, warp 1 of CTA 0")) << text;  // reads a stage of CTA 1
  EXPECT_TRUE(has("tcgen05.mma, warp 1 of CTA 1")) << text;
}

TEST(Handoffs, EachClusterIsSeenByItself) {
  const Made made(with_uses());
  const Pipeline second = made.pipeline(1);
  ASSERT_EQ(second.blocks, (std::vector<std::uint64_t>{1}));
  ASSERT_EQ(second.stages.size(), 2u);
  EXPECT_EQ(second.stages[0].fillings[0].issued, 104u);
  EXPECT_EQ(second.warps.size(), 4u);
}

TEST(Handoffs, TheTextTellsRolesStagesAndTheLedger) {
  const Made made(with_uses());
  const std::string text = handoffs_text(made.record, made.pipeline());
  for (const char* part :
       {"| 0     | copies in", "## Shared memory: A, 2 stages of 4096 bytes", "mbarrier 1024",
        "mbarrier 1040", "A [0:16, 32:48]", "TMEM lanes 0-127, columns 0-31", "tcgen05.mma, warp 1",
        "tcgen05.ld, warps 2-3"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
  EXPECT_EQ(text.find("## Absent"), std::string::npos) << text;
}

// The producer does not wait: it fills the stage while the product still reads it.
TEST(Handoffs, AStageThatNothingGivesBackIsTold) {
  Record record = with_uses();
  for (EventId id = 0; id < record.events.size(); ++id) {
    Event e = record.events[id];
    if (e.kind != EventKind::operation || record.tracks[e.track].unit != Unit::copy_in) continue;
    if (e.phase != 2) continue;
    e.issue -= 20;  // at 58, while the product reads until 70 and `empty` completes at 72
    e.begin -= 20;
    record.events.set(id, e);
  }
  const Made made(std::move(record));
  const auto absent = absent_handoffs(made.record, made.pipeline());
  ASSERT_EQ(absent.size(), 1u);
  EXPECT_NE(absent[0].find("Stage 0 of A (bytes 0-4095) is read until 70, and the next copies into "
                           "it are issued at 58"),
            std::string::npos)
      << absent[0];
}

TEST(Handoffs, ARecordWithoutUsesHasNoStages) {
  const Made made(test::pipeline_record());
  const Pipeline p = made.pipeline();
  EXPECT_TRUE(p.stages.empty());
  EXPECT_NE(handoffs_text(made.record, p).find("no stages and no accumulators"), std::string::npos);
}

}  // namespace
}  // namespace tilescope::sim
