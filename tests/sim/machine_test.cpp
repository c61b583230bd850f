// What a caller of the simulator can rely on: steps of any size, copies, progress, writers, sizes.
#include "core/sim/machine/machine.h"
#include "core/sim/machine/state.h"

#include <gtest/gtest.h>

#include <cstring>

#include "core/sim/machine/device.h"
#include "tests/sanitized.h"
#include "tests/sim/program.h"

namespace tilescope {
namespace {

test::SimProgram read(const std::string& name) {
  return test::read_program(TILESCOPE_TESTS_DIR "/programs/" + name);
}

sim::Machine machine_of(const std::string& name, sim::Options options = {}) {
  Outcome<sim::Machine> m = sim::Machine::load(read(name).job, options);
  EXPECT_TRUE(m.ok());
  return std::move(*m);
}

// A text's only kernel, on so many CTAs and threads.
Job job_of(std::string name, std::string ptx, std::uint32_t grid, std::uint32_t block) {
  Job job;
  job.program = {std::move(name), std::move(ptx)};
  job.launch.grid = {grid, 1, 1};
  job.launch.block = {block, 1, 1};
  return job;
}

// The kernel's parameter: a word of 0.
void give_flag(Job& job) {
  Buffer flag;
  flag.name = "flag";
  flag.dtype = DType::u32;
  flag.shape = {1};
  flag.bytes.resize(4);
  job.buffers.push_back(std::move(flag));
  job.arguments.push_back(Argument::pointer(0));
}

RunState finish(sim::Machine& m, std::uint64_t step = 1 << 20) {
  RunState state = RunState::running;
  for (int calls = 0; state == RunState::running && calls < 1'000'000; ++calls) state = m.run(step);
  return state;
}

float at(const Buffer& b, std::size_t i) {
  float f = 0;
  std::memcpy(&f, b.bytes.data() + i * 4, 4);
  return f;
}

// C = A B of n x n small integers; element (i, j) is then exact and known without a simulator.
Job product(const std::string& program, std::int32_t n, int sizes) {
  Job job = read(program).job;
  job.launch.grid = {static_cast<std::uint32_t>(n + 15) / 16,
                     static_cast<std::uint32_t>(n + 15) / 16, 1};
  job.buffers.clear();
  job.arguments.clear();
  for (std::uint32_t b = 0; b < 3; ++b) {
    Buffer buffer;
    buffer.name = std::string(1, static_cast<char>('A' + b));
    buffer.shape = {n, n};
    buffer.undefined = b == 2;
    buffer.bytes.resize(static_cast<std::size_t>(n) * static_cast<std::size_t>(n) * 4);
    job.buffers.push_back(buffer);
    job.arguments.push_back(Argument::pointer(b));
  }
  for (std::int32_t i = 0; i < n; ++i) {
    for (std::int32_t j = 0; j < n; ++j) {
      const auto a = static_cast<float>((i + 2 * j) % 5 - 2),
                 b = static_cast<float>((3 * i + j) % 7 - 3);
      const std::size_t offset = static_cast<std::size_t>(i * n + j) * 4;
      std::memcpy(job.buffers[0].bytes.data() + offset, &a, 4);
      std::memcpy(job.buffers[1].bytes.data() + offset, &b, 4);
    }
  }
  for (int k = 0; k < sizes; ++k) job.arguments.push_back(Argument::i32(n));
  return job;
}

float element(std::int32_t n, std::int32_t i, std::int32_t j) {
  int sum = 0;
  for (std::int32_t k = 0; k < n; ++k) sum += ((i + 2 * k) % 5 - 2) * ((3 * k + j) % 7 - 3);
  return static_cast<float>(sum);
}

TEST(Sizes, MatrixProductsOfOneThreadOneBlockRaggedAndMany) {
  const std::pair<std::string, int> kernels[] = {{"matmul_naive_sm_90.ptx", 3},
                                                 {"matmul_tiled_sm_90.ptx", 1}};
  for (const auto& [kernel, sizes] : kernels) {
    for (std::int32_t n : {1, 16, 33, 100}) {
      sim::SimDevice device;
      auto run = device.start(product(kernel, n, sizes));
      ASSERT_TRUE(run.ok());
      while ((*run)->advance(100'000) == RunState::running) {
      }
      ASSERT_TRUE((*run)->reports().empty()) << kernel << " " << n;
      const Buffer& c = (*run)->buffers()[2];
      for (std::int32_t i = 0; i < n; ++i) {
        for (std::int32_t j = 0; j < n; ++j) {
          ASSERT_EQ(at(c, static_cast<std::size_t>(i * n + j)), element(n, i, j))
              << kernel << " of " << n << " at " << i << "," << j;
        }
      }
    }
  }
}

TEST(Machine, StepsOfAnySizeGiveTheSameRun) {
  for (const char* name : {"collatz.ptx", "block_sum.ptx", "lock.ptx", "spin_on_lane_0.ptx",
                           "mbarrier_phases.ptx", "bulk_copy.ptx", "cp_async_arrive.ptx"}) {
    sim::Machine whole = machine_of(name);
    ASSERT_EQ(finish(whole), RunState::done);
    for (std::uint64_t step : {1, 3, 1000}) {
      sim::Machine stepped = machine_of(name);
      ASSERT_EQ(finish(stepped, step), RunState::done);
      for (std::size_t b = 0; b < whole.buffers().size(); ++b) {
        EXPECT_EQ(stepped.buffers()[b].bytes, whole.buffers()[b].bytes) << name << " by " << step;
      }
    }
  }
}

// What a seed draws is drawn where turns end, and not where calls do; and so are moments of copies.
TEST(Machine, StepsOfAnySizeGiveTheSameOrder) {
  for (const char* name :
       {"collatz.ptx", "block_sum.ptx", "spin_on_lane_0.ptx", "mbarrier_phases.ptx",
        "named_barriers.ptx", "spin_with_sleep.ptx", "bulk_polled.ptx", "cluster_multicast.ptx",
        "cluster_ring.ptx", "overtaken_if_late.ptx"}) {
    for (std::uint64_t seed = 0; seed <= 5; ++seed) {
      sim::Options options;
      options.schedule = seed;
      sim::Machine whole = machine_of(name, options);
      const RunState state = finish(whole);
      for (std::uint64_t step : {1, 3, 1000}) {
        sim::Machine stepped = machine_of(name, options);
        ASSERT_EQ(finish(stepped, step), state);
        EXPECT_EQ(stepped.instructions(), whole.instructions())
            << name << ", seed " << seed << ", by " << step;
      }
    }
  }
}

// What is in flight is part of the machine: a copy made at any moment ends as the original does.
TEST(Machine, ACopyTakesAlongWhatIsInFlight) {
  for (const bool lazy : {false, true}) {
    sim::Options options;
    options.lazy = lazy;
    sim::Machine m = machine_of("tensor_load_swizzle_128.ptx", options);
    std::vector<sim::Machine> copies;
    std::size_t flying = 0;
    while (m.run(7) == RunState::running) {
      flying += !m.blocks().empty() && !m.blocks()[0].flight.operations.empty();
      copies.push_back(m);
    }
    EXPECT_GT(flying, 0u) << "no copy was made while something was in flight";
    for (sim::Machine& copy : copies) {
      ASSERT_EQ(finish(copy), RunState::done);
      EXPECT_EQ(copy.buffers()[1].bytes, m.buffers()[1].bytes);
      EXPECT_EQ(copy.instructions(), m.instructions());
    }
  }
}

// PTX does not promise that the async proxy sees what threads wrote without its fence.
TEST(Machine, LazinessShowsAMissingProxyFence) {
  sim::Options options;
  sim::Machine obvious = machine_of("missing_proxy_fence_hazard.ptx", options);
  EXPECT_EQ(finish(obvious), RunState::done);
  options.lazy = true;
  sim::Machine lazy = machine_of("missing_proxy_fence_hazard.ptx", options);
  EXPECT_EQ(finish(lazy), RunState::fault);
  EXPECT_EQ(lazy.reports().back().kind, "undefined_output");
}

// A copy that overwrites what was read is no news where the value was used, or the async proxy
// told, before the thread said that it was done.
TEST(Machine, AReadThatNoCopyCanOvertakeIsNotNoted) {
  for (const char* name : {"read_used_in_time.ptx", "read_fenced_by_its_lane.ptx"}) {
    sim::Machine m = machine_of(name);
    EXPECT_EQ(finish(m), RunState::done) << name;
    for (const Report& r : m.reports()) EXPECT_NE(r.kind, "read_overtaken") << name;
  }
}

// Nor that a block of a pair goes on before the other one has come to a step of both (9.7.16.5).
TEST(Machine, LazinessLetsTheFirstOfAPairWait) {
  sim::Options options;
  options.lazy = true;
  sim::Machine m = machine_of("faults/pair_dealloc_sides.ptx", options);
  EXPECT_EQ(finish(m), RunState::fault);
  const Report& r = m.reports().back();
  EXPECT_EQ(r.kind, "deadlock");
  EXPECT_NE(r.sentence.find("a warp waits for the peer CTA of its pair"), std::string::npos);
  EXPECT_NE(r.sentence.find("tcgen05.dealloc.cta_group::2.sync.aligned.b32, for CTA 0"),
            std::string::npos)
      << r.sentence;
}

// A product of two blocks, too: what it guards in the other one goes along.
TEST(Machine, ACopyTakesAlongAProductOfTwoBlocks) {
  for (const bool lazy : {false, true}) {
    sim::Options options;
    options.lazy = lazy;
    options.schedule = 3;
    sim::Machine m = machine_of("pair_mma.ptx", options);
    std::vector<sim::Machine> copies;
    std::size_t guarded = 0;
    while (m.run(13) == RunState::running) {
      const auto& blocks = m.blocks();
      if (blocks.size() < 2 || blocks[1].flight.operations.empty()) continue;
      ++guarded;
      copies.push_back(m);
    }
    EXPECT_GT(guarded, 0u) << "no copy was made while a product was in flight";
    for (sim::Machine& copy : copies) {
      ASSERT_EQ(finish(copy), RunState::done);
      EXPECT_EQ(copy.buffers()[0].bytes, m.buffers()[0].bytes);
      EXPECT_EQ(copy.instructions(), m.instructions());
    }
  }
}

TEST(Machine, ABudgetIsKept) {
  sim::Machine m = machine_of("collatz.ptx");
  for (std::uint64_t executed = 10; executed <= 100; executed += 10) {
    ASSERT_EQ(m.run(10), RunState::running);
    EXPECT_EQ(m.progress().instructions, executed);
  }
}

TEST(Machine, ACopyIsACheckpoint) {
  sim::Machine m = machine_of("matmul_tiled_sm_80.ptx");
  ASSERT_EQ(m.run(500), RunState::running);
  sim::Machine copy = m;
  ASSERT_EQ(finish(m), RunState::done);
  EXPECT_EQ(copy.progress().instructions, 500u);
  ASSERT_EQ(finish(copy), RunState::done);
  EXPECT_EQ(copy.buffers()[2].bytes, m.buffers()[2].bytes);
  EXPECT_EQ(copy.progress().instructions, m.progress().instructions);
}

TEST(Machine, ProgressCountsBlocks) {
  sim::Machine m = machine_of("block_sum.ptx");
  EXPECT_EQ(m.progress().total, 3u);
  EXPECT_EQ(m.progress().done, 0u);
  ASSERT_EQ(finish(m), RunState::done);
  EXPECT_EQ(m.progress().done, 3u);
}

TEST(Machine, RemembersWhoWroteEachByte) {
  sim::Machine m = machine_of("saxpy.ptx");
  ASSERT_EQ(finish(m), RunState::done);
  const std::optional<Site> site = m.writer(1, 37 * 4 + 3);  // Y[37]
  ASSERT_TRUE(site.has_value());
  EXPECT_EQ(site->kernel, "saxpy");
  EXPECT_EQ(site->block, (Dim3{1, 0, 0}));
  EXPECT_EQ(site->warp, 0u);
  EXPECT_EQ(site->lane, 5u);
  EXPECT_EQ(site->source, "saxpy.cu");
  EXPECT_GT(site->ptx_line, 0u);
  EXPECT_FALSE(m.writer(1, 40 * 4).has_value()) << "nobody wrote Y[40]";
  EXPECT_FALSE(m.writer(0, 0).has_value()) << "nobody wrote X";
  EXPECT_FALSE(m.writer(7, 0).has_value()) << "there is no such buffer";
}

TEST(Machine, BlocksThatWaitForEachOtherNeedToBeResidentTogether) {
  // Block 0 spins until block 1 has written; with two residents it gets there.
  Job job = job_of("wait.ptx", R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry wait(.param .u64 flag)
{
	.reg .b32 %r<4>;
	.reg .b64 %d<2>;
	.reg .pred %p<3>;
	ld.param.u64 %d0, [flag];
	mov.u32 %r0, %ctaid.x;
	setp.eq.u32 %p1, %r0, 1;
	@%p1 bra $set;
$spin:
	ld.volatile.global.u32 %r1, [%d0];
	setp.eq.u32 %p2, %r1, 0;
	@%p2 bra $spin;
	st.global.u32 [%d0], 2;
	ret;
$set:
	st.volatile.global.u32 [%d0], 1;
	ret;
})",
                   2, 32);
  give_flag(job);
  sim::Options options;
  options.block_turn = 1000;
  Outcome<sim::Machine> two = sim::Machine::load(job, options);
  ASSERT_TRUE(two.ok());
  for (int i = 0; i < 100 && two->run(1000) == RunState::running; ++i) {
  }
  EXPECT_EQ(two->run(1), RunState::done);
  EXPECT_EQ(std::to_integer<int>(two->buffers()[0].bytes[0]), 2);
  options.resident_blocks = 1;
  Outcome<sim::Machine> one = sim::Machine::load(job, options);
  ASSERT_TRUE(one.ok());
  for (int i = 0; i < 100 && one->run(1000) == RunState::running; ++i) {
  }
  EXPECT_EQ(one->run(1), RunState::fault);
  ASSERT_EQ(one->reports().size(), 1u);
  EXPECT_EQ(one->reports()[0].kind, "endless_loop");
  EXPECT_NE(one->reports()[0].sentence.find("1 CTAs cannot start"), std::string::npos)
      << one->reports()[0].sentence;
}

// A wait the wrong way round: it goes on asking once the phase is complete. Each CTA repeats itself
// soon, and is not let repeat itself for a whole turn of a million instructions.
TEST(Machine, ALaunchWhereEveryBlockRepeatsItselfIsToldSoon) {
  Job job = job_of("negated.ptx", R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry negated()
{
	.reg .b32 %r<4>;
	.reg .b64 %d<2>;
	.reg .pred %p<3>;
	.shared .align 8 .b64 full;
	mov.u32 %r0, full;
	mov.u32 %r1, %tid.x;
	setp.ne.u32 %p1, %r1, 0;
	@%p1 bra $made;
	mbarrier.init.shared.b64 [%r0], 64;
$made:
	bar.sync 0;
	mbarrier.arrive.shared.b64 %d0, [%r0];
$again:
	mbarrier.try_wait.shared.b64 %p2, [%r0], %d0;
	@%p2 bra $again;
	ret;
})",
                   test::sanitized ? 20 : 100, 64);
  Outcome<sim::Machine> machine = sim::Machine::load(job, {});
  ASSERT_TRUE(machine.ok());
  EXPECT_EQ(machine->run(std::uint64_t{10} << 20), RunState::fault);
  ASSERT_FALSE(machine->reports().empty());
  EXPECT_EQ(machine->reports().back().kind, "endless_loop");
}

// A table in shared memory that eight warps read for ever, at two places each time and then at 32
// of one bank: of the reads only the last of each warp are kept.
TEST(Machine, ATableThatIsReadForEverTakesNoMoreMemory) {
  Job job = job_of("table.ptx", R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry table()
{
	.reg .b32 %r<8>;
	.shared .align 4 .b32 words[1024];
	mov.u32 %r0, words;
	mov.u32 %r1, %tid.x;
	shl.b32 %r2, %r1, 2;
	add.u32 %r3, %r0, %r2;
	st.shared.b32 [%r3], %r1;
	st.shared.b32 [%r3+1024], %r1;
	st.shared.b32 [%r3+2048], %r1;
	st.shared.b32 [%r3+3072], %r1;
	bar.sync 0;
	and.b32 %r4, %r1, 31;
	shl.b32 %r4, %r4, 7;
	add.u32 %r4, %r0, %r4;
$again:
	ld.shared.b32 %r5, [%r0+64];
	ld.shared.b32 %r6, [%r3+1024];
	ld.shared.b32 %r7, [%r4];
	add.u32 %r1, %r1, 1;
	bra $again;
})",
                   1, 256);
  Outcome<sim::Machine> machine = sim::Machine::load(job, {});
  ASSERT_TRUE(machine.ok());
  ASSERT_EQ(machine->run(1u << 20), RunState::running);
  const std::uint64_t before = machine->bytes();
  ASSERT_EQ(machine->run(test::sanitized ? 1u << 21 : 1u << 23), RunState::running);
  EXPECT_LT(machine->bytes(), before + before / 2);
}

// CTA 0 of the first cluster asks for what the second cluster writes, while CTA 1 waits for CTA 0
// at the cluster's barrier: the second cluster gets its turn all the same.
TEST(Machine, AClusterThatAsksForAnotherLetsItBegin) {
  Job job = job_of("clusters.ptx", R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry clusters(.param .u64 flag) .reqnctapercluster 2, 1, 1
{
	.reg .b32 %r<4>;
	.reg .b64 %d<2>;
	.reg .pred %p<3>;
	ld.param.u64 %d0, [flag];
	mov.u32 %r0, %ctaid.x;
	setp.eq.u32 %p1, %r0, 2;
	@%p1 st.volatile.global.u32 [%d0], 1;
	setp.ne.u32 %p1, %r0, 0;
	@%p1 bra $meet;
$spin:
	ld.volatile.global.u32 %r1, [%d0];
	setp.eq.u32 %p2, %r1, 0;
	@%p2 bra $spin;
$meet:
	barrier.cluster.arrive;
	barrier.cluster.wait;
	ret;
})",
                   4, 32);
  give_flag(job);
  Outcome<sim::Machine> machine = sim::Machine::load(job, {});
  ASSERT_TRUE(machine.ok()) << machine.error().sentence;
  EXPECT_EQ(machine->run(std::uint64_t{10} << 20), RunState::done);
}

// Every block waits for all of the grid: as many go on as there is room for at a time.
TEST(Machine, AsManyBlocksAreResidentAsProcessorsHaveRoomFor) {
  Job job;
  job.program = {"all", R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry all(.param .u64 count)
{
	.reg .b32 %n, %all, %t;
	.reg .b64 %d;
	.reg .pred %p;
	ld.param.u64 %d, [count];
	mov.u32 %all, %nctaid.x;
	mov.u32 %t, %tid.x;
	setp.ne.u32 %p, %t, 0;
	@%p ret;
	red.relaxed.gpu.global.add.u32 [%d], 1;
AGAIN:	ld.relaxed.gpu.global.u32 %n, [%d];
	setp.lt.u32 %p, %n, %all;
	@%p bra AGAIN;
	ret;
})"};
  Buffer count;
  count.name = "count";
  count.dtype = DType::u32;
  count.shape = {1};
  count.bytes.resize(4);
  job.buffers.push_back(count);
  job.arguments.push_back(Argument::pointer(0));
  const auto ends = [&](std::uint32_t processors, std::uint32_t blocks, std::uint32_t threads,
                        std::uint32_t shared) {
    job.launch.grid = {blocks, 1, 1};
    job.launch.block = {threads, 1, 1};
    job.launch.dynamic_shared = shared;
    sim::Options options;
    options.processors = processors;
    options.block_turn = 1000;
    options.races = false;  // so many who ask by relaxed reads take long to follow
    Outcome<sim::Machine> m = sim::Machine::load(job, options);
    EXPECT_TRUE(m.ok());
    return m->run(~std::uint64_t{0}) == RunState::done;
  };
  EXPECT_TRUE(ends(2, 64, 32, 0));  // 32 blocks on each
  EXPECT_FALSE(ends(2, 65, 32, 0));
  EXPECT_TRUE(ends(2, 4, 1024, 0));  // 2048 threads
  EXPECT_FALSE(ends(2, 5, 1024, 0));
  EXPECT_TRUE(ends(3, 6, 32, 113 * 1024));  // twice 113 KiB and two of its own
  EXPECT_FALSE(ends(3, 6, 32, 114 * 1024));
  EXPECT_TRUE(ends(3, 3, 32, 227 * 1024));
}

TEST(Machine, LanesMeetAgainBehindABranch) {
  // 32 lanes take one of two ways and then go on together: the store is one instruction, not two.
  sim::Machine m = machine_of("inline_asm_scopes.ptx");
  ASSERT_EQ(finish(m), RunState::done);
  // 3 before the braces; setp, mov, @!p bra, add, add in the first; mov, bra, add, mov in the
  // second; mad, st, ret. Four lanes, of which two skip one add.
  EXPECT_EQ(m.progress().instructions, 15u);
}

// PTX for sm_80 that a driver compiles for a newer chip (measured on an H100).
TEST(Machine, PutsSharedMemoryWhereTheChipHasIt) {
  const auto addresses_on = [](std::uint32_t capability) {
    sim::Options options;
    options.capability = capability;
    sim::Machine m = machine_of("reserved_shared_sm_80.ptx", options);
    EXPECT_EQ(finish(m), RunState::done);
    std::vector<std::uint32_t> out(8);
    std::memcpy(out.data(), m.buffers()[0].bytes.data(), 32);
    return out;
  };
  using Words = std::vector<std::uint32_t>;
  EXPECT_EQ(addresses_on(80), (Words{0, 16, 128, 1152, 1152, 128, 128, 128}));
  EXPECT_EQ(addresses_on(90), (Words{1024, 1040, 0, 288, 1024, 0, 128, 128}));
  EXPECT_EQ(addresses_on(100), (Words{1024, 1040, 0, 288, 1024, 64, 128, 128}));
}

}  // namespace
}  // namespace tilescope
