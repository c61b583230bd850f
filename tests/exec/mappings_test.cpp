// Virtual memory as a program manages it, and memory that it shares with the host.
#include "tests/exec/standin.h"

namespace tilescope {
namespace {

struct Properties {  // CUmemAllocationProp
  int type, handles, location, id;
  void* windows;
  unsigned char flags[8];
};
struct Access {  // CUmemAccessDesc
  int location, id, flags;
};

// Reads where the word at `data` points.
constexpr const char* follow_ptx = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry follow(.param .u64 data) {
  .reg .b32 %r<2>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [data];
  ld.global.u64 %rd2, [%rd1];
  ld.global.u32 %r1, [%rd2];
  st.global.u32 [%rd1], %r1;
  ret;
}
)";

class Mappings : public StandIn {
 protected:
  void SetUp() override {
    begin();
    ASSERT_EQ(call("cuMemGetAllocationGranularity", &grain_, &how_, 0), CUDA_SUCCESS);
  }
  CUdeviceptr reserve(std::size_t bytes) {
    CUdeviceptr out = 0;
    EXPECT_EQ(call("cuMemAddressReserve", &out, bytes, std::size_t{0}, CUdeviceptr{0}, 0ull),
              CUDA_SUCCESS);
    return out;
  }
  unsigned long long memory(std::size_t bytes) {
    unsigned long long out = 0;
    EXPECT_EQ(call("cuMemCreate", &out, bytes, &how_, 0ull), CUDA_SUCCESS);
    return out;
  }
  CUresult map(CUdeviceptr at, std::size_t bytes, unsigned long long what) {
    return call("cuMemMap", at, bytes, std::size_t{0}, what, 0ull);
  }
  CUresult let(CUdeviceptr at, std::size_t bytes, int flags) {
    const Access access{1, 0, flags};
    return call("cuMemSetAccess", at, bytes, &access, std::size_t{1});
  }

  Properties how_{1, 0, 1, 0, nullptr, {}};
  std::size_t grain_ = 0;
};

TEST_F(Mappings, TwoPiecesOneBehindTheOtherAreOneVector) {
  EXPECT_EQ(grain_, std::size_t{2} << 20);
  const CUdeviceptr at = reserve(2 * grain_);
  const unsigned long long first = memory(grain_), second = memory(grain_);
  ASSERT_EQ(map(at, grain_, first), CUDA_SUCCESS);
  ASSERT_EQ(map(at + grain_, grain_, second), CUDA_SUCCESS);
  ASSERT_EQ(let(at, 2 * grain_, 3), CUDA_SUCCESS);
  // A copy and a kernel go over the border.
  const CUdeviceptr middle = at + grain_ - 128;
  EXPECT_EQ(call("cuMemsetD32_v2", middle, 7u, std::size_t{64}), CUDA_SUCCESS);
  EXPECT_EQ(launch(middle, 64, 1), CUDA_SUCCESS);
  const std::vector<int> values = read(middle, 64);
  EXPECT_EQ(values, std::vector<int>(64, 8));
  EXPECT_FALSE(device().faulted());
  EXPECT_FALSE(device().hazardous());
  EXPECT_EQ(call("cuMemsetD32_v2", middle, 7u, grain_), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(device().reports().back().kind, "call_refused");
  EXPECT_EQ(call("cuMemUnmap", at, grain_ / 2), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(call("cuMemUnmap", at, 2 * grain_), CUDA_SUCCESS);
  EXPECT_EQ(call("cuMemRelease", first), CUDA_SUCCESS);
  EXPECT_EQ(call("cuMemRelease", first), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(call("cuMemRelease", second), CUDA_SUCCESS);
  EXPECT_EQ(call("cuMemAddressFree", at, 2 * grain_), CUDA_SUCCESS);
  EXPECT_EQ(call("cuMemAddressFree", at, 2 * grain_), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Mappings, MemoryKeepsItsBytesWhereverItLies) {
  const CUdeviceptr one = reserve(grain_), other = reserve(grain_);
  const unsigned long long what = memory(grain_);
  ASSERT_EQ(map(one, grain_, what), CUDA_SUCCESS);
  EXPECT_EQ(map(other, grain_, what), CUDA_ERROR_NOT_SUPPORTED);
  ASSERT_EQ(let(one, grain_, 3), CUDA_SUCCESS);
  EXPECT_EQ(call("cuMemsetD32_v2", one, 7u, std::size_t{64}), CUDA_SUCCESS);
  ASSERT_EQ(call("cuMemUnmap", one, grain_), CUDA_SUCCESS);
  ASSERT_EQ(map(other, grain_, what), CUDA_SUCCESS);
  ASSERT_EQ(let(other, grain_, 1), CUDA_SUCCESS);
  EXPECT_EQ(read(other, 64)[63], 7);
  unsigned long long flags = 9, again = 0;
  const Access where{1, 0, 0};
  EXPECT_EQ(call("cuMemGetAccess", &flags, &where, other), CUDA_SUCCESS);
  EXPECT_EQ(flags, 1u);
  EXPECT_EQ(call("cuMemGetAccess", &flags, &where, one), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(call("cuMemRetainAllocationHandle", &again, reinterpret_cast<void*>(other + 100)),
            CUDA_SUCCESS);
  EXPECT_EQ(again, what);
  Properties how{};
  EXPECT_EQ(call("cuMemGetAllocationPropertiesFromHandle", &how, what), CUDA_SUCCESS);
  EXPECT_EQ(how.location, 1);
  // Reading is all that it may.
  EXPECT_EQ(launch(other, 64, 1), CUDA_SUCCESS);
  EXPECT_EQ(call("cuCtxSynchronize"), static_cast<CUresult>(700));
}

TEST_F(Mappings, WithoutAccessThereIsNone) {
  const CUdeviceptr at = reserve(grain_);
  const unsigned long long what = memory(grain_);
  ASSERT_EQ(map(at, grain_, what), CUDA_SUCCESS);
  int value = 0;
  EXPECT_EQ(call("cuMemcpyDtoH_v2", static_cast<void*>(&value), at, std::size_t{4}),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(at, 64, 1), CUDA_SUCCESS);
  EXPECT_EQ(call("cuCtxSynchronize"), static_cast<CUresult>(700));
}

TEST_F(Mappings, WhatIsWrongIsRefused) {
  CUdeviceptr at = 0;
  unsigned long long what = 0;
  EXPECT_EQ(
      call("cuMemAddressReserve", &at, std::size_t{4096}, std::size_t{0}, CUdeviceptr{0}, 0ull),
      CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(call("cuMemAddressReserve", &at, grain_, std::size_t{3}, CUdeviceptr{0}, 0ull),
            CUDA_SUCCESS);  // less than what all are aligned to
  EXPECT_EQ(call("cuMemCreate", &what, std::size_t{4096}, &how_, 0ull), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(call("cuMemCreate", &what, std::size_t{1} << 50, &how_, 0ull),
            CUDA_ERROR_OUT_OF_MEMORY);
  Properties other = how_;
  other.id = 5;
  EXPECT_EQ(call("cuMemCreate", &what, grain_, &other, 0ull), CUDA_ERROR_INVALID_DEVICE);
  other = how_;
  other.type = 0;
  EXPECT_EQ(call("cuMemCreate", &what, grain_, &other, 0ull), CUDA_ERROR_INVALID_VALUE);
  what = memory(grain_);
  EXPECT_EQ(map(at + 1, grain_, what), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(map(at + grain_, grain_, what), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(map(at, 2 * grain_, what), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(map(at, grain_, 77), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(let(at, grain_, 3), CUDA_ERROR_INVALID_VALUE);  // nothing lies there
  EXPECT_EQ(map(at, grain_, what), CUDA_SUCCESS);
  EXPECT_EQ(let(at, grain_, 2), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(call("cuMemAddressFree", at, grain_), CUDA_ERROR_INVALID_VALUE);
  // The handle may go before: the memory stays while it lies somewhere.
  EXPECT_EQ(call("cuMemRelease", what), CUDA_SUCCESS);
  EXPECT_EQ(let(at, grain_, 3), CUDA_SUCCESS);
  EXPECT_EQ(call("cuMemsetD32_v2", at, 7u, std::size_t{64}), CUDA_SUCCESS);
  std::size_t free = 0, all = 0, later = 0;
  EXPECT_EQ(call("cuMemGetInfo_v2", &free, &all), CUDA_SUCCESS);
  EXPECT_EQ(call("cuMemUnmap", at, grain_), CUDA_SUCCESS);
  EXPECT_EQ(call("cuMemGetInfo_v2", &later, &all), CUDA_SUCCESS);
  EXPECT_EQ(later, free + grain_);
}

// What the host has never touched of memory that it shares nobody has written.
class Shared : public StandIn, public ::testing::WithParamInterface<bool> {};

TEST_P(Shared, WhatTheHostHasNeverTouchedIsUndefined) {
  begin();
  CUmodule module = nullptr;
  CUfunction follow = nullptr;
  ASSERT_EQ(call("cuModuleLoadData", &module, static_cast<const void*>(follow_ptx)), CUDA_SUCCESS);
  ASSERT_EQ(call("cuModuleGetFunction", &follow, module, "follow"), CUDA_SUCCESS);
  CUdeviceptr managed = 0;
  ASSERT_EQ(call("cuMemAllocManaged", &managed, std::size_t{3} << 12, 1u), CUDA_SUCCESS);
  const bool touched = GetParam();
  // The second page: zeros, which is what lies there anyway.
  CUdeviceptr at = managed + 4096;
  std::memset(reinterpret_cast<void*>(touched ? at : managed), 0, 4096);
  void* each[] = {&at};
  EXPECT_EQ(call("cuLaunchKernel", follow, 1u, 1u, 1u, 1u, 1u, 1u, 0u, CUstream{},
                 static_cast<void**>(each), static_cast<void**>(nullptr)),
            CUDA_SUCCESS);
  ASSERT_TRUE(device().faulted());
  EXPECT_EQ(device().reports().back().kind, touched ? "out_of_bounds" : "undefined_address");
  call("cuMemFree_v2", managed);  // its pages go, whatever the device answers now
}
INSTANTIATE_TEST_SUITE_P(Pages, Shared, ::testing::Bool());

TEST_F(Mappings, WhatAKernelWroteIntoSharedMemoryTheHostHas) {
  CUdeviceptr managed = 0;
  ASSERT_EQ(call("cuMemAllocManaged", &managed, std::size_t{4} << 20, 1u), CUDA_SUCCESS);
  auto* const values = reinterpret_cast<int*>(managed);
  for (int i = 0; i < 64; ++i) values[i + 1024] = i;  // pages before and behind are missing
  EXPECT_EQ(launch(managed + 4096, 64, 1), CUDA_SUCCESS);
  EXPECT_EQ(launch(managed + 4096, 64, 1), CUDA_SUCCESS);
  EXPECT_EQ(call("cuCtxSynchronize"), CUDA_SUCCESS);
  EXPECT_EQ(values[1024 + 63], 65);
  EXPECT_FALSE(device().hazardous());
  EXPECT_EQ(call("cuMemFree_v2", managed), CUDA_SUCCESS);
}

}  // namespace
}  // namespace tilescope
