// More right and wrong calls (answers.cu): of contexts that end, texts that are compiled and
// linked, pools, advice, batches and clusters.
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#define D(call) std::printf("%s %d\n", #call, static_cast<int>(call))

namespace of_contexts {

__global__ void write(int* to) {
  *to = 3;
}
__global__ void say(int n) {
  printf("kernel %d\n", n);
}
__global__ void in_clusters(int* to) {
  if (threadIdx.x == 0) to[blockIdx.x] = 1;
}
__global__ void __cluster_dims__(2, 1, 1) in_pairs(int* to) {
  if (threadIdx.x == 0) to[blockIdx.x] = 1;
}
__managed__ int shared_count = 5;
__device__ int own_count = 6;
__global__ void count() {
  ++shared_count, ++own_count;
}

std::string text(const char* body, const char* version = "8.0") {
  return std::string(".version ") + version +
         "\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 to) {\n"
         "  .reg .b32 %r<4>;\n  .reg .b64 %rd<2>;\n" +
         body + "\n  ret;\n}\n";
}
const char* const caller =
    ".version 8.0\n.target sm_80\n.address_size 64\n.extern .func other();\n"
    ".visible .entry k() {\n  call other;\n  ret;\n}\n";
const char* const called =
    ".version 8.0\n.target sm_80\n.address_size 64\n.visible .func other() {\n  ret;\n}\n";

void current() {
  CUcontext context = nullptr;
  cuInit(0);
  cuDevicePrimaryCtxRetain(&context, 0);
  cuCtxSetCurrent(context);
}

void ends() {
  int *p = nullptr, *q = nullptr, got = 0;
  say<<<1, 1>>>(1);
  D(cudaDeviceReset());
  D(cudaMalloc(&p, std::size_t{3} << 20));
  D(cudaDeviceReset());
  D(cudaMalloc(&q, 4));
  D(cudaMemcpy(&got, p + 1024, 4, cudaMemcpyDeviceToHost));
  D(cudaFree(p + 1024));
  cudaStream_t stream = nullptr;
  void* pinned = nullptr;
  D(cudaStreamCreate(&stream));
  D(cudaMallocHost(&pinned, 64));
  CUcontext context = nullptr, now = nullptr;
  CUmodule module = nullptr;
  CUfunction k = nullptr;
  const std::string good = text("");
  D(cuCtxGetCurrent(&context));
  D(cuModuleLoadData(&module, good.c_str()));
  D(cuModuleGetFunction(&k, module, "k"));
  D(cudaDeviceReset());
  unsigned flags = 0;
  int active = 1;
  D(cuDevicePrimaryCtxGetState(0, &flags, &active));
  std::printf("active %d\n", active);
  D(cuCtxGetCurrent(&now));
  std::printf("the same %d\n", now == context);
  D(cuCtxSynchronize());
}

void two_contexts() {
  CUmodule module = nullptr;
  CUfunction k = nullptr;
  const std::string good = text("");
  cuInit(0);
  CUcontext first = nullptr, second = nullptr;
  CUevent event = nullptr;
  D(cuCtxCreate(&first, nullptr, 0, 0));
  D(cuModuleLoadData(&module, good.c_str()));
  D(cuModuleGetFunction(&k, module, "k"));
  D(cuEventCreate(&event, 0));
  D(cuCtxCreate(&second, nullptr, 0, 0));
  CUdeviceptr to = 0;
  void* each[] = {&to};
  D(cuLaunchKernel(k, 1, 1, 1, 1, 1, 1, 0, nullptr, each, nullptr));
  D(cuEventRecord(event, nullptr));
  D(cuCtxDestroy(second));
  D(cuCtxCreate(&second, nullptr, 0xffff, 0));
  D(cuCtxCreate(&second, nullptr, 0, 3));
}

void texts() {
  current();
  char log[2000] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, (void*)sizeof log};
  CUmodule module = nullptr;
  for (const char* body :
       {"nonsense.u32 %r1;", "mov.u32 %r1, %r77;", "bra nowhere;", "add.s32 %r1, %rd1, 1;",
        "wgmma.fence.sync.aligned;", "mov.u32 %r1, 1;"}) {
    const std::string one = text(body);
    values[1] = (void*)sizeof log;
    std::printf("%s ", body);
    D(cuModuleLoadDataEx(&module, one.c_str(), 2, options, values));
    std::printf("log %d as long as it says %d\n", log[0] != 0,
                std::strlen(log) == (std::size_t)values[1]);
  }
  const std::string late = text("", "99.0"), good = text("");
  D(cuModuleLoadData(&module, "garbage"));
  D(cuModuleLoadData(&module, late.c_str()));
  D(cuModuleLoadData(&module, caller));
  CUlinkState state = nullptr;
  void* image = nullptr;
  std::size_t bytes = 0;
  const auto add = [&](const char* what) {
    return cuLinkAddData(state, CU_JIT_INPUT_PTX, (void*)what, std::strlen(what) + 1, "a", 0,
                         nullptr, nullptr);
  };
  D(cuLinkCreate(0, nullptr, nullptr, &state));
  D(add(text("nonsense;").c_str()));
  D(add("garbage"));
  D(add(late.c_str()));
  D(cuLinkComplete(state, &image, &bytes));
  D(cuModuleLoadData(&module, image));
  D(add(good.c_str()));
  D(cuLinkDestroy(state));
  D(cuLinkCreate(0, nullptr, nullptr, &state));
  D(add(caller));
  D(add(called));
  D(cuLinkComplete(state, &image, &bytes));
  std::string kept(static_cast<char*>(image), bytes);
  D(cuLinkDestroy(state));
  D(cuModuleLoadData(&module, kept.data()));
  D(cuLinkDestroy(nullptr));
  D(cuLinkCreate(0, nullptr, nullptr, nullptr));
}

void pools_and_advice() {
  cudaMemPool_t own = nullptr, first = nullptr, now = nullptr;
  cudaMemPoolProps how{};
  how.allocType = cudaMemAllocationTypePinned, how.location = {cudaMemLocationTypeDevice, 0};
  D(cudaMemPoolCreate(&own, &how));
  D(cudaMemPoolCreate(&now, nullptr));
  D(cudaDeviceGetDefaultMemPool(&first, 0));
  void *a = nullptr, *b = nullptr;
  const auto show = [&](cudaMemPool_t pool) {
    for (int i = 1; i <= 8; ++i) {
      unsigned long long value = 0;
      D(cudaMemPoolGetAttribute(pool, (cudaMemPoolAttr)i, &value));
      std::printf("%d: %llu\n", i, value);
    }
  };
  D(cudaMallocFromPoolAsync(&a, 1000, own, 0));
  show(own);
  show(first);
  D(cudaFreeAsync(a, 0));
  D(cudaDeviceSynchronize());
  show(own);
  unsigned long long value = 1ull << 30;
  D(cudaMemPoolSetAttribute(own, cudaMemPoolAttrReleaseThreshold, &value));
  D(cudaMallocFromPoolAsync(&a, 3 << 20, own, 0));
  D(cudaMallocFromPoolAsync(&b, 33 << 20, own, 0));
  D(cudaFreeAsync(a, 0));
  D(cudaFreeAsync(b, 0));
  D(cudaDeviceSynchronize());
  show(own);
  D(cudaMemPoolTrimTo(own, 0));
  show(own);
  D(cudaMemPoolSetAttribute(own, cudaMemPoolAttrUsedMemHigh, &value));
  D(cudaMemPoolSetAttribute(own, cudaMemPoolAttrUsedMemCurrent, &value));
  D(cudaDeviceSetMemPool(0, own));
  D(cudaMallocAsync(&a, 64, 0));
  D(cudaMemPoolDestroy(own));
  D(cudaDeviceGetMemPool(&now, 0));
  std::printf("the first %d\n", now == first);
  D(cudaFreeAsync(a, 0));
  D(cudaMemPoolDestroy(first));
  D(cudaMallocAsync(&a, 0, 0));
  D(cudaFreeAsync(nullptr, 0));
  char* m = nullptr;
  int got = 0;
  const cudaMemLocation device{cudaMemLocationTypeDevice, 0}, none{cudaMemLocationTypeDevice, 9};
  D(cudaMallocManaged(&m, 8192));
  const auto ask = [&](cudaMemRangeAttribute which, std::size_t bytes) {
    got = 77;
    D(cudaMemRangeGetAttribute(&got, sizeof got, which, m, bytes));
    std::printf("%d of %d: %d\n", which, (int)bytes, got);
  };
  const auto ask_all = [&] {
    for (int i = 1; i <= 8; ++i) {
      ask((cudaMemRangeAttribute)i, 8192);
      ask((cudaMemRangeAttribute)i, 4096);
    }
  };
  ask_all();
  D(cudaMemAdvise(m, 8192, cudaMemAdviseSetReadMostly, device));
  D(cudaMemAdvise(m, 4096, cudaMemAdviseSetPreferredLocation, device));
  D(cudaMemAdvise(m, 8192, cudaMemAdviseSetAccessedBy, device));
  D(cudaMemPrefetchAsync(m, 8192, device, 0, 0));
  D(cudaDeviceSynchronize());
  ask_all();
  D(cudaMemAdvise(m, 4096, (cudaMemoryAdvise)77, device));
  D(cudaMemAdvise(m, 1 << 20, cudaMemAdviseSetReadMostly, device));
  D(cudaMemAdvise(m, 4096, cudaMemAdviseSetPreferredLocation, none));
  D(cudaMemPrefetchAsync(m, 4096, none, 0, 0));
  D(cudaMemPrefetchAsync(m, 1 << 20, device, 0, 0));
  D(cudaMemRangeGetAttribute(&got, 3, cudaMemRangeAttributeReadMostly, m, 8192));
}

void refused() {
  int *p = nullptr, host[16] = {}, other[16] = {};
  void *pinned = nullptr, *managed = nullptr;
  D(cudaMalloc(&p, 64));
  D(cudaMallocHost(&pinned, 64));
  D(cudaMallocManaged(&managed, 64));
  D(cudaMemcpy(host, other, 64, cudaMemcpyHostToDevice));
  D(cudaMemcpy(p, host, 64, cudaMemcpyDeviceToHost));
  D(cudaMemcpy(p, p + 8, 32, cudaMemcpyHostToHost));
  D(cuMemcpyHtoD((CUdeviceptr)host, other, 64));
  D(cuMemcpyDtoH(host, (CUdeviceptr)other, 64));
  D(cudaFree(pinned));
  D(cudaFreeHost(managed));
  D(cudaFreeHost(pinned));
  D(cudaFree(managed));
  D(cudaHostAlloc(&pinned, 64, 99));
  D(cudaMallocManaged(&managed, 64, 7));
  D(cudaHostRegister(host, 64, 0xff));
  D(cuEventCreate((CUevent*)&pinned, 99));
  D(cuEventCreate((CUevent*)&pinned, 4));
  cudaStream_t stream = nullptr;
  D(cudaStreamCreate(&stream));
  D(cudaEventRecordWithFlags(nullptr, stream, 7));
  D(cudaStreamAddCallback(
      stream, [](cudaStream_t, cudaError_t, void*) {}, nullptr, 1));
  void* to[] = {p, p + 8};
  const void* from[] = {host, other};
  std::size_t bytes[] = {32, 32}, first[] = {0};
  cudaMemcpyAttributes how[1]{};
  how[0].srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  D(cudaMemcpyBatchAsync(to, from, bytes, 2, how, first, 1, stream));
  D(cudaMemcpyBatchAsync(to, from, bytes, 0, how, first, 1, stream));
  D(cudaMemcpyBatchAsync(to, from, bytes, 2, how, first, 0, stream));
  D(cudaMemcpyBatchAsync(to, from, bytes, 2, how, first, 1, 0));
  first[0] = 1;
  D(cudaMemcpyBatchAsync(to, from, bytes, 2, how, first, 1, stream));
  cudaMemcpy3DPeerParms box{};
  box.srcPtr = make_cudaPitchedPtr(p, 16, 16, 2),
  box.dstPtr = make_cudaPitchedPtr(p + 8, 16, 16, 2);
  box.extent = make_cudaExtent(16, 2, 1);
  D(cudaMemcpy3DPeer(&box));
  D(cudaDeviceEnablePeerAccess(0, 0));
  int value = 0;
  D(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 0));
  static int answered = 0;
  const cudaHostFn_t asks = [](void*) {
    CUdeviceptr none = 0;
    answered = cuMemAlloc(&none, 4);
  };
  D(cudaLaunchHostFunc(stream, asks, nullptr));
  D(cudaStreamSynchronize(stream));
  std::printf("in a host function %d\n", answered);
  D(cudaGetLastError());
  cudaLaunchConfig_t shape{};
  cudaLaunchAttribute cluster[1]{};
  shape.gridDim = dim3(16), shape.blockDim = dim3(32), shape.attrs = cluster, shape.numAttrs = 1;
  cluster[0].id = cudaLaunchAttributeClusterDimension;
  D(cudaMalloc(&p, 64));
  for (const unsigned size : {4u, 3u, 16u}) {
    cluster[0].val.clusterDim.x = size, cluster[0].val.clusterDim.y = 1;
    cluster[0].val.clusterDim.z = 1;
    std::printf("clusters of %u ", size);
    D(cudaLaunchKernelEx(&shape, in_clusters, p));
    D(cudaGetLastError());
  }
  D(cudaFuncSetAttribute(in_clusters, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  D(cudaLaunchKernelEx(&shape, in_clusters, p));
  cluster[0].val.clusterDim.x = 4;
  D(cudaLaunchKernelEx(&shape, in_pairs, p));
  D(cudaGetLastError());
  in_pairs<<<3, 32>>>(p);
  D(cudaGetLastError());
  D(cudaDeviceSynchronize());
}

void managed_variables() {
  int got = 40;
  void* address = nullptr;
  count<<<1, 1>>>();
  D(cudaDeviceSynchronize());
  std::printf("%d\n", shared_count);
  D(cudaMemcpyToSymbol(shared_count, &got, 4));
  count<<<1, 1>>>();
  D(cudaMemcpyFromSymbol(&got, shared_count, 4));
  std::printf("%d\n", got);
  D(cudaGetSymbolAddress(&address, shared_count));
  cudaPointerAttributes what{};
  D(cudaPointerGetAttributes(&what, address));
  std::printf("type %d the same %d\n", what.type, address == &shared_count);
  D(cudaMemcpyFromSymbol(&got, own_count, 4));
  std::printf("%d\n", got);
}

}  // namespace of_contexts

int main(int argument_count, char** words) {
  using namespace of_contexts;
  const std::string what = argument_count > 1 ? words[1] : "";
  if (what == "ends") return ends(), 0;
  if (what == "two_contexts") return two_contexts(), 0;
  if (what == "texts") return texts(), 0;
  if (what == "pools_and_advice") return pools_and_advice(), 0;
  if (what == "refused") return refused(), 0;
  if (what == "managed_variables") return managed_variables(), 0;
  std::printf(
      "answers_contexts ends|two_contexts|texts|pools_and_advice|refused|managed_variables\n");
  return 2;
}
