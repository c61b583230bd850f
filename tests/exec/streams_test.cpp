// Streams that nobody makes, launches that begin early, and what streams are told.
#include "tests/exec/standin.h"

namespace tilescope {
namespace {

// Each thread has a word of `data`, at [%rd3], and `body` reads and writes it. %p1: of warp 0.
std::string entry(const char* name, const char* body) {
  return std::string(".visible .entry ") + name + R"((.param .u64 data) {
  .reg .b32 %r<4>;
  .reg .b64 %rd<4>;
  .reg .pred %p<2>;
  ld.param.u64 %rd1, [data];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  setp.lt.u32 %p1, %r1, 32;
)" + body +
         "  ret;\n}\n";
}

// How they read and write around their wait for the launch before them.
const std::string early_ptx = ".version 8.0\n.target sm_90\n.address_size 64\n" + entry("hasty", R"(
  ld.global.u32 %r2, [%rd3];
  griddepcontrol.wait;
  st.global.u32 [%rd3], %r2;
)") + entry("patient", R"(
  griddepcontrol.launch_dependents;
  griddepcontrol.wait;
  ld.global.u32 %r2, [%rd3];
  st.global.u32 [%rd3], %r2;
)") + entry("together", R"(  // one warp waits, and the other one for it
  @%p1 griddepcontrol.wait;
  bar.sync 0;
  ld.global.u32 %r2, [%rd3];
  st.global.u32 [%rd3], %r2;
)") + entry("apart", R"(  // one warp waits, the other one for nothing
  @%p1 griddepcontrol.wait;
  ld.global.u32 %r2, [%rd3];
  st.global.u32 [%rd3], %r2;
)");

using Streams = StandIn;

TEST_F(Streams, EachThreadHasItsOwn) {
  begin();
  const CUdeviceptr data = words(64), other = words(64);
  CUcontext context = nullptr;
  ASSERT_EQ(call("cuCtxGetCurrent", &context), CUDA_SUCCESS);
  const auto add_in_thread = [&](CUdeviceptr to) {
    std::thread([&, to] {
      unsigned n = 64, value = 1;
      CUdeviceptr at = to;
      void* each[] = {&at, &n, &value};
      EXPECT_EQ(call("cuCtxSetCurrent", context), CUDA_SUCCESS);
      EXPECT_EQ(call("cuLaunchKernel_ptsz", add_, 1u, 1u, 1u, 64u, 1u, 1u, 0u, CUstream{},
                     static_cast<void**>(each), static_cast<void**>(nullptr)),
                CUDA_SUCCESS);
      // In order: the thread's own stream.
      EXPECT_EQ(call("cuMemsetD32Async_ptsz", to, 9u, std::size_t{64}, CUstream{}), CUDA_SUCCESS);
    }).join();
  };
  add_in_thread(data);
  add_in_thread(other);
  EXPECT_EQ(told("stream_race"), 0u);
  // The legacy default stream waits for them all.
  EXPECT_EQ(launch(data, 64, 1), CUDA_SUCCESS);
  add_in_thread(data);
  EXPECT_EQ(told("stream_race"), 0u);
  add_in_thread(data);
  EXPECT_GT(told("stream_race"), 0u);
}

TEST_F(Streams, OneIsAskedForByItsNumberAndByTheWayFunctionsAreFound) {
  begin();
  const CUdeviceptr data = words(64);
  EXPECT_EQ(launch(data, 64, 1, stream_per_thread()), CUDA_SUCCESS);
  EXPECT_EQ(call("cuMemsetD32_v2_ptds", data, 3u, std::size_t{64}), CUDA_SUCCESS);
  EXPECT_EQ(call("cuStreamSynchronize_ptsz", CUstream{}), CUDA_SUCCESS);
  EXPECT_EQ(told("stream_race"), 0u);
  int values[64] = {};
  EXPECT_EQ(call("cuMemcpyDtoH_v2_ptds", static_cast<void*>(values), data, sizeof values),
            CUDA_SUCCESS);
  EXPECT_EQ(values[63], 3);
  void* plain = nullptr;
  void* in_threads = nullptr;
  int status = 0;
  EXPECT_EQ(call("cuGetProcAddress_v2", "cuLaunchKernel", &plain, 13000, std::uint64_t{1}, &status),
            CUDA_SUCCESS);
  EXPECT_EQ(
      call("cuGetProcAddress_v2", "cuLaunchKernel", &in_threads, 13000, std::uint64_t{2}, &status),
      CUDA_SUCCESS);
  EXPECT_EQ(plain, ::dlsym(library_, "cuLaunchKernel"));
  EXPECT_EQ(in_threads, ::dlsym(library_, "cuLaunchKernel_ptsz"));
  EXPECT_EQ(
      call("cuGetProcAddress_v2", "cuMemcpyDtoH", &in_threads, 13000, std::uint64_t{2}, &status),
      CUDA_SUCCESS);
  EXPECT_EQ(in_threads, ::dlsym(library_, "cuMemcpyDtoH_v2_ptds"));
  EXPECT_EQ(call("cuGetProcAddress_v2", "cuInit", &plain, 13000, std::uint64_t{3}, &status),
            CUDA_ERROR_INVALID_VALUE);
}

// A ninth argument, which is on the stack, and a stream that is said stay what they are.
TEST_F(Streams, OneThatIsSaidIsTaken) {
  begin();
  const CUdeviceptr data = words(64);
  CUstream stream = nullptr;
  ASSERT_EQ(call("cuStreamCreate", &stream, 1u), CUDA_SUCCESS);
  unsigned n = 64, value = 1;
  CUdeviceptr at = data;
  void* each[] = {&at, &n, &value};
  EXPECT_EQ(call("cuLaunchKernel_ptsz", add_, 1u, 1u, 1u, 64u, 1u, 1u, 0u, stream,
                 static_cast<void**>(each), static_cast<void**>(nullptr)),
            CUDA_SUCCESS);
  EXPECT_EQ(launch(data, 64, 1, stream), CUDA_SUCCESS);
  EXPECT_EQ(told("stream_race"), 0u);
  CUstream wrong = reinterpret_cast<CUstream>(77);
  EXPECT_EQ(call("cuLaunchKernel_ptsz", add_, 1u, 1u, 1u, 64u, 1u, 1u, 0u, wrong,
                 static_cast<void**>(each), static_cast<void**>(nullptr)),
            CUDA_ERROR_INVALID_HANDLE);
}

class EarlyLaunches : public StandIn {
 protected:
  void SetUp() override {
    begin();
    CUmodule module = nullptr;
    ASSERT_EQ(call("cuModuleLoadData", &module, static_cast<const void*>(early_ptx.c_str())),
              CUDA_SUCCESS);
    ASSERT_EQ(call("cuModuleGetFunction", &hasty_, module, "hasty"), CUDA_SUCCESS);
    ASSERT_EQ(call("cuModuleGetFunction", &patient_, module, "patient"), CUDA_SUCCESS);
    ASSERT_EQ(call("cuModuleGetFunction", &together_, module, "together"), CUDA_SUCCESS);
    ASSERT_EQ(call("cuModuleGetFunction", &apart_, module, "apart"), CUDA_SUCCESS);
    data_ = words(64);
  }
  CUresult launch_early(CUfunction function, CUstream stream = nullptr) {
    CUlaunchAttribute attribute{};
    attribute.id = attribute_programmatic_stream_serialization;
    attribute.value.number = 1;
    const CUlaunchConfig config{{1, 1, 1}, {64, 1, 1}, 0, stream, &attribute, 1};
    CUdeviceptr data = data_;
    void* each[] = {&data};
    return call("cuLaunchKernelEx", &config, function, static_cast<void**>(each),
                static_cast<void**>(nullptr));
  }
  CUfunction hasty_ = nullptr, patient_ = nullptr, together_ = nullptr, apart_ = nullptr;
  CUdeviceptr data_ = 0;
};

TEST_F(EarlyLaunches, WhatComesBeforeTheWaitHasNoOrderWithTheLaunchBefore) {
  EXPECT_EQ(launch(data_, 64, 1), CUDA_SUCCESS);
  EXPECT_EQ(launch_early(patient_), CUDA_SUCCESS);
  EXPECT_EQ(launch_early(patient_), CUDA_SUCCESS);
  EXPECT_EQ(told("stream_race"), 0u);
  EXPECT_EQ(launch_early(hasty_), CUDA_SUCCESS);
  ASSERT_EQ(told("stream_race"), 1u);
  const Report& report = device().reports().back();
  EXPECT_NE(report.sentence.find("griddepcontrol.wait"), std::string::npos) << report.sentence;
}

TEST_F(EarlyLaunches, EachWarpMustBeBehindAWait) {
  EXPECT_EQ(launch_early(patient_), CUDA_SUCCESS);
  EXPECT_EQ(launch_early(together_), CUDA_SUCCESS);
  EXPECT_EQ(told("stream_race"), 0u);
  EXPECT_EQ(launch_early(patient_), CUDA_SUCCESS);
  EXPECT_EQ(launch_early(apart_), CUDA_SUCCESS);
  EXPECT_EQ(told("stream_race"), 1u);
}

// As CUB launches its merge sort: kernels without griddepcontrol, each of them with the attribute.
TEST_F(EarlyLaunches, ALaunchThatLetsNoDependentsBeginIsWaitedFor) {
  EXPECT_EQ(launch(data_, 64, 1), CUDA_SUCCESS);
  EXPECT_EQ(launch_early(hasty_), CUDA_SUCCESS);
  EXPECT_EQ(launch_early(hasty_), CUDA_SUCCESS);
  EXPECT_EQ(told("stream_race"), 0u);
}

TEST_F(EarlyLaunches, OtherWorkBetweenThemIsWaitedFor) {
  CUevent event = nullptr;
  ASSERT_EQ(call("cuEventCreate", &event, 0u), CUDA_SUCCESS);
  EXPECT_EQ(launch_early(patient_), CUDA_SUCCESS);
  EXPECT_EQ(call("cuMemsetD32Async", data_, 3u, std::size_t{64}, CUstream{}), CUDA_SUCCESS);
  EXPECT_EQ(launch_early(hasty_), CUDA_SUCCESS);
  EXPECT_EQ(launch_early(patient_), CUDA_SUCCESS);
  EXPECT_EQ(call("cuCtxSynchronize"), CUDA_SUCCESS);
  EXPECT_EQ(launch_early(hasty_), CUDA_SUCCESS);
  EXPECT_EQ(told("stream_race"), 0u);
}

TEST_F(EarlyLaunches, SoItIsInCapturedStreams) {
  CUstream stream = nullptr;
  ASSERT_EQ(call("cuStreamCreate", &stream, 1u), CUDA_SUCCESS);
  const auto run = [&](CUfunction second) {
    CUgraph graph = nullptr;
    struct CUgraphExec_st* exec = nullptr;
    EXPECT_EQ(call("cuStreamBeginCapture_v2", stream, 0), CUDA_SUCCESS);
    EXPECT_EQ(launch_early(patient_, stream), CUDA_SUCCESS);
    EXPECT_EQ(launch_early(second, stream), CUDA_SUCCESS);
    EXPECT_EQ(call("cuStreamEndCapture", stream, &graph), CUDA_SUCCESS);
    EXPECT_EQ(call("cuGraphInstantiateWithFlags", &exec, graph, 0ull), CUDA_SUCCESS);
    EXPECT_EQ(call("cuGraphLaunch", exec, stream), CUDA_SUCCESS);
  };
  run(patient_);
  EXPECT_EQ(told("stream_race"), 0u);
  run(hasty_);
  EXPECT_EQ(told("stream_race"), 1u);
}

TEST_F(Streams, WhatTheyAreToldIsAskedFor) {
  begin();
  CUstream stream = nullptr, other = nullptr;
  ASSERT_EQ(call("cuStreamCreateWithPriority", &stream, 1u, -3), CUDA_SUCCESS);
  ASSERT_EQ(call("cuStreamCreateWithPriority", &other, 0u, -9), CUDA_SUCCESS);
  EXPECT_EQ(call("cuStreamCreate", &other, 2u), CUDA_ERROR_INVALID_VALUE);
  unsigned flags = 9;
  int priority = 9;
  EXPECT_EQ(call("cuStreamGetFlags", stream, &flags), CUDA_SUCCESS);
  EXPECT_EQ(flags, 1u);
  EXPECT_EQ(call("cuStreamGetFlags", other, &flags), CUDA_SUCCESS);
  EXPECT_EQ(flags, 0u);
  EXPECT_EQ(call("cuStreamGetPriority", stream, &priority), CUDA_SUCCESS);
  EXPECT_EQ(priority, -3);
  EXPECT_EQ(call("cuStreamGetPriority", other, &priority), CUDA_SUCCESS);
  EXPECT_EQ(priority, -5);  // the highest that there is
  EXPECT_EQ(call("cuStreamDestroy_v2", CUstream{}), CUDA_ERROR_INVALID_HANDLE);
  // A window of L2.
  CUlaunchAttributeValue value{}, got{};
  value.window = {nullptr, 1 << 20, 0.5f, 2, 1};
  EXPECT_EQ(call("cuStreamSetAttribute", stream, 1, &value), CUDA_SUCCESS);
  EXPECT_EQ(call("cuStreamGetAttribute", stream, 1, &got), CUDA_SUCCESS);
  EXPECT_EQ(got.window.bytes, std::size_t{1} << 20);
  EXPECT_EQ(call("cuStreamCopyAttributes", other, stream), CUDA_SUCCESS);
  got = {};
  EXPECT_EQ(call("cuStreamGetAttribute", other, 1, &got), CUDA_SUCCESS);
  EXPECT_EQ(got.window.hit, 2);
  value.window.hit_ratio = 1.5f;
  EXPECT_EQ(call("cuStreamSetAttribute", stream, 1, &value), CUDA_ERROR_INVALID_VALUE);
  value.window = {nullptr, std::size_t{1} << 40, 0.5f, 2, 1};
  EXPECT_EQ(call("cuStreamSetAttribute", stream, 1, &value), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(call("cuStreamSetAttribute", stream, 4, &value), CUDA_ERROR_INVALID_VALUE);
  // What of L2 may persist.
  int most = 0;
  EXPECT_EQ(call("cuDeviceGetAttribute", &most, 108, 0), CUDA_SUCCESS);
  EXPECT_GT(most, 1 << 20);
  std::size_t limit = 0;
  EXPECT_EQ(call("cuCtxSetLimit", 6, static_cast<std::size_t>(most)), CUDA_SUCCESS);
  EXPECT_EQ(call("cuCtxGetLimit", &limit, 6), CUDA_SUCCESS);
  EXPECT_EQ(limit, static_cast<std::size_t>(most));
}

}  // namespace
}  // namespace tilescope
