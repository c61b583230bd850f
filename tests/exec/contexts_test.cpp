// What ends with a context, and what kernels printed by then. The answers are an H200's (driver
// 580, CUDA 13.0).
#include "tests/exec/standin.h"

namespace tilescope {
namespace {

class Contexts : public StandIn {
 protected:
  CUcontext make() {
    CUcontext out = nullptr;
    EXPECT_EQ(call("cuCtxCreate_v2", &out, 0u, 0), CUDA_SUCCESS);
    return out;
  }
  void load() {
    ASSERT_EQ(call("cuModuleLoadData", &module_, static_cast<const void*>(standin_ptx)),
              CUDA_SUCCESS);
    ASSERT_EQ(call("cuModuleGetFunction", &add_, module_, "add"), CUDA_SUCCESS);
  }
  CUresult say() {
    CUfunction function = nullptr;
    EXPECT_EQ(call("cuModuleGetFunction", &function, module_, "say"), CUDA_SUCCESS);
    return call("cuLaunchKernel", function, 1u, 1u, 1u, 1u, 1u, 1u, 0u, CUstream{},
                static_cast<void**>(nullptr), static_cast<void**>(nullptr));
  }
  // What comes on stdout of what kernels have printed.
  template <class F>
  std::string printed(F f) {
    ::testing::internal::CaptureStdout();
    f();
    std::fflush(stdout);
    return ::testing::internal::GetCapturedStdout();
  }
};

TEST_F(Contexts, AResetEndsWhatTheContextHas) {
  begin();
  const CUdeviceptr data = words(10);
  CUstream stream = nullptr;
  CUevent event = nullptr;
  void* pinned = nullptr;
  ASSERT_EQ(call("cuStreamCreate", &stream, 0u), CUDA_SUCCESS);
  ASSERT_EQ(call("cuEventCreate", &event, 0u), CUDA_SUCCESS);
  ASSERT_EQ(call("cuMemHostAlloc", &pinned, std::size_t{64}, 0u), CUDA_SUCCESS);
  ASSERT_EQ(call("cuDevicePrimaryCtxReset_v2", 0), CUDA_SUCCESS);
  unsigned flags = 0;
  int active = 1;
  EXPECT_EQ(call("cuDevicePrimaryCtxGetState", 0, &flags, &active), CUDA_SUCCESS);
  EXPECT_EQ(active, 0);
  EXPECT_EQ(call("cuCtxSynchronize"), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  EXPECT_EQ(call("cuStreamSynchronize", stream), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  EXPECT_EQ(call("cuMemFree_v2", data), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  EXPECT_EQ(launch(data, 10, 1), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  EXPECT_EQ(call("cuModuleUnload", module_), CUDA_ERROR_INVALID_HANDLE);
  CUcontext context = nullptr;
  ASSERT_EQ(call("cuDevicePrimaryCtxRetain", &context, 0), CUDA_SUCCESS);
  EXPECT_EQ(call("cuStreamSynchronize", stream), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(call("cuEventQuery", event), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(call("cuMemFree_v2", data), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(call("cuMemFreeHost", pinned), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(data, 10, 1), CUDA_ERROR_INVALID_HANDLE);
  load();
  EXPECT_EQ(launch(words(10), 10, 1), CUDA_SUCCESS);
  EXPECT_EQ(call("cuCtxSynchronize"), CUDA_SUCCESS);
}

TEST_F(Contexts, MemoryComesBackWithTheEndOfAContext) {
  ASSERT_EQ(call("cuInit", 0u), CUDA_SUCCESS);
  std::size_t before = 0, after = 0, all = 0;
  ASSERT_EQ(call("cuMemGetInfo_v2", &before, &all), CUDA_SUCCESS);
  const CUcontext context = make();
  CUdeviceptr data = 0;
  CUarray array = nullptr;
  void* pinned = nullptr;
  const CUDA_ARRAY_DESCRIPTOR shape{64, 64, 0x20, 1};
  EXPECT_EQ(call("cuMemAlloc_v2", &data, std::size_t{1} << 20), CUDA_SUCCESS);
  EXPECT_EQ(call("cuMemHostAlloc", &pinned, std::size_t{1} << 20, 0u), CUDA_SUCCESS);
  EXPECT_EQ(call("cuArrayCreate_v2", &array, &shape), CUDA_SUCCESS);
  EXPECT_EQ(call("cuMemGetInfo_v2", &after, &all), CUDA_SUCCESS);
  EXPECT_LT(after, before);
  EXPECT_EQ(call("cuCtxDestroy_v2", context), CUDA_SUCCESS);
  EXPECT_EQ(call("cuMemGetInfo_v2", &after, &all), CUDA_SUCCESS);
  EXPECT_EQ(after, before);
}

TEST_F(Contexts, FunctionsAndEventsAreTheirContexts) {
  ASSERT_EQ(call("cuInit", 0u), CUDA_SUCCESS);
  const CUcontext first = make();
  load();
  const CUdeviceptr data = words(10);
  CUevent event = nullptr;
  ASSERT_EQ(call("cuEventCreate", &event, 0u), CUDA_SUCCESS);
  const CUcontext second = make();
  EXPECT_EQ(launch(data, 10, 1), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(call("cuEventRecord", event, CUstream{}), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(call("cuCtxDestroy_v2", first), CUDA_SUCCESS);
  EXPECT_EQ(launch(data, 10, 1), CUDA_ERROR_INVALID_HANDLE);
  int value = 0;
  EXPECT_EQ(call("cuMemcpyDtoH_v2", static_cast<void*>(&value), data, std::size_t{4}),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(call("cuModuleUnload", module_), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(call("cuCtxDestroy_v2", second), CUDA_SUCCESS);
  EXPECT_EQ(call("cuCtxDestroy_v2", second), CUDA_ERROR_INVALID_CONTEXT);
  CUdeviceptr other = 0;
  EXPECT_EQ(call("cuMemAlloc_v2", &other, std::size_t{4}), CUDA_ERROR_CONTEXT_IS_DESTROYED)
      << "the first one is current again, and gone";
  CUcontext none = nullptr;
  EXPECT_EQ(call("cuCtxCreate_v2", &none, 0xffffu, 0), CUDA_ERROR_INVALID_VALUE);
}

// A library is the program's: its kernels run in each context, and its variables begin anew.
TEST_F(Contexts, ALibraryOutlivesAContext) {
  begin();
  void* library = nullptr;
  ASSERT_EQ(call("cuLibraryLoadData", &library, static_cast<const void*>(standin_ptx),
                 static_cast<int*>(nullptr), static_cast<void**>(nullptr), 0u,
                 static_cast<int*>(nullptr), static_cast<void**>(nullptr), 0u),
            CUDA_SUCCESS);
  CUdeviceptr total = 0;
  std::size_t bytes = 0;
  ASSERT_EQ(call("cuLibraryGetGlobal", &total, &bytes, library, "total"), CUDA_SUCCESS);
  const int changed = 77;
  ASSERT_EQ(call("cuMemcpyHtoD_v2", total, static_cast<const void*>(&changed), sizeof changed),
            CUDA_SUCCESS);
  ASSERT_EQ(call("cuDevicePrimaryCtxReset_v2", 0), CUDA_SUCCESS);
  CUcontext context = nullptr;
  ASSERT_EQ(call("cuDevicePrimaryCtxRetain", &context, 0), CUDA_SUCCESS);
  ASSERT_EQ(call("cuLibraryGetKernel", &add_, library, "add"), CUDA_SUCCESS);
  EXPECT_EQ(launch(words(10), 10, 1), CUDA_SUCCESS);
  EXPECT_EQ(read(total, 4), (std::vector<int>{1, 2, 3, 4}));
}

// CUDA C++ Programming Guide, "Formatted output": when the buffer is flushed.
TEST_F(Contexts, WhatKernelsPrintComesWhereCudaSaysSo) {
  begin();
  const CUdeviceptr data = words(1);
  const std::string line = "hello\n";
  EXPECT_EQ(printed([&] { say(); }), "");
  EXPECT_EQ(printed([&] { say(); }), line) << "the next launch brings that of the first";
  EXPECT_EQ(printed([&] { call("cuCtxSynchronize"); }), line);
  say();
  EXPECT_EQ(printed([&] { words(1); }), line) << "a blocking copy to the device";
  say();
  EXPECT_EQ(printed([&] { read(data, 1); }), line) << "a blocking copy from there";
  CUmodule other = nullptr;
  say();
  EXPECT_EQ(
      printed([&] { call("cuModuleLoadData", &other, static_cast<const void*>(standin_ptx)); }),
      line);
  say();
  EXPECT_EQ(printed([&] { call("cuModuleUnload", other); }), line);
  say();
  EXPECT_EQ(printed([&] { call("cuDevicePrimaryCtxReset_v2", 0); }), line);
}

std::vector<int> answered;
CUresult (*allocate)(CUdeviceptr*, std::size_t) = nullptr;
CUresult (*current)(CUcontext*) = nullptr;

// CUDA Driver API, cuLaunchHostFunc: "The host function must not make any CUDA API calls".
TEST_F(Contexts, HostFunctionsMayCallNothingAndCallbacksAreToldOfErrors) {
  begin();
  allocate = reinterpret_cast<decltype(allocate)>(::dlsym(library_, "cuMemAlloc_v2"));
  current = reinterpret_cast<decltype(current)>(::dlsym(library_, "cuCtxGetCurrent"));
  const CUhostFn host = [](void*) {
    CUdeviceptr address = 0;
    CUcontext context = nullptr;
    answered.push_back(allocate(&address, 4));
    answered.push_back(current(&context));
  };
  const CUstreamCallback callback = [](CUstream, CUresult before, void*) {
    answered.push_back(before);
  };
  answered.clear();
  EXPECT_EQ(call("cuLaunchHostFunc", CUstream{}, host, static_cast<void*>(nullptr)), CUDA_SUCCESS);
  EXPECT_EQ(call("cuStreamSynchronize", CUstream{}), CUDA_SUCCESS);
  EXPECT_EQ(answered, (std::vector<int>{CUDA_ERROR_NOT_PERMITTED, CUDA_ERROR_NOT_PERMITTED}));
  answered.clear();
  void* const nothing = nullptr;
  EXPECT_EQ(call("cuStreamAddCallback", CUstream{}, callback, nothing, 0u), CUDA_SUCCESS);
  EXPECT_EQ(call("cuStreamAddCallback", CUstream{}, callback, nothing, 1u),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(call("cuStreamSynchronize", CUstream{}), CUDA_SUCCESS);
  EXPECT_EQ(launch(words(1), 1000, 1), CUDA_SUCCESS);
  EXPECT_EQ(call("cuLaunchHostFunc", CUstream{}, host, nothing), CUDA_SUCCESS);
  EXPECT_EQ(call("cuStreamAddCallback", CUstream{}, callback, nothing, 0u), CUDA_SUCCESS);
  EXPECT_EQ(call("cuStreamSynchronize", CUstream{}), 700);
  EXPECT_EQ(answered, (std::vector<int>{0, 700})) << "the host function did not run";
}

}  // namespace
}  // namespace tilescope
