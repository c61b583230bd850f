// The host at memory that a launch or a copy may still be at.
#include <sys/mman.h>

#include <csetjmp>
#include <csignal>

#include "tests/exec/standin.h"

namespace tilescope {
namespace {

constexpr int count = 2048;  // words: two pages
constexpr std::size_t bytes = count * sizeof(int);

// Adds 1 to each word, and tells the host so by a word of its own.
constexpr const char* tells_ptx = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry tells(.param .u64 data, .param .u64 flag) {
  .reg .b32 %r<4>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [data];
  ld.param.u64 %rd2, [flag];
  mov.u32 %r1, %tid.x;
  mad.wide.u32 %rd3, %r1, 4, %rd1;
  st.global.u32 [%rd3], 5;
  st.global.u32 [%rd3+4096], 5;
  membar.sys;
  st.volatile.global.u32 [%rd2], 1;
  ret;
}
)";

class Guard : public StandIn {
 protected:
  void SetUp() override { begin(); }
  // The next test's memory lies where this one's does.
  void TearDown() override {
    for (const CUdeviceptr each : made_) EXPECT_EQ(call("cuMemFree_v2", each), CUDA_SUCCESS);
    for (void* each : pinned_) EXPECT_EQ(call("cuMemFreeHost", each), CUDA_SUCCESS);
  }

  int* managed(std::size_t size = bytes) {
    CUdeviceptr out = 0;
    EXPECT_EQ(call("cuMemAllocManaged", &out, size, 1u), CUDA_SUCCESS);
    made_.push_back(out);
    auto* const words = reinterpret_cast<int*>(out);
    std::memset(words, 0, size);
    return words;
  }
  int* pinned() {
    void* out = nullptr;
    EXPECT_EQ(call("cuMemAllocHost_v2", &out, bytes), CUDA_SUCCESS);
    pinned_.push_back(out);
    std::memset(out, 0, bytes);
    return static_cast<int*>(out);
  }
  static CUdeviceptr at(const int* words) { return reinterpret_cast<CUdeviceptr>(words); }
  CUstream stream() {
    CUstream out = nullptr;
    EXPECT_EQ(call("cuStreamCreate", &out, 1u), CUDA_SUCCESS);
    return out;
  }
  // Writes two pages and then, for the host, the flag.
  void tell(CUdeviceptr data, CUdeviceptr flag) {
    CUmodule module = nullptr;
    CUfunction tells = nullptr;
    ASSERT_EQ(call("cuModuleLoadData", &module, static_cast<const void*>(tells_ptx)), CUDA_SUCCESS);
    ASSERT_EQ(call("cuModuleGetFunction", &tells, module, "tells"), CUDA_SUCCESS);
    void* each[] = {&data, &flag};
    EXPECT_EQ(call("cuLaunchKernel", tells, 1u, 1u, 1u, 1024u, 1u, 1u, 0u, CUstream{},
                   static_cast<void**>(each), static_cast<void**>(nullptr)),
              CUDA_SUCCESS);
  }
  // How often the host was too early, once it has waited.
  std::size_t early() {
    EXPECT_EQ(call("cuCtxSynchronize"), CUDA_SUCCESS);
    return told("host_race");
  }
  std::string sentence() {
    for (const Report& r : device().reports()) {
      if (r.kind == "host_race") return r.sentence;
    }
    return "";
  }
  std::vector<CUdeviceptr> made_;
  std::vector<void*> pinned_;
  volatile int seen_ = 0;
  CUdeviceptr words_on_device_ = 0;
};

TEST_F(Guard, WhoReadsAResultBeforeItWaitsIsTold) {
  int* const words = managed();
  EXPECT_EQ(launch(at(words), count, 3), CUDA_SUCCESS);
  seen_ = words[7];
  EXPECT_EQ(seen_, 3);
  seen_ = words[1024];  // what it was told of once
  EXPECT_EQ(early(), 1u);
  EXPECT_EQ(sentence(),
            "the host reads byte 28 of buffer 1 (managed memory) before it has waited for add "
            "(launch 1), which writes it");
  EXPECT_TRUE(device().hazardous());
}

TEST_F(Guard, WhoWritesIsToldThatHeDoes) {
  int* const words = managed();
  EXPECT_EQ(launch(at(words), count, 3), CUDA_SUCCESS);
  words[1024] = 9;
  EXPECT_EQ(early(), 1u);
  EXPECT_NE(sentence().find("the host writes byte 4096 of"), std::string::npos) << sentence();
  EXPECT_EQ(words[1024], 9);
}

TEST_F(Guard, WhoHasWaitedMayBeThere) {
  int* const words = managed();
  CUevent event = nullptr;
  ASSERT_EQ(call("cuEventCreate", &event, 0u), CUDA_SUCCESS);
  const CUstream own = stream();
  const auto wait = [&](int how) {
    switch (how) {
      case 0:
        return call("cuCtxSynchronize");
      case 1:
        return call("cuStreamSynchronize", own);
      case 2:
        EXPECT_EQ(call("cuEventRecord", event, own), CUDA_SUCCESS);
        return call("cuEventSynchronize", event);
      case 3:
        return call("cuStreamQuery", own);
      default: {
        int value = 0;
        return call("cuMemcpyDtoH_v2", static_cast<void*>(&value), words_on_device_,
                    std::size_t{4});
      }
    }
  };
  words_on_device_ = StandIn::words(4);
  for (int how = 0; how < 5; ++how) {
    EXPECT_EQ(launch(at(words), count, 1, own), CUDA_SUCCESS);
    EXPECT_EQ(wait(how), CUDA_SUCCESS);
    EXPECT_EQ(words[5], how + 1);
    words[6] = 0;
  }
  EXPECT_EQ(early(), 0u);
}

TEST_F(Guard, WorkAndEventsAloneTellTheHostNothing) {
  int* const words = managed();
  CUevent event = nullptr;
  CUdeviceptr more = 0;
  ASSERT_EQ(call("cuEventCreate", &event, 0u), CUDA_SUCCESS);
  EXPECT_EQ(launch(at(words), count, 1), CUDA_SUCCESS);
  EXPECT_EQ(call("cuEventRecord", event, CUstream{}), CUDA_SUCCESS);
  EXPECT_EQ(call("cuMemAlloc_v2", &more, std::size_t{64}), CUDA_SUCCESS);
  EXPECT_EQ(launch(more, 1, 1), CUDA_SUCCESS);
  seen_ = words[0];
  EXPECT_EQ(early(), 1u);
}

// On a page of which the kernel has written a part the host may be right to use another one.
TEST_F(Guard, APageThatIsNotAllWrittenIsNobodys) {
  int* const words = managed();
  EXPECT_EQ(launch(at(words), 512, 1), CUDA_SUCCESS);
  words[1000] = 2;
  seen_ = words[0];
  EXPECT_EQ(early(), 0u);
  // But one that ends with what was allocated.
  int* const few = managed(40);
  EXPECT_EQ(launch(at(few), 10, 1), CUDA_SUCCESS);
  EXPECT_EQ(few[9], 1);
  EXPECT_EQ(early(), 1u);
}

TEST_F(Guard, WhoTellsTheHostByMemoryMayBeRead) {
  int* const words = managed();
  const CUdeviceptr flag = at(pinned());
  tell(at(words), flag);
  EXPECT_EQ(*reinterpret_cast<volatile int*>(flag), 1);
  EXPECT_EQ(words[2047], 5);
  EXPECT_EQ(early(), 0u);
}

TEST_F(Guard, AnAsynchronousCopyIsWaitedForToo) {
  int* const host = pinned();
  const CUdeviceptr on_device = words(count);
  const CUstream own = stream();
  const auto out = [&] {
    return call("cuMemcpyDtoHAsync_v2", static_cast<void*>(host), on_device, bytes, own);
  };
  EXPECT_EQ(out(), CUDA_SUCCESS);
  EXPECT_EQ(call("cuStreamSynchronize", own), CUDA_SUCCESS);
  EXPECT_EQ(host[9], 9);
  EXPECT_EQ(early(), 0u);
  EXPECT_EQ(out(), CUDA_SUCCESS);
  EXPECT_EQ(out(), CUDA_SUCCESS);  // the driver is not the host
  EXPECT_EQ(host[9], 9);
  EXPECT_EQ(early(), 1u);
  EXPECT_EQ(sentence(),
            "the host reads byte 36 of buffer 1 (host memory) before it has waited for a copy to "
            "the host, which writes it");
}

// What is copied from there may be read meanwhile, and not be written.
TEST_F(Guard, TheSourceOfACopyStaysAsItIs) {
  int* const host = pinned();
  const CUdeviceptr on_device = words(count);
  const auto in = [&] {
    return call("cuMemcpyHtoDAsync_v2", on_device, static_cast<const void*>(host), bytes,
                CUstream{});
  };
  EXPECT_EQ(in(), CUDA_SUCCESS);
  seen_ = host[3];
  EXPECT_EQ(early(), 0u);
  EXPECT_EQ(in(), CUDA_SUCCESS);
  host[3] = 1;
  EXPECT_EQ(early(), 1u);
  EXPECT_EQ(sentence(),
            "the host writes byte 12 of buffer 1 (host memory) before it has waited for a copy "
            "from the host, which reads it");
}

// A buffer of the program's own is copied before the call comes back.
TEST_F(Guard, WhatIsNotPinnedMayBeUsedAtOnce) {
  std::vector<int> host(count, 4);
  const CUdeviceptr on_device = words(count);
  EXPECT_EQ(call("cuMemcpyHtoDAsync_v2", on_device, static_cast<const void*>(host.data()), bytes,
                 CUstream{}),
            CUDA_SUCCESS);
  host[3] = 1;
  EXPECT_EQ(
      call("cuMemcpyDtoHAsync_v2", static_cast<void*>(host.data()), on_device, bytes, CUstream{}),
      CUDA_SUCCESS);
  EXPECT_EQ(host[3], 4);
  EXPECT_EQ(early(), 0u);
}

// A launch that tells the host tells it of what its stream has done before, too.
TEST_F(Guard, ALaterLaunchMayTellTheHost) {
  int* const words = managed();
  EXPECT_EQ(launch(at(words), count, 1), CUDA_SUCCESS);
  const CUdeviceptr data = StandIn::words(count), flag = at(pinned());
  EXPECT_EQ(launch(at(words), count, 1), CUDA_SUCCESS);
  tell(data, flag);
  EXPECT_EQ(words[9], 2);
  EXPECT_EQ(early(), 0u);
}

TEST_F(Guard, ACopyIntoMemoryThatIsNotPinnedIsAWait) {
  int* const words = managed();
  const CUdeviceptr on_device = StandIn::words(4);
  int value = 0;
  EXPECT_EQ(launch(at(words), count, 1), CUDA_SUCCESS);
  EXPECT_EQ(call("cuMemcpyDtoHAsync_v2", static_cast<void*>(&value), on_device, std::size_t{4},
                 CUstream{}),
            CUDA_SUCCESS);
  EXPECT_EQ(words[9], 1);
  EXPECT_EQ(early(), 0u);
}

TEST_F(Guard, TheDriverIsNotTheHost) {
  int* const words = pinned();
  EXPECT_EQ(launch(at(words), count, 1), CUDA_SUCCESS);
  EXPECT_EQ(call("cuStreamWaitValue32_v2", CUstream{}, at(words), 1u, 1u), CUDA_SUCCESS);
  EXPECT_EQ(launch(at(words), count, 1), CUDA_SUCCESS);
  EXPECT_EQ(call("cuStreamWriteValue32_v2", CUstream{}, at(words), 7u, 0u), CUDA_SUCCESS);
  EXPECT_EQ(early(), 0u);
  EXPECT_EQ(words[0], 7);
}

TEST_F(Guard, EachLaunchIsNamedForWhatItWrote) {
  int* const words = managed(2 * bytes);
  EXPECT_EQ(launch(at(words), count, 1), CUDA_SUCCESS);
  EXPECT_EQ(launch(at(words) + bytes, count, 1), CUDA_SUCCESS);
  seen_ = words[0];
  EXPECT_EQ(early(), 1u);
  EXPECT_NE(sentence().find("add (launch 1)"), std::string::npos) << sentence();
}

// Beside what a launch has written the host's bytes stay as they are.
TEST_F(Guard, WhatTheHostWritesBesideALaunchStays) {
  int* const words = managed();
  std::atomic<bool> done = false;
  std::thread other([&] {
    for (int i = 64; i < 1024; ++i) {
      reinterpret_cast<volatile int*>(words)[i] = i;
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
    done = true;
  });
  int launches = 0;
  for (; !done; ++launches) EXPECT_EQ(launch(at(words), 64, 1), CUDA_SUCCESS);
  other.join();
  for (int i = 64; i < 1024; ++i) EXPECT_EQ(words[i], i);
  EXPECT_EQ(words[63], launches);
  EXPECT_GT(launches, 4);
  EXPECT_EQ(early(), 0u);
}

// Whose time a chip may not know yet.
TEST_F(Guard, WhoAsksForATimeBeforeItWaitsIsToldOnce) {
  begin();
  CUevent first = nullptr, last = nullptr;
  ASSERT_EQ(call("cuEventCreate", &first, 0u), CUDA_SUCCESS);
  ASSERT_EQ(call("cuEventCreate", &last, 0u), CUDA_SUCCESS);
  const CUdeviceptr data = words(64);
  const auto said = [&](bool waits) {
    float milliseconds = 0;
    EXPECT_EQ(call("cuEventRecord", first, CUstream{}), CUDA_SUCCESS);
    EXPECT_EQ(launch(data, 64, 1), CUDA_SUCCESS);
    EXPECT_EQ(call("cuEventRecord", last, CUstream{}), CUDA_SUCCESS);
    if (waits) EXPECT_EQ(call("cuEventSynchronize", last), CUDA_SUCCESS);
    testing::internal::CaptureStderr();
    EXPECT_EQ(call("cuEventElapsedTime", &milliseconds, first, last), CUDA_SUCCESS);
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(said(true), "");
  const std::string early = said(false);
  EXPECT_EQ(
      early.rfind("tilescope: cudaEventElapsedTime is asked before the program has waited", 0), 0u)
      << early;
  EXPECT_EQ(said(false), "");
}

TEST_F(Guard, AThreadWithoutAContextMayWaitForAnEvent) {
  CUevent event = nullptr;
  ASSERT_EQ(call("cuEventCreate", &event, 0u), CUDA_SUCCESS);
  ASSERT_EQ(call("cuEventRecord", event, CUstream{}), CUDA_SUCCESS);
  std::thread([&] {
    EXPECT_EQ(call("cuEventSynchronize", event), CUDA_SUCCESS);
    EXPECT_EQ(call("cuEventQuery", event), CUDA_SUCCESS);
    EXPECT_EQ(call("cuCtxSynchronize"), CUDA_ERROR_INVALID_CONTEXT);
  }).join();
}

// ---- a program's own handler has what is its own

class OwnHandler : public Guard {
 protected:
  void SetUp() override {
    Guard::SetUp();
    ASSERT_EQ(::sigaction(SIGSEGV, nullptr, &kept_), 0);
    page_ = ::mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(page_, MAP_FAILED);
    handled_ = 0;
  }
  void TearDown() override {
    ::munmap(page_, 4096);
    ::sigaction(SIGSEGV, &kept_, nullptr);
    Guard::TearDown();
  }
  static void install(void (*handler)(int, siginfo_t*, void*)) {
    struct sigaction own {};
    own.sa_sigaction = handler, own.sa_flags = SA_SIGINFO;
    ASSERT_EQ(::sigaction(SIGSEGV, &own, nullptr), 0);
  }
  static void open(int, siginfo_t*, void*) {
    ++handled_;
    ::mprotect(page_, 4096, PROT_READ | PROT_WRITE);
  }
  static void jump(int, siginfo_t*, void*) {
    ++handled_;
    ::siglongjmp(back_, 1);
  }
  static void count_it(int, siginfo_t*, void*) { ++handled_; }
  static inline void* page_ = nullptr;
  static inline int handled_ = 0;
  static inline sigjmp_buf back_;
  struct sigaction kept_ {};
};

TEST_F(OwnHandler, HasItsFaultsAndTheHostsAreTold) {
  install(open);
  int* const words = managed();
  EXPECT_EQ(launch(at(words), count, 3), CUDA_SUCCESS);
  EXPECT_EQ(words[0], 3);
  EXPECT_EQ(launch(at(words), count, 3), CUDA_SUCCESS);
  *static_cast<volatile int*>(page_) = 1;
  EXPECT_EQ(handled_, 1);
  EXPECT_EQ(early(), 1u);
  EXPECT_EQ(handled_, 1);
  EXPECT_EQ(launch(at(words), count, 3), CUDA_SUCCESS);
  EXPECT_EQ(call("cuCtxSynchronize"), CUDA_SUCCESS);
  struct sigaction now {};
  ASSERT_EQ(::sigaction(SIGSEGV, nullptr, &now), 0);
  EXPECT_EQ(now.sa_sigaction, open) << "nothing is guarded";
}

TEST_F(OwnHandler, MayLeaveByAJumpHoweverOften) {
  install(jump);
  int* const words = managed();
  for (int i = 1; i <= 3; ++i) {
    EXPECT_EQ(launch(at(words), count, 3), CUDA_SUCCESS);
    if (::sigsetjmp(back_, 1) == 0) *static_cast<volatile int*>(page_) = 1;
    EXPECT_EQ(handled_, i);
  }
  EXPECT_EQ(early(), 0u);
}

TEST_F(OwnHandler, HasWhatIsSent) {
  install(count_it);
  int* const words = managed();
  EXPECT_EQ(launch(at(words), count, 3), CUDA_SUCCESS);
  ::raise(SIGSEGV);
  EXPECT_EQ(handled_, 1);
  EXPECT_EQ(early(), 0u);
}

using GuardDeathTest = Guard;
TEST_F(GuardDeathTest, WhoIsSentASignalEndsByIt) {
  int* const words = managed();
  EXPECT_EQ(launch(at(words), count, 3), CUDA_SUCCESS);
  EXPECT_EXIT(::raise(SIGSEGV), testing::KilledBySignal(SIGSEGV), "");
  const CUdeviceptr on_device = StandIn::words(4);
  EXPECT_EXIT(*reinterpret_cast<volatile int*>(on_device) = 1, testing::KilledBySignal(SIGSEGV),
              "an address of the device");
  EXPECT_EXIT(reinterpret_cast<void (*)()>(words)(), testing::KilledBySignal(SIGSEGV), "");
}

}  // namespace
}  // namespace tilescope
