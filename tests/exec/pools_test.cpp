// Memory and what is asked of it: pools, advice, copies in batches, flags that nobody knows. The
// answers are an H200's (driver 580, CUDA 13.0).
#include <ctime>

#include "tests/exec/standin.h"

namespace tilescope {
namespace {

struct Location {
  int type = 1, id = 0;
};

class Memory : public StandIn {
 protected:
  std::uint64_t attribute(CUmemoryPool pool, int which) {
    std::uint64_t value = 0;
    EXPECT_EQ(call("cuMemPoolGetAttribute", pool, which, static_cast<void*>(&value)), CUDA_SUCCESS);
    return value;
  }
  CUmemoryPool make_pool(std::size_t most = 0) {
    CUmemPoolProps how{};
    how.allocType = 1, how.location_type = 1, how.maxSize = most;
    CUmemoryPool pool = nullptr;
    EXPECT_EQ(call("cuMemPoolCreate", &pool, static_cast<const CUmemPoolProps*>(&how)),
              CUDA_SUCCESS);
    return pool;
  }
};

TEST_F(Memory, EachPoolCountsItsOwn) {
  constexpr int threshold = 4, reserved = 5, used = 7, used_most = 8;
  constexpr std::uint64_t piece = std::uint64_t{32} << 20;
  begin();
  CUmemoryPool first = nullptr;
  ASSERT_EQ(call("cuDeviceGetDefaultMemPool", &first, 0), CUDA_SUCCESS);
  const CUmemoryPool own = make_pool();
  EXPECT_NE(own, first);
  words(100);
  EXPECT_EQ(attribute(first, used), 0u) << "cuMemAlloc takes from none";
  CUdeviceptr data = 0, whose = 0;
  ASSERT_EQ(call("cuMemAllocFromPoolAsync", &data, std::size_t{1000}, own, CUstream{}),
            CUDA_SUCCESS);
  EXPECT_EQ(call("cuPointerGetAttribute", static_cast<void*>(&whose), 17, data), CUDA_SUCCESS);
  EXPECT_EQ(whose, reinterpret_cast<CUdeviceptr>(own));
  EXPECT_EQ(attribute(own, used), 1000u);
  EXPECT_EQ(attribute(own, reserved), piece);
  EXPECT_EQ(attribute(first, used), 0u);
  ASSERT_EQ(call("cuMemFreeAsync", data, CUstream{}), CUDA_SUCCESS);
  EXPECT_EQ(attribute(own, used), 0u);
  EXPECT_EQ(attribute(own, used_most), 1000u);
  EXPECT_EQ(attribute(own, reserved), piece) << "until somebody waits";
  EXPECT_EQ(call("cuCtxSynchronize"), CUDA_SUCCESS);
  EXPECT_EQ(attribute(own, reserved), 0u);
  std::uint64_t value = 5;
  EXPECT_EQ(call("cuMemPoolSetAttribute", own, threshold, static_cast<void*>(&value)),
            CUDA_SUCCESS);
  EXPECT_EQ(attribute(first, threshold), 0u);
  EXPECT_EQ(call("cuMemPoolSetAttribute", own, used, static_cast<void*>(&value)),
            CUDA_ERROR_INVALID_VALUE);
  const CUmemoryPool small = make_pool(1 << 20);
  EXPECT_EQ(call("cuMemAllocFromPoolAsync", &data, std::size_t{16} << 20, small, CUstream{}),
            CUDA_SUCCESS);
  EXPECT_EQ(call("cuMemAllocFromPoolAsync", &data, std::size_t{32} << 20, small, CUstream{}),
            CUDA_ERROR_OUT_OF_MEMORY);
}

TEST_F(Memory, APoolThatIsDestroyedIsNoneAnyMore) {
  begin();
  CUmemoryPool first = nullptr, now = nullptr;
  const CUmemoryPool own = make_pool();
  ASSERT_EQ(call("cuDeviceGetDefaultMemPool", &first, 0), CUDA_SUCCESS);
  ASSERT_EQ(call("cuDeviceSetMemPool", 0, own), CUDA_SUCCESS);
  CUdeviceptr data = 0;
  ASSERT_EQ(call("cuMemAllocAsync", &data, std::size_t{64}, CUstream{}), CUDA_SUCCESS);
  ASSERT_EQ(call("cuMemPoolDestroy", own), CUDA_SUCCESS);
  EXPECT_EQ(call("cuMemPoolDestroy", own), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(call("cuMemPoolDestroy", first), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(call("cuDeviceGetMemPool", &now, 0), CUDA_SUCCESS);
  EXPECT_EQ(now, first);
  EXPECT_EQ(call("cuMemAllocFromPoolAsync", &data, std::size_t{64}, own, CUstream{}),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(call("cuMemPoolCreate", &now, static_cast<const CUmemPoolProps*>(nullptr)),
            CUDA_ERROR_INVALID_VALUE);
  Location at;
  EXPECT_EQ(call("cuMemGetDefaultMemPool", &now, &at, 1), CUDA_SUCCESS);
  EXPECT_EQ(now, first);
  at.type = 2;
  EXPECT_EQ(call("cuMemGetDefaultMemPool", &now, &at, 1), CUDA_SUCCESS);
  EXPECT_NE(now, first) << "the host's is another";
  EXPECT_EQ(call("cuMemGetDefaultMemPool", &now, &at, 0), CUDA_ERROR_INVALID_VALUE);
}

// Memory that a stream has allocated is there for another one behind an event, and until an event
// behind its last use (CUDA C++ Programming Guide, "Stream Ordered Memory Allocator").
TEST_F(Memory, OtherStreamsUseItBehindItsAllocationAndBeforeItsRelease) {
  begin();
  CUstream own = nullptr, other = nullptr;
  CUevent event = nullptr;
  ASSERT_EQ(call("cuStreamCreate", &own, 1u), CUDA_SUCCESS);
  ASSERT_EQ(call("cuStreamCreate", &other, 1u), CUDA_SUCCESS);
  ASSERT_EQ(call("cuEventCreate", &event, 2u), CUDA_SUCCESS);
  const auto behind = [&](CUstream later, CUstream earlier) {
    EXPECT_EQ(call("cuEventRecord", event, earlier), CUDA_SUCCESS);
    EXPECT_EQ(call("cuStreamWaitEvent", later, event, 0u), CUDA_SUCCESS);
  };
  enum Order { nothing, events, a_host_that_waits };
  const auto races = [&](Order allocation, Order release) {
    const std::size_t before = told("stream_race");
    CUdeviceptr data = 0;
    EXPECT_EQ(call("cuMemAllocAsync", &data, std::size_t{256}, own), CUDA_SUCCESS);
    if (allocation == events) behind(other, own);
    if (allocation == a_host_that_waits) EXPECT_EQ(call("cuStreamSynchronize", own), CUDA_SUCCESS);
    EXPECT_EQ(call("cuMemsetD32Async", data, 1u, std::size_t{64}, other), CUDA_SUCCESS);
    EXPECT_EQ(launch(data, 64, 1, other), CUDA_SUCCESS);
    if (release == events) behind(own, other);
    if (release == a_host_that_waits) EXPECT_EQ(call("cuStreamSynchronize", other), CUDA_SUCCESS);
    EXPECT_EQ(call("cuMemFreeAsync", data, own), CUDA_SUCCESS);
    EXPECT_EQ(call("cuCtxSynchronize"), CUDA_SUCCESS);
    return told("stream_race") - before;
  };
  EXPECT_EQ(races(events, events), 0u);
  EXPECT_EQ(races(a_host_that_waits, a_host_that_waits), 0u);
  EXPECT_GT(races(nothing, events), 0u);
  const std::size_t first = device().reports().size();
  EXPECT_GT(races(events, nothing), 0u);
  ASSERT_GT(device().reports().size(), first);
  const std::string& sentence = device().reports()[first].sentence;
  EXPECT_EQ(sentence.rfind("cudaFreeAsync gives back byte 0 of buffer ", 0), 0u) << sentence;
  EXPECT_NE(sentence.find(", and add (launch 4) reads it, and nothing orders the two"),
            std::string::npos)
      << sentence;
  EXPECT_NE(device().reports()[first - 1].sentence.find("and cudaMallocAsync allocates it"),
            std::string::npos)
      << device().reports()[first - 1].sentence;
  // One stream is in order with itself.
  CUdeviceptr data = 0;
  const std::size_t before = told("stream_race");
  EXPECT_EQ(call("cuMemAllocAsync", &data, std::size_t{256}, own), CUDA_SUCCESS);
  EXPECT_EQ(call("cuMemsetD32Async", data, 1u, std::size_t{64}, own), CUDA_SUCCESS);
  EXPECT_EQ(call("cuMemFreeAsync", data, own), CUDA_SUCCESS);
  EXPECT_EQ(told("stream_race"), before);
}

// Also a program that looks at no answer is to know.
TEST_F(Memory, WhatCannotBeFreedIsSaid) {
  begin();
  const CUdeviceptr data = words(64);
  const auto said = [&](CUdeviceptr address) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(call("cuMemFree_v2", address), CUDA_ERROR_INVALID_VALUE);
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_NE(said(data + 4).find("it is byte 4 of buffer 1"), std::string::npos);
  EXPECT_NE(said(16).find("0x10 was not freed: nothing was allocated there"), std::string::npos);
  ASSERT_EQ(call("cuMemFree_v2", data), CUDA_SUCCESS);
  EXPECT_NE(said(data).find("buffer 1, which was there, was freed before"), std::string::npos);
}

// What a kernel makes of memory that nobody wrote stays so where it is copied on the device.
TEST_F(Memory, WhatIsMadeOfNothingIsSoInACopy) {
  begin();
  CUdeviceptr first = 0, second = 0;
  ASSERT_EQ(call("cuMemAlloc_v2", &first, std::size_t{256}), CUDA_SUCCESS);
  ASSERT_EQ(call("cuMemAlloc_v2", &second, std::size_t{512}), CUDA_SUCCESS);
  ASSERT_EQ(launch(first, 64, 1), CUDA_SUCCESS);
  ASSERT_EQ(call("cuMemcpyDtoD_v2", second + 128, first, std::size_t{256}), CUDA_SUCCESS);
  EXPECT_EQ(told("undefined_copied"), 0u);
  int word = 0;
  ASSERT_EQ(call("cuMemcpyDtoH_v2", static_cast<void*>(&word), second, std::size_t{4}),
            CUDA_SUCCESS);
  EXPECT_EQ(told("undefined_copied"), 0u) << "no launch has made it";
  ASSERT_EQ(call("cuMemcpyDtoH_v2", static_cast<void*>(&word), second + 160, std::size_t{4}),
            CUDA_SUCCESS);
  ASSERT_EQ(told("undefined_copied"), 1u);
  EXPECT_EQ(
      device().reports().back().sentence.rfind("byte 160 of buffer 2 is copied to the host", 0), 0u)
      << device().reports().back().sentence;
}

TEST_F(Memory, AdviceIsKeptForWhomItIsAskedOf) {
  constexpr int read_mostly = 1, preferred = 2, accessed_by = 3, prefetched = 4;
  begin();
  CUdeviceptr data = 0;
  ASSERT_EQ(call("cuMemAllocManaged", &data, std::size_t{8192}, 1u), CUDA_SUCCESS);
  const auto ask = [&](int which, std::size_t bytes) {
    int value = 77;
    EXPECT_EQ(call("cuMemRangeGetAttribute", static_cast<void*>(&value), sizeof value, which, data,
                   bytes),
              CUDA_SUCCESS);
    return value;
  };
  EXPECT_EQ(ask(read_mostly, 8192), 0);
  EXPECT_EQ(ask(preferred, 8192), -2);
  const Location device;
  EXPECT_EQ(call("cuMemAdvise_v2", data, std::size_t{8192}, 1, device), CUDA_SUCCESS);
  EXPECT_EQ(call("cuMemAdvise_v2", data, std::size_t{4096}, 3, device), CUDA_SUCCESS);
  EXPECT_EQ(call("cuMemAdvise_v2", data, std::size_t{8192}, 5, device), CUDA_SUCCESS);
  EXPECT_EQ(call("cuMemPrefetchAsync_v2", data, std::size_t{8192}, device, 0u, CUstream{}),
            CUDA_SUCCESS);
  EXPECT_EQ(ask(read_mostly, 8192), 1);
  EXPECT_EQ(ask(preferred, 4096), 0);
  EXPECT_EQ(ask(preferred, 8192), -2) << "half of it";
  EXPECT_EQ(ask(accessed_by, 8192), 0);
  EXPECT_EQ(ask(prefetched, 8192), 0);
  int value = 0;
  const auto wrong = [&](CUdeviceptr at, std::size_t room, int which, std::size_t bytes) {
    return call("cuMemRangeGetAttribute", static_cast<void*>(&value), room, which, at, bytes);
  };
  EXPECT_EQ(wrong(data, 3, read_mostly, 8192), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(wrong(data, 4, 99, 8192), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(wrong(data, 4, read_mostly, 1 << 24), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(wrong(words(1), 4, read_mostly, 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(call("cuMemAdvise_v2", data, std::size_t{4096}, 77, device), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(call("cuMemPrefetchAsync_v2", data, std::size_t{1} << 20, device, 0u, CUstream{}),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(call("cuMemPrefetchAsync_v2", data, std::size_t{4096}, Location{1, 9}, 0u, CUstream{}),
            CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(call("cuMemFree_v2", data), CUDA_SUCCESS);
}

TEST_F(Memory, ABatchOfCopies) {
  struct Attributes {
    int order = 1, hints[4] = {};
    unsigned flags = 0;
  } how[1];
  begin();
  CUstream stream = nullptr;
  ASSERT_EQ(call("cuStreamCreate", &stream, 0u), CUDA_SUCCESS);
  CUdeviceptr to[] = {words(16), words(16)}, from[] = {words(16), words(16) + 4};
  std::size_t bytes[] = {64, 32}, first[] = {0};
  const auto copy = [&](std::size_t count, std::size_t attributes, CUstream in) {
    return call("cuMemcpyBatchAsync_v2", &to[0], &from[0], &bytes[0], count, &how[0], &first[0],
                attributes, in);
  };
  EXPECT_EQ(copy(2, 1, stream), CUDA_SUCCESS);
  EXPECT_EQ(read(to[1], 2), (std::vector<int>{1, 2}));
  EXPECT_EQ(copy(0, 1, stream), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(copy(2, 0, stream), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(copy(2, 1, nullptr), CUDA_ERROR_INVALID_VALUE) << "not the legacy stream";
  first[0] = 1;
  EXPECT_EQ(copy(2, 1, stream), CUDA_ERROR_INVALID_VALUE);
  first[0] = 0, how[0].order = 0;
  EXPECT_EQ(copy(2, 1, stream), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Memory, WhatIsWrongIsSaidAsADriverSaysIt) {
  begin();
  const CUdeviceptr data = words(16);
  int host[16] = {}, other[16] = {};
  const auto at = [](int* where) { return reinterpret_cast<CUdeviceptr>(where); };
  const std::size_t bytes = sizeof host;
  EXPECT_EQ(call("cuMemcpyHtoD_v2", at(host), static_cast<const void*>(other), bytes),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(call("cuMemcpyDtoH_v2", static_cast<void*>(host), at(other), bytes),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(call("cuMemcpyDtoD_v2", at(host), data, bytes), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(call("cuMemcpyHtoD_v2", data, static_cast<const void*>(host), std::size_t{1} << 30),
            CUDA_ERROR_INVALID_VALUE)
      << "and nothing of the host's is read";
  void* pinned = nullptr;
  CUdeviceptr managed = 0;
  ASSERT_EQ(call("cuMemHostAlloc", &pinned, bytes, 0u), CUDA_SUCCESS);
  ASSERT_EQ(call("cuMemAllocManaged", &managed, bytes, 1u), CUDA_SUCCESS);
  EXPECT_EQ(call("cuMemFree_v2", reinterpret_cast<CUdeviceptr>(pinned)), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(call("cuMemFreeHost", reinterpret_cast<void*>(managed)), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(call("cuMemFreeHost", pinned), CUDA_SUCCESS);
  EXPECT_EQ(call("cuMemFree_v2", managed), CUDA_SUCCESS);
  EXPECT_EQ(call("cuMemHostAlloc", &pinned, bytes, 0x99u), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(call("cuMemAllocManaged", &managed, bytes, 7u), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(call("cuMemHostRegister_v2", static_cast<void*>(host), bytes, 0xffu),
            CUDA_ERROR_INVALID_VALUE);
  CUevent event = nullptr;
  EXPECT_EQ(call("cuEventCreate", &event, 99u), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(call("cuEventCreate", &event, 4u), CUDA_ERROR_INVALID_VALUE) << "it would have a time";
  EXPECT_EQ(call("cuEventCreate", &event, 6u), CUDA_SUCCESS);
}

TEST_F(Memory, NoDeviceIsSeenWhereTheUserSaysSo) {
  const auto init = [&](const char* visible) {
    ::setenv("CUDA_VISIBLE_DEVICES", visible, 1);
    const CUresult result = call("cuInit", 0u);
    ::unsetenv("CUDA_VISIBLE_DEVICES");
    return result;
  };
  EXPECT_EQ(init(""), CUDA_ERROR_NO_DEVICE);
  EXPECT_EQ(init("-1"), CUDA_ERROR_NO_DEVICE);
  EXPECT_EQ(init("7"), CUDA_ERROR_NO_DEVICE);
  EXPECT_EQ(init("0,0"), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(init("0,9"), CUDA_SUCCESS);
}

TEST_F(Memory, OneDeviceHasNoPeers) {
  begin();
  CUcontext context = nullptr;
  int value = 0;
  ASSERT_EQ(call("cuCtxGetCurrent", &context), CUDA_SUCCESS);
  EXPECT_EQ(call("cuCtxEnablePeerAccess", context, 0u), CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
  EXPECT_EQ(call("cuDeviceGetP2PAttribute", &value, 2, 0, 0), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(call("cuDeviceCanAccessPeer", &value, 0, 0), CUDA_SUCCESS);
  EXPECT_EQ(value, 0);
}

TEST_F(Memory, ClustersThatADriverRefuses) {
  constexpr auto invalid_cluster = static_cast<CUresult>(912);
  begin();
  CUdeviceptr data = words(64);
  unsigned n = 64, value = 1;
  void* each[] = {&data, &n, &value};
  const auto launch_in = [&](unsigned size, unsigned grid) {
    CUlaunchAttribute cluster{};
    cluster.id = attribute_cluster_dimension;
    cluster.value.cluster[0] = size, cluster.value.cluster[1] = cluster.value.cluster[2] = 1;
    CUlaunchConfig how{};
    how.grid[0] = grid, how.grid[1] = how.grid[2] = 1;
    how.block[0] = 32, how.block[1] = how.block[2] = 1;
    how.attrs = &cluster, how.numAttrs = 1;
    return call("cuLaunchKernelEx", static_cast<const CUlaunchConfig*>(&how), add_, &each[0],
                static_cast<void**>(nullptr));
  };
  EXPECT_EQ(launch_in(4, 16), CUDA_SUCCESS);
  EXPECT_EQ(launch_in(3, 16), invalid_cluster);
  EXPECT_EQ(launch_in(16, 16), invalid_cluster);
  EXPECT_EQ(call("cuFuncSetAttribute", add_, 14, 1), CUDA_SUCCESS);
  EXPECT_EQ(launch_in(16, 16), CUDA_SUCCESS);
}

// A launch costs what it does, whatever memory lies beside.
TEST_F(Memory, ALaunchCostsNoMoreWhereThereIsMuchMemory) {
  begin();
  const auto cost = [&](CUdeviceptr data) {  // CPU seconds of a launch, at best
    double best = 1e9;
    for (int i = 0; i < 20; ++i) {
      std::timespec from{}, to{};
      ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
      EXPECT_EQ(launch(data, 1, 1), CUDA_SUCCESS);
      ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
      best = std::min(best, static_cast<double>(to.tv_sec - from.tv_sec) +
                                1e-9 * static_cast<double>(to.tv_nsec - from.tv_nsec));
    }
    return best;
  };
  const CUdeviceptr small = words(1);
  const double alone = cost(small);
  CUdeviceptr large = 0;
  ASSERT_EQ(call("cuMemAlloc_v2", &large, std::size_t{512} << 20), CUDA_SUCCESS);
  const int one = 1;
  ASSERT_EQ(call("cuMemcpyHtoD_v2", large, static_cast<const void*>(&one), sizeof one),
            CUDA_SUCCESS);
  // It was 100 ms and more; what is left is a table of the memory's pages.
  EXPECT_LT(cost(large), 10 * alone + 2e-3) << alone;
}

}  // namespace
}  // namespace tilescope
