// What can be read of a machine that stands still, against what small programs and kernels are
// known to hold there.
#include "core/sim/stepping/inspect.h"

#include <gtest/gtest.h>

#include "core/sim/stepping/stepper.h"
#include "tests/kernels/shipped.h"

namespace tilescope {
namespace {

using sim::Arrival;
using sim::Step;
using sim::StepBy;
using sim::Stepper;

// Two warps meet at a barrier behind which each thread stores its number; `u` is never written.
constexpr const char* meeting = R"(
.version 9.0
.target sm_90
.address_size 64
.visible .entry meeting(.param .u64 out)
{
	.reg .pred p;
	.reg .b32 t, u, v, w;
	.reg .b64 o, d;
	.shared .align 4 .b32 box[64];
	ld.param.u64 o, [out];
	mov.u32 t, %tid.x;
	add.u32 v, u, 1;
	bar.sync 3;
	setp.lt.u32 p, t, 40;
	mul.wide.u32 d, t, 4;
	mov.u32 w, box;
	add.u32 w, w, 4;
	@p st.shared.u32 [w], t;
	add.u64 d, o, d;
	st.global.u32 [d], t;
	ret;
}
)";

Stepper stepper(const char* ptx, std::uint32_t threads) {
  Job job;
  job.program = {"golden.ptx", ptx};
  job.launch.block = {threads, 1, 1};
  Buffer b;
  b.name = "OUT";
  b.dtype = DType::u32;
  b.shape = {64};
  b.undefined = true;
  b.bytes.resize(256);
  job.buffers = {b};
  job.arguments = {Argument::pointer(0)};
  Outcome<Stepper> s = Stepper::load(job);
  EXPECT_TRUE(s.ok()) << s.error().sentence;
  return std::move(*s);
}

Stepper stepper(const std::string& kernel, std::int64_t m, std::int64_t n, std::int64_t k) {
  sim::Options options;
  options.exact = false;
  Outcome<Stepper> s = Stepper::load(test::shipped_job(kernel, {m, n, k}), options);
  EXPECT_TRUE(s.ok());
  return std::move(*s);
}

Arrival step(Stepper& s, StepBy by, std::uint64_t count = 1) {
  Step how;
  how.by = by;
  how.count = count;
  s.step(how);
  return s.arrive();
}

TEST(Inspect, RegistersByTheirNames) {
  Stepper s = stepper(meeting, 64);
  step(s, StepBy::instruction, 4);  // the first warp waits
  const sim::Registers registers(s.machine().program());
  const auto t = registers.find(s.machine(), 0, 0, "t");
  ASSERT_TRUE(t);
  EXPECT_TRUE(t->alive);
  EXPECT_EQ(t->low[7], 7u);
  EXPECT_EQ(t->undefined[7], 0u);
  EXPECT_EQ(text(*t, 7), "t = 0x00000007");
  const auto p = registers.find(s.machine(), 0, 0, "p");
  ASSERT_TRUE(p);
  EXPECT_FALSE(p->alive);
  EXPECT_EQ(text(*p, 0), "p is not alive here");
  EXPECT_FALSE(registers.find(s.machine(), 0, 0, "%nobody"));
  EXPECT_FALSE(registers.find(s.machine(), 5, 0, "t"));
  EXPECT_FALSE(registers.find(s.machine(), 0, 9, "t"));
  step(s, StepBy::instruction, 2);
  const auto u = registers.find(s.machine(), 0, 1, "u");
  ASSERT_TRUE(u);
  EXPECT_TRUE(u->alive);
  EXPECT_EQ(u->undefined[3], 0xfu);
  EXPECT_EQ(text(*u, 3), "u = undefined");
  const auto second = registers.find(s.machine(), 0, 1, "t");
  ASSERT_TRUE(second);
  EXPECT_EQ(second->low[0], 32u);
  std::vector<std::string> alive;
  for (const sim::RegisterValue& v : registers.all(s.machine(), 0, 1)) alive.push_back(v.name);
  EXPECT_EQ(alive, (std::vector<std::string>{"t", "u", "o"}));
}

TEST(Inspect, WhyAWarpWaits) {
  Stepper s = stepper(meeting, 64);
  EXPECT_TRUE(warps_of(s.machine(), 0).empty());  // no block has begun
  step(s, StepBy::instruction, 4);
  const auto warps = warps_of(s.machine(), 0);
  ASSERT_EQ(warps.size(), 2u);
  ASSERT_EQ(warps[0].splits.size(), 1u);
  EXPECT_EQ(warps[0].executed, 4u);
  EXPECT_EQ(warps[0].splits[0].why, "bar 3: 32 of 64 threads are there");
  EXPECT_EQ(warps[0].splits[0].text, "bar.sync 3");
  EXPECT_EQ(text(warps[0].splits[0]),
            "lanes 0-31 at PTX line 14: bar.sync 3; waits at bar 3: 32 of 64 threads are there");
  EXPECT_EQ(warps[1].splits[0].why, "");
  const auto barriers = barriers_of(s.machine(), 0);
  ASSERT_EQ(barriers.size(), 1u);
  EXPECT_EQ(barriers[0].number, 3u);
  EXPECT_EQ(barriers[0].expected, 64u);
  EXPECT_EQ(barriers[0].waiting, std::vector<std::uint32_t>{0});
  step(s, StepBy::barrier);
  EXPECT_TRUE(barriers_of(s.machine(), 0).empty());
}

TEST(Inspect, WhoWroteAByteLast) {
  Stepper s = stepper(meeting, 64);
  step(s, StepBy::barrier);
  for (const sim::ByteState& b : shared_bytes(s.machine(), 0, 0, 1000)) EXPECT_TRUE(b.undefined);
  EXPECT_EQ(shared_bytes(s.machine(), 0, 250, 1000).size(), 6u);
  Step how;
  how.by = StepBy::write;
  how.watch = {sim::Watch::Where::shared, 0, 4, 8, {}};
  s.step(how);
  ASSERT_EQ(s.arrive(), Arrival::there);
  const auto bytes = shared_bytes(s.machine(), 0, 0, 8);
  EXPECT_TRUE(bytes[3].undefined);
  EXPECT_FALSE(bytes[3].writer);
  EXPECT_FALSE(bytes[4].undefined);
  ASSERT_TRUE(bytes[4].writer);
  EXPECT_EQ(bytes[4].writer->warp, 1u);  // it arrived last, and goes on
  EXPECT_EQ(bytes[4].writer->lane, 7u);  // the highest lane of those that store to one place
  EXPECT_EQ(bytes[4].writer->ptx_line, 19u);
  EXPECT_EQ(std::to_integer<int>(bytes[4].value), 39);
  EXPECT_TRUE(element(s.machine(), 0, 50)->undefined);
  s.to_the_end();
  s.arrive();
  const auto e = element(s.machine(), 0, 50);
  ASSERT_TRUE(e && e->writer);
  EXPECT_EQ(e->value, 50);
  EXPECT_EQ(e->writer->warp, 1u);
  EXPECT_EQ(e->writer->lane, 18u);
  EXPECT_FALSE(element(s.machine(), 0, 64));
  EXPECT_FALSE(element(s.machine(), 1, 0));
}

// D begins as 4 * thread + register, and A and B are zeros.
constexpr const char* group = R"(
.version 8.6
.target sm_90a
.address_size 64
.visible .entry group(.param .u64 out)
{
	.reg .b32 t, at, v;
	.reg .b64 o, a;
	.reg .f32 d<4>;
	.shared .align 1024 .b8 tile[2048];
	ld.param.u64 o, [out];
	mov.u32 t, %tid.x;
	mov.u64 a, tile;
	shr.u64 a, a, 4;
	or.b64 a, a, 0x0000001000080000;
	mov.u32 at, tile;
	mad.lo.u32 at, t, 16, at;
	mov.b32 v, 0;
	st.shared.v4.b32 [at], {v, v, v, v};
	shl.b32 v, t, 2;
	cvt.rn.f32.u32 d0, v;
	add.f32 d1, d0, 0f3F800000;
	add.f32 d2, d1, 0f3F800000;
	add.f32 d3, d2, 0f3F800000;
	fence.proxy.async.shared::cta;
	bar.sync 0;
	wgmma.fence.sync.aligned;
	wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {d0, d1, d2, d3}, a, a, 1, 1, 1, 0, 0;
	wgmma.commit_group.sync.aligned;
	wgmma.wait_group.sync.aligned 0;
	add.f32 d0, d0, d1;
	add.f32 d0, d0, d2;
	add.f32 d0, d0, d3;
	st.global.f32 [o], d0;
	ret;
}
)";

void step_before(Stepper& s, std::string_view text) {
  for (int i = 0; i < 400; ++i) {
    const auto warps = warps_of(s.machine(), 0);
    if (!warps.empty() && warps[0].splits[0].text.starts_with(text)) return;
    Step one;
    one.block = 0;
    one.warp = 0;
    s.step(one);
    s.arrive();
  }
  FAIL() << "warp 0 has not come to " << text;
}

// Who holds what of D is figure 154 of PTX ISA 9.7.15.5.1, written down here once more.
TEST(Inspect, AccumulatorsOfAWarpgroup) {
  Stepper s = stepper(group, 128);
  const sim::Registers registers(s.machine().program());
  EXPECT_TRUE(registers.accumulators(s.machine(), 0, 0).empty());  // no block has begun
  step_before(s, "wgmma.commit_group");
  auto all = registers.accumulators(s.machine(), 0, 1);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_TRUE(all[0].in_use);
  step_before(s, "add.f32 d0, d0, d1");
  all = registers.accumulators(s.machine(), 0, 0);
  ASSERT_EQ(all.size(), 1u);
  const sim::GroupAccumulator& d = all[0];
  EXPECT_EQ(d.type, "f32");
  EXPECT_EQ(d.columns, 8u);
  EXPECT_EQ(d.registers, (std::vector<std::string>{"d0", "d1", "d2", "d3"}));
  EXPECT_EQ(d.site.ptx_line, 28u);
  for (std::uint32_t row = 0; row < 16; ++row) {  // of warp 0, which stands there
    for (std::uint32_t column = 0; column < 8; ++column) {
      const auto& e = d.at(row, column);
      EXPECT_TRUE(e.held && !e.undefined) << row << ", " << column;
      EXPECT_EQ(e.warp, 0u);
      EXPECT_EQ(e.lane, row % 8 * 4 + column / 2) << row << ", " << column;
      EXPECT_EQ(e.reg, row / 8 * 2 + column % 2) << row << ", " << column;
      EXPECT_EQ(e.value, 4 * e.lane + e.reg) << row << ", " << column;
    }
  }
  EXPECT_EQ(d.at(49, 3).warp, 3u);
  EXPECT_EQ(d.at(49, 3).lane, 5u);
  step_before(s, "st.global.f32");
  all = registers.accumulators(s.machine(), 0, 0);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_TRUE(all[0].at(0, 0).held) << "d0 is still wanted";
  EXPECT_FALSE(all[0].at(0, 1).held) << "d1 is not";
  EXPECT_TRUE(all[0].in_use) << "the other warps have not waited";
  EXPECT_TRUE(registers.accumulators(s.machine(), 0, 4).empty());  // there is no such warpgroup
}

// A copy of TMA on its way into shared memory, and the mbarrier that it completes on.
TEST(Inspect, CopiesInFlightAndTheirMbarrier) {
  Stepper s = stepper("hgemm_v4", 136, 136, 200);
  ASSERT_EQ(step(s, StepBy::copy), Arrival::there);
  const auto issued = operations_of(s.machine(), s.reason()->block);
  ASSERT_EQ(issued.size(), 1u);
  const sim::OperationState copy = issued[0];
  EXPECT_EQ(copy.name, "cp.async.bulk.tensor");
  EXPECT_EQ(copy.stage, sim::Stage::issued);
  ASSERT_EQ(copy.writes.size(), 1u);
  EXPECT_EQ(copy.transactions, copy.writes[0].end - copy.writes[0].begin);
  EXPECT_LT(copy.global.begin, copy.global.end);
  ASSERT_TRUE(copy.mbarrier);
  EXPECT_NE(text(copy).find("issued, writes bytes"), std::string::npos) << text(copy);
  const std::uint64_t block = s.reason()->block;
  EXPECT_TRUE(shared_bytes(s.machine(), block, copy.writes[0].begin, 1)[0].undefined);
  const auto waiting = [&] {
    for (const sim::MbarrierState& b : mbarriers_of(s.machine(), block)) {
      if (b.offset == *copy.mbarrier) return b;
    }
    return sim::MbarrierState{};
  };
  EXPECT_EQ(waiting().phase, 0u);
  ASSERT_EQ(step(s, StepBy::phase), Arrival::there);
  EXPECT_EQ(s.reason()->object, *copy.mbarrier);
  EXPECT_EQ(s.reason()->number, 0u);
  EXPECT_EQ(waiting().phase, 1u);
  const auto there = shared_bytes(s.machine(), block, copy.writes[0].begin, 1)[0];
  EXPECT_FALSE(there.undefined);
  ASSERT_TRUE(there.writer);
  EXPECT_EQ(there.writer->ptx_line, copy.issuer.ptx_line);
}

TEST(Inspect, CellsOfTensorMemory) {
  Stepper s = stepper("hgemm_v4", 136, 136, 200);
  EXPECT_TRUE(cells_of(s.machine(), 0, 0, 0, 4).empty());
  Step how;
  how.by = StepBy::product;
  how.stages = bit(sim::Stage::issued);
  s.step(how);
  ASSERT_EQ(s.arrive(), Arrival::there);
  const std::uint64_t block = s.reason()->block;
  const auto columns = columns_of(s.machine(), block);
  ASSERT_EQ(columns.size(), 1u);
  const std::uint32_t at = columns[0].column;
  EXPECT_EQ(cells_of(s.machine(), block, 5, at, 1)[0].undefined, 0xf);
  EXPECT_EQ(cells_of(s.machine(), block, 5, at, 1000).size(), columns[0].columns);
  const std::uint32_t line = s.machine().program().code[s.reason()->pc].line;
  how.stages = bit(sim::Stage::written);
  s.step(how);
  ASSERT_EQ(s.arrive(), Arrival::there);
  const auto cell = cells_of(s.machine(), block, 5, at, 1)[0];
  EXPECT_EQ(cell.undefined, 0);
  ASSERT_TRUE(cell.writer);
  EXPECT_GE(cell.writer->ptx_line, line);
  EXPECT_TRUE(cells_of(s.machine(), block, 128, at, 1).empty());
}

}  // namespace
}  // namespace tilescope
