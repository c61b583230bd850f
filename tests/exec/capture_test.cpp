// What stands in front of the CUDA driver under `tilescope capture`, here with the stand-in as the
// real driver: what a launch is given and what it leaves is kept, and comes out again when it runs
// by itself.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <thread>

#include "app/capture_calls.h"
#include "app/comparisons.h"
#include "app/cuda/api.h"
#include "app/descriptions.h"
#include "app/exec_server.h"
#include "app/files.h"
#include "app/output_differences.h"
#include "app/scratch.h"
#include "core/sim/machine/machine.h"

namespace tilescope {
namespace {

namespace fs = std::filesystem;

// add: data[i] += value for i < n, beyond what is there out of bounds. raise: adds 1 to the word
// that `where` points to. rows: out[i] = lists[0][i] + lists[1][i].
constexpr const char* ptx = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .global .align 4 .u32 total[4] = {1, 2, 3, 4};
.visible .global .align 8 .u64 where;

.visible .entry _Z3addPijj(.param .u64 data, .param .u32 n, .param .u32 value) {
  .reg .b32 %r<8>;
  .reg .b64 %rd<4>;
  .reg .pred %p<2>;
  ld.param.u64 %rd1, [data];
  ld.param.u32 %r1, [n];
  ld.param.u32 %r2, [value];
  mov.u32 %r3, %tid.x;
  setp.ge.u32 %p1, %r3, %r1;
  @%p1 ret;
  mul.wide.u32 %rd2, %r3, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.u32 %r7, [%rd3];
  add.s32 %r7, %r7, %r2;
  st.global.u32 [%rd3], %r7;
  ret;
}
.visible .entry raise() {
  .reg .b32 %r<4>;
  .reg .b64 %rd<4>;
  ld.global.u64 %rd1, [where];
  ld.global.u32 %r1, [%rd1];
  ld.global.u32 %r2, [total+4];
  add.s32 %r1, %r1, %r2;
  st.global.u32 [%rd1], %r1;
  ret;
}
.visible .entry rows(.param .u64 lists, .param .u64 out) {
  .reg .b32 %r<6>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [lists];
  ld.param.u64 %rd2, [out];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 4;
  ld.global.u64 %rd4, [%rd1];
  ld.global.u64 %rd5, [%rd1+8];
  add.s64 %rd4, %rd4, %rd3;
  add.s64 %rd5, %rd5, %rd3;
  ld.global.u32 %r2, [%rd4];
  ld.global.u32 %r3, [%rd5];
  add.s32 %r2, %r2, %r3;
  add.s64 %rd2, %rd2, %rd3;
  st.global.u32 [%rd2], %r2;
  ret;
}
)";
constexpr const char* add_name = "_Z3addPijj";

// Runs by itself what a folder has: whether every buffer is left as the launch file expects, or
// what is wrong.
std::string run_alone(const fs::path& folder) {
  const Outcome<PreparedRun> run =
      prepare_launch((folder / "kernel.ptx").string(), (folder / "launch.toml").string());
  if (!run) return run.error().where + ": " + run.error().sentence;
  Outcome<std::vector<Compared>> compared = expectations(*run, 1);
  if (!compared) return compared.error().sentence;
  if (compared->empty() && run->variables.empty()) return "nothing is expected";
  std::vector<Ran> ran(1);
  Outcome<std::unique_ptr<Execution>> execution = make_simulator()->start(run->job);
  if (!execution) return execution.error().sentence;
  ran[0].execution = std::move(*execution);
  const RunState state = ran[0].execution->advance(1 << 20);
  if (state != RunState::done) {
    return ran[0].execution->reports().empty() ? "it did not end"
                                               : ran[0].execution->reports().back().kind;
  }
  if (const auto error = compare(*compared, ran, {})) return error->sentence;
  for (const Compared& c : *compared) {
    if (!c.diff->ok()) return run->job.buffers[c.output->buffer].name + " differs";
  }
  const auto variables = compare_variables(*run, *ran[0].execution);
  if (!variables) return variables.error().sentence;
  for (const DiffReport& diff : *variables) {
    if (!diff.ok()) return diff.got_name + " differs";
  }
  return "";
}

std::vector<std::string> files_of(const fs::path& folder) {
  std::vector<std::string> out;
  std::error_code none;
  for (const auto& each : fs::directory_iterator(folder, none)) {
    out.push_back(each.path().filename().string());
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::string text_of(const fs::path& path) {
  const Outcome<std::string> text = read_text(path.string());
  return text ? *text : "";
}

class Capture : public ::testing::Test {
 protected:
  void start(CaptureOptions options = {}) {
    ExecOptions exec;
    exec.quiet = true;
    exec.order.device = *device_described("h100");
    exec.capture = (scratch_.folder() / "of_exec").string();
    exec.device = "h100";
    auto device = ExecServer::open(path("device"), exec, terminal_);
    ASSERT_TRUE(device.ok()) << device.error().sentence;
    device_ = std::move(*device);
    options.folder = path("of_chip");
    options.quiet = true;
    captures_ = std::make_unique<Captures>(options, terminal_);
    auto server = SocketServer::open(path("captures"), [this](SocketServer::Peer peer) {
      calls_.push_back(std::make_unique<CaptureCalls>(std::move(peer.name), *captures_));
      return [own = calls_.back().get()](std::uint32_t what, std::string_view operands) {
        return own->answer(what, operands);
      };
    });
    ASSERT_TRUE(server.ok()) << server.error().sentence;
    server_ = std::move(*server);
    for (const char* folder : {"real", "front"}) fs::create_directory(scratch_.folder() / folder);
    fs::copy_file(TILESCOPE_STANDIN, path("real/libcuda.so.1"));
    fs::copy_file(TILESCOPE_SHIM, path("front/libcuda.so.1"));
    ::setenv(wire::socket_variable, path("device").c_str(), 1);
    ::setenv(wire::capture_socket_variable, path("captures").c_str(), 1);
    ::setenv(wire::capture_driver_variable, path("real/libcuda.so.1").c_str(), 1);
    library_ = ::dlopen(path("front/libcuda.so.1").c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library_, nullptr) << ::dlerror();
    answering_.emplace_back([this] {
      while (!stop_) device_->answer_some(5);
    });
    answering_.emplace_back([this] {
      while (!stop_) server_->answer_some(5);
    });
    ASSERT_EQ(call("cuInit", 0u), CUDA_SUCCESS);
    ASSERT_EQ(call("cuDevicePrimaryCtxRetain", &context_, 0), CUDA_SUCCESS);
    ASSERT_EQ(call("cuCtxSetCurrent", context_), CUDA_SUCCESS);
    ASSERT_EQ(call("cuModuleLoadData", &module_, static_cast<const void*>(ptx)), CUDA_SUCCESS);
  }
  ~Capture() override {
    stop_ = true;
    for (std::thread& each : answering_) each.join();
  }
  std::string path(const char* name) const { return (scratch_.folder() / name).string(); }
  fs::path chip(const char* launch) const { return scratch_.folder() / "of_chip" / launch; }
  fs::path exec(const char* launch) const { return scratch_.folder() / "of_exec" / launch; }

  template <class... T>
  CUresult call(const char* name, T... arguments) {
    auto* const function = reinterpret_cast<CUresult (*)(T...)>(::dlsym(library_, name));
    if (!function) {
      ADD_FAILURE() << name << " is not there";
      return CUDA_ERROR_NOT_FOUND;
    }
    return function(arguments...);
  }
  template <class T>
  CUdeviceptr on_device(const std::vector<T>& values) {
    CUdeviceptr out = 0;
    EXPECT_EQ(call("cuMemAlloc_v2", &out, values.size() * sizeof(T)), CUDA_SUCCESS);
    EXPECT_EQ(call("cuMemcpyHtoD_v2", out, static_cast<const void*>(values.data()),
                   values.size() * sizeof(T)),
              CUDA_SUCCESS);
    return out;
  }
  CUdeviceptr words(int count) {
    std::vector<int> values(static_cast<std::size_t>(count));
    std::iota(values.begin(), values.end(), 0);
    return on_device(values);
  }
  CUresult launch(const char* kernel, std::vector<void*> each, CUstream stream = nullptr) {
    CUfunction function = nullptr;
    if (const CUresult wrong = call("cuModuleGetFunction", &function, module_, kernel))
      return wrong;
    return call("cuLaunchKernel", function, 1u, 1u, 1u, 64u, 1u, 1u, 0u, stream, each.data(),
                static_cast<void**>(nullptr));
  }
  CUresult add(CUdeviceptr data, unsigned n, unsigned value, CUstream stream = nullptr) {
    return launch(add_name, {&data, &n, &value}, stream);
  }
  CUdeviceptr variable(const char* name) {
    CUdeviceptr out = 0;
    std::size_t bytes = 0;
    EXPECT_EQ(call("cuModuleGetGlobal_v2", &out, &bytes, module_, name), CUDA_SUCCESS);
    return out;
  }

  Terminal terminal_;
  Scratch scratch_;
  std::unique_ptr<ExecServer> device_;
  std::unique_ptr<Captures> captures_;
  std::vector<std::unique_ptr<CaptureCalls>> calls_;
  std::unique_ptr<SocketServer> server_;
  std::atomic<bool> stop_ = false;
  std::vector<std::thread> answering_;
  void* library_ = nullptr;
  CUcontext context_ = nullptr;
  CUmodule module_ = nullptr;
};

TEST_F(Capture, ALaunchRunsByItselfAndLeavesTheSame) {
  start();
  const CUdeviceptr data = words(60), unused = words(60);
  EXPECT_EQ(add(data, 50, 7), CUDA_SUCCESS);
  EXPECT_NE(unused, 0u);
  const fs::path own = chip("0001_add"), theirs = exec("0001_add");
  EXPECT_EQ(files_of(own), (std::vector<std::string>{"b0.left.npy", "b0.npy", "kernel.ptx",
                                                     "launch.toml", "v1.npy", "v2.npy"}));
  for (const char* same : {"kernel.ptx", "b0.npy", "v1.npy", "v2.npy"}) {
    EXPECT_EQ(text_of(own / same), text_of(theirs / same)) << same << ", as exec has it";
  }
  EXPECT_EQ(run_alone(own), "");
  EXPECT_EQ(run_alone(theirs), "nothing is expected");
  ASSERT_EQ(captures_->all.size(), 1u);
  EXPECT_TRUE(captures_->all[0].came_back);
  EXPECT_EQ(captures_->all[0].result, "");
  const std::string toml = text_of(own / "launch.toml");
  EXPECT_NE(toml.find("device = \"h100\""), std::string::npos);
  EXPECT_NE(toml.find("dtype = \"i32\""), std::string::npos) << "the kernel's name says int*";
  EXPECT_NE(toml.find("name = \"param_0 (0)\""), std::string::npos);
}

// By its own call or by an attribute: the launch file says that it is one, and of others nothing.
TEST_F(Capture, ACooperativeLaunchIsCapturedAsOne) {
  start();
  CUfunction function = nullptr;
  CUdeviceptr data = words(60);
  unsigned n = 50, value = 7;
  void* each[] = {&data, &n, &value};
  ASSERT_EQ(call("cuModuleGetFunction", &function, module_, add_name), CUDA_SUCCESS);
  EXPECT_EQ(call("cuLaunchCooperativeKernel", function, 1u, 1u, 1u, 64u, 1u, 1u, 0u, CUstream{},
                 static_cast<void**>(each)),
            CUDA_SUCCESS);
  CUlaunchAttribute cooperative{};
  cooperative.id = attribute_cooperative, cooperative.value.number = 1;
  CUlaunchConfig config{{1, 1, 1}, {64, 1, 1}, 0, nullptr, &cooperative, 1};
  const auto launch_by_config = [&] {
    return call("cuLaunchKernelEx", static_cast<const CUlaunchConfig*>(&config), function,
                static_cast<void**>(each), static_cast<void**>(nullptr));
  };
  EXPECT_EQ(launch_by_config(), CUDA_SUCCESS);
  cooperative.value.number = 0;
  EXPECT_EQ(launch_by_config(), CUDA_SUCCESS);
  const auto says_so = [](const fs::path& folder) {
    return text_of(folder / "launch.toml").find("\ncooperative = true\n") != std::string::npos;
  };
  for (const auto& [which, is_one] :
       {std::pair("0001_add", true), std::pair("0002_add", true), std::pair("0003_add", false)}) {
    EXPECT_EQ(says_so(chip(which)), is_one) << which;
    EXPECT_EQ(says_so(exec(which)), is_one) << which << ", of exec";
    EXPECT_EQ(run_alone(chip(which)), "") << which;
  }
}

TEST_F(Capture, AnotherResultIsADifference) {
  start();
  EXPECT_EQ(add(words(60), 50, 7), CUDA_SUCCESS);
  const fs::path own = chip("0001_add");
  fs::copy_file(own / "b0.npy", own / "b0.left.npy", fs::copy_options::overwrite_existing);
  EXPECT_EQ(run_alone(own), "param_0 (0) differs");
}

TEST_F(Capture, MemoryIsReachedThroughMemoryAndVariables) {
  start();
  const CUdeviceptr first = words(64), second = words(64), out = words(64);
  CUdeviceptr lists = on_device(std::vector<CUdeviceptr>{first, second}), to = out;
  EXPECT_EQ(launch("rows", {&lists, &to}), CUDA_SUCCESS);
  EXPECT_EQ(run_alone(chip("0001_rows")), "");
  EXPECT_TRUE(fs::exists(chip("0001_rows") / "b3.npy")) << "the lists, two rows, and the result";

  EXPECT_EQ(
      call("cuMemcpyHtoD_v2", variable("where"), static_cast<const void*>(&first), sizeof first),
      CUDA_SUCCESS);
  EXPECT_EQ(launch("raise", {}), CUDA_SUCCESS);
  EXPECT_EQ(run_alone(chip("0002_raise")), "");
  EXPECT_NE(text_of(chip("0002_raise") / "launch.toml").find("b0.left.npy"), std::string::npos);
}

TEST_F(Capture, TheAddressOfAVariableIsThatOfItsPlaceHere) {
  start();
  EXPECT_EQ(add(variable("total"), 4, 5), CUDA_SUCCESS);
  const fs::path own = chip("0001_add");
  EXPECT_EQ(run_alone(own), "");
  fs::copy_file(own / "v0.npy", own / "v0.left.npy", fs::copy_options::overwrite_existing);
  EXPECT_EQ(run_alone(own), "total differs");
}

TEST_F(Capture, AFaultLeavesWhatTheLaunchWasGiven) {
  start();
  add(words(16), 50, 7);  // a driver may say it now or later
  EXPECT_NE(call("cuCtxSynchronize"), CUDA_SUCCESS);
  EXPECT_EQ(files_of(chip("0001_add")),
            (std::vector<std::string>{"b0.npy", "kernel.ptx", "launch.toml", "v1.npy", "v2.npy"}));
  ASSERT_EQ(captures_->all.size(), 1u);
  EXPECT_EQ(captures_->all[0].result, "CUDA_ERROR_ILLEGAL_ADDRESS");
  EXPECT_EQ(text_of(chip("0001_add") / "launch.toml").find("expect"), std::string::npos);
}

TEST_F(Capture, OneChoosesLaunchesAndKernels) {
  CaptureOptions options;
  options.first = 1, options.end = 4;
  options.only.emplace("add\\(int");
  start(options);
  const CUdeviceptr data = words(64);
  CUdeviceptr lists = on_device(std::vector<CUdeviceptr>{data, data}), out = words(64);
  EXPECT_EQ(add(data, 50, 1), CUDA_SUCCESS);
  EXPECT_EQ(add(data, 50, 2), CUDA_SUCCESS);
  EXPECT_EQ(launch("rows", {&lists, &out}), CUDA_SUCCESS);
  EXPECT_EQ(add(data, 50, 3), CUDA_SUCCESS);
  EXPECT_EQ(add(data, 50, 4), CUDA_SUCCESS);
  EXPECT_EQ(files_of(scratch_.folder() / "of_chip"),
            (std::vector<std::string>{"0002_add", "0004_add"}));
  EXPECT_EQ(run_alone(chip("0002_add")), "");
  EXPECT_EQ(run_alone(chip("0004_add")), "");
  EXPECT_EQ(captures_->launches, 5u);
}

TEST_F(Capture, ThroughCuGetProcAddressAsWell) {
  start();
  void* found = nullptr;
  int status = -1;
  EXPECT_EQ(
      call("cuGetProcAddress_v2", "cuGetProcAddress", &found, 12000, std::uint64_t{0}, &status),
      CUDA_SUCCESS);
  EXPECT_EQ(found, ::dlsym(library_, "cuGetProcAddress_v2"));
  using Find = CUresult (*)(const char*, void**, int, std::uint64_t, int*);
  const auto find = reinterpret_cast<Find>(found);
  EXPECT_EQ(find("cuLaunchKernel", &found, 13000, 0, &status), CUDA_SUCCESS);
  EXPECT_EQ(found, ::dlsym(library_, "cuLaunchKernel"));
  EXPECT_NE(::dlsym(library_, "cuLaunchKernel_ptsz"), found);
  EXPECT_EQ(find("cuMemAlloc", &found, 13000, 0, &status), CUDA_SUCCESS);
  EXPECT_NE(found, ::dlsym(library_, "cuMemAlloc_v2")) << "that of the real driver";
  EXPECT_NE(find("cuNoSuchCall", &found, 13000, 0, &status), CUDA_SUCCESS);
}

TEST_F(Capture, ALaunchThatIsRecordedIntoAGraphIsLeftAlone) {
  start();
  CUstream stream = nullptr;
  ASSERT_EQ(call("cuStreamCreate", &stream, 1u), CUDA_SUCCESS);
  const CUdeviceptr data = words(64);
  ASSERT_EQ(call("cuStreamBeginCapture_v2", stream, 0), CUDA_SUCCESS);
  EXPECT_EQ(add(data, 50, 1, stream), CUDA_SUCCESS);
  CUgraph graph = nullptr;
  ASSERT_EQ(call("cuStreamEndCapture", stream, &graph), CUDA_SUCCESS);
  struct CUgraphExec_st* exec = nullptr;
  ASSERT_EQ(call("cuGraphInstantiateWithFlags", &exec, graph, 0ull), CUDA_SUCCESS);
  EXPECT_EQ(call("cuGraphLaunch", exec, stream), CUDA_SUCCESS);
  EXPECT_EQ(call("cuStreamSynchronize", stream), CUDA_SUCCESS);
  EXPECT_TRUE(captures_->all.empty());
  EXPECT_EQ(device_->programs().at(0)->device().launches(), 1u);
}

TEST_F(Capture, ThreadsLaunchBesideEachOther) {
  start();
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&, t] {
      wrong += call("cuCtxSetCurrent", context_) != 0;
      const CUdeviceptr data = words(64);
      for (int i = 0; i < 2; ++i) wrong += add(data, 50, static_cast<unsigned>(t)) != 0;
    });
  }
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(captures_->all.size(), 4u);
  for (const Captures::Captured& one : captures_->all) EXPECT_EQ(run_alone(one.folder), "");
}

TEST_F(Capture, WhatWasLinkedIsKnownByWhatItWasMadeOf) {
  start();
  CUlinkState state = nullptr;
  ASSERT_EQ(
      call("cuLinkCreate_v2", 0u, static_cast<int*>(nullptr), static_cast<void**>(nullptr), &state),
      CUDA_SUCCESS);
  ASSERT_EQ(call("cuLinkAddData_v2", state, 1, const_cast<char*>(ptx), std::strlen(ptx) + 1, "a",
                 0u, static_cast<int*>(nullptr), static_cast<void**>(nullptr)),
            CUDA_SUCCESS);
  void* image = nullptr;
  std::size_t bytes = 0;
  ASSERT_EQ(call("cuLinkComplete", state, &image, &bytes), CUDA_SUCCESS);
  ASSERT_EQ(call("cuModuleLoadData", &module_, static_cast<const void*>(image)), CUDA_SUCCESS);
  EXPECT_EQ(call("cuLinkDestroy", state), CUDA_SUCCESS);
  EXPECT_EQ(add(words(60), 50, 7), CUDA_SUCCESS);
  EXPECT_EQ(run_alone(chip("0001_add")), "");
}

// ---- what the other end makes of what it is told, whoever tells it ----

class CaptureTold : public ::testing::Test {
 protected:
  CaptureTold() : captures_({}, terminal_) {
    captures_.options.folder = (scratch_.folder() / "told").string();
    captures_.options.quiet = true;
  }
  SocketAnswer tell(wire::Ask what, const wire::Writer& operands) {
    return calls_.answer(static_cast<std::uint32_t>(what), operands.bytes);
  }
  SocketAnswer launch(const char* device = "NVIDIA H100 80GB HBM3", int major = 9) {
    wire::CapturedShape shape;
    shape.image = 1;
    shape.block[0] = 64;
    shape.major = major;
    return tell(wire::Ask::launch, wire::Writer().put(shape).put_text(add_name).put_text(device));
  }
  void image(std::string_view text) {
    EXPECT_EQ(tell(wire::Ask::image,
                   wire::Writer().put(std::uint64_t{1}).put(std::uint32_t{1}).put_text(text))
                  .result,
              0u);
  }
  wire::Wanted wanted(const SocketAnswer& answer) {
    return wire::Reader(answer.bytes).get<wire::Wanted>();
  }
  std::uint32_t give(std::uint64_t address, std::string_view bytes) {
    if (const auto no = tell(wire::Ask::region, wire::Writer().put(address).put(
                                                    static_cast<std::uint64_t>(bytes.size())))
                            .result) {
      return no;
    }
    return tell(wire::Ask::bytes, wire::Writer().put(address).put_text(bytes)).result;
  }

  Terminal terminal_;
  Scratch scratch_;
  Captures captures_;
  CaptureCalls calls_{"program", captures_};
};

struct Parameters {
  std::uint64_t data;
  std::uint32_t n, value;
};
std::string bytes_of(const Parameters& p) {
  return {reinterpret_cast<const char*>(&p), sizeof p};
}

TEST_F(CaptureTold, MemoryWhereALaunchFileHasNoneIsMoved) {
  EXPECT_EQ(wanted(launch()), wire::Wanted::unknown_image);
  image(ptx);
  EXPECT_EQ(wanted(launch()), wire::Wanted::yes);
  // As pools have it, and not at a multiple of 256.
  constexpr std::uint64_t low = 0x3'0200'0040, high = 0x7f12'3456'0010;
  EXPECT_EQ(tell(wire::Ask::parameters, wire::Writer().put_text(bytes_of({low, 4, 1}))).result, 0u);
  std::string numbers(32, '\0'), after(32, '\0');
  numbers[0] = 41, after[0] = 42, after[4] = after[8] = after[12] = 1;
  // Behind the four words stands the address of the other, which has that of the third of them.
  std::memcpy(numbers.data() + 16, &high, 8);
  std::memcpy(after.data() + 16, &high, 8);
  constexpr std::uint64_t third = low + 8;
  const std::string other(reinterpret_cast<const char*>(&third), 8);
  EXPECT_EQ(give(low, numbers), 0u);
  EXPECT_EQ(give(high, other), 0u);
  EXPECT_NE(give(low + 8, numbers), 0u) << "something lies there";
  EXPECT_EQ(tell(wire::Ask::given, wire::Writer()).result, 0u);
  EXPECT_EQ(tell(wire::Ask::bytes, wire::Writer().put(low).put_text(after)).result, 0u);
  EXPECT_EQ(tell(wire::Ask::bytes, wire::Writer().put(high).put_text(other)).result, 0u);
  EXPECT_EQ(tell(wire::Ask::left, wire::Writer().put(std::int32_t{0}).put_text("")).result, 0u);
  const fs::path folder = captures_.all.at(0).folder;
  EXPECT_EQ(run_alone(folder), "");
  const Outcome<PreparedRun> run =
      prepare_launch((folder / "kernel.ptx").string(), (folder / "launch.toml").string());
  ASSERT_TRUE(run.ok());
  ASSERT_EQ(run->job.buffers.size(), 2u);
  const Buffer& moved = run->job.buffers[0];
  EXPECT_EQ(moved.address % 256, 0u);
  std::uint64_t parameter = 0, back = 0;
  std::memcpy(&parameter, run->job.arguments[0].bytes.data(), 8);
  EXPECT_EQ(parameter, moved.address + 0x40);
  std::memcpy(&back, run->job.buffers[1].bytes.data() + 0x10, 8);
  EXPECT_EQ(back, parameter + 8);
}

TEST_F(CaptureTold, AChipIsKnownByItsNameOrItsKind) {
  image(ptx);
  launch("NVIDIA H200", 9);
  const auto device = [&] {
    EXPECT_EQ(tell(wire::Ask::parameters, wire::Writer().put_text(bytes_of({0, 0, 1}))).result, 0u);
    EXPECT_EQ(tell(wire::Ask::given, wire::Writer()).result, 0u);
    EXPECT_EQ(tell(wire::Ask::left, wire::Writer().put(std::int32_t{0}).put_text("")).result, 0u);
    const std::string toml = text_of(fs::path(captures_.all.back().folder) / "launch.toml");
    const std::size_t at = toml.find("device = ");
    return at == std::string::npos ? "" : toml.substr(at, toml.find('\n', at) - at);
  };
  EXPECT_EQ(device(), "device = \"h200\"");
  launch("NVIDIA GH200 480GB", 9);
  EXPECT_EQ(device(), "device = \"h200\"");
  launch("NVIDIA H20", 9);
  EXPECT_EQ(device(), "device = \"h100\"");
  launch("Something else", 8);
  EXPECT_EQ(device(), "device = \"a100\"");
}

TEST_F(CaptureTold, MachineCodeAloneIsNotCaptured) {
  image(
      "\x7f"
      "ELF");
  EXPECT_EQ(wanted(launch()), wire::Wanted::no);
  EXPECT_EQ(captures_.launches, 1u);
  EXPECT_TRUE(captures_.all.empty());
}

TEST_F(CaptureTold, WhatMakesNoSenseIsRefused) {
  image(ptx);
  const wire::Writer nothing;
  for (std::uint32_t what = 0; what < 20; ++what) {
    if (what == static_cast<std::uint32_t>(wire::Ask::image)) continue;
    EXPECT_NE(calls_.answer(what, "").result, 0u) << what;
    EXPECT_NE(calls_.answer(what, "\x01\x02\x03").result, 0u) << what;
  }
  launch();
  EXPECT_NE(launch().result, 0u) << "one is open";
  EXPECT_NE(tell(wire::Ask::parameters, wire::Writer().put_text("short")).result, 0u);
  EXPECT_NE(tell(wire::Ask::left, wire::Writer().put(std::int32_t{0}).put_text("")).result, 0u)
      << "before it was given anything";
  EXPECT_EQ(tell(wire::Ask::parameters, wire::Writer().put_text(bytes_of({0, 0, 1}))).result, 0u);
  constexpr std::uint64_t at = 0x7f00'0000'0000;
  const auto region = [&](std::uint64_t address, std::uint64_t bytes) {
    return tell(wire::Ask::region, wire::Writer().put(address).put(bytes)).result;
  };
  EXPECT_NE(region(at, 0), 0u);
  EXPECT_NE(region(at, std::uint64_t{1} << 40), 0u);
  EXPECT_NE(region(~std::uint64_t{0} - 8, 64), 0u);
  EXPECT_EQ(region(at, 64), 0u);
  const auto bytes = [&](std::uint64_t address, std::size_t count) {
    return tell(wire::Ask::bytes, wire::Writer().put(address).put_text(std::string(count, 'x')))
        .result;
  };
  EXPECT_NE(bytes(at, 65), 0u);
  EXPECT_NE(bytes(at + 1, 64), 0u);
  EXPECT_NE(bytes(at - 1, 1), 0u);
  EXPECT_EQ(bytes(at, 64), 0u);
  EXPECT_NE(
      tell(wire::Ask::variable, wire::Writer().put_text("total").put(at).put(std::uint64_t{5}))
          .result,
      0u)
      << "it has 16 bytes";
  EXPECT_EQ(tell(wire::Ask::given, nothing).result, 0u);
  EXPECT_NE(tell(wire::Ask::given, nothing).result, 0u);
  EXPECT_NE(region(at + 4096, 64), 0u) << "too late";
}

}  // namespace
}  // namespace tilescope
