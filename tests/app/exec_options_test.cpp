// What `tilescope exec` does with launches besides running them: blocks that stand for all,
// figures, records, the timeline, the launch that failed.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "app/captures.h"
#include "app/descriptions.h"
#include "app/files.h"
#include "app/scratch.h"
#include "app/simulated_device.h"
#include "core/io/record_file.h"
#include "core/sim/async/map_bits.h"

namespace tilescope {
namespace {

// number: out[CTA] = CTA + 1. wait: all wait for CTA 1. follow: out[table[1]] = table[1].
constexpr const char* numbered_text = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry number(.param .u64 out) {
  .reg .b32 %r<4>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %ctaid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd2, %rd1, %rd2;
  add.u32 %r2, %r1, 1;
  st.global.u32 [%rd2], %r2;
  ret;
}
.visible .entry wait(.param .u64 flag) {
  .reg .b32 %r<4>;
  .reg .b64 %rd<4>;
  .reg .pred %p<3>;
  ld.param.u64 %rd1, [flag];
  mov.u32 %r1, %ctaid.x;
  setp.eq.u32 %p1, %r1, 1;
  @%p1 st.release.gpu.global.u32 [%rd1], %r1;
  @%p1 ret;
LOOP:
  ld.acquire.gpu.global.u32 %r2, [%rd1];
  setp.eq.u32 %p2, %r2, 0;
  @%p2 bra LOOP;
  ret;
}
.visible .entry follow(.param .u64 table, .param .u64 out) {
  .reg .b32 %r<4>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [table];
  ld.param.u64 %rd2, [out];
  ld.global.u32 %r1, [%rd1+4];
  mul.wide.u32 %rd3, %r1, 4;
  add.s64 %rd2, %rd2, %rd3;
  st.global.u32 [%rd2], %r1;
  ret;
}
)";

class OptionsOfExec : public ::testing::Test {
 protected:
  void device(ExecOptions options = {}) {
    options.quiet = true;
    options.order.device = *device_described("h100");
    options.program = "test";
    device_.emplace(std::move(options), terminal_);
    const SimulatedDevice::Loading loading = device_->load({"test.ptx", numbered_text});
    ASSERT_EQ(loading.result, DriverResult::success) << loading.sentence;
    module_ = loading.module;
  }
  void sampled(std::uint64_t blocks) {
    ExecOptions options;
    options.samples = blocks;
    device(options);
  }
  std::uint64_t buffer(std::uint32_t words, std::uint32_t value = 0) {
    const std::uint64_t out = device_->memory().allocate(4 * words, "buffer").value();
    device_->memory().fill(out, words, value, 4);
    return out;
  }
  std::uint32_t word(std::uint64_t address) {
    std::uint32_t out = 0;
    EXPECT_TRUE(device_->memory().copy_out(address, reinterpret_cast<std::byte*>(&out), 4));
    return out;
  }
  std::vector<std::uint32_t> written(std::uint64_t from, std::uint32_t words) {
    std::vector<std::uint32_t> out;
    for (std::uint32_t i = 0; i < words; ++i) {
      if (word(from + 4 * i)) out.push_back(word(from + 4 * i) - 1);
    }
    return out;
  }
  DriverResult launch(const char* entry, std::uint32_t blocks, std::vector<std::uint64_t> pointers,
                      std::uint32_t cluster = 0, bool cooperative = false,
                      std::uint64_t stream = 0) {
    SimulatedDevice::Request request;
    request.module = module_;
    request.entry = entry;
    request.grid.x = blocks;
    request.block.x = 32;
    request.stream = stream;
    request.cooperative = cooperative;
    request.together = 100000;
    if (cluster) request.cluster = Dim3{cluster, 1, 1};
    request.parameters.resize(8 * pointers.size());
    std::memcpy(request.parameters.data(), pointers.data(), request.parameters.size());
    return device_->launch(request);
  }
  const SimulatedDevice::KernelSum& sum(const char* kernel) {
    return device_->kernels().at(kernel);
  }
  std::string in_scratch(const char* name) { return (scratch_.folder() / name).string(); }

  Terminal terminal_;
  Scratch scratch_;
  std::optional<SimulatedDevice> device_;
  SimulatedDevice::Handle module_ = 0;
};

// ---- some blocks ----

TEST_F(OptionsOfExec, SampledBlocksAreTheFirstTheLastAndOthersBetween) {
  sampled(3);
  std::uint64_t out = buffer(10);
  EXPECT_EQ(launch("number", 10, {out}), DriverResult::success);
  EXPECT_EQ(written(out, 10), (std::vector<std::uint32_t>{0, 4, 9}));
  EXPECT_EQ(sum("number").blocks, 10u);
  EXPECT_EQ(sum("number").blocks_run, 3u);
  EXPECT_NE(device_->summary().find("3 of 10 CTAs run"), std::string::npos) << device_->summary();
  EXPECT_EQ(device_->clock().time_of(0), 0) << "of some blocks there is no time";
  out = buffer(2);
  EXPECT_EQ(launch("number", 2, {out}), DriverResult::success);
  EXPECT_EQ(written(out, 2), (std::vector<std::uint32_t>{0, 1})) << "a small grid runs whole";
}

TEST_F(OptionsOfExec, SampledClustersAreWhole) {
  sampled(3);
  const std::uint64_t out = buffer(10);
  EXPECT_EQ(launch("number", 10, {out}, 2), DriverResult::success);
  EXPECT_EQ(written(out, 10), (std::vector<std::uint32_t>{0, 1, 8, 9}));
  sampled(1);
  const std::uint64_t one = buffer(10);
  EXPECT_EQ(launch("number", 10, {one}), DriverResult::success);
  EXPECT_EQ(written(one, 10), std::vector<std::uint32_t>{0});
}

TEST_F(OptionsOfExec, ManySampledBlocksAreAsManyAsAsked) {
  sampled(1000);
  const std::uint64_t out = buffer(5000);
  EXPECT_EQ(launch("number", 5000, {out}), DriverResult::success);
  const std::vector<std::uint32_t> run = written(out, 5000);
  EXPECT_EQ(run.size(), 1000u);
  EXPECT_EQ(run.front(), 0u);
  EXPECT_EQ(run.back(), 4999u);
}

// CTA 1 is left out, which the others wait for.
TEST_F(OptionsOfExec, WhoWaitsForABlockThatWasLeftOutIsNotAccused) {
  device();
  EXPECT_EQ(launch("wait", 10, {buffer(1)}), DriverResult::success);
  sampled(3);
  EXPECT_EQ(launch("wait", 10, {buffer(1)}), DriverResult::success);
  EXPECT_FALSE(device_->faulted());
  EXPECT_EQ(sum("wait").faults, 0u);
  EXPECT_EQ(sum("wait").waited, 1u);
  EXPECT_NE(device_->summary().find("may wait for CTAs that were left out"), std::string::npos);
  sampled(3);
  EXPECT_EQ(launch("wait", 10, {buffer(1)}, 0, true), DriverResult::success);
  EXPECT_EQ(sum("wait").blocks_run, 10u) << "blocks of a cooperative launch meet each other";
}

TEST_F(OptionsOfExec, AFaultOfASampledBlockIsOne) {
  sampled(3);
  EXPECT_EQ(launch("number", 10, {buffer(9)}), DriverResult::illegal_address);
  EXPECT_TRUE(device_->faulted());
}

TEST_F(OptionsOfExec, WhatLeftOutBlocksWouldHaveWrittenAccusesNobody) {
  device();
  std::uint64_t table = buffer(10, 1u << 30), out = buffer(10);
  launch("number", 10, {table});
  EXPECT_EQ(launch("follow", 1, {table, out}), DriverResult::success);
  EXPECT_EQ(word(out + 8), 2u);

  sampled(3);
  table = buffer(10, 1u << 30), out = buffer(10);
  const std::uint64_t other = buffer(10);
  launch("number", 10, {table});
  EXPECT_EQ(launch("follow", 1, {table, out}), DriverResult::success);
  EXPECT_EQ(sum("follow").doubted, 1u);
  EXPECT_EQ(sum("follow").faults, 0u);
  EXPECT_EQ(launch("number", 2, {other}), DriverResult::success);
  EXPECT_EQ(sum("number").doubted, 0u) << "it reaches none of that";
  // The host writes all of it: what comes then is judged.
  device_->memory().fill(table, 10, 1u << 30, 4);
  device_->use(0, "a memset", table, 40, true);
  EXPECT_EQ(launch("follow", 1, {table, buffer(10)}), DriverResult::illegal_address);
}

TEST_F(OptionsOfExec, OnceTheHostHasSeenItNothingIsKnown) {
  sampled(3);
  const std::uint64_t table = buffer(10), other = buffer(10), third = buffer(1);
  launch("number", 10, {table});
  device_->hand_over(other, 40);
  EXPECT_EQ(launch("number", 2, {other}), DriverResult::success);
  EXPECT_EQ(sum("number").doubted, 0u);
  device_->hand_over(table, 40);
  EXPECT_EQ(launch("number", 2, {third}), DriverResult::success) << "it is the host's sizes, maybe";
  EXPECT_EQ(sum("number").doubted, 1u);
  EXPECT_FALSE(device_->faulted());
}

TEST_F(OptionsOfExec, AnEstimateRunsAFewBlocksOfLaunchesThatItDoesNotKnow) {
  ExecOptions options;
  options.estimates = true;
  device(options);
  const std::uint64_t out = buffer(1000);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(launch("number", 1000, {out}), DriverResult::success);
  EXPECT_EQ(sum("number").blocks, 5000u);
  EXPECT_EQ(sum("number").blocks_run, 128u) << "of the first two";
  EXPECT_GT(sum("number").here, 0);
  EXPECT_LT(sum("number").here, 60);
  EXPECT_NE(device_->summary().find("to simulate"), std::string::npos);
}

// ---- figures, records, the timeline ----

TEST_F(OptionsOfExec, FiguresAreOfAllLaunchesOfAKernel) {
  ExecOptions options;
  options.profile.stats = true;
  options.first = 1;
  device(options);
  const std::uint64_t out = buffer(10);
  for (int i = 0; i < 4; ++i) launch("number", 10, {out});
  const auto& figures = device_->records().figures();
  ASSERT_EQ(figures.size(), 1u);
  EXPECT_EQ(figures.at("number").launches(), 3u) << "the first is not checked";
  const sim::Statistics all = figures.at("number").take();
  EXPECT_EQ(all.sum.sectors, 3 * 10u) << "a store by each CTA, to one sector";
  EXPECT_EQ(all.blocks, 30u);
  EXPECT_NEAR(all.seconds, sum("number").seconds, 1e-12);
  EXPECT_TRUE(all.known_time);
}

TEST_F(OptionsOfExec, EachCheckedLaunchHasARecord) {
  ExecOptions options;
  options.profile.record = in_scratch("records");
  options.only.emplace("number");
  std::filesystem::create_directories(options.profile.record);
  device(options);
  launch("wait", 2, {buffer(1)});
  launch("number", 10, {buffer(10)});
  launch("number", 20, {buffer(20)});
  EXPECT_EQ(device_->records().written(), 2u);
  const std::string path = in_scratch("records/0003_number.tsr");
  const Outcome<std::vector<std::byte>> file = read_file(path);
  ASSERT_TRUE(file.ok());
  const Outcome<sim::Record> record = read_record(*file, path);
  ASSERT_TRUE(record.ok());
  EXPECT_EQ(record->launch.grid.x, 20u);
  EXPECT_EQ(record->what, "launch 3 of test");
  EXPECT_TRUE(std::filesystem::exists(in_scratch("records/0002_number.tsr")));
  EXPECT_FALSE(std::filesystem::exists(in_scratch("records/0001_wait.tsr")));
}

TEST_F(OptionsOfExec, ARecordThatCannotBeWrittenIsKnown) {
  ExecOptions options;
  options.profile.record = in_scratch("nowhere/records");
  device(options);
  EXPECT_EQ(launch("number", 1, {buffer(1)}), DriverResult::success);
  ASSERT_TRUE(device_->records().failure());
  EXPECT_EQ(device_->records().written(), 0u);
}

TEST_F(OptionsOfExec, OneTimelineHasAllStreams) {
  ExecOptions options;
  options.profile.trace = in_scratch("trace.json");
  options.timeline = std::make_shared<ExecTimeline>(options.profile.trace, "a \"chip\"");
  options.end = 2;
  device(options);
  device_->order().add_stream(4097);
  const std::uint64_t a = buffer(10), b = buffer(10);
  launch("number", 10, {a});
  launch("number", 10, {b}, 0, false, 4097);
  launch("number", 10, {b}, 0, false, 4097);  // not checked
  device_->did(4097, SimulatedDevice::Way::from_device, "copy to the host", 55'400'000);
  device_->did(0, SimulatedDevice::Way::fills, "memset", 1 << 20);
  ASSERT_FALSE(options.timeline->write());
  const auto trace = nlohmann::json::parse(*read_text(options.profile.trace));
  std::map<std::uint64_t, std::string> processes, threads;
  std::map<std::string, std::vector<nlohmann::json>> slices;  // by row
  std::map<std::string, std::pair<double, double>> nested;    // of a launch's own: from, to
  for (const auto& e : trace.at("traceEvents")) {
    const std::string ph = e.at("ph");
    const std::uint64_t pid = e.at("pid");
    if (ph == "M") {
      const bool process = e.at("name") == "process_name";
      if (process) processes[pid] = e.at("args").at("name");
      if (e.at("name") == "thread_name") {
        const std::uint64_t tid = e.at("tid");
        EXPECT_TRUE(threads.emplace(tid, e.at("args").at("name")).second);
        EXPECT_FALSE(processes.count(tid));
      }
    }
    if (ph != "X") continue;
    const double from = e.at("ts"), to = from + e.at("dur").get<double>();
    if (pid == 1) {
      slices[threads.at(e.at("tid"))].push_back(e);
    } else {
      const std::string launch = processes.at(pid).substr(0, 9);
      const auto [known, fresh] = nested.try_emplace(launch, from, to);
      known->second = {std::min(known->second.first, from), std::max(known->second.second, to)};
    }
  }
  EXPECT_EQ(processes.at(1), "a \"chip\" of test");
  ASSERT_EQ(slices.size(), 2u);
  const auto& first = slices.at("default stream");
  const auto& second = slices.at("stream 4097");
  ASSERT_EQ(first.size(), 2u);
  ASSERT_EQ(second.size(), 3u);
  EXPECT_EQ(first[0].at("name"), "launch 1: number");
  EXPECT_GT(first[0].at("dur"), 0.5) << "microseconds";
  EXPECT_EQ(first[1].at("name"), "memset");
  EXPECT_NEAR(first[1].at("ts").get<double>(), first[0].at("dur").get<double>(), 2e-3);
  EXPECT_NEAR(first[1].at("dur").get<double>(),
              (1 << 20) / (device_->description().times.memory_bandwidth * 1e3), 2e-3);
  EXPECT_EQ(second[1].at("args").at("found"), "not checked");
  EXPECT_EQ(second[1].at("args").at("time"), "at least");
  EXPECT_GT(second[1].at("dur"), 0.5);
  EXPECT_LT(second[1].at("dur").get<double>(), second[0].at("dur").get<double>());
  EXPECT_EQ(second[2].at("args").at("bytes"), 55'400'000);
  EXPECT_NEAR(second[2].at("dur").get<double>(), 1003, 1e-3) << "1 ms of the link, and 3 us";
  // What is recorded of a launch lies within it.
  ASSERT_EQ(nested.size(), 2u);
  for (const auto& [launch, outer] :
       {std::pair("launch 1:", first[0]), std::pair("launch 2:", second[0])}) {
    const double from = outer.at("ts"), to = from + outer.at("dur").get<double>();
    EXPECT_GE(nested.at(launch).first, from);
    EXPECT_LE(nested.at(launch).second, to + 1e-3);
  }
}

TEST_F(OptionsOfExec, AnOrderOfOnesOwnHasNoTime) {
  device();
  launch("number", 10, {buffer(10)});
  EXPECT_GT(device_->clock().time_of(0), 0);
  ExecOptions options;
  options.order.lazy = true;
  device(options);
  EXPECT_EQ(launch("number", 10, {buffer(10)}), DriverResult::success);
  EXPECT_EQ(device_->clock().time_of(0), 0);
  options.order.lazy = false;
  options.order.schedule.seed = 7;
  device(options);
  EXPECT_EQ(launch("number", 10, {buffer(10)}), DriverResult::success);
  EXPECT_EQ(device_->clock().time_of(0), 0);
}

// ---- the launch that failed ----

TEST_F(OptionsOfExec, TheLaunchThatFailsIsKeptAsItBegan) {
  ExecOptions options;
  options.failing = scratch_.folder().string();
  device(options);
  const std::uint64_t table = buffer(10, 1u << 30);
  launch("number", 2, {table});
  EXPECT_EQ(device_->failing(), "");
  EXPECT_EQ(launch("follow", 1, {table, buffer(10)}), DriverResult::success) << "table[1] is 2";
  EXPECT_EQ(launch("number", 11, {table}), DriverResult::illegal_address);
  EXPECT_EQ(device_->failing(), in_scratch("0003_number"));
  const Outcome<PreparedRun> run =
      prepare_launch(device_->failing() + "/kernel.ptx", device_->failing() + "/launch.toml");
  ASSERT_TRUE(run.ok()) << run.error().sentence;
  Outcome<sim::Machine> m = sim::Machine::load(run->job);
  ASSERT_TRUE(m.ok()) << m.error().sentence;
  std::uint32_t third = 0;
  std::memcpy(&third, m->buffers()[0].bytes.data() + 8, 4);
  EXPECT_EQ(third, 1u << 30) << "before the launch";
  EXPECT_EQ(m->run(1 << 20), RunState::fault);
  EXPECT_EQ(m->reports().back().kind, "out_of_bounds");
}

// ---- words ----

TEST(OptionsOfRecords, WhatCannotBeIsRefused) {
  const Scratch scratch;
  const auto refusal = [](const ProfileOptions& options, bool one) {
    const auto error = check_record_options(options, one);
    return error ? error->sentence : "none";
  };
  ProfileOptions options;
  options.record = (scratch.folder() / "a.tsr").string();
  EXPECT_EQ(refusal(options, true), "none");
  EXPECT_NE(refusal(options, false).find("has room for one launch"), std::string::npos);
  options.record = (scratch.folder() / "records").string();
  EXPECT_EQ(refusal(options, false), "none");
  EXPECT_TRUE(std::filesystem::is_directory(options.record));
  options.limit = "3KiB";
  EXPECT_NE(refusal(options, false).find("--record-limit 3KiB"), std::string::npos);
  options.limit.clear();
  options.trace = (scratch.folder() / "none" / "t.json").string();
  EXPECT_NE(refusal(options, false).find("There is no folder"), std::string::npos);
  options.trace.clear();
  ASSERT_FALSE(write_file((scratch.folder() / "file").string(), std::string_view("x")));
  options.record = (scratch.folder() / "file").string();
  EXPECT_NE(refusal(options, false).find("cannot be made"), std::string::npos);
  EXPECT_EQ(launch_file_name(7, std::string(300, 'x')).size(), 105u);
}

TEST_F(OptionsOfExec, WhatATensorMapPointsToIsReached) {
  device();
  const std::uint64_t tensor = buffer(64), other = buffer(64);
  MapFields map;
  map.address = tensor;
  map.dtype = DType::u32;
  map.rank = 1;
  map.dims[0] = 64, map.strides[0] = 4, map.box[0] = 8, map.steps[0] = 1;
  const sim::MapBits bits = sim::encode(map);
  // As a parameter by itself, and behind others.
  for (const std::size_t at : {std::size_t{0}, std::size_t{64}}) {
    std::vector<std::byte> parameters(at + bits.size());
    std::copy(bits.begin(), bits.end(), parameters.begin() + static_cast<std::ptrdiff_t>(at));
    const Launch how;
    const CapturedLaunch captured{*device_->module(module_), device_->memory(), how, parameters,
                                  ""};
    const std::vector<const sim::Region*> found = reachable(captured);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0]->base(), tensor);
    EXPECT_NE(found[0]->base(), other);
  }
}

TEST_F(OptionsOfExec, FilesOfLaunchesAreNamedAsTheKernelIs) {
  EXPECT_EQ(launch_file_name(3, "_Z5scalePfi"), "0003_scale");
  EXPECT_EQ(launch_file_name(3, "_ZN2ns5scaleIfEEvPT_i"), "0003_scale");
  EXPECT_EQ(launch_file_name(3, "scale"), "0003_scale");
  EXPECT_EQ(launch_file_name(3, "_ZNK1aorEv"), "0003_operator");
}

}  // namespace
}  // namespace tilescope
