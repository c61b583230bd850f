// What the CUDA driver and runtime answer to right and wrong calls: a line for each, name and
// number. `answers_h200.txt` is what a chip's driver printed; under `tilescope exec` the same lines
// are wanted. What ends a context is done in a process of its own: `answers WHICH`.
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#define D(call) std::printf("%s %d\n", #call, static_cast<int>(call))

__device__ int counter = 7;
__constant__ float table[16];

__global__ void nothing() {}
__global__ void __launch_bounds__(128) bounded() {}
__global__ void add(int* data, int value) {
  data[threadIdx.x] += value;
}
__global__ void big(int* data) {
  extern __shared__ int box[];
  box[threadIdx.x] = 1;
  data[threadIdx.x] = box[threadIdx.x];
}
__global__ void beyond(int* data) {
  data[1ll << 38] = 1;
}
__global__ void null_pointer(int* data) {
  data[0] = 1;
}
__global__ void crooked(char* data) {
  *reinterpret_cast<int*>(data + 1) = 1;
}
__global__ void stop() {
  __trap();
}
__global__ void claim(int n) {
  if (n == 0) asm volatile("trap;");
}
__global__ void to_constant(int* to) {
  *to = 1;
}
__device__ __noinline__ int deep(int n, volatile int* p) {
  volatile int frame[64];
  for (int i = 0; i < 64; ++i) frame[i] = n + *p;
  return n == 0 ? frame[3] : deep(n - 1, p) + frame[n % 64];
}
__global__ void nested(int* data) {
  data[0] = deep(100000, data);
}

namespace {

int* buffer(std::size_t bytes = 1024) {
  void* out = nullptr;
  if (cudaMalloc(&out, bytes) != cudaSuccess) std::exit(9);
  cudaMemset(out, 0, bytes);
  return static_cast<int*>(out);
}

void memory() {
  void* p = nullptr;
  D(cudaMalloc(&p, 1000));
  std::printf("aligned %d\n", static_cast<int>(reinterpret_cast<std::uintptr_t>(p) % 256));
  D(cudaMalloc(&p, 0));
  D(cudaMalloc(nullptr, 16));
  D(cudaMalloc(&p, std::size_t{1} << 50));
  D(cudaGetLastError());
  D(cudaFree(nullptr));
  int* a = buffer();
  D(cudaFree(a));
  D(cudaFree(a));
  D(cudaGetLastError());
  int on_host[4] = {1, 2, 3, 4};
  D(cudaFree(on_host));
  a = buffer();
  D(cudaMemcpy(a, on_host, 16, cudaMemcpyHostToDevice));
  D(cudaMemcpy(on_host, a, 16, cudaMemcpyDeviceToHost));
  D(cudaMemcpy(a, on_host, 16, cudaMemcpyDefault));
  D(cudaMemcpy(a, on_host, 0, cudaMemcpyHostToDevice));
  D(cudaMemcpy(a, on_host, 2048, cudaMemcpyKind(7)));
  D(cudaMemcpy(a + 128, a, 256, cudaMemcpyDeviceToDevice));
  D(cudaMemset(a, 1, 1024));
  D(cudaMemset(nullptr, 1, 16));
  D(cudaGetLastError());
  std::size_t pitch = 0;
  D(cudaMallocPitch(&p, &pitch, 100, 10));
  std::printf("pitch %zu\n", pitch);
  D(cudaMemset2D(p, pitch, 1, 100, 10));
  D(cudaMemset2D(p, 50, 1, 100, 10));
  D(cudaMemcpy2D(p, pitch, on_host, 4, 4, 4, cudaMemcpyHostToDevice));
  D(cudaMemcpy2D(p, 2, on_host, 4, 4, 4, cudaMemcpyHostToDevice));
  D(cudaMallocHost(&p, 4096));
  D(cudaFreeHost(p));
  D(cudaFreeHost(on_host));
  D(cudaMallocManaged(&p, 4096));
  std::memset(p, 1, 4096);
  D(cudaFree(p));
  D(cudaGetLastError());
  D(cudaMallocAsync(&p, 64, nullptr));
  D(cudaFreeAsync(p, nullptr));
  D(cudaFreeAsync(p, nullptr));
  D(cudaHostRegister(on_host, sizeof on_host, 0));
  D(cudaHostRegister(on_host, sizeof on_host, 0));
  D(cudaHostUnregister(on_host));
  D(cudaHostUnregister(on_host));
  D(cudaGetLastError());
  D(cudaMemPrefetchAsync(a, 16, cudaMemLocation{cudaMemLocationTypeDevice, 0}, 0, nullptr));
  D(cudaGetLastError());
  cudaPointerAttributes about{};
  D(cudaPointerGetAttributes(&about, a));
  std::printf("type %d\n", static_cast<int>(about.type));
  D(cudaPointerGetAttributes(&about, on_host));
  std::printf("type %d\n", static_cast<int>(about.type));
  int value = 0;
  D(cudaMemcpyFromSymbol(&value, counter, 4));
  std::printf("counter %d\n", value);
  value = 9;
  D(cudaMemcpyToSymbol(counter, &value, 4));
  D(cudaMemcpyToSymbol(counter, &value, 8));
  D(cudaMemcpyToSymbol(table, on_host, 16, 48));
  D(cudaMemcpyToSymbol(table, on_host, 16, 52));
  std::size_t size = 0;
  D(cudaGetSymbolSize(&size, table));
  std::printf("table %zu\n", size);
}

void launches() {
  int* a = buffer();
  nothing<<<1, 1>>>();
  D(cudaGetLastError());
  nothing<<<1, 1024>>>();
  D(cudaGetLastError());
  nothing<<<1, 1025>>>();
  D(cudaGetLastError());
  D(cudaGetLastError());
  nothing<<<0, 1>>>();
  D(cudaGetLastError());
  nothing<<<1, 0>>>();
  D(cudaGetLastError());
  nothing<<<dim3(1, 65536), 1>>>();
  D(cudaGetLastError());
  nothing<<<1, dim3(1, 1, 65)>>>();
  D(cudaGetLastError());
  bounded<<<1, 256>>>();
  D(cudaGetLastError());
  big<<<1, 32, 48 << 10>>>(a);
  D(cudaGetLastError());
  big<<<1, 32, 49 << 10>>>(a);
  D(cudaGetLastError());
  D(cudaFuncSetAttribute(big, cudaFuncAttributeMaxDynamicSharedMemorySize, 100 << 10));
  big<<<1, 32, 99 << 10>>>(a);
  D(cudaGetLastError());
  D(cudaFuncSetAttribute(big, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 20));
  D(cudaGetLastError());
  D(cudaDeviceSynchronize());
  cudaFuncAttributes about{};
  D(cudaFuncGetAttributes(&about, bounded));
  std::printf("threads %d\n", about.maxThreadsPerBlock);
  D(cudaFuncGetAttributes(&about, reinterpret_cast<const void*>(&launches)));
  D(cudaGetLastError());
  int value = 5;
  void* arguments[] = {&a, &value};
  D(cudaLaunchKernel(add, dim3(1), dim3(32), arguments, 0, nullptr));
  D(cudaLaunchCooperativeKernel(add, dim3(2), dim3(32), arguments, 0, nullptr));
  D(cudaLaunchCooperativeKernel(add, dim3(1 << 20), dim3(32), arguments, 0, nullptr));
  D(cudaGetLastError());
  D(cudaDeviceSynchronize());
}

int calls = 0;

void streams() {
  cudaStream_t s = nullptr, t = nullptr;
  D(cudaStreamCreate(&s));
  D(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
  D(cudaStreamCreateWithFlags(&t, 99));
  D(cudaGetLastError());
  cudaEvent_t a = nullptr, b = nullptr, c = nullptr;
  D(cudaEventCreate(&a));
  D(cudaEventCreate(&b));
  D(cudaEventCreateWithFlags(&c, cudaEventDisableTiming));
  float ms = -1;
  D(cudaEventElapsedTime(&ms, a, b));
  D(cudaEventRecord(a, s));
  nothing<<<1, 1, 0, s>>>();
  D(cudaEventRecord(b, s));
  D(cudaEventSynchronize(b));
  D(cudaEventQuery(b));
  D(cudaEventElapsedTime(&ms, a, b));
  std::printf("positive %d\n", ms > 0);
  D(cudaEventRecord(c, s));
  D(cudaEventSynchronize(c));
  D(cudaEventElapsedTime(&ms, a, c));
  D(cudaGetLastError());
  D(cudaStreamWaitEvent(t, b, 0));
  D(cudaStreamQuery(s));
  D(cudaStreamSynchronize(s));
  D(cudaStreamDestroy(s));
  D(cudaEventDestroy(a));
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t ready = nullptr;
  cudaStreamCreate(&s);
  D(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  nothing<<<1, 1, 0, s>>>();
  D(cudaGetLastError());
  cudaStreamCaptureStatus status{};
  D(cudaStreamIsCapturing(s, &status));
  std::printf("capturing %d\n", static_cast<int>(status));
  D(cudaStreamEndCapture(s, &graph));
  cudaGraph_t other = nullptr;
  D(cudaStreamEndCapture(s, &other));
  D(cudaGetLastError());
  std::size_t nodes = 0;
  D(cudaGraphGetNodes(graph, nullptr, &nodes));
  std::printf("nodes %zu\n", nodes);
  D(cudaGraphInstantiate(&ready, graph, 0));
  D(cudaGraphLaunch(ready, s));
  D(cudaStreamSynchronize(s));
  D(cudaGraphExecDestroy(ready));
  D(cudaGraphDestroy(graph));
  const cudaHostFn_t count = [](void* to) { *static_cast<int*>(to) += 1; };
  D(cudaLaunchHostFunc(s, count, &calls));
  D(cudaStreamSynchronize(s));
  std::printf("host calls %d\n", calls);
  int low = 9, high = 9;
  D(cudaDeviceGetStreamPriorityRange(&low, &high));
  std::printf("priorities %d %d\n", low, high);
}

void devices() {
  int count = 0, at = -1;
  D(cudaGetDeviceCount(&count));
  D(cudaSetDevice(0));
  D(cudaSetDevice(1000));
  D(cudaGetLastError());
  D(cudaGetDevice(&at));
  std::printf("device %d\n", at);
  cudaDeviceProp p{};
  D(cudaGetDeviceProperties(&p, 0));
  std::printf("capability %d.%d warp %d threads %d grid %d %d %d block %d %d %d\n", p.major,
              p.minor, p.warpSize, p.maxThreadsPerBlock, p.maxGridSize[0], p.maxGridSize[1],
              p.maxGridSize[2], p.maxThreadsDim[0], p.maxThreadsDim[1], p.maxThreadsDim[2]);
  std::printf("SMs %d threads %d shared %zu %zu %zu registers %d %d constant %zu\n",
              p.multiProcessorCount, p.maxThreadsPerMultiProcessor, p.sharedMemPerBlock,
              p.sharedMemPerMultiprocessor, p.sharedMemPerBlockOptin, p.regsPerBlock,
              p.regsPerMultiprocessor, p.totalConstMem);
  std::printf("cooperative %d managed %d concurrent %d unified %d L2 %d bus %d\n",
              p.cooperativeLaunch, p.managedMemory, p.concurrentKernels, p.unifiedAddressing,
              p.l2CacheSize, p.memoryBusWidth);
  int blocks = 0;
  D(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nothing, 128, 0));
  std::printf("blocks %d\n", blocks);
  D(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, big, 1024, 0));
  std::printf("blocks %d\n", blocks);
  int value = 0;
  D(cudaDeviceGetAttribute(&value, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
  D(cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(99999), 0));
  D(cudaGetLastError());
  std::size_t limit = 0;
  D(cudaDeviceGetLimit(&limit, cudaLimitStackSize));
  std::printf("stack %zu\n", limit);
  D(cudaDeviceGetLimit(&limit, cudaLimitPrintfFifoSize));
  std::printf("printf %zu\n", limit);
  D(cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize));
  std::printf("heap %zu\n", limit);
  D(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 16 << 20));
  D(cudaDeviceReset());
}

// One kernel of its own module, as text.
const char* module_text =
    ".version 7.0\n.target sm_80\n.address_size 64\n"
    ".visible .global .align 4 .u32 held = 3;\n"
    ".visible .entry set(.param .u64 to, .param .u32 value) {\n"
    "  .reg .b64 %rd<2>;\n  .reg .b32 %r<2>;\n"
    "  ld.param.u64 %rd1, [to];\n  ld.param.u32 %r1, [value];\n"
    "  st.global.u32 [%rd1], %r1;\n  ret;\n}\n";

void driver() {
  D(cuInit(0));
  D(cuInit(1));
  CUdevice device = 9;
  D(cuDeviceGet(&device, 0));
  D(cuDeviceGet(&device, 77));
  D(cuDeviceGet(&device, -1));
  CUcontext context = nullptr, now = nullptr;
  D(cuCtxGetCurrent(&now));
  std::printf("current %d\n", now != nullptr);
  CUdeviceptr p = 0;
  D(cuMemAlloc(&p, 16));
  D(cuDevicePrimaryCtxRetain(&context, 0));
  D(cuCtxSetCurrent(context));
  D(cuMemAlloc(&p, 16));
  CUdeviceptr no = 0;
  D(cuMemAlloc(&no, 0));
  CUmodule module = nullptr;
  D(cuModuleLoadData(&module, module_text));
  CUfunction f = nullptr;
  D(cuModuleGetFunction(&f, module, "set"));
  CUfunction none = nullptr;
  D(cuModuleGetFunction(&none, module, "sets"));
  D(cuModuleGetFunction(&none, module, nullptr));
  CUdeviceptr held = 0;
  std::size_t bytes = 0;
  D(cuModuleGetGlobal(&held, &bytes, module, "held"));
  std::printf("held %zu\n", bytes);
  D(cuModuleGetGlobal(&held, &bytes, module, "nothing"));
  unsigned value = 11;
  void* arguments[] = {&p, &value};
  D(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  D(cuLaunchKernel(f, 1, 1, 1, 2000, 1, 1, 0, nullptr, arguments, nullptr));
  D(cuLaunchKernel(f, 0, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  char packed[12];
  std::memcpy(packed, &p, 8);
  std::memcpy(packed + 8, &value, 4);
  std::size_t packed_bytes = sizeof packed;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, packed, CU_LAUNCH_PARAM_BUFFER_SIZE,
                   &packed_bytes, CU_LAUNCH_PARAM_END};
  D(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra));
  D(cuCtxSynchronize());
  unsigned got = 0;
  D(cuMemcpyDtoH(&got, p, 4));
  std::printf("got %u\n", got);
  D(cuMemsetD32(p, 5, 4));
  D(cuMemsetD32(p + 2, 5, 1));
  CUdeviceptr base = 0;
  D(cuMemGetAddressRange(&base, &bytes, p + 4));
  std::printf("range %d %zu\n", base == p, bytes);
  D(cuMemFree(p + 4));
  D(cuMemFree(p));
  D(cuMemFree(p));
  D(cuMemFree(0));
  D(cuModuleUnload(module));
  D(cuModuleLoadData(&module, ".version 7.0\n.target sm_80\n.address_size 64\nnonsense\n"));
  D(cuModuleLoadData(&module, ".version 7.0\n.target sm_999\n.address_size 64\n"));
  const char* text = nullptr;
  D(cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &text));
  std::printf("%s\n", text);
  D(cuGetErrorString(CUDA_ERROR_ILLEGAL_ADDRESS, &text));
  std::printf("%s\n", text);
  D(cuGetErrorName(static_cast<CUresult>(12345), &text));
  CUcontext popped = nullptr;
  D(cuCtxPushCurrent(context));
  D(cuCtxPopCurrent(&popped));
  std::printf("same %d\n", popped == context);
  D(cuDevicePrimaryCtxRelease(0));
}

// The kernel's error, and what everything answers from then on.
void after(const char* which) {
  const std::string name = which;
  int* a = buffer();
  if (name == "beyond") beyond<<<1, 1>>>(a);
  if (name == "null") null_pointer<<<1, 1>>>(nullptr);
  if (name == "crooked") crooked<<<1, 1>>>(reinterpret_cast<char*>(a));
  if (name == "stop") stop<<<1, 1>>>();
  if (name == "claim") claim<<<1, 1>>>(0);
  if (name == "nested") nested<<<1, 1>>>(a);
  std::printf("%s\n", which);
  D(cudaGetLastError());
  D(cudaDeviceSynchronize());
  D(cudaGetLastError());
  D(cudaGetLastError());
  void* p = nullptr;
  D(cudaMalloc(&p, 16));
  D(cudaMemset(a, 0, 16));
  add<<<1, 32>>>(a, 1);
  D(cudaGetLastError());
  D(cudaFree(a));
  D(cudaDeviceSynchronize());
}

}  // namespace

int main(int count, char** words) {
  const std::string what = count > 1 ? words[1] : "";
  if (what == "memory") return memory(), 0;
  if (what == "launches") return launches(), 0;
  if (what == "streams") return streams(), 0;
  if (what == "devices") return devices(), 0;
  if (what == "driver") return driver(), 0;
  if (!what.empty()) return after(words[1]), 0;
  std::printf(
      "answers memory|launches|streams|devices|driver|beyond|null|crooked|stop|claim|nested\n");
  return 2;
}
