// The stand-in for the CUDA driver, asked as a program asks it: loaded by its name, called through
// the addresses that it gives out, answered by the simulator over a socket.
#include "tests/exec/standin.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <cctype>
#include <fstream>
#include <set>
#include <sstream>

#include "app/cuda/linked_texts.h"

namespace tilescope {
namespace {

// CUB asks which PTX its kernels came from, and runs no kernel where that is none it has.
TEST_F(StandIn, AFunctionTellsTheChipItsPtxIsForAndTheOneItRunsOn) {
  begin();
  int value = 0;
  ASSERT_EQ(call("cuFuncGetAttribute", &value, 5, add_), CUDA_SUCCESS);  // PTX_VERSION
  EXPECT_EQ(value, 80);
  ASSERT_EQ(call("cuFuncGetAttribute", &value, 6, add_), CUDA_SUCCESS);  // BINARY_VERSION
  EXPECT_EQ(value, 90);
}

// What nvJitLink hands over here (compilers_test.cpp): its first text calls into its second.
TEST_F(StandIn, TextsThatAreToBeLinkedAreOneModule) {
  begin();
  CUmodule module = nullptr;
  const std::string both = one_text({caller, called});
  ASSERT_EQ(call("cuModuleLoadData", &module, static_cast<const void*>(both.c_str())),
            CUDA_SUCCESS);
  CUfunction doubled = nullptr;
  ASSERT_EQ(call("cuModuleGetFunction", &doubled, module, "doubled"), CUDA_SUCCESS);
  int value = 21;
  CUdeviceptr data = 0;
  ASSERT_EQ(call("cuMemAlloc_v2", &data, std::size_t{4}), CUDA_SUCCESS);
  ASSERT_EQ(call("cuMemcpyHtoD_v2", data, static_cast<const void*>(&value), std::size_t{4}),
            CUDA_SUCCESS);
  void* parameters[] = {&data};
  ASSERT_EQ(call("cuLaunchKernel", doubled, 1u, 1u, 1u, 1u, 1u, 1u, 0u, CUstream{}, &parameters[0],
                 static_cast<void**>(nullptr)),
            CUDA_SUCCESS);
  ASSERT_EQ(call("cuMemcpyDtoH_v2", static_cast<void*>(&value), data, std::size_t{4}),
            CUDA_SUCCESS);
  EXPECT_EQ(value, 42);
}

TEST_F(StandIn, AKernelRunsAndItsResultComesBack) {
  begin();
  const CUdeviceptr data = words(100);
  EXPECT_EQ(launch(data, 100, 7), CUDA_SUCCESS);
  EXPECT_EQ(call("cuCtxSynchronize"), CUDA_SUCCESS);
  const std::vector<int> values = read(data, 100);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(values[static_cast<std::size_t>(i)], i + 7);
  EXPECT_EQ(device().launches(), 1u);
  EXPECT_FALSE(device().faulted());
  EXPECT_EQ(call("cuMemFree_v2", data), CUDA_SUCCESS);
  EXPECT_EQ(call("cuMemFree_v2", data), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(StandIn, ParametersInOneBufferAreTheSame) {
  begin();
  struct {
    CUdeviceptr data;
    unsigned n, value;
  } buffer{words(10), 10, 5};
  std::size_t bytes = sizeof buffer;
  void* extra[] = {reinterpret_cast<void*>(1), &buffer, reinterpret_cast<void*>(2), &bytes,
                   nullptr};
  EXPECT_EQ(call("cuLaunchKernel", add_, 1u, 1u, 1u, 64u, 1u, 1u, 0u, CUstream{},
                 static_cast<void**>(nullptr), static_cast<void**>(extra)),
            CUDA_SUCCESS);
  EXPECT_EQ(read(buffer.data, 10)[9], 14);
  bytes = 12;
  EXPECT_EQ(call("cuLaunchKernel", add_, 1u, 1u, 1u, 64u, 1u, 1u, 0u, CUstream{},
                 static_cast<void**>(nullptr), static_cast<void**>(extra)),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(StandIn, TheDeviceIsAsItIsDescribed) {
  int value = 0;
  EXPECT_EQ(call("cuDeviceGetAttribute", &value, 16, 0), CUDA_ERROR_NOT_INITIALIZED);
  begin();
  EXPECT_EQ(call("cuDeviceGetAttribute", &value, 16, 0), CUDA_SUCCESS);
  EXPECT_EQ(value, 132);
  EXPECT_EQ(call("cuDeviceGetAttribute", &value, 75, 0), CUDA_SUCCESS);
  EXPECT_EQ(value, 9);
  EXPECT_EQ(call("cuDeviceGetAttribute", &value, 16, 1), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(call("cuDeviceGetAttribute", static_cast<int*>(nullptr), 16, 0),
            CUDA_ERROR_INVALID_VALUE);
  char name[64];
  EXPECT_EQ(call("cuDeviceGetName", static_cast<char*>(name), 64, 0), CUDA_SUCCESS);
  EXPECT_STREQ(name, "NVIDIA H100");
}

TEST_F(StandIn, WhatIsWrongIsRefused) {
  begin();
  CUfunction none = nullptr;
  EXPECT_EQ(call("cuModuleGetFunction", &none, module_, "nothing"), CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(call("cuModuleGetFunction", &none, module_, "ad"), CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(call("cuModuleGetFunction", &none, CUmodule{}, "add"), CUDA_ERROR_INVALID_HANDLE);
  CUdeviceptr data = words(10);
  EXPECT_EQ(launch(data, 10, 1, nullptr, 2048), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(data, 10, 1, reinterpret_cast<CUstream>(77)), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(launch(data, 0, 1), CUDA_ERROR_INVALID_VALUE);
  int on_host = 0;
  EXPECT_EQ(call("cuMemcpyDtoH_v2", static_cast<void*>(&on_host), data + 40, std::size_t{4}),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(call("cuMemAlloc_v2", &data, std::size_t{0}), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(call("cuMemAlloc_v2", &data, std::size_t{1} << 50), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(call("cuModuleUnload", module_), CUDA_SUCCESS);
  EXPECT_EQ(launch(data, 10, 1), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_FALSE(device().faulted());
}

TEST_F(StandIn, AModuleThatCannotRunSaysWhy) {
  begin();
  char log[512] = "";
  int options[] = {5, 6};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  CUmodule module = nullptr;
  const char* const nonsense = ".version 8.0\n.target sm_80\n.address_size 64\nnonsense\n";
  EXPECT_EQ(call("cuModuleLoadDataEx", &module, static_cast<const void*>(nonsense), 2u,
                 static_cast<int*>(options), static_cast<void**>(values)),
            CUDA_ERROR_INVALID_PTX);
  EXPECT_NE(std::string(log).find("nonsense"), std::string::npos) << log;
  const char* const code =
      "\x7f"
      "ELF and so on";
  EXPECT_EQ(call("cuModuleLoadData", &module, static_cast<const void*>(code)),
            CUDA_ERROR_NO_BINARY_FOR_GPU);
}

TEST_F(StandIn, AfterAFaultEveryCallSaysSo) {
  begin();
  const CUdeviceptr data = words(10);
  EXPECT_EQ(launch(data, 1 << 20, 1), CUDA_SUCCESS);  // it was taken
  constexpr auto illegal_address = static_cast<CUresult>(700);
  EXPECT_EQ(call("cuCtxSynchronize"), illegal_address);
  CUdeviceptr more = 0;
  EXPECT_EQ(call("cuMemAlloc_v2", &more, std::size_t{4}), illegal_address);
  EXPECT_EQ(launch(data, 10, 1), illegal_address);
  int value = 0;
  EXPECT_EQ(call("cuDeviceGetAttribute", &value, 16, 0), CUDA_SUCCESS);
  ASSERT_TRUE(device().faulted());
  EXPECT_EQ(device().reports().back().kind, "out_of_bounds");
}

TEST_F(StandIn, CallsThatAreRefusedAreHazards) {
  begin();
  const CUdeviceptr data = words(10);
  std::vector<int> values(20);
  const auto told = [&](const char* part) {
    const std::vector<Report>& all = device().reports();
    return !all.empty() && all.back().kind == "call_refused" &&
           all.back().weight == Weight::hazard &&
           all.back().sentence.find(part) != std::string::npos;
  };
  EXPECT_EQ(call("cuMemcpyHtoD_v2", data, static_cast<const void*>(values.data()), std::size_t{80}),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_TRUE(told("a copy from the host of 80 bytes at 0x"));
  EXPECT_TRUE(told("buffer 1 has 40 bytes from there on"));
  EXPECT_EQ(call("cuMemcpyDtoH_v2", static_cast<void*>(values.data()),
                 reinterpret_cast<CUdeviceptr>(values.data()), std::size_t{8}),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_TRUE(told("there is no memory of the device"));
  EXPECT_EQ(call("cuMemsetD32_v2", data, 0u, std::size_t{11}), CUDA_ERROR_INVALID_VALUE);
  EXPECT_TRUE(told("a memset of 44 bytes"));
  EXPECT_EQ(call("cuMemFree_v2", data), CUDA_SUCCESS);
  EXPECT_EQ(device().reports().size(), 3u);
  EXPECT_EQ(call("cuMemFree_v2", data), CUDA_ERROR_INVALID_VALUE);
  EXPECT_TRUE(told("was not freed: buffer 1, which was there, was freed before"));
  EXPECT_EQ(call("cuMemcpyHtoD_v2", data, static_cast<const void*>(values.data()), std::size_t{8}),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_TRUE(told("buffer 1, which was there, was freed before"));
  EXPECT_TRUE(device().hazardous());
  EXPECT_FALSE(device().faulted());
}

TEST_F(StandIn, ReportsSayWhereABufferWasMade) {
  begin();
  const CUdeviceptr data = words(10);
  EXPECT_EQ(launch(data, 1000, 1), CUDA_SUCCESS);
  ASSERT_TRUE(device().faulted());
  const Report& told = device().reports().back();
  EXPECT_NE(told.found.find("; buffer 1 was allocated in "), std::string::npos) << told.found;
  EXPECT_NE(told.found.find("StandIn"), std::string::npos) << told.found;
}

TEST_F(StandIn, APointerToTheHostIsCalledOne) {
  begin();
  const std::vector<int> heap(8);
  EXPECT_EQ(launch(reinterpret_cast<CUdeviceptr>(heap.data()), 8, 1), CUDA_SUCCESS);
  ASSERT_TRUE(device().faulted());
  const Report& told = device().reports().back();
  EXPECT_EQ(told.kind, "out_of_bounds");
  EXPECT_NE(told.sentence.find(", which is on the host: memory of "), std::string::npos)
      << told.sentence;
}

TEST_F(StandIn, VariablesHaveAddresses) {
  begin();
  CUdeviceptr total = 0;
  std::size_t bytes = 0;
  ASSERT_EQ(call("cuModuleGetGlobal_v2", &total, &bytes, module_, "total"), CUDA_SUCCESS);
  EXPECT_EQ(bytes, 16u);
  EXPECT_EQ(read(total, 4), (std::vector<int>{1, 2, 3, 4}));
  EXPECT_EQ(launch(total, 4, 10), CUDA_SUCCESS);
  EXPECT_EQ(read(total, 4), (std::vector<int>{11, 12, 13, 14}));
  EXPECT_EQ(call("cuModuleGetGlobal_v2", &total, &bytes, module_, "nothing"), CUDA_ERROR_NOT_FOUND);
}

TEST_F(StandIn, HostMemoryIsTheDevicesToo) {
  begin();
  void* pinned = nullptr;
  ASSERT_EQ(call("cuMemHostAlloc", &pinned, std::size_t{40}, 0u), CUDA_SUCCESS);
  auto* const values = static_cast<int*>(pinned);
  for (int i = 0; i < 10; ++i) values[i] = i;
  EXPECT_EQ(launch(reinterpret_cast<CUdeviceptr>(pinned), 10, 3), CUDA_SUCCESS);
  EXPECT_EQ(call("cuCtxSynchronize"), CUDA_SUCCESS);
  EXPECT_EQ(values[9], 12);
  EXPECT_EQ(call("cuMemFreeHost", pinned), CUDA_SUCCESS);

  CUdeviceptr managed = 0;
  ASSERT_EQ(call("cuMemAllocManaged", &managed, std::size_t{40}, 1u), CUDA_SUCCESS);
  std::memset(reinterpret_cast<void*>(managed), 0, 40);
  EXPECT_EQ(launch(managed, 10, 4), CUDA_SUCCESS);
  EXPECT_EQ(call("cuCtxSynchronize"), CUDA_SUCCESS);
  EXPECT_EQ(*reinterpret_cast<int*>(managed), 4);
  int is_managed = 0;
  EXPECT_EQ(call("cuPointerGetAttribute", static_cast<void*>(&is_managed), 8, managed),
            CUDA_SUCCESS);
  EXPECT_EQ(is_managed, 1);
  EXPECT_EQ(call("cuMemFree_v2", managed), CUDA_SUCCESS);

  std::vector<int> own(5000, 1);
  ASSERT_EQ(call("cuMemHostRegister_v2", static_cast<void*>(own.data()), own.size() * 4, 0u),
            CUDA_SUCCESS);
  EXPECT_EQ(launch(reinterpret_cast<CUdeviceptr>(own.data()), 5000, 1), CUDA_SUCCESS);
  EXPECT_EQ(call("cuCtxSynchronize"), CUDA_SUCCESS);
  EXPECT_EQ(own, std::vector<int>(5000, 2));
  EXPECT_EQ(call("cuMemHostUnregister", static_cast<void*>(own.data())), CUDA_SUCCESS);
}

TEST_F(StandIn, RowsAndFills) {
  begin();
  CUdeviceptr image = 0;
  std::size_t pitch = 0;
  ASSERT_EQ(call("cuMemAllocPitch_v2", &image, &pitch, std::size_t{20}, std::size_t{3}, 4u),
            CUDA_SUCCESS);
  EXPECT_EQ(pitch % 512, 0u);
  EXPECT_EQ(call("cuMemsetD2D32_v2", image, pitch, 7u, std::size_t{5}, std::size_t{3}),
            CUDA_SUCCESS);
  int rows[3][5] = {};
  CUDA_MEMCPY2D how{};
  how.srcMemoryType = memory_device, how.srcDevice = image, how.srcPitch = pitch;
  how.dstMemoryType = memory_host, how.dstHost = rows, how.dstPitch = 20;
  how.WidthInBytes = 20, how.Height = 3;
  EXPECT_EQ(call("cuMemcpy2D_v2", static_cast<const CUDA_MEMCPY2D*>(&how)), CUDA_SUCCESS);
  for (const auto& row : rows) {
    for (const int value : row) EXPECT_EQ(value, 7);
  }
  how.Height = 4;
  EXPECT_EQ(call("cuMemcpy2D_v2", static_cast<const CUDA_MEMCPY2D*>(&how)),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(StandIn, EventsHaveTheTimeOfTheChip) {
  begin();
  CUevent first = nullptr, last = nullptr;
  ASSERT_EQ(call("cuEventCreate", &first, 0u), CUDA_SUCCESS);
  ASSERT_EQ(call("cuEventCreate", &last, 0u), CUDA_SUCCESS);
  float milliseconds = -1;
  EXPECT_EQ(call("cuEventElapsedTime", &milliseconds, first, last), CUDA_ERROR_INVALID_HANDLE);
  const CUdeviceptr data = words(1000);
  EXPECT_EQ(call("cuEventRecord", first, CUstream{}), CUDA_SUCCESS);
  EXPECT_EQ(launch(data, 1000, 1), CUDA_SUCCESS);
  EXPECT_EQ(call("cuEventRecord", last, CUstream{}), CUDA_SUCCESS);
  EXPECT_EQ(call("cuEventElapsedTime", &milliseconds, first, last), CUDA_SUCCESS);
  EXPECT_GT(milliseconds, 1e-3f);  // what a launch alone takes
  EXPECT_LT(milliseconds, 0.1f);
}

// GB/s and microseconds of [host] in assets/devices, which are an H200's on other chips, too.
TEST_F(StandIn, CopiesOfPinnedMemoryAreQuicker) {
  begin();
  CUevent first = nullptr, last = nullptr;
  ASSERT_EQ(call("cuEventCreate", &first, 0u), CUDA_SUCCESS);
  ASSERT_EQ(call("cuEventCreate", &last, 0u), CUDA_SUCCESS);
  const std::size_t bytes = 4 << 20;
  const CUdeviceptr data = words(bytes / 4);
  void* pinned = nullptr;
  ASSERT_EQ(call("cuMemAllocHost_v2", &pinned, bytes), CUDA_SUCCESS);
  std::vector<char> pageable(bytes);
  const auto gigabytes = [&](void* host, bool in) {
    float milliseconds = 0;
    EXPECT_EQ(call("cuEventRecord", first, CUstream{}), CUDA_SUCCESS);
    EXPECT_EQ(
        in ? call("cuMemcpyHtoDAsync_v2", data, static_cast<const void*>(host), bytes, CUstream{})
           : call("cuMemcpyDtoHAsync_v2", host, data, bytes, CUstream{}),
        CUDA_SUCCESS);
    EXPECT_EQ(call("cuEventRecord", last, CUstream{}), CUDA_SUCCESS);
    EXPECT_EQ(call("cuEventSynchronize", last), CUDA_SUCCESS);
    EXPECT_EQ(call("cuEventElapsedTime", &milliseconds, first, last), CUDA_SUCCESS);
    return static_cast<double>(bytes) / (static_cast<double>(milliseconds) * 1e6 - 3000);
  };
  EXPECT_NEAR(gigabytes(pinned, true), 55.4, 0.5);
  EXPECT_NEAR(gigabytes(pinned, false), 55.4, 0.5);
  EXPECT_NEAR(gigabytes(pageable.data(), true), 7, 0.1);
  EXPECT_NEAR(gigabytes(pageable.data(), false), 10, 0.1);
  EXPECT_EQ(call("cuMemFreeHost", pinned), CUDA_SUCCESS);
}

TEST_F(StandIn, StreamsInNoOrderAreAHazardAndEventsMakeOne) {
  begin();
  CUstream a = nullptr, b = nullptr;
  CUevent event = nullptr;
  ASSERT_EQ(call("cuStreamCreate", &a, 1u), CUDA_SUCCESS);
  ASSERT_EQ(call("cuStreamCreate", &b, 1u), CUDA_SUCCESS);
  ASSERT_EQ(call("cuEventCreate", &event, 0u), CUDA_SUCCESS);
  const CUdeviceptr data = words(64);
  EXPECT_EQ(launch(data, 64, 1, a), CUDA_SUCCESS);
  EXPECT_EQ(call("cuEventRecord", event, a), CUDA_SUCCESS);
  EXPECT_EQ(call("cuStreamWaitEvent", b, event, 0u), CUDA_SUCCESS);
  EXPECT_EQ(launch(data, 64, 1, b), CUDA_SUCCESS);
  EXPECT_FALSE(device().hazardous());
  EXPECT_EQ(launch(data, 64, 1, a), CUDA_SUCCESS);
  ASSERT_TRUE(device().hazardous());
  EXPECT_EQ(device().reports().back().kind, "stream_race");
  EXPECT_EQ(call("cuStreamDestroy_v2", a), CUDA_SUCCESS);
  EXPECT_EQ(launch(data, 64, 1, a), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(StandIn, TheDefaultStreamIsNamed) {
  begin();
  CUstream apart = nullptr;  // CU_STREAM_NON_BLOCKING: it waits for nothing of the default stream
  ASSERT_EQ(call("cuStreamCreate", &apart, 1u), CUDA_SUCCESS);
  const CUdeviceptr data = words(64);
  EXPECT_EQ(launch(data, 64, 1), CUDA_SUCCESS);
  EXPECT_EQ(launch(data, 64, 1, apart), CUDA_SUCCESS);
  ASSERT_EQ(device().reports().size(), 1u);
  EXPECT_NE(device().reports()[0].found.find("the default stream"), std::string::npos)
      << device().reports()[0].found;
}

TEST_F(StandIn, AGraphDoesWhatWasTakenDown) {
  begin();
  CUstream stream = nullptr;
  ASSERT_EQ(call("cuStreamCreate", &stream, 1u), CUDA_SUCCESS);
  const CUdeviceptr data = words(64);
  ASSERT_EQ(call("cuStreamBeginCapture_v2", stream, 0), CUDA_SUCCESS);
  EXPECT_EQ(call("cuMemsetD32Async", data, 5u, std::size_t{64}, stream), CUDA_SUCCESS);
  EXPECT_EQ(launch(data, 64, 1, stream), CUDA_SUCCESS);
  CUgraph graph = nullptr;
  ASSERT_EQ(call("cuStreamEndCapture", stream, &graph), CUDA_SUCCESS);
  EXPECT_EQ(device().launches(), 0u);
  struct CUgraphExec_st* exec = nullptr;
  ASSERT_EQ(call("cuGraphInstantiateWithFlags", &exec, graph, 0ull), CUDA_SUCCESS);
  EXPECT_EQ(call("cuGraphLaunch", exec, stream), CUDA_SUCCESS);
  EXPECT_EQ(call("cuGraphLaunch", exec, stream), CUDA_SUCCESS);
  EXPECT_EQ(call("cuStreamSynchronize", stream), CUDA_SUCCESS);
  EXPECT_EQ(read(data, 64)[63], 6);
  EXPECT_EQ(device().launches(), 2u);
  EXPECT_EQ(call("cuGraphExecDestroy", exec), CUDA_SUCCESS);
  EXPECT_EQ(call("cuGraphDestroy", graph), CUDA_SUCCESS);
}

TEST_F(StandIn, ThreadsAskBesideEachOther) {
  begin();
  CUcontext context = nullptr;
  ASSERT_EQ(call("cuCtxGetCurrent", &context), CUDA_SUCCESS);
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      wrong += call("cuCtxSetCurrent", context) != 0;  // each thread has its own
      const CUdeviceptr data = words(100);
      for (int i = 0; i < 5; ++i) wrong += launch(data, 100, static_cast<unsigned>(t)) != 0;
      wrong += read(data, 100)[99] != 99 + 5 * t;
    });
  }
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(device().launches(), 20u);
}

TEST_F(StandIn, AForkedProcessIsRefused) {
  begin();
  const pid_t child = ::fork();
  if (child == 0) {
    CUdeviceptr data = 0;
    ::_exit(call("cuMemAlloc_v2", &data, std::size_t{4}) == CUDA_ERROR_NOT_INITIALIZED ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(launch(words(10), 10, 1), CUDA_SUCCESS);  // and the parent goes on
}

TEST_F(StandIn, FunctionsAreFoundByNameAndVersion) {
  begin();
  void* found = nullptr;
  int status = -1;
  const auto find = [&](const char* name, int version) {
    found = nullptr;
    return call("cuGetProcAddress_v2", name, &found, version, std::uint64_t{0}, &status);
  };
  EXPECT_EQ(find("cuMemAlloc", 13000), CUDA_SUCCESS);
  EXPECT_EQ(found, ::dlsym(library_, "cuMemAlloc_v2"));
  EXPECT_EQ(find("cuCtxCreate", 12000), CUDA_SUCCESS);
  EXPECT_EQ(found, ::dlsym(library_, "cuCtxCreate_v3"));
  EXPECT_EQ(find("cuCtxCreate", 13000), CUDA_SUCCESS);
  EXPECT_EQ(found, ::dlsym(library_, "cuCtxCreate_v4"));
  EXPECT_EQ(find("cuNothing", 13000), CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(status, 1);
  EXPECT_EQ(find("cuLibraryLoadData", 11000), CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(status, 2);
  // What is missing is there to say so.
  EXPECT_EQ(find("cuMulticastCreate", 13000), CUDA_SUCCESS);
  EXPECT_EQ(reinterpret_cast<CUresult (*)()>(found)(), CUDA_ERROR_NOT_SUPPORTED);
}

TEST_F(StandIn, EveryNameIsExported) {
  int count = 0;
#define CALL(name, symbol, since) \
  ++count;                        \
  EXPECT_NE(::dlsym(library_, #symbol), nullptr) << #symbol;
#define PER_THREAD_OWN(symbol, ending) \
  EXPECT_NE(::dlsym(library_, #symbol "_" #ending), nullptr) << #symbol "_" #ending;
#define PER_THREAD(symbol, ending, position) PER_THREAD_OWN(symbol, ending)
#include "app/cuda/calls.inc"
#undef CALL
#undef PER_THREAD
#undef PER_THREAD_OWN
#define MISSING(symbol) EXPECT_NE(::dlsym(library_, #symbol), nullptr) << #symbol;
#include "app/cuda/missing.inc"
#undef MISSING
  EXPECT_GT(count, 200);
}

TEST_F(StandIn, WhatIsNoQuestionEndsTheConnectionAlone) {
  begin();
  const int socket_file = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strcpy(address.sun_path, socket().c_str());
  ASSERT_EQ(::connect(socket_file, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  const wire::Head head{9999, 0, ~std::uint64_t{0}};
  ASSERT_EQ(::write(socket_file, &head, sizeof head), static_cast<ssize_t>(sizeof head));
  char byte = 0;
  EXPECT_EQ(::read(socket_file, &byte, 1), 0);  // closed
  ::close(socket_file);
  EXPECT_EQ(launch(words(10), 10, 1), CUDA_SUCCESS);
}

// Each function of app/cuda/calls.inc is called by a test of this folder, by its own name or, where
// nvcc's runtime stands before it, by the runtime's (cudaMemcpy for cuMemcpy).
TEST(Calls, EachIsAskedByATest) {
  std::set<std::string> asked;
  for (const auto& each : std::filesystem::directory_iterator(TILESCOPE_TESTS_DIR)) {
    const auto ending = each.path().extension();
    if (ending != ".cpp" && ending != ".cu" && ending != ".h") continue;
    std::ifstream file(each.path());
    std::ostringstream text;
    text << file.rdbuf();
    std::string word;
    for (const char c : text.str() + " ") {
      if (std::isalnum(static_cast<unsigned char>(c)) || c == '_') {
        word += c;
        continue;
      }
      if (word.rfind("cuda", 0) == 0) word.erase(2, 2);
      if (word.rfind("cu", 0) == 0) asked.insert(word.substr(0, word.find("_v")));
      word.clear();
    }
  }
  std::ifstream calls(TILESCOPE_SOURCE_DIR "/app/cuda/calls.inc");
  std::size_t count = 0;
  for (std::string line; std::getline(calls, line);) {
    if (line.rfind("CALL(", 0) != 0) continue;
    const std::string name = line.substr(5, line.find(',') - 5);
    EXPECT_TRUE(asked.count(name)) << name;
    ++count;
  }
  EXPECT_GT(count, 300u);
}

}  // namespace
}  // namespace tilescope
