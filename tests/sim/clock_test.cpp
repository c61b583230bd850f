// What the clock says of programs whose time can be reckoned by hand, and that it does not depend
// on how a run is cut into calls.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <vector>

#include "core/ptx/modifiers.h"
#include "core/record/recorder.h"
#include "core/sim/machine/machine.h"
#include "core/sim/time/costs.h"
#include "tests/sim/chip_times.h"
#include "tests/sim/program.h"
#include "tests/sim/sound_record.h"

namespace tilescope {
namespace {

using sim::Stall;

struct Timed {
  sim::Record record;
  double seconds = 0;
  std::vector<Buffer> buffers;
};

sim::Options clocked(sim::Recorder* recorder) {
  sim::Options options;
  options.clocked = true;
  options.times = test::chip_times();
  options.recorder = recorder;
  return options;
}

Timed time(Job job, std::uint64_t step = ~std::uint64_t{0}, sim::Options options = clocked(nullptr),
           bool copied = false) {
  sim::Recorder recorder;
  options.recorder = &recorder;
  Outcome<sim::Machine> loaded = sim::Machine::load(std::move(job), options);
  EXPECT_TRUE(loaded.ok()) << loaded.error().sentence;
  sim::Machine machine = std::move(*loaded);
  RunState state = RunState::running;
  while (state == RunState::running) {
    if (copied) machine = sim::Machine(machine);
    state = machine.run(step);
  }
  EXPECT_EQ(state, RunState::done);
  return {recorder.take(), machine.seconds(), machine.buffers()};
}

// A kernel with one buffer of 4096 words, whose address is in %rd1.
Job kernel(const std::string& body, std::uint32_t threads = 32, std::uint32_t blocks = 1) {
  Job job;
  job.program.name = "test.ptx";
  job.program.ptx =
      ".version 8.0\n.target sm_90\n.address_size 64\n"
      ".visible .entry test(.param .u64 p)\n{\n"
      ".reg .pred %p<4>;\n.reg .b32 %r<32>;\n.reg .f32 %f<32>;\n.reg .b64 %rd<8>;\n"
      ".shared .align 16 .b8 room[16384];\n"
      "ld.param.u64 %rd1, [p];\ncvta.to.global.u64 %rd1, %rd1;\nmov.u32 %r1, %tid.x;\n" +
      body + "ret;\n}\n";
  job.launch.grid = {blocks, 1, 1};
  job.launch.block = {threads, 1, 1};
  Buffer b;
  b.name = "X";
  b.shape = {4096};
  b.bytes.resize(16384);
  job.buffers.push_back(b);
  job.arguments.push_back(Argument::pointer(0));
  return job;
}

std::string times(int n, const std::string& text) {
  std::string out;
  for (int i = 0; i < n; ++i) out += text;
  return out;
}

sim::Cycle end_of(const std::string& body, std::uint32_t threads = 32) {
  return time(kernel(body, threads)).record.end;
}

constexpr int many = 200;

// Each takes `each` cycles, beyond what the kernel takes without them.
double each(const std::string& one, std::uint32_t threads = 32) {
  const std::string begin = "mov.f32 %f1, 0f3F800000;\nadd.s32 %r2, %r1, 1;\n";
  const double with = static_cast<double>(end_of(begin + times(2 * many, one), threads));
  return (with - static_cast<double>(end_of(begin + times(many, one), threads))) / many;
}

// The words of a form's field, none where it has no such field.
std::vector<std::uint8_t> choices(const ptx::Opcode& opcode, int form, ptx::Field field) {
  for (const ptx::ModifierRule& rule : ptx::modifiers_of(opcode, form)) {
    if (rule.field == field) return rule.values;
  }
  return {0};
}

bool multiplies(const ptx::Opcode& opcode, int form) {
  const std::vector<ptx::ModifierRule>& rules = ptx::modifiers_of(opcode, form);
  return opcode.name == "mma" || std::any_of(rules.begin(), rules.end(), [](const auto& rule) {
           if (rule.values.size() != 1) return false;
           const std::string_view word = ptx::words_of(rule.field)[rule.values[0] - 1u];
           return word == "mma" || word == "mma_async";
         });
}

// Whatever has tensor cores multiply says what: the type of A, or a kind.
TEST(Clock, KnowsWhatIsMultiplied) {
  const std::vector<std::pair<std::string_view, ProductType>> types = {
      {"f16", ProductType::f16},
      {"bf16", ProductType::f16},
      {"tf32", ProductType::tf32},
      {"f64", ProductType::f64},
      {"e4m3", ProductType::f8},
      {"e5m2", ProductType::f8},
      {"s8", ProductType::i8},
      {"u8", ProductType::i8},
      {"b1", ProductType::none},
      {"s4", ProductType::none},
      {"u4", ProductType::none},
      {"e3m2", ProductType::f8},
      {"e2m3", ProductType::f8},
      {"e2m1", ProductType::f8},
      {"kind::f16", ProductType::f16},
      {"kind::tf32", ProductType::tf32},
      {"kind::i8", ProductType::i8},
      {"kind::f8f6f4", ProductType::f8},
      {"kind::mxf4", ProductType::f4},
      {"kind::mxf4nvf4", ProductType::f4},
      {"kind::mxf8f6f4", ProductType::f8},
      {"", ProductType::f16},  // wmma of f16 says no type
  };
  int products = 0;
  for (const ptx::Opcode& opcode : ptx::opcodes()) {
    for (int form = 0; form < static_cast<int>(opcode.forms.size()); ++form) {
      ptx::Instruction i;
      i.op = opcode.op;
      for (const ptx::ModifierRule& rule : ptx::modifiers_of(opcode, form))
        i.modifiers.set(rule.field, rule.values[0]);
      if (!multiplies(opcode, form)) {
        EXPECT_EQ(sim::product_of(i), ProductType::none) << syntax(opcode, form);
        continue;
      }
      const ptx::Field field =
          i.modifiers.has(ptx::Field::kind) ? ptx::Field::kind : ptx::Field::type2;
      for (const std::uint8_t value : choices(opcode, form, field)) {
        i.modifiers.set(field, value);
        const std::string_view word = value ? ptx::words_of(field)[value - 1u] : "";
        const auto row = std::find_if(types.begin(), types.end(),
                                      [&](const auto& type) { return type.first == word; });
        ASSERT_NE(row, types.end()) << word;
        // Elements of 4 bits, side by side.
        const std::uint8_t packing = i.modifiers[ptx::Field::mma_kind];
        const std::string_view kind =
            packing ? ptx::words_of(ptx::Field::mma_kind)[packing - 1u] : "";
        const bool f4 = kind == "kind::mxf4" || kind == "kind::mxf4nvf4";
        EXPECT_EQ(sim::product_of(i), f4 ? ProductType::f4 : row->second)
            << syntax(opcode, form) << " of " << word;
        ++products;
      }
    }
  }
  EXPECT_GT(products, 40);
}

// Cycles of one wgmma in a row of them, A and B in shared memory, by one warpgroup.
double each_wgmma(int n) {
  std::string d;
  for (int i = 0; i < n / 2; ++i) d += (i ? ", %d" : "%d") + std::to_string(i);
  const std::string one = "wgmma.mma_async.sync.aligned.m64n" + std::to_string(n) +
                          "k16.f32.f16.f16 {" + d + "}, %rd2, %rd2, 0, 1, 1, 0, 0;\n";
  const auto seconds = [&](int count) {
    Job job = kernel(
        ".reg .f32 %d<128>;\nmov.u64 %rd2, 0x4000004000010000;\nmov.u32 %r2, room;\n"
        "shr.u32 %r2, %r2, 4;\ncvt.u64.u32 %rd3, %r2;\nor.b64 %rd2, %rd2, %rd3;\n"
        "wgmma.fence.sync.aligned;\n" +
            times(count, one) +
            "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n",
        128);
    std::string& ptx = job.program.ptx;
    ptx.replace(ptx.find("sm_90\n"), 6, "sm_90a\n");
    ptx.replace(ptx.find(".align 16 .b8 room[16384]"), 25, ".align 1024 .b8 room[32768]");
    sim::Options options = clocked(nullptr);
    options.times.tensor_f16 = 2048;
    return time(std::move(job), ~std::uint64_t{0}, options).seconds * options.times.clock * 1e9;
  };
  return (seconds(96) - seconds(32)) / 64;
}

// Measured on an H100 (80GB HBM3, 2026-11-25, 256 in a row): nothing was fitted to these but the
// rate, to the last. Shared memory hands out A and B by 128 bytes a cycle.
TEST(Clock, TakesAsLongAsAnH100ForWgmmaOfEveryN) {
  EXPECT_NEAR(each_wgmma(8), 18.35, 0.6);
  EXPECT_NEAR(each_wgmma(32), 24.38, 0.6);
  EXPECT_NEAR(each_wgmma(64), 32.41, 0.6);
  EXPECT_NEAR(each_wgmma(128), 64.41, 0.6);
  EXPECT_NEAR(each_wgmma(256), 128.41, 0.6);
}

TEST(Clock, TakesTheLatencyOfWhatWaitsForEachOther) {
  EXPECT_NEAR(each("fma.rn.f32 %f1, %f1, %f1, %f1;\n"), 4, 0.1);
  EXPECT_NEAR(each("add.s32 %r2, %r2, %r2;\n"), 4, 0.1);
  EXPECT_NEAR(each("ex2.approx.f32 %f1, %f1;\n"), 20, 1);
}

TEST(Clock, TakesAnIssueSlotOrTheLanesOfWhatDoesNot) {
  EXPECT_NEAR(each("fma.rn.f32 %f2, %f1, %f1, %f1;\n"), 1, 0.1);       // 128 lanes of 4 schedulers
  EXPECT_NEAR(each("mad.lo.s32 %r3, %r2, %r2, %r2;\n"), 2, 0.1);       // 64 lanes
  EXPECT_NEAR(each("mov.b32 %r3, %r2;\n"), 0, 0.1);                    // the assembler drops it
  EXPECT_NEAR(each("fma.rn.f32 %f2, %f1, %f1, %f1;\n", 256), 2, 0.1);  // two warps a scheduler
  EXPECT_NEAR(each("fma.rn.f32 %f2, %f1, %f1, %f1;\n", 1024), 8, 0.2);
}

TEST(Clock, TakesAsManyPassesAsBanksMake) {
  const auto load = [](int stride) {
    return "mul.lo.s32 %r3, %r1, " + std::to_string(stride) + ";\nmov.u32 %r4, room;\n" +
           "add.s32 %r3, %r3, %r4;\n";
  };
  const auto passes = [&](int stride) {
    const std::string one = "st.shared.u32 [%r3], %r1;\n";
    const double with = static_cast<double>(end_of(load(stride) + times(2 * many, one)));
    return (with - static_cast<double>(end_of(load(stride) + times(many, one)))) / many;
  };
  EXPECT_NEAR(passes(4), 1, 0.2);
  EXPECT_NEAR(passes(8), 2, 0.2);
  EXPECT_NEAR(passes(128), 32, 0.5);
}

TEST(Clock, SleepsAsLongAsIsAskedFor) {
  // 1000 ns at the test chip's clock, against none.
  const double clock = test::chip_times().clock;
  const double with = static_cast<double>(end_of(times(10, "nanosleep.u32 1000;\n")));
  const double without = static_cast<double>(end_of(times(10, "nanosleep.u32 0;\n")));
  EXPECT_NEAR((with - without) / 10, 1000 * clock, 2);
}

TEST(Clock, CountsWhatWmmaMovesWhereItLies) {
  const auto sums = [](const std::string& from) {
    const Timed t = time(kernel("mov.u32 %r4, room;\nwmma.load.a.sync.aligned.row.m16n16k16" +
                                from + "{%r10,%r11,%r12,%r13,%r14,%r15,%r16,%r17}, " +
                                (from == ".global.f16 " ? "[%rd1], 16;\n" : "[%r4], 16;\n")));
    sim::LineCounters sum;
    for (const sim::LineCounters& c : t.record.counters) {
      sum.sectors += c.sectors;
      sum.wavefronts += c.wavefronts;
    }
    return sum;
  };
  EXPECT_EQ(sums(".global.f16 ").sectors, 16u);  // 16 rows of 32 bytes, side by side
  EXPECT_EQ(sums(".global.f16 ").wavefronts, 0u);
  EXPECT_EQ(sums(".shared.f16 ").sectors, 0u);
  EXPECT_EQ(sums(".shared.f16 ").wavefronts, 4u);  // 512 bytes
}

TEST(Clock, MakesAtomicsOnOneWordWait) {
  // Behind the last of them a fence waits until all are done. Of the test chip 2 cycles a lane.
  const auto one = [](const std::string& red, const std::string& at) {
    const std::string begin =
        "mov.f32 %f1, 0f3F800000;\nmul.wide.u32 %rd2, %r1, 4;\n"
        "add.s64 %rd2, %rd1, %rd2;\nmov.u32 %r4, room;\n";
    const auto end = [&](int n) {
      return static_cast<double>(end_of(begin + times(n, red + at) + "fence.acq_rel.gpu;\n"));
    };
    return (end(2 * many) - end(many)) / many;
  };
  EXPECT_NEAR(one("red.global.add.u32 ", "[%rd1], %r1;\n"), 32 * 2, 1);
  EXPECT_NEAR(one("red.global.add.f32 ", "[%rd1], %f1;\n"), 32 * 4, 1);
  EXPECT_NEAR(one("red.global.add.f32 ", "[%rd2], %f1;\n"), 4 * 2, 1);  // 4 sectors
  EXPECT_NEAR(one("red.shared.add.u32 ", "[%r4], %r1;\n"), 1, 0.2);     // combined
  EXPECT_NEAR(one("red.shared.add.f32 ", "[%r4], %f1;\n"), 32 * 100, 10);
}

TEST(Clock, KnowsWhatCachesHold) {
  const auto stalled = [](const std::string& body) {
    const Timed t = time(kernel(body + "st.shared.u32 [room], %r2;\n"));
    std::uint64_t cycles = 0;
    for (const sim::LineCounters& c : t.record.counters) {
      for (const std::uint64_t s : c.stalled) cycles += s;
    }
    return static_cast<double>(cycles);
  };
  const std::string load = "ld.global.u32 %r2, [%rd1];\nadd.s32 %r2, %r2, 1;\nbar.sync 0;\n";
  const double memory = stalled(load), again = stalled(load + load) - memory;
  EXPECT_NEAR(memory, 600, 40);
  EXPECT_NEAR(again, 35, 25);  // L1
  const std::string past =
      "ld.relaxed.gpu.global.u32 %r2, [%rd1];\nadd.s32 %r2, %r2, 1;\nbar.sync 0;\n";
  EXPECT_NEAR(stalled(past + past) - stalled(past), 250, 40);  // L2
}

TEST(Clock, TakesABarrierAlsoOfTheLastToArrive) {
  EXPECT_NEAR(each("bar.sync 0;\n"), 21, 1);
}

TEST(Clock, BlamesWhatTookLongest) {
  const Timed t = time(
      kernel("ld.global.u32 %r2, [%rd1];\nadd.s32 %r2, %r2, 1;\nst.global.u32 [%rd1], %r2;\n"));
  std::array<std::uint64_t, static_cast<std::size_t>(Stall::count_)> by{};
  for (const sim::LineCounters& c : t.record.counters) {
    for (std::size_t i = 0; i < by.size(); ++i) by[i] += c.stalled[i];
  }
  EXPECT_NEAR(static_cast<double>(by[static_cast<std::size_t>(Stall::global)]), 600, 40);
  EXPECT_LT(by[static_cast<std::size_t>(Stall::dependency)], 50u);
}

TEST(Clock, LastsUntilWhatIsStoredIsThere) {
  // 16 MiB written once, and nothing waits for it.
  Job job = kernel(
      "mov.u32 %r2, %ctaid.x;\nshl.b32 %r2, %r2, 10;\nadd.s32 %r2, %r2, %r1;\n"
      "mul.wide.u32 %rd2, %r2, 16;\nadd.s64 %rd3, %rd1, %rd2;\n"
      "st.global.v4.u32 [%rd3], {%r1, %r1, %r1, %r1};\n",
      1024, 1024);
  job.buffers[0].shape = {4 << 20};
  job.buffers[0].bytes.resize(16 << 20);
  EXPECT_GT(static_cast<double>(time(job).record.end), (16 << 20) / 4000.0);
}

TEST(Clock, CountsBytesAndSectors) {
  const Timed t = time(
      kernel("mul.wide.u32 %rd2, %r1, 64;\nadd.s64 %rd3, %rd1, %rd2;\nld.global.u32 %r2, [%rd3];\n"
             "ld.global.u32 %r3, [%rd3+4];\nst.shared.u32 [room], %r2;\n"));
  std::uint64_t sectors = 0, ideal = 0, l2 = 0, memory = 0;
  for (const sim::LineCounters& c : t.record.counters) {
    sectors += c.sectors;
    ideal += c.ideal_sectors;
    l2 += c.global_bytes;
    memory += c.memory_bytes;
  }
  EXPECT_EQ(sectors, 64u);  // 32 of each load: every other one of 2048 bytes
  EXPECT_EQ(ideal, 8u);
  EXPECT_EQ(l2, 32u * 32);      // the second load has its sectors in L1
  EXPECT_EQ(memory, 64u * 32);  // and the sectors beside them come with them
}

TEST(Clock, LetsBlocksShareTheBandwidthOfMemory) {
  // 64 blocks of 1024 threads read 16 MiB once: 4000 bytes a cycle, at least.
  Job job = kernel(
      "mov.u32 %r2, %ctaid.x;\nshl.b32 %r2, %r2, 10;\nadd.s32 %r2, %r2, %r1;\n"
      "mul.wide.u32 %rd2, %r2, 16;\nadd.s64 %rd3, %rd1, %rd2;\n"
      "ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%rd3];\nadd.s32 %r4, %r4, %r5;\n"
      "st.shared.u32 [room], %r4;\n",
      1024, 1024);
  job.buffers[0].shape = {4 << 20};
  job.buffers[0].bytes.resize(16 << 20);
  sim::Options options = clocked(nullptr);
  options.races = false;  // every thread stores to the same word
  const double cycles = static_cast<double>(time(job, ~std::uint64_t{0}, options).record.end);
  const double least = (16 << 20) / 4000.0;
  EXPECT_GT(cycles, least);
  EXPECT_LT(cycles, 1.6 * least + 1000);
}

// Lanes that arrive at one mbarrier are one event, however often each of them does.
TEST(Clock, CountsArrivalsOfEachBarrier) {
  const Timed t =
      time(kernel("setp.ne.u32 %p1, %r1, 0;\n@%p1 bra all;\n"
                  "mbarrier.init.shared.b64 [room], 48;\nmbarrier.init.shared.b64 [room+8], 16;\n"
                  "all:\nbar.sync 0;\nand.b32 %r2, %r1, 1;\nshl.b32 %r3, %r2, 3;\n"
                  "mov.u32 %r4, room;\nadd.u32 %r4, %r4, %r3;\nshl.b32 %r5, %r2, 1;\n"
                  "sub.u32 %r5, 3, %r5;\nmbarrier.arrive.shared.b64 %rd2, [%r4], %r5;\n"));
  test::expect_sound(t.record);
  std::vector<std::uint64_t> arrivals, phases;
  for (const sim::Event& e : t.record.events) {
    if (e.kind == sim::EventKind::arrival) arrivals.push_back(e.amount);
    if (t.record.tracks[e.track].unit == sim::Unit::mbarrier && e.kind == sim::EventKind::phase) {
      phases.push_back(e.phase);
    }
  }
  std::sort(arrivals.begin(), arrivals.end());
  EXPECT_EQ(arrivals, (std::vector<std::uint64_t>{16, 48}));
  EXPECT_EQ(phases, (std::vector<std::uint64_t>{0, 0}));
}

// Same program, same times: the same run, to the last event, however it is cut and copied.
TEST(Clock, DoesNotDependOnCalls) {
  for (const std::string name : {"bulk_pipeline.ptx", "cluster_ring.ptx", "warp_groups.ptx",
                                 "pair_copy_multiply.ptx", "named_barriers_roles.ptx"}) {
    SCOPED_TRACE(name);
    const Job job = test::read_program(TILESCOPE_TESTS_DIR "/programs/" + name).job;
    const Timed whole = time(job);
    test::expect_sound(whole.record);
    for (const std::uint64_t step : {1, 7, 100}) {
      for (const bool copied : {false, true}) {
        const Timed cut = time(job, step, clocked(nullptr), copied);
        EXPECT_EQ(cut.seconds, whole.seconds);
        // A copy takes as long, and leaves the record to the machine that it is a copy of.
        if (copied) {
          EXPECT_LT(cut.record.events.size(), whole.record.events.size());
          continue;
        }
        EXPECT_TRUE(cut.record.events == whole.record.events);
        EXPECT_EQ(cut.record.tracks, whole.record.tracks);
      }
    }
  }
}

// What lanes access: each once, where it is, and as often as the counters of its line say.
TEST(Clock, WhatLanesAccessIsRecorded) {
  using sim::WarpAccess;
  using Kind = WarpAccess::Kind;
  using Of = WarpAccess::Of;
  const sim::Record record =
      time(kernel("mul.wide.u32 %rd2, %r1, 8;\nadd.s64 %rd2, %rd1, %rd2;\n"
                  "ld.global.u32 %r3, [%rd2+256];\n"
                  "mov.u32 %r4, room;\nmad.lo.s32 %r4, %r1, 128, %r4;\n"
                  "st.shared.u32 [%r4], %r3;\n"
                  "shl.b32 %r6, %r1, 4;\nmov.u32 %r7, room;\nadd.s32 %r6, %r6, %r7;\n"
                  "mul.wide.u32 %rd3, %r1, 16;\nadd.s64 %rd3, %rd1, %rd3;\n"
                  "cp.async.cg.shared.global [%r6+4096], [%rd3], 16;\n"
                  "cp.async.commit_group;\ncp.async.wait_group 0;\n"
                  "shfl.sync.bfly.b32 %r5, %r3, 4, 31, -1;\n"
                  "st.global.u32 [%rd2], %r5;\n"))
          .record;
  const auto is = [&](std::size_t i, Kind kind, Of of, std::uint8_t bytes) {
    const WarpAccess& access = record.accesses.at(i);
    EXPECT_EQ(access.kind, kind) << i;
    EXPECT_EQ(access.of, of) << i;
    EXPECT_EQ(access.bytes, bytes) << i;
    EXPECT_EQ(access.mask, ~0u) << i;
    EXPECT_LT(access.begin, access.end) << i;
  };
  const auto lanes = [&](std::size_t i, auto at) {
    for (std::uint32_t l = 0; l < 32; ++l) {
      EXPECT_EQ(record.accesses[i].at(l, record.lane_offsets), at(l)) << i << ", lane " << l;
    }
  };
  ASSERT_EQ(record.accesses.size(), 6u);
  is(0, Kind::load, Of::global, 4);
  lanes(0, [](std::uint32_t l) { return 256 + 8 * l; });
  EXPECT_EQ(record.accesses[0].passes, 8u);  // sectors, of which half is asked for
  EXPECT_EQ(record.accesses[0].ideal, 4u);
  is(1, Kind::store, Of::shared, 4);
  lanes(1, [](std::uint32_t l) { return 128 * l; });
  EXPECT_EQ(record.accesses[1].passes, 32u);  // of one bank
  EXPECT_EQ(record.accesses[1].ideal, 1u);
  is(2, Kind::copy, Of::global, 16);
  lanes(2, [](std::uint32_t l) { return 16 * l; });
  is(3, Kind::copy, Of::shared, 16);
  lanes(3, [](std::uint32_t l) { return 4096 + 16 * l; });
  EXPECT_EQ(record.accesses[3].passes, 4u);
  is(4, Kind::shuffle, Of::lanes, 4);
  lanes(4, [](std::uint32_t l) { return l ^ 4; });
  is(5, Kind::store, Of::global, 4);
  for (const WarpAccess& access : record.accesses) {
    const sim::LineCounters& count = record.counters[access.pc];
    if (access.of == Of::global) {
      EXPECT_EQ(count.sectors, access.passes);
    }
    if (access.of == Of::shared && access.kind == Kind::store) {
      EXPECT_EQ(count.wavefronts, access.passes);
    }
  }
}

// Of a grid of many blocks those of the first clusters are enough.
TEST(Clock, OfManyBlocksTheFirstOnesAccessesAreRecorded) {
  const sim::Record record =
      time(kernel("ld.global.u32 %r3, [%rd1];\nst.global.u32 [%rd1+4], %r3;\n", 64, 12)).record;
  std::set<std::uint64_t> blocks;
  for (const sim::WarpAccess& access : record.accesses) {
    blocks.insert(record.tracks[access.track].block);
  }
  EXPECT_EQ(blocks, (std::set<std::uint64_t>{0, 1, 2, 3}));
  EXPECT_EQ(record.accesses.size(), 4u * 2 * 2);
}

TEST(Clock, IsWhatAKernelReads) {
  const Timed t =
      time(kernel("mov.u32 %r2, %clock;\nbar.sync 0;\nld.global.u32 %r3, [%rd1];\n"
                  "add.s32 %r3, %r3, 1;\nbar.sync 0;\nmov.u32 %r4, %clock;\n"
                  "sub.s32 %r5, %r4, %r2;\nst.global.u32 [%rd1], %r5;\n"));
  std::uint32_t took = 0;
  std::copy_n(t.buffers[0].bytes.begin(), 4, reinterpret_cast<std::byte*>(&took));
  EXPECT_NEAR(took, 600 + 2 * 20, 60);
}

}  // namespace
}  // namespace tilescope
