// PTX that is wrong, PTX that is linked, and variables that the host has, too. The answers are an
// H200's (driver 580, CUDA 13.0).
#include "tests/exec/standin.h"

namespace tilescope {
namespace {

constexpr auto unsupported_version = static_cast<CUresult>(222),
               unknown = static_cast<CUresult>(999);

std::string kernel(const std::string& body, const std::string& version = "8.0") {
  return ".version " + version +
         "\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 to) {\n"
         "  .reg .b32 %r<4>;\n  .reg .b64 %rd<2>;\n" +
         body + "\n  ret;\n}\n";
}
class Linking : public StandIn {
 protected:
  // Room for 1000 bytes of a JIT's errors; how long they are is where the room was.
  struct Log {
    char text[1000] = "-";
    int options[2] = {5, 6};  // CU_JIT_ERROR_LOG_BUFFER, _SIZE_BYTES
    void* values[2] = {text, reinterpret_cast<void*>(sizeof text)};
    std::size_t bytes() const { return reinterpret_cast<std::size_t>(values[1]); }
  };
  CUresult load(const std::string& text, Log& log) {
    return call("cuModuleLoadDataEx", &module_, static_cast<const void*>(text.c_str()), 2u,
                static_cast<int*>(log.options), static_cast<void**>(log.values));
  }
  CUlinkState state(Log& log) {
    CUlinkState out = nullptr;
    EXPECT_EQ(call("cuLinkCreate_v2", 2u, static_cast<int*>(log.options),
                   static_cast<void**>(log.values), &out),
              CUDA_SUCCESS);
    return out;
  }
  CUresult add_text(CUlinkState state, std::string text, int kind = 1) {  // CU_JIT_INPUT_PTX
    return call("cuLinkAddData_v2", state, kind, static_cast<void*>(text.data()), text.size() + 1,
                "text", 0u, static_cast<int*>(nullptr), static_cast<void**>(nullptr));
  }
};

TEST_F(Linking, PtxThatNoCompilerTakesIsRefusedWhereItIsLoaded) {
  begin();
  for (const char* body : {"nonsense.u32 %r1;", "mov.u32 %r1, %r77;", "bra nowhere;",
                           "add.s32 %r1, %rd1, 1;", "wgmma.fence.sync.aligned;"}) {
    Log log;
    EXPECT_EQ(load(kernel(body), log), CUDA_ERROR_INVALID_PTX) << body;
    EXPECT_EQ(log.bytes(), std::strlen(log.text)) << body;
    EXPECT_NE(log.text[0], '\0') << body;
  }
  Log log, garbage, version, good;
  EXPECT_EQ(load(kernel("mov.u32 %r1, %r77;"), log), CUDA_ERROR_INVALID_PTX);
  EXPECT_NE(std::strstr(log.text, "'%r77' is not declared"), nullptr) << log.text;
  EXPECT_EQ(load("garbage", garbage), CUDA_ERROR_INVALID_IMAGE);
  EXPECT_EQ(load(kernel("", "99.0"), version), unsupported_version);
  EXPECT_EQ(load(caller, log), CUDA_ERROR_INVALID_PTX) << "it calls what is not there";
  EXPECT_EQ(load(kernel("mov.u32 %r1, 1;"), good), CUDA_SUCCESS);
  EXPECT_STREQ(good.text, "");
  EXPECT_EQ(good.bytes(), 0u);
}

// PTX that is right, and that only the simulator does not have: a chip loads it.
TEST_F(Linking, WhatOnlyTheSimulatorDoesNotKnowIsNoMistakeOfThePtx) {
  begin();
  Log log;
  ASSERT_EQ(load(kernel("vadd.u32.u32.u32 %r1, %r2, %r3;"), log), CUDA_SUCCESS) << log.text;
  CUfunction function = nullptr;
  ASSERT_EQ(call("cuModuleGetFunction", &function, module_, "k"), CUDA_SUCCESS);
  CUdeviceptr data = words(1);
  void* each[] = {&data};
  EXPECT_EQ(call("cuLaunchKernel", function, 1u, 1u, 1u, 1u, 1u, 1u, 0u, CUstream{},
                 static_cast<void**>(each), static_cast<void**>(nullptr)),
            CUDA_ERROR_NOT_SUPPORTED);
}

TEST_F(Linking, WhatALinkerMadeIsBytesThatCanBeKept) {
  begin();
  Log log;
  const CUlinkState linker = state(log);
  ASSERT_EQ(add_text(linker, caller), CUDA_SUCCESS);
  ASSERT_EQ(add_text(linker, called), CUDA_SUCCESS);
  void* image = nullptr;
  std::size_t bytes = 0;
  ASSERT_EQ(call("cuLinkComplete", linker, &image, &bytes), CUDA_SUCCESS);
  const std::vector<char> kept(static_cast<char*>(image), static_cast<char*>(image) + bytes);
  EXPECT_EQ(add_text(linker, called), CUDA_ERROR_INVALID_VALUE) << "it is complete";
  ASSERT_EQ(call("cuLinkDestroy", linker), CUDA_SUCCESS);
  CUmodule module = nullptr;
  CUfunction doubled = nullptr;
  ASSERT_EQ(call("cuModuleLoadData", &module, static_cast<const void*>(kept.data())), CUDA_SUCCESS);
  ASSERT_EQ(call("cuModuleGetFunction", &doubled, module, "doubled"), CUDA_SUCCESS);
  CUdeviceptr data = words(2) + 4;
  void* each[] = {&data};
  EXPECT_EQ(call("cuLaunchKernel", doubled, 1u, 1u, 1u, 1u, 1u, 1u, 0u, CUstream{},
                 static_cast<void**>(each), static_cast<void**>(nullptr)),
            CUDA_SUCCESS);
  EXPECT_EQ(read(data, 1)[0], 2);
  const auto file = scratch_.folder() / "kept.cubin";
  std::FILE* const out = std::fopen(file.c_str(), "wb");
  std::fwrite(kept.data(), 1, kept.size(), out);
  std::fclose(out);
  EXPECT_EQ(call("cuModuleLoad", &module, file.c_str()), CUDA_SUCCESS);
}

TEST_F(Linking, ALinkerSaysWhatIsWrong) {
  begin();
  Log log, missing;
  CUlinkState linker = state(log);
  void* image = nullptr;
  std::size_t bytes = 0;
  EXPECT_EQ(add_text(linker, kernel("nonsense;")), CUDA_ERROR_INVALID_PTX);
  EXPECT_NE(std::strstr(log.text, "nonsense"), nullptr) << log.text;
  EXPECT_EQ(add_text(linker, "garbage"), CUDA_ERROR_INVALID_IMAGE);
  EXPECT_EQ(add_text(linker, kernel("", "99.0")), unsupported_version);
  EXPECT_EQ(add_text(linker, caller, 99), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(call("cuLinkComplete", linker, &image, &bytes), CUDA_SUCCESS) << "of nothing";
  CUmodule module = nullptr;
  EXPECT_EQ(call("cuModuleLoadData", &module, static_cast<const void*>(image)), CUDA_SUCCESS);
  EXPECT_EQ(call("cuLinkDestroy", linker), CUDA_SUCCESS);
  linker = state(missing);
  EXPECT_EQ(add_text(linker, caller), CUDA_SUCCESS);
  EXPECT_EQ(call("cuLinkComplete", linker, &image, &bytes), unknown);
  EXPECT_NE(std::strstr(missing.text, "twice"), nullptr) << missing.text;
  EXPECT_EQ(call("cuLinkDestroy", linker), CUDA_SUCCESS);
  EXPECT_EQ(call("cuLinkDestroy", CUlinkState{}), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(add_text(nullptr, caller), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(Linking, AManagedVariableIsTheHostsToo) {
  begin();
  const std::string text = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .global .attribute(.managed) .align 4 .u32 counter = 5;
.visible .global .align 4 .u32 own;
.visible .entry count() {
  .reg .b32 %r<2>;
  ld.global.u32 %r1, [counter];
  add.u32 %r1, %r1, 1;
  st.global.u32 [counter], %r1;
  ret;
}
)";
  void* library = nullptr;
  ASSERT_EQ(call("cuLibraryLoadData", &library, static_cast<const void*>(text.c_str()),
                 static_cast<int*>(nullptr), static_cast<void**>(nullptr), 0u,
                 static_cast<int*>(nullptr), static_cast<void**>(nullptr), 0u),
            CUDA_SUCCESS);
  CUdeviceptr address = 0;
  std::size_t bytes = 0;
  ASSERT_EQ(call("cuLibraryGetManaged", &address, &bytes, library, "counter"), CUDA_SUCCESS);
  EXPECT_EQ(bytes, 4u);
  EXPECT_EQ(call("cuLibraryGetManaged", &address, &bytes, library, "own"), CUDA_ERROR_NOT_FOUND);
  auto* const counter = reinterpret_cast<volatile int*>(address);
  EXPECT_EQ(*counter, 5);
  *counter = 41;
  CUfunction count = nullptr;
  ASSERT_EQ(call("cuLibraryGetKernel", &count, library, "count"), CUDA_SUCCESS);
  ASSERT_EQ(call("cuLaunchKernel", count, 1u, 1u, 1u, 1u, 1u, 1u, 0u, CUstream{},
                 static_cast<void**>(nullptr), static_cast<void**>(nullptr)),
            CUDA_SUCCESS);
  EXPECT_EQ(call("cuCtxSynchronize"), CUDA_SUCCESS);
  EXPECT_EQ(*counter, 42);
  EXPECT_EQ(read(address, 1)[0], 42);
  int managed = 0;
  EXPECT_EQ(call("cuPointerGetAttribute", static_cast<void*>(&managed), 8, address), CUDA_SUCCESS);
  EXPECT_EQ(managed, 1);
  EXPECT_EQ(call("cuLibraryUnload", library), CUDA_SUCCESS);
}

}  // namespace
}  // namespace tilescope
