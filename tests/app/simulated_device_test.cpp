// The device that a CUDA program finds under `tilescope exec`, driven as the program would.
#include "app/simulated_device.h"

#include <gtest/gtest.h>

#include <fmt/format.h>
#include <unistd.h>

#include <cstring>
#include <ctime>
#include <filesystem>

#include "app/descriptions.h"

namespace tilescope {
namespace {

constexpr const char* text = R"(
.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b32 result) vprintf (.param .b64 format, .param .b64 arguments);
.global .align 1 .b8 hello[4] = {104, 105, 10, 0};

.visible .entry add(.param .u64 data, .param .u32 value) {
  .reg .b32 %r<4>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [data];
  ld.param.u32 %r1, [value];
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %rd2, %r2, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.u32 %r3, [%rd3];
  add.s32 %r3, %r3, %r1;
  st.global.u32 [%rd3], %r3;
  ret;
}
.visible .entry copy(.param .u64 from, .param .u64 to) {
  .reg .b32 %r<4>;
  .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [from];
  ld.param.u64 %rd2, [to];
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %rd3, %r2, 4;
  add.s64 %rd4, %rd1, %rd3;
  add.s64 %rd5, %rd2, %rd3;
  ld.global.u32 %r1, [%rd4];
  st.global.u32 [%rd5], %r1;
  ret;
}
.visible .entry go_round(.param .u64 data, .param .u32 rounds) {
  .reg .b32 %r<6>;
  .reg .b64 %rd<4>;
  .reg .pred %p;
  ld.param.u64 %rd1, [data];
  ld.param.u32 %r1, [rounds];
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, %ctaid.x;
  mad.lo.u32 %r4, %r3, 1024, %r2;
  mul.wide.u32 %rd2, %r4, 4;
  add.s64 %rd3, %rd1, %rd2;
  mov.u32 %r5, 0;
AGAIN:
  mad.lo.u32 %r5, %r5, 3, %r4;
  sub.u32 %r1, %r1, 1;
  setp.ne.u32 %p, %r1, 0;
  @%p bra AGAIN;
  st.global.u32 [%rd3], %r5;
  ret;
}
.visible .entry go_round_and_look(.param .u64 data, .param .u32 rounds) {
  .reg .b32 %r<6>;
  .reg .b64 %rd<4>;
  .reg .pred %p;
  ld.param.u64 %rd1, [data];
  ld.param.u32 %r1, [rounds];
AGAIN:
  sub.u32 %r1, %r1, 1;
  setp.ne.u32 %p, %r1, 0;
  @%p bra AGAIN;
  mov.u32 %r5, %clock;
  ret;
}
.visible .entry stop() {
  trap;
  ret;
}
.visible .entry say() {
  .reg .b64 %rd<3>;
  .param .b64 p0;
  .param .b64 p1;
  .param .b32 p2;
  mov.u64 %rd1, hello;
  cvta.global.u64 %rd1, %rd1;
  mov.u64 %rd2, 0;
  st.param.b64 [p0], %rd1;
  st.param.b64 [p1], %rd2;
  call.uni (p2), vprintf, (p0, p1);
  ret;
}
.visible .entry meet(.param .u64 data) {
  .reg .b32 %r<4>;
  .reg .b64 %rd<4>;
  .reg .pred %p<2>;
  .shared .align 4 .b32 box[64];
  ld.param.u64 %rd1, [data];
  mov.u32 %r1, %tid.x;
  shl.b32 %r2, %r1, 2;
  mov.u32 %r3, box;
  add.s32 %r2, %r2, %r3;
  st.shared.u32 [%r2], %r1;
  xor.b32 %r2, %r2, 128;
  ld.shared.u32 %r3, [%r2];
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r3;
  ret;
}
.visible .entry meets() {
  .reg .b32 %r<3>;
  .reg .pred %p;
  mov.u32 %r1, %envreg1;
  mov.u32 %r2, %envreg2;
  or.b32 %r1, %r1, %r2;
  setp.eq.u32 %p, %r1, 0;
  @%p trap;
  ret;
}
.visible .entry all_meet(.param .u64 data, .param .u32 blocks) .maxnreg 64 {
  .reg .b32 %r<4>;
  .reg .b64 %rd<2>;
  .reg .pred %p;
  ld.param.u64 %rd1, [data];
  ld.param.u32 %r1, [blocks];
  mov.u32 %r2, %tid.x;
  setp.ne.u32 %p, %r2, 0;
  @%p bra DONE;
  atom.add.release.gpu.global.u32 %r3, [%rd1], 1;
WAIT:
  ld.acquire.gpu.global.u32 %r3, [%rd1];
  setp.lt.u32 %p, %r3, %r1;
  @%p bra WAIT;
DONE:
  ret;
}
)";

class Simulated : public ::testing::Test {
 protected:
  SimulatedDevice& device(ExecOptions options = {}) {
    options.quiet = true;
    device_.emplace(std::move(options), terminal_);
    const SimulatedDevice::Loading loading = device_->load({"test.ptx", text});
    EXPECT_EQ(loading.result, DriverResult::success) << loading.sentence;
    module_ = loading.module;
    return *device_;
  }
  std::uint64_t buffer(std::uint32_t words = 64) {
    const std::uint64_t out = device_->memory().allocate(4 * words, "buffer").value();
    device_->memory().fill(out, words, 0, 4);
    return out;
  }
  std::uint32_t word(std::uint64_t address) {
    std::uint32_t out = 0;
    EXPECT_TRUE(device_->memory().copy_out(address, reinterpret_cast<std::byte*>(&out), 4));
    return out;
  }
  template <class... T>
  DriverResult launch(const char* entry, std::uint64_t stream, std::uint32_t threads, T... values) {
    SimulatedDevice::Request request;
    request.module = module_;
    request.entry = entry;
    request.block.x = threads;
    request.stream = stream;
    [[maybe_unused]] const auto add = [&](auto value) {
      const std::size_t at = request.parameters.size();
      request.parameters.resize(at + sizeof value);
      std::memcpy(&request.parameters[at], &value, sizeof value);
    };
    (add(values), ...);
    return device_->launch(request);
  }
  std::size_t told(std::string_view kind) {
    std::size_t out = 0;
    for (const Report& r : device_->reports()) out += r.kind == kind;
    return out;
  }

  Terminal terminal_;
  std::optional<SimulatedDevice> device_;
  SimulatedDevice::Handle module_ = 0;
};

TEST_F(Simulated, LaunchesFollowEachOther) {
  device();
  const std::uint64_t a = buffer(), b = buffer();
  EXPECT_EQ(launch("add", 0, 32, a, 5u), DriverResult::success);
  EXPECT_EQ(launch("add", 0, 32, a, 6u), DriverResult::success);
  EXPECT_EQ(launch("copy", 0, 16, a, b), DriverResult::success);
  EXPECT_EQ(word(a + 124), 11u);
  EXPECT_EQ(word(b + 60), 11u);
  EXPECT_EQ(word(b + 64), 0u);
  EXPECT_EQ(device_->launches(), 3u);
  EXPECT_EQ(device_->kernels().at("add").launches, 2u);
}

// Of a large launch two waves are timed; the rest is run without the clock, to the same bytes.
TEST_F(Simulated, ALargeLaunchIsTimedByItsFirstWaves) {
  constexpr std::uint32_t blocks = 200, threads = 1024;
  struct Run {
    SimulatedDevice::KernelSum sum;
    std::vector<std::byte> bytes;
  };
  const auto run = [&](const char* entry, std::uint64_t waves, std::uint32_t rounds) {
    ExecOptions options;
    options.order.device = *device_described("h100");
    options.order.device.processors = 8;  // 16 CTAs at once
    options.waves = waves;
    device(std::move(options));
    const std::uint64_t data = buffer(blocks * threads);
    SimulatedDevice::Request request;
    request.module = module_;
    request.entry = entry;
    request.grid.x = blocks, request.block.x = threads;
    request.parameters.resize(12);
    std::memcpy(request.parameters.data(), &data, sizeof data);
    std::memcpy(&request.parameters[8], &rounds, sizeof rounds);
    EXPECT_EQ(device_->launch(request), DriverResult::success);
    Run out{device_->kernels().at(entry), std::vector<std::byte>(4 * blocks * threads)};
    EXPECT_TRUE(device_->memory().copy_out(data, out.bytes.data(), out.bytes.size()));
    return out;
  };
  const Run all = run("go_round", 0, 300), some = run("go_round", 2, 300);
  EXPECT_EQ(all.sum.by_waves, 0u);
  EXPECT_EQ(some.sum.by_waves, 1u);
  EXPECT_EQ(some.bytes, all.bytes);
  EXPECT_EQ(some.sum.instructions, all.sum.instructions);
  EXPECT_NEAR(some.sum.seconds / all.sum.seconds, 1, 0.1);
  EXPECT_EQ(run("go_round", 2, 20).sum.by_waves, 0u) << "it is small";
  EXPECT_EQ(run("go_round", std::uint64_t{1} << 60, 20).sum.by_waves, 0u)
      << "there are not so many";
  EXPECT_EQ(run("go_round_and_look", 2, 400).sum.by_waves, 0u) << "it looks at the clock";
}

// Two of 1,024 threads on each SM, though the registers that this kernel may have leave room for
// one: the driver has said that all fit.
TEST_F(Simulated, BlocksOfACooperativeLaunchAreAllThere) {
  ExecOptions options;
  options.order.device.processors = 64;
  device(std::move(options));
  const std::uint64_t counter = buffer(1);
  const std::uint32_t blocks = 2 * device_->description().processors;
  SimulatedDevice::Request request;
  request.module = module_;
  request.entry = "all_meet";
  request.grid.x = blocks;
  request.block.x = 1024;
  request.cooperative = true;
  request.parameters.resize(12);
  std::memcpy(request.parameters.data(), &counter, sizeof counter);
  std::memcpy(&request.parameters[8], &blocks, sizeof blocks);
  const std::clock_t begun = std::clock();
  EXPECT_EQ(device_->launch(request), DriverResult::success);
  // They poll one word. Who asks again takes only what is new there: a second, else minutes.
  EXPECT_LT(static_cast<double>(std::clock() - begun) / CLOCKS_PER_SEC, 60);
  EXPECT_EQ(told("endless_loop") + told("deadlock"), 0u);
  EXPECT_EQ(word(counter), blocks);
}

TEST_F(Simulated, AfterAFaultAllAnswerIt) {
  device();
  const std::uint64_t a = buffer(8);
  EXPECT_EQ(launch("add", 0, 32, a, 5u), DriverResult::illegal_address);
  EXPECT_EQ(launch("add", 0, 8, a, 5u), DriverResult::illegal_address);
  EXPECT_EQ(device_->load({"x.ptx", text}).result, DriverResult::illegal_address);
  EXPECT_TRUE(device_->faulted());
  EXPECT_EQ(told("out_of_bounds"), 1u);
  device();
  EXPECT_EQ(launch("stop", 0, 32), DriverResult::launch_failed);
}

TEST_F(Simulated, WhatIsRefusedIsNoFault) {
  device();
  const std::uint64_t a = buffer();
  EXPECT_EQ(launch("add", 0, 32, a), DriverResult::invalid_value);
  EXPECT_EQ(launch("add", 0, 4096, a, 1u), DriverResult::invalid_value);
  EXPECT_EQ(launch("none", 0, 32), DriverResult::invalid_value);
  EXPECT_EQ(launch("add", 0, 32, a, 1u), DriverResult::success);
  EXPECT_EQ(device_->load({"bad.ptx", ".version 8.0\n.target sm_80\nnonsense"}).result,
            DriverResult::invalid_ptx);
  EXPECT_EQ(device_->unload(99), DriverResult::invalid_handle);
  EXPECT_EQ(device_->unload(module_), DriverResult::success);
  EXPECT_EQ(launch("add", 0, 32, a, 1u), DriverResult::invalid_handle);
}

TEST_F(Simulated, WhatAKernelPrintsIsKept) {
  device();
  EXPECT_EQ(launch("say", 0, 2), DriverResult::success);
  EXPECT_EQ(device_->take_printed(), "hi\nhi\n");
  EXPECT_EQ(device_->take_printed(), "");
}

TEST_F(Simulated, StrictEndsAtAHazard) {
  ExecOptions options;
  options.strict = true;
  device(options);
  EXPECT_EQ(launch("meet", 0, 64, buffer()), DriverResult::launch_failed);
  EXPECT_EQ(told("shared_race"), 2u) << "who writes beside who reads, and the other way round";
}

TEST_F(Simulated, OnlySomeLaunchesAreChecked) {
  ExecOptions options;
  options.first = 1;
  options.end = 2;
  device(options);
  const std::uint64_t a = buffer();
  EXPECT_EQ(launch("meet", 0, 64, a), DriverResult::success);
  EXPECT_EQ(told("shared_race"), 0u);
  EXPECT_EQ(launch("meet", 0, 64, a), DriverResult::success);
  EXPECT_EQ(told("shared_race"), 2u);
  EXPECT_EQ(device_->kernels().at("meet").unchecked, 1u);
  ExecOptions named;
  named.only.emplace("^add$");
  device(named);
  launch("meet", 0, 64, buffer());
  EXPECT_EQ(told("shared_race"), 0u);
}

TEST_F(Simulated, ARuleSilencesAHazard) {
  ExecOptions options;
  options.strict = true;
  Suppression rule;
  rule.kind = "shared_race";
  rule.reason = "known";
  rule.place = "known.toml:1";
  options.telling.rules.push_back(rule);
  device(options);
  EXPECT_EQ(launch("meet", 0, 64, buffer()), DriverResult::success);
  EXPECT_NE(device_->summary().find("by known.toml:1: known"), std::string::npos)
      << device_->summary();
}

// ---- undefined values ----

TEST_F(Simulated, WhatIsMadeOfNothingIsToldWhereTheHostGetsIt) {
  device();
  const std::uint64_t a = device_->memory().allocate(256, "never written").value(), b = buffer();
  launch("copy", 0, 16, a, b);
  launch("add", 0, 16, b, 1u);
  EXPECT_EQ(told("undefined_copied"), 0u) << "nobody has looked at it yet";
  device_->hand_over(b + 64, 64);
  device_->hand_over(a, 64);
  EXPECT_EQ(told("undefined_copied"), 0u) << "those bytes are defined, or nobody wrote them";
  device_->hand_over(b, 256);
  ASSERT_EQ(told("undefined_copied"), 1u);
  EXPECT_NE(device_->reports()[0].sentence.find("byte 0 of buffer"), std::string::npos)
      << device_->reports()[0].sentence;
  device_->memory().fill(b, 16, 0, 4);
  device_->hand_over(b, 256);
  EXPECT_EQ(device_->reports()[0].count, 1u) << "it was written again";
}

// ---- captures ----

TEST_F(Simulated, ACapturedLaunchRunsByItself) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / fmt::format("captured_{}", ::getpid());
  ExecOptions options;
  options.capture = folder.string();
  options.first = 1;
  device(options);
  const std::uint64_t a = buffer(), unused = buffer(),
                      b = device_->memory().allocate(256, "b").value();
  launch("add", 0, 32, a, 5u);
  launch("copy", 0, 16, a, b + 64);
  EXPECT_FALSE(std::filesystem::exists(folder / "0001_add"));
  const Outcome<PreparedRun> run = prepare_launch((folder / "0002_copy" / "kernel.ptx").string(),
                                                  (folder / "0002_copy" / "launch.toml").string());
  ASSERT_TRUE(run.ok()) << run.error().where << run.error().sentence;
  ASSERT_EQ(run->job.buffers.size(), 2u) << "and not what it cannot reach: " << unused;
  EXPECT_EQ(run->job.buffers[0].address, a);
  Outcome<sim::Machine> m = sim::Machine::load(run->job);
  ASSERT_TRUE(m.ok()) << m.error().sentence;
  EXPECT_EQ(m->run(1 << 20), RunState::done);
  std::uint32_t first = 0;
  std::memcpy(&first, m->buffers()[1].bytes.data() + 64, 4);
  EXPECT_EQ(first, 5u);
  EXPECT_TRUE(m->buffer(1).is_undefined(63)) << "nobody has written it";
  EXPECT_FALSE(m->buffer(1).is_undefined(64));
  std::filesystem::remove_all(folder);
}

// It meets where the driver keeps room for that: by itself it does so too, and as a plain launch it
// traps, as a chip's does.
TEST_F(Simulated, ACooperativeLaunchIsCapturedAsOne) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / fmt::format("cooperative_{}", ::getpid());
  ExecOptions options;
  options.capture = folder.string();
  device(options);
  SimulatedDevice::Request request;
  request.module = module_;
  request.entry = "meets";
  request.grid.x = 2;
  EXPECT_EQ(device_->launch(request), DriverResult::launch_failed) << "trap";
  device(options);
  request.module = module_;
  request.cooperative = true;
  EXPECT_EQ(device_->launch(request), DriverResult::success);
  const auto run_again = [&](bool cooperative) {
    const std::string at = (folder / "0001_meets").string();
    Outcome<PreparedRun> run = prepare_launch(at + "/kernel.ptx", at + "/launch.toml");
    if (!run.ok()) return ADD_FAILURE() << run.error().sentence, RunState::running;
    EXPECT_TRUE(run->job.launch.cooperative);
    run->job.launch.cooperative = cooperative;
    Outcome<sim::Machine> m = sim::Machine::load(run->job);
    return m.ok() ? m->run(1 << 20) : RunState::running;
  };
  EXPECT_EQ(run_again(true), RunState::done);
  EXPECT_EQ(run_again(false), RunState::fault);
  std::filesystem::remove_all(folder);
}

// ---- streams ----

TEST_F(Simulated, TwoStreamsRace) {
  device();
  device_->order().add_stream(1);
  device_->order().add_stream(2);
  const std::uint64_t a = buffer(), b = buffer();
  for (std::uint32_t i = 0; i < 3; ++i) {
    launch("add", 1, 32, a, 5u);
    EXPECT_EQ(launch("copy", 2, 16, a, b), DriverResult::success);
  }
  ASSERT_EQ(told("stream_race"), 2u) << "copy beside add, and add beside copy";
  const Report& r = device_->reports()[0];
  EXPECT_NE(r.sentence.find(
                "copy (launch 2) reads byte 0 of buffer buffer, and add (launch 1) writes it"),
            std::string::npos)
      << r.sentence;
}

TEST_F(Simulated, AnEventOrOtherBytesAreNoRace) {
  device();
  device_->order().add_stream(1);
  device_->order().add_stream(2);
  const std::uint64_t a = buffer(), b = buffer();
  launch("add", 1, 32, a, 5u);
  launch("add", 2, 32, a + 128, 5u);
  device_->order().record(1, 1);
  device_->order().wait(2, 1);
  launch("copy", 2, 32, a, b);
  device_->order().host_waited_for_stream(2);
  device_->use(1, "a copy to the host", b, 128, false);
  EXPECT_EQ(device_->reports().size(), 0u);
  device_->use(1, "a fill", b, 128, true);
  device_->use(2, "a copy to the host", b, 4, false);
  EXPECT_EQ(told("stream_race"), 1u);
}

}  // namespace
}  // namespace tilescope
