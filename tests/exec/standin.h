// A program's process as far as its driver goes.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "app/cuda/api.h"
#include "app/descriptions.h"
#include "app/exec_server.h"
#include "app/scratch.h"

namespace tilescope {

// Two texts of one module: the first one's kernel doubles a word by the second one's function.
inline constexpr const char* caller = R"(
.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b32 out) twice(.param .b32 in);
.visible .entry doubled(.param .u64 data) {
  .reg .b32 %r<3>;
  .reg .b64 %rd<2>;
  .param .b32 in;
  .param .b32 out;
  ld.param.u64 %rd1, [data];
  ld.global.u32 %r1, [%rd1];
  st.param.b32 [in], %r1;
  call.uni (out), twice, (in);
  ld.param.b32 %r2, [out];
  st.global.u32 [%rd1], %r2;
  ret;
}
)";
inline constexpr const char* called = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .func (.param .b32 out) twice(.param .b32 in) {
  .reg .b32 %r<3>;
  ld.param.b32 %r1, [in];
  add.u32 %r2, %r1, %r1;
  st.param.b32 [out], %r2;
  ret;
}
)";

// Adds `value` to n words; n beyond what is there is out of bounds.
inline constexpr const char* standin_ptx = R"(
.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b32 result) vprintf (.param .b64 format, .param .b64 arguments);
.global .align 1 .b8 hello[7] = {104, 101, 108, 108, 111, 10, 0};
.visible .global .align 4 .u32 total[4] = {1, 2, 3, 4};

.visible .entry add(.param .u64 data, .param .u32 n, .param .u32 value) {
  .reg .b32 %r<8>;
  .reg .b64 %rd<4>;
  .reg .pred %p<2>;
  ld.param.u64 %rd1, [data];
  ld.param.u32 %r1, [n];
  ld.param.u32 %r2, [value];
  mov.u32 %r3, %tid.x;
  mov.u32 %r4, %ctaid.x;
  mov.u32 %r5, %ntid.x;
  mad.lo.s32 %r6, %r4, %r5, %r3;
  setp.ge.u32 %p1, %r6, %r1;
  @%p1 ret;
  mul.wide.u32 %rd2, %r6, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.u32 %r7, [%rd3];
  add.s32 %r7, %r7, %r2;
  st.global.u32 [%rd3], %r7;
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
)";

// A copy of the library, so that each test has one
// that knows nothing of the others, and the server that answers it.
class StandIn : public ::testing::Test {
 protected:
  StandIn() {
    ExecOptions options;
    options.quiet = true;
    options.order.device = *device_described("h100");
    auto server = ExecServer::open(socket(), options, terminal_);
    EXPECT_TRUE(server.ok());
    server_ = std::move(*server);
    ::setenv(wire::socket_variable, socket().c_str(), 1);
    const auto copy = scratch_.folder() / "libcuda.so.1";
    std::filesystem::copy_file(TILESCOPE_STANDIN, copy);
    library_ = ::dlopen(copy.c_str(), RTLD_NOW | RTLD_LOCAL);
    EXPECT_NE(library_, nullptr) << ::dlerror();
    answering_ = std::thread([this] {
      while (!stop_) server_->answer_some(5);
    });
  }
  ~StandIn() override {
    stop_ = true;
    answering_.join();
  }
  std::string socket() const { return (scratch_.folder() / "device").string(); }

  template <class... T>
  CUresult call(const char* name, T... arguments) {
    auto* const function = reinterpret_cast<CUresult (*)(T...)>(::dlsym(library_, name));
    if (!function) {
      ADD_FAILURE() << name << " is not there";
      return CUDA_ERROR_NOT_FOUND;
    }
    return function(arguments...);
  }

  // Initialised, with a context and the module above.
  void begin() {
    ASSERT_EQ(call("cuInit", 0u), CUDA_SUCCESS);
    CUcontext context = nullptr;
    ASSERT_EQ(call("cuDevicePrimaryCtxRetain", &context, 0), CUDA_SUCCESS);
    ASSERT_EQ(call("cuCtxSetCurrent", context), CUDA_SUCCESS);
    ASSERT_EQ(call("cuModuleLoadData", &module_, static_cast<const void*>(standin_ptx)),
              CUDA_SUCCESS);
    ASSERT_EQ(call("cuModuleGetFunction", &add_, module_, "add"), CUDA_SUCCESS);
  }
  CUdeviceptr words(int count) {
    std::vector<int> values(static_cast<std::size_t>(count));
    std::iota(values.begin(), values.end(), 0);
    CUdeviceptr out = 0;
    EXPECT_EQ(call("cuMemAlloc_v2", &out, values.size() * 4), CUDA_SUCCESS);
    EXPECT_EQ(
        call("cuMemcpyHtoD_v2", out, static_cast<const void*>(values.data()), values.size() * 4),
        CUDA_SUCCESS);
    return out;
  }
  CUresult launch(CUdeviceptr data, unsigned n, unsigned value, CUstream stream = nullptr,
                  unsigned threads = 64) {
    void* each[] = {&data, &n, &value};
    return call("cuLaunchKernel", add_, (n + 63) / 64, 1u, 1u, threads, 1u, 1u, 0u, stream,
                static_cast<void**>(each), static_cast<void**>(nullptr));
  }
  std::vector<int> read(CUdeviceptr from, int count) {
    std::vector<int> out(static_cast<std::size_t>(count), -1);
    EXPECT_EQ(call("cuMemcpyDtoH_v2", static_cast<void*>(out.data()), from, out.size() * 4),
              CUDA_SUCCESS);
    return out;
  }
  // What came of the one program that asks here. All that it asks has been answered.
  const SimulatedDevice& device() { return server_->programs().at(0)->device(); }

  std::size_t told(std::string_view kind) {
    const auto& all = device().reports();
    return static_cast<std::size_t>(std::count_if(
        all.begin(), all.end(), [&](const Report& report) { return report.kind == kind; }));
  }

  Terminal terminal_;
  Scratch scratch_;
  std::unique_ptr<ExecServer> server_;
  void* library_ = nullptr;
  std::atomic<bool> stop_ = false;
  std::thread answering_;
  CUmodule module_ = nullptr;
  CUfunction add_ = nullptr;
};

}  // namespace tilescope
