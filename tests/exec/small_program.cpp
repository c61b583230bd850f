// A CUDA program that needs no nvcc: it loads the driver by its name, and its kernel is PTX.
//
//   small_program add      two launches on 100 words, copies, the time by events; checks the result
//   small_program large    one launch of 4096 blocks; does not look at what came of it
//   small_program texture  one launch that reads an array through a texture; checks the result
//   small_program much     asks twice for more memory than there is; prints what it is answered
//   small_program fault    a launch beyond the end of its buffer
//   small_program undefined  adds to words that nobody has written, and reads them
//   small_program heap     a launch that allocates on the device, and one that reads what it got
//   small_program waits    a launch that waits for the host
//   small_program asserts  a launch whose thread (1,2,0) of block (0,0,0) asserts what is false
//   small_program early    reads a managed word before it waits, and ends
//   small_program touches  reads memory of the device
//   small_program twice    starts two processes, which do what `add` does
//   small_program closes   closes all its files, and launches then
//   small_program orphan   starts a process that launches beyond a buffer once its parent has ended
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <vector>

#include "app/cuda/api.h"

namespace {

// data[i] += value for i < n
constexpr const char* ptx = R"(
.version 8.0
.target sm_80
.address_size 64
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
)";

// to[i] = the texture's element i, of 8 in a row
constexpr const char* texture_ptx = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry elements(.param .align 8 .b8 what[24]) {
  .reg .b32 %r<4>;
  .reg .f32 %f<5>;
  .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [what];
  ld.param.u64 %rd2, [what+8];
  mov.u32 %r1, %tid.x;
  and.b32 %r2, %r1, 7;
  shr.u32 %r3, %r1, 3;
  tex.2d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd1, {%r2, %r3}];
  mul.wide.u32 %rd3, %r1, 4;
  add.s64 %rd4, %rd2, %rd3;
  st.global.f32 [%rd4], %f1;
  ret;
}
)";

// *where = malloc(4), **where = 5; *to = **where
constexpr const char* heap_ptx = R"(
.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b64 out) malloc (.param .b64 bytes);
.visible .entry make(.param .u64 where) {
  .reg .b32 %r<2>;
  .reg .b64 %rd<4>;
  .param .b64 bytes;
  .param .b64 out;
  mov.u64 %rd1, 4;
  st.param.b64 [bytes], %rd1;
  call.uni (out), malloc, (bytes);
  ld.param.b64 %rd2, [out];
  mov.u32 %r1, 5;
  st.u32 [%rd2], %r1;
  ld.param.u64 %rd3, [where];
  st.global.u64 [%rd3], %rd2;
  ret;
}
.visible .entry use(.param .u64 where) {
  .reg .b32 %r<2>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [where];
  ld.global.u64 %rd2, [%rd1];
  ld.u32 %r1, [%rd2];
  st.global.u32 [%rd1], %r1;
  ret;
}
)";

// while (*flag == 0);
constexpr const char* wait_ptx = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry waiter(.param .u64 flag) {
  .reg .b32 %r<2>;
  .reg .b64 %rd<2>;
  .reg .pred %p<2>;
  ld.param.u64 %rd1, [flag];
again:
  ld.volatile.global.u32 %r1, [%rd1];
  setp.eq.u32 %p1, %r1, 0;
  @%p1 bra again;
  ret;
}
)";

// assert(false) in thread (1,2,0), as nvcc writes it
constexpr const char* assert_ptx = R"(
.version 8.0
.target sm_80
.address_size 64
.extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n, .param .b64 s);
.global .align 1 .b8 message[6] = {102, 97, 108, 115, 101, 0};
.global .align 1 .b8 file[5] = {97, 46, 99, 117, 0};
.global .align 1 .b8 name[4] = {107, 40, 41, 0};
.visible .entry check() {
  .reg .b32 %r<4>;
  .reg .b64 %rd<5>;
  .reg .pred %p<3>;
  .param .b64 m;
  .param .b64 f;
  .param .b32 l;
  .param .b64 n;
  .param .b64 s;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %tid.y;
  setp.ne.u32 %p1, %r1, 1;
  @%p1 ret;
  setp.ne.u32 %p2, %r2, 2;
  @%p2 ret;
  mov.u64 %rd1, message;
  cvta.global.u64 %rd1, %rd1;
  mov.u64 %rd2, file;
  cvta.global.u64 %rd2, %rd2;
  mov.u64 %rd3, name;
  cvta.global.u64 %rd3, %rd3;
  mov.u64 %rd4, 1;
  mov.u32 %r3, 7;
  st.param.b64 [m], %rd1;
  st.param.b64 [f], %rd2;
  st.param.b32 [l], %r3;
  st.param.b64 [n], %rd3;
  st.param.b64 [s], %rd4;
  call.uni __assertfail, (m, f, l, n, s);
  ret;
}
)";

void* library = nullptr;

template <class... T>
int call(const char* name, T... arguments) {
  auto* const function = reinterpret_cast<CUresult (*)(T...)>(::dlsym(library, name));
  return function ? static_cast<int>(function(arguments...)) : -1;
}

int fail(const char* what, int result) {
  std::printf("%s: %d\n", what, result);
  return 1;
}

int run_much() {
  CUdeviceptr data = 0;
  for (int i = 0; i < 2; ++i) {
    const int r = call("cuMemAlloc_v2", &data, std::size_t{5} << 30);
    std::printf("%d\n", r);
  }
  return 0;
}

int run_texture() {
  CUmodule module = nullptr;
  CUfunction elements = nullptr;
  if (const int r = call("cuModuleLoadData", &module, static_cast<const void*>(texture_ptx)))
    return fail("module", r);
  call("cuModuleGetFunction", &elements, module, "elements");
  float image[32], got[32] = {};
  for (int i = 0; i < 32; ++i) image[i] = static_cast<float>(i * 3);
  CUarray array = nullptr;
  const CUDA_ARRAY_DESCRIPTOR shape{8, 4, 0x20, 1};
  if (const int r = call("cuArrayCreate_v2", &array, &shape)) return fail("array", r);
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = memory_host, copy.srcHost = image;
  copy.dstMemoryType = memory_array, copy.dstArray = array;
  copy.WidthInBytes = 32, copy.Height = 4;
  if (const int r = call("cuMemcpy2D_v2", static_cast<const CUDA_MEMCPY2D*>(&copy)))
    return fail("copy", r);
  CUDA_RESOURCE_DESC of{};
  of.type = resource_array, of.array = array;
  CUDA_TEXTURE_DESC how{};
  struct {
    CUtexObject texture = 0;
    CUdeviceptr to = 0;
    unsigned long long nothing = 0;
  } what;
  if (const int r = call("cuTexObjectCreate", &what.texture, &of, &how,
                         static_cast<const CUDA_RESOURCE_VIEW_DESC*>(nullptr)))
    return fail("texture", r);
  call("cuMemAlloc_v2", &what.to, sizeof got);
  void* each[] = {&what};
  if (const int r = call("cuLaunchKernel", elements, 1u, 1u, 1u, 32u, 1u, 1u, 0u, CUstream{},
                         static_cast<void**>(each), static_cast<void**>(nullptr)))
    return fail("launch", r);
  if (const int r = call("cuMemcpyDtoH_v2", static_cast<void*>(got), what.to, sizeof got))
    return fail("copy back", r);
  if (std::memcmp(got, image, sizeof got) != 0) return fail("wrong", static_cast<int>(got[9]));
  std::printf("right\n");
  return 0;
}

// The module's kernels, one after the other, with one parameter or none.
int run_kernels(const char* text, std::initializer_list<const char*> names, CUdeviceptr* parameter,
                unsigned block_y = 1) {
  CUmodule module = nullptr;
  if (const int r = call("cuModuleLoadData", &module, static_cast<const void*>(text)))
    return fail("module", r);
  for (const char* name : names) {
    CUfunction function = nullptr;
    void* each[] = {parameter};
    if (const int r = call("cuModuleGetFunction", &function, module, name))
      return fail("function", r);
    if (const int r = call("cuLaunchKernel", function, 1u, 1u, 1u, 4u, block_y, 1u, 0u, CUstream{},
                           static_cast<void**>(each), static_cast<void**>(nullptr)))
      return fail("launch", r);
  }
  std::printf("%d\n", call("cuCtxSynchronize"));
  return 0;
}

int run_heap() {
  CUdeviceptr where = 0;
  call("cuMemAlloc_v2", &where, std::size_t{8});
  return run_kernels(heap_ptx, {"make", "use"}, &where);
}

int run_waits() {
  CUdeviceptr flag = 0;
  call("cuMemHostAlloc", reinterpret_cast<void**>(&flag), std::size_t{4}, 0u);
  *reinterpret_cast<volatile int*>(flag) = 0;
  return run_kernels(wait_ptx, {"waiter"}, &flag);
}

int run_early(CUfunction add) {
  CUdeviceptr data = 0;
  unsigned n = 1, value = 5;
  call("cuMemAllocManaged", &data, std::size_t{4}, 1u);
  *reinterpret_cast<volatile int*>(data) = 1;
  void* each[] = {&data, &n, &value};
  if (const int r = call("cuLaunchKernel", add, 1u, 1u, 1u, 64u, 1u, 1u, 0u, CUstream{},
                         static_cast<void**>(each), static_cast<void**>(nullptr)))
    return fail("launch", r);
  std::printf("%d\n", *reinterpret_cast<volatile int*>(data));
  return 0;
}

}  // namespace

int main(int count, char** words) {
  const char* what = count > 1 ? words[1] : "add";
  if (std::strcmp(what, "twice") == 0) {
    for (int i = 0; i < 2; ++i) {
      if (::fork() == 0) return ::execl(words[0], words[0], "add", nullptr);
    }
    while (::wait(nullptr) > 0) {
    }
    return 0;
  }
  if (std::strcmp(what, "orphan") == 0) {
    if (::fork() != 0) return 0;
    ::usleep(300000);
    what = "fault";
  }
  library = ::dlopen("libcuda.so.1", RTLD_NOW);
  if (!library) return fail("no driver", 0);
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  CUfunction add = nullptr;
  if (const int r = call("cuInit", 0u)) return fail("cuInit", r);
  if (const int r = call("cuDevicePrimaryCtxRetain", &context, 0)) return fail("context", r);
  if (const int r = call("cuCtxSetCurrent", context)) return fail("current", r);
  if (std::strcmp(what, "texture") == 0) return run_texture();
  if (std::strcmp(what, "much") == 0) return run_much();
  if (std::strcmp(what, "heap") == 0) return run_heap();
  if (std::strcmp(what, "waits") == 0) return run_waits();
  if (std::strcmp(what, "asserts") == 0) return run_kernels(assert_ptx, {"check"}, nullptr, 4);
  if (const int r = call("cuModuleLoadData", &module, static_cast<const void*>(ptx)))
    return fail("module", r);
  if (const int r = call("cuModuleGetFunction", &add, module, "add")) return fail("function", r);
  if (std::strcmp(what, "early") == 0) return run_early(add);
  const bool large = std::strcmp(what, "large") == 0;
  unsigned n = large ? 4096 * 64 : 100, value = 5;
  std::vector<std::uint32_t> words_of(n, 1);
  CUdeviceptr data = 0;
  if (const int r = call("cuMemAlloc_v2", &data, std::size_t{4} * n)) return fail("memory", r);
  const bool undefined = std::strcmp(what, "undefined") == 0;
  const std::size_t written = undefined ? 4 : std::size_t{4} * n;
  if (const int r =
          call("cuMemcpyHtoD_v2", data, static_cast<const void*>(words_of.data()), written))
    return fail("copy", r);
  if (std::strcmp(what, "touches") == 0) return *reinterpret_cast<volatile int*>(data);
  if (std::strcmp(what, "closes") == 0) {
    for (int file = 3; file < 200; ++file) ::close(file);
    for (int file = 0; file < 20; ++file) ::dup(1);  // what has its number now is not the driver's
    n = 1 << 20;
  }
  CUevent begin = nullptr, end = nullptr;
  call("cuEventCreate", &begin, 0u), call("cuEventCreate", &end, 0u);
  call("cuEventRecord", begin, CUstream{});
  if (std::strcmp(what, "fault") == 0) n = 1 << 20;
  void* each[] = {&data, &n, &value};
  for (int i = 0; i < (large ? 1 : 2); ++i) {
    const int r = call("cuLaunchKernel", add, (n + 63) / 64, 1u, 1u, 64u, 1u, 1u, 0u, CUstream{},
                       static_cast<void**>(each), static_cast<void**>(nullptr));
    if (r) return fail("launch", r);
  }
  call("cuEventRecord", end, CUstream{});
  if (const int r = call("cuCtxSynchronize")) return fail("synchronize", r);
  float milliseconds = 0;
  if (const int r = call("cuEventElapsedTime", &milliseconds, begin, end)) return fail("time", r);
  std::printf("%.6f ms\n", static_cast<double>(milliseconds));
  if (large) return 0;
  if (const int r =
          call("cuMemcpyDtoH_v2", static_cast<void*>(words_of.data()), data, std::size_t{4} * n))
    return fail("copy back", r);
  if (undefined) return 0;
  for (const std::uint32_t word : words_of) {
    if (word != 11) return fail("wrong", static_cast<int>(word));
  }
  std::printf("right\n");
  return 0;
}
