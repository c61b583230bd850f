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
