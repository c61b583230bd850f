// More right and wrong calls (answers.cu): the driver's own functions that programs ask less often.
#include <cuda.h>
#include <cudaProfiler.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#define D(call) std::printf("%s %d\n", #call, static_cast<int>(call))

namespace of_calls {

__global__ void add(int* to, int value) {
  to[threadIdx.x] += value;
}

const char* const text =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry one(.param .u64 to, .param .u32 n, .param .align 8 .b8 s[24]) {\n  ret;\n}\n"
    ".visible .entry two() {\n  ret;\n}\n";

CUcontext context = nullptr;
void current() {
  cuInit(0);
  cuDevicePrimaryCtxRetain(&context, 0);
  cuCtxSetCurrent(context);
}

void contexts() {
  current();
  unsigned flags = 9, version = 0;
  unsigned long long id = 0;
  CUdevice device = 9;
  CUfunc_cache cache;
  CUsharedconfig banks;
  int least = 9, greatest = 9;
  D(cuCtxGetFlags(&flags));
  D(cuCtxGetFlags(nullptr));
  D(cuCtxSetFlags(CU_CTX_SCHED_SPIN));
  D(cuCtxGetFlags(&flags));
  std::printf("flags %u\n", flags & 7);
  D(cuCtxSetFlags(7));
  D(cuCtxGetId(context, &id));
  D(cuCtxGetId(nullptr, &id));
  D(cuCtxGetId(context, nullptr));
  D(cuCtxGetApiVersion(context, &version));
  D(cuCtxGetApiVersion(context, nullptr));
  std::printf("version %u\n", version);
  D(cuCtxGetDevice(&device));
  std::printf("device %d\n", device);
  D(cuCtxGetDevice(nullptr));
  D(cuCtxGetCacheConfig(&cache));
  D(cuCtxSetCacheConfig(CU_FUNC_CACHE_PREFER_L1));
  D(cuCtxSetCacheConfig(static_cast<CUfunc_cache>(9)));
  D(cuCtxGetCacheConfig(&cache));
  std::printf("cache %d\n", cache);
  D(cuCtxGetSharedMemConfig(&banks));
  D(cuCtxSetSharedMemConfig(CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE));
  D(cuCtxGetStreamPriorityRange(&least, &greatest));
  std::printf("priorities %d %d\n", least, greatest);
  D(cuCtxGetStreamPriorityRange(nullptr, nullptr));
  D(cuCtxResetPersistingL2Cache());
  D(cuProfilerStart());
  D(cuProfilerStop());
  D(cuDevicePrimaryCtxSetFlags(0, CU_CTX_SCHED_YIELD));
  D(cuDevicePrimaryCtxSetFlags(0, 7));
  D(cuDevicePrimaryCtxSetFlags(1, 0));
}

void devices_and_functions() {
  current();
  int count = 0, major = 0, minor = 0, supported = 9;
  char bus[64] = "";
  CUdevice again = 9;
  std::size_t width = 0, offset = 0, bytes = 0;
  CUuuid uuid{};
  D(cuDeviceGetCount(&count));
  D(cuDeviceGetCount(nullptr));
  D(cuDeviceComputeCapability(&major, &minor, 0));
  std::printf("capability %d.%d\n", major, minor);
  D(cuDeviceGetPCIBusId(bus, sizeof bus, 0));
  D(cuDeviceGetByPCIBusId(&again, bus));
  std::printf("found again %d\n", again);
  D(cuDeviceGetByPCIBusId(&again, "ffff:ff:ff.0"));
  D(cuDeviceGetPCIBusId(bus, 0, 0));
  D(cuDeviceGetUuid(&uuid, 0));
  D(cuDeviceGetUuid(nullptr, 0));
  D(cuDeviceGetTexture1DLinearMaxWidth(&width, CU_AD_FORMAT_FLOAT, 4, 0));
  std::printf("width %zu\n", width);
  D(cuDeviceGetExecAffinitySupport(&supported, CU_EXEC_AFFINITY_TYPE_SM_COUNT, 0));
  D(cuDeviceTotalMem(nullptr, 0));
  D(cuDriverGetVersion(nullptr));
  CUmodule module = nullptr;
  CUmodule of = nullptr;
  CUfunction one = nullptr, functions[4] = {};
  CUfunctionLoadingState state;
  CUmoduleLoadingMode mode;
  const char* name = nullptr;
  unsigned entries = 0;
  D(cuModuleLoadData(&module, text));
  D(cuModuleLoadFatBinary(&module, text));
  D(cuModuleGetFunction(&one, module, "one"));
  D(cuModuleGetFunctionCount(&entries, module));
  std::printf("functions %u\n", entries);
  D(cuModuleEnumerateFunctions(functions, 2, module));
  D(cuModuleEnumerateFunctions(nullptr, 2, module));
  D(cuModuleGetLoadingMode(&mode));
  D(cuFuncGetModule(&of, one));
  std::printf("its module %d\n", of == module);
  D(cuFuncGetModule(nullptr, one));
  D(cuFuncGetName(&name, one));
  std::printf("name %s\n", name);
  D(cuFuncGetName(nullptr, one));
  for (std::size_t i = 0; i < 4; ++i) {
    D(cuFuncGetParamInfo(one, i, &offset, &bytes));
    std::printf("parameter %zu %zu\n", offset, bytes);
  }
  D(cuFuncGetParamInfo(one, 1, &offset, nullptr));
  D(cuFuncGetParamInfo(one, 1, nullptr, &bytes));
  D(cuFuncLoad(one));
  D(cuFuncIsLoaded(&state, one));
  std::printf("loaded %d\n", state);
  D(cuFuncSetCacheConfig(one, CU_FUNC_CACHE_PREFER_SHARED));
  D(cuFuncSetCacheConfig(one, static_cast<CUfunc_cache>(9)));
  D(cuFuncSetSharedMemConfig(one, CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE));
  int blocks = 0, threads = 0;
  std::size_t room = 0;
  D(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, one, 128, 0, 0));
  std::printf("blocks %d\n", blocks);
  D(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, one, 128, 0, 8));
  D(cuOccupancyMaxPotentialBlockSize(&blocks, &threads, one, nullptr, 0, 0));
  std::printf("blocks %d of %d\n", blocks, threads);
  D(cuOccupancyMaxPotentialBlockSize(&blocks, &threads, one, nullptr, 0, 256));
  std::printf("blocks %d of %d\n", blocks, threads);
  D(cuOccupancyMaxPotentialBlockSizeWithFlags(&blocks, &threads, one, nullptr, 0, 0, 0));
  D(cuOccupancyAvailableDynamicSMemPerBlock(&room, one, 4, 128));
  std::printf("room %zu\n", room);
  D(cuOccupancyAvailableDynamicSMemPerBlock(&room, one, 64, 128));
}

void kernels_of_libraries() {
  current();
  CUlibrary library = nullptr, of = nullptr;
  CUkernel one = nullptr, all[4] = {};
  CUfunction function = nullptr;
  CUmodule module = nullptr;
  unsigned count = 0;
  int value = 0;
  const char* name = nullptr;
  std::size_t offset = 0, bytes = 0;
  D(cuLibraryLoadData(&library, text, nullptr, nullptr, 0, nullptr, nullptr, 0));
  D(cuLibraryLoadFromFile(&of, "/nonexistent", nullptr, nullptr, 0, nullptr, nullptr, 0));
  D(cuLibraryGetKernelCount(&count, library));
  std::printf("kernels %u\n", count);
  D(cuLibraryGetKernelCount(nullptr, library));
  D(cuLibraryEnumerateKernels(all, 2, library));
  D(cuLibraryGetModule(&module, library));
  D(cuLibraryGetModule(nullptr, library));
  D(cuLibraryGetKernel(&one, library, "one"));
  D(cuLibraryGetKernel(&one, library, "none"));
  D(cuKernelGetLibrary(&of, one));
  std::printf("its library %d\n", of == library);
  D(cuKernelGetName(&name, one));
  std::printf("name %s\n", name);
  D(cuKernelGetFunction(&function, one));
  D(cuKernelGetFunction(nullptr, one));
  D(cuKernelGetParamInfo(one, 2, &offset, &bytes));
  std::printf("parameter %zu %zu\n", offset, bytes);
  D(cuKernelGetParamInfo(one, 3, &offset, &bytes));
  D(cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, one, 0));
  std::printf("threads %d\n", value);
  D(cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX, one, 0));
  D(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 65536, one, 0));
  D(cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, one, 0));
  std::printf("shared %d\n", value);
  D(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1 << 20, one, 0));
  D(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_NUM_REGS, 8, one, 0));
  D(cuKernelSetCacheConfig(one, CU_FUNC_CACHE_PREFER_L1, 0));
  D(cuLibraryUnload(library));
}

void copies_and_fills() {
  current();
  CUdeviceptr a = 0, b = 0;
  CUstream stream = nullptr;
  unsigned char got[64] = {};
  unsigned flags = 9;
  void* pinned = nullptr;
  CUdeviceptr mapped = 0;
  D(cuMemAlloc(&a, 64));
  D(cuMemAlloc(&b, 64));
  D(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  D(cuMemAllocHost(&pinned, 64));
  D(cuMemAllocHost(&pinned, 0));
  D(cuMemAllocHost(nullptr, 64));
  D(cuMemHostGetFlags(&flags, pinned));
  std::printf("flags %u\n", flags);
  D(cuMemHostGetFlags(&flags, got));
  D(cuMemHostGetDevicePointer(&mapped, pinned, 0));
  std::printf("the same %d\n", mapped == reinterpret_cast<CUdeviceptr>(pinned));
  D(cuMemHostGetDevicePointer(&mapped, pinned, 1));
  D(cuMemHostGetDevicePointer(&mapped, got, 0));
  const auto show = [&](CUdeviceptr from) {
    cuStreamSynchronize(stream);
    cuMemcpyDtoH(got, from, 64);
    std::printf("bytes");
    for (const unsigned char each : got) std::printf(" %02x", each);
    std::printf("\n");
  };
  D(cuMemsetD8(a, 0x11, 64));
  D(cuMemsetD16(a + 2, 0x2233, 3));
  D(cuMemsetD16(a + 1, 0x2233, 3));
  D(cuMemsetD2D8(a + 16, 16, 0x44, 3, 2));
  D(cuMemsetD2D16(a + 20, 16, 0x5566, 2, 2));
  D(cuMemsetD2D16(a + 20, 15, 0x5566, 2, 2));
  D(cuMemsetD2D8(a + 16, 2, 0x44, 3, 2));
  show(a);
  D(cuMemsetD8Async(b, 0x77, 64, stream));
  D(cuMemsetD16Async(b + 2, 0x1234, 2, stream));
  D(cuMemsetD2D8Async(b + 16, 16, 0x01, 2, 3, stream));
  D(cuMemsetD2D16Async(b + 20, 16, 0x0203, 1, 3, stream));
  D(cuMemsetD2D32Async(b + 24, 16, 0x04050607, 1, 3, stream));
  D(cuMemsetD2D32Async(b + 25, 16, 0x04050607, 1, 3, stream));
  show(b);
  D(cuMemcpyDtoDAsync(a, b, 8, stream));
  D(cuMemcpyAsync(a + 8, b + 16, 8, stream));
  D(cuMemcpyHtoDAsync(a + 16, "abcdefg", 8, stream));
  D(cuMemcpyPeer(a + 24, context, b + 24, context, 8));
  D(cuMemcpyPeerAsync(a + 32, context, b + 32, context, 8, stream));
  show(a);
  D(cuMemcpyDtoDAsync(a, b, 65, stream));
  D(cuMemcpyHtoDAsync(a + 60, got, 8, stream));
  D(cuMemcpyAsync(0, b, 8, stream));
  CUDA_MEMCPY2D rows{};
  rows.srcMemoryType = CU_MEMORYTYPE_HOST, rows.srcHost = got, rows.srcPitch = 8;
  rows.dstMemoryType = CU_MEMORYTYPE_DEVICE, rows.dstDevice = a, rows.dstPitch = 16;
  rows.WidthInBytes = 8, rows.Height = 3;
  D(cuMemcpy2DAsync(&rows, stream));
  rows.dstPitch = 12;
  D(cuMemcpy2DUnaligned(&rows));
  rows.dstPitch = 4;
  D(cuMemcpy2DUnaligned(&rows));
  D(cuMemcpy2DAsync(nullptr, stream));
  CUDA_MEMCPY3D box{};
  box.srcMemoryType = CU_MEMORYTYPE_DEVICE, box.srcDevice = a, box.srcPitch = 8, box.srcHeight = 2;
  box.dstMemoryType = CU_MEMORYTYPE_DEVICE, box.dstDevice = b, box.dstPitch = 8, box.dstHeight = 2;
  box.WidthInBytes = 4, box.Height = 2, box.Depth = 2;
  D(cuMemcpy3DAsync(&box, stream));
  box.WidthInBytes = 9;
  D(cuMemcpy3DAsync(&box, stream));
  show(b);
  CUmemoryPool pool = nullptr;
  D(cuDeviceGetMemPool(&pool, 0));
  CUmemLocation here{CU_MEM_LOCATION_TYPE_DEVICE, 0};
  CUmemAccess_flags access;
  D(cuMemPoolGetAccess(&access, pool, &here));
  std::printf("access %d\n", access);
  CUmemAccessDesc none{here, CU_MEM_ACCESS_FLAGS_PROT_NONE};
  D(cuMemPoolSetAccess(pool, &none, 1));
  int sync = 1;
  D(cuPointerSetAttribute(&sync, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, a));
  D(cuPointerSetAttribute(&sync, CU_POINTER_ATTRIBUTE_CONTEXT, a));
  D(cuPointerSetAttribute(nullptr, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, a));
}

void streams_and_captures() {
  current();
  CUstream stream = nullptr;
  CUcontext of = nullptr;
  CUdevice device = 9;
  unsigned long long id = 0, other = 0;
  D(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  D(cuStreamGetCtx(stream, &of));
  std::printf("its context %d\n", of == context);
  D(cuStreamGetCtx(stream, nullptr));
  D(cuStreamGetDevice(stream, &device));
  std::printf("device %d\n", device);
  D(cuStreamGetId(stream, &id));
  D(cuStreamGetId(stream, &other));
  std::printf("the same %d\n", id == other);
  D(cuStreamGetId(stream, nullptr));
  CUdeviceptr managed = 0;
  D(cuMemAllocManaged(&managed, 64, CU_MEM_ATTACH_GLOBAL));
  D(cuStreamAttachMemAsync(stream, managed, 0, CU_MEM_ATTACH_SINGLE));
  D(cuStreamAttachMemAsync(stream, managed, 0, 9));
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  D(cuThreadExchangeStreamCaptureMode(&mode));
  std::printf("mode %d\n", mode);
  D(cuThreadExchangeStreamCaptureMode(&mode));
  std::printf("mode %d\n", mode);
  mode = static_cast<CUstreamCaptureMode>(9);
  D(cuThreadExchangeStreamCaptureMode(&mode));
  CUgraph graph = nullptr, begun = nullptr, ended = nullptr;
  CUgraphNode empty = nullptr, nodes[4] = {};
  std::size_t count = 4;
  D(cuGraphCreate(&graph, 0));
  D(cuGraphAddEmptyNode(&empty, graph, nullptr, 0));
  D(cuStreamBeginCaptureToGraph(stream, graph, &empty, nullptr, 1, CU_STREAM_CAPTURE_MODE_RELAXED));
  CUstreamCaptureStatus status;
  cuuint64_t number = 0;
  const CUgraphNode* behind = nullptr;
  std::size_t behinds = 9;
  D(cuStreamGetCaptureInfo(stream, &status, &number, &begun, &behind, nullptr, &behinds));
  std::printf("status %d graph %d behind %zu %d\n", status, begun == graph, behinds,
              behinds == 1 && behind[0] == empty);
  D(cuMemsetD8Async(managed, 1, 4, stream));
  D(cuStreamGetCaptureInfo(stream, &status, nullptr, nullptr, &behind, nullptr, &behinds));
  std::printf("status %d behind %zu %d\n", status, behinds, behinds == 1 && behind[0] != empty);
  CUgraphNode first = empty;
  D(cuStreamUpdateCaptureDependencies(stream, &first, nullptr, 1,
                                      CU_STREAM_SET_CAPTURE_DEPENDENCIES));
  D(cuStreamGetCaptureInfo(stream, &status, nullptr, nullptr, &behind, nullptr, &behinds));
  std::printf("behind %zu %d\n", behinds, behinds == 1 && behind[0] == empty);
  D(cuStreamUpdateCaptureDependencies(stream, &first, nullptr, 1, 9));
  D(cuMemsetD8Async(managed + 4, 1, 4, stream));
  D(cuStreamEndCapture(stream, &ended));
  std::printf("the same %d\n", ended == graph);
  D(cuStreamGetCaptureInfo(stream, &status, nullptr, nullptr, nullptr, nullptr, nullptr));
  std::printf("status %d\n", status);
  D(cuGraphGetNodes(graph, nodes, &count));
  std::printf("nodes %zu\n", count);
  D(cuGraphGetRootNodes(graph, nodes, &count));
  std::printf("roots %zu\n", count);
}

void nodes() {
  current();
  CUdeviceptr a = 0, b = 0;
  cuMemAlloc(&a, 256), cuMemAlloc(&b, 256);
  cuMemsetD8(a, 1, 256), cuMemsetD8(b, 2, 256);
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  CUstream stream = nullptr;
  CUgraphNode copy = nullptr, host = nullptr, record = nullptr, wait = nullptr, any = nullptr;
  CUevent one = nullptr, two = nullptr, got_event = nullptr;
  cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
  cuEventCreate(&one, 0), cuEventCreate(&two, 0);
  D(cuGraphCreate(&graph, 0));
  CUDA_MEMCPY3D box{};
  box.srcMemoryType = box.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  box.srcDevice = a, box.dstDevice = b, box.WidthInBytes = 16, box.Height = box.Depth = 1;
  D(cuGraphAddMemcpyNode(&copy, graph, nullptr, 0, &box, context));
  CUDA_MEMCPY3D got_box{};
  D(cuGraphMemcpyNodeGetParams(copy, &got_box));
  std::printf("width %zu\n", got_box.WidthInBytes);
  box.WidthInBytes = 32;
  D(cuGraphMemcpyNodeSetParams(copy, &box));
  box.WidthInBytes = 0;
  D(cuGraphMemcpyNodeSetParams(copy, &box));
  static int counted = 0;
  CUDA_HOST_NODE_PARAMS calls{[](void* by) { counted += *static_cast<int*>(by); }, nullptr};
  static int by_one = 1, by_ten = 10;
  calls.userData = &by_one;
  D(cuGraphAddHostNode(&host, graph, &copy, 1, &calls));
  CUDA_HOST_NODE_PARAMS got_calls{};
  D(cuGraphHostNodeGetParams(host, &got_calls));
  std::printf("the same %d\n", got_calls.fn == calls.fn && got_calls.userData == &by_one);
  D(cuGraphHostNodeGetParams(copy, &got_calls));
  calls.userData = &by_ten;
  D(cuGraphHostNodeSetParams(host, &calls));
  D(cuGraphAddEventRecordNode(&record, graph, &host, 1, one));
  D(cuGraphAddEventWaitNode(&wait, graph, &record, 1, one));
  D(cuGraphEventWaitNodeGetEvent(wait, &got_event));
  std::printf("the same %d\n", got_event == one);
  D(cuGraphEventRecordNodeSetEvent(record, two));
  D(cuGraphEventWaitNodeSetEvent(wait, two));
  D(cuGraphEventRecordNodeSetEvent(wait, two));
  CUgraphNodeParams how{};
  how.type = CU_GRAPH_NODE_TYPE_MEMSET;
  how.memset.dst = a + 64, how.memset.elementSize = 4, how.memset.width = 4, how.memset.height = 1;
  how.memset.value = 7;
  D(cuGraphAddNode(&any, graph, &wait, nullptr, 1, &how));
  how.memset.value = 8;
  D(cuGraphNodeSetParams(any, &how));
  how.type = CU_GRAPH_NODE_TYPE_HOST;
  D(cuGraphNodeSetParams(any, &how));
  CUDA_GRAPH_INSTANTIATE_PARAMS made{};
  D(cuGraphInstantiateWithParams(&exec, graph, &made));
  std::printf("result %d\n", made.result_out);
  cuuint64_t flags = 9;
  D(cuGraphExecGetFlags(exec, &flags));
  std::printf("flags %llu\n", static_cast<unsigned long long>(flags));
  D(cuGraphUpload(exec, stream));
  D(cuGraphLaunch(exec, stream));
  D(cuStreamSynchronize(stream));
  int words[16] = {};
  cuMemcpyDtoH(words, a + 64, 16);
  std::printf("filled %d, counted %d\n", words[0], counted);
  box.WidthInBytes = 64;
  D(cuGraphExecMemcpyNodeSetParams(exec, copy, &box, context));
  calls.userData = &by_one;
  D(cuGraphExecHostNodeSetParams(exec, host, &calls));
  D(cuGraphExecEventRecordNodeSetEvent(exec, record, one));
  D(cuGraphExecEventWaitNodeSetEvent(exec, wait, one));
  how.type = CU_GRAPH_NODE_TYPE_MEMSET;
  how.memset.value = 9;
  D(cuGraphExecNodeSetParams(exec, any, &how));
  D(cuGraphLaunch(exec, stream));
  D(cuStreamSynchronize(stream));
  cuMemcpyDtoH(words, a + 64, 16);
  std::printf("filled %d, counted %d\n", words[0], counted);
  cuMemcpyDtoH(words, b, 64);
  std::printf("copied %x %x\n", words[0], words[15]);
  cudaGraph_t captured = nullptr;
  cudaStream_t own = nullptr;
  cudaStreamCreate(&own);
  cudaStreamBeginCapture(own, cudaStreamCaptureModeGlobal);
  add<<<1, 32, 0, own>>>(reinterpret_cast<int*>(a), 1);
  cudaStreamEndCapture(own, &captured);
  CUgraphNode kernel = nullptr, second = nullptr;
  std::size_t count = 1;
  D(cuGraphGetNodes(captured, &kernel, &count));
  CUlaunchAttributeValue value{}, back{};
  value.priority = -3;
  D(cuGraphKernelNodeSetAttribute(kernel, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
  D(cuGraphKernelNodeGetAttribute(kernel, CU_LAUNCH_ATTRIBUTE_PRIORITY, &back));
  std::printf("priority %d\n", back.priority);
  D(cuGraphKernelNodeGetAttribute(copy, CU_LAUNCH_ATTRIBUTE_PRIORITY, &back));
  CUDA_KERNEL_NODE_PARAMS same{};
  D(cuGraphKernelNodeGetParams(kernel, &same));
  D(cuGraphAddKernelNode(&second, captured, &kernel, 1, &same));
  D(cuGraphKernelNodeCopyAttributes(second, kernel));
  D(cuGraphKernelNodeGetAttribute(second, CU_LAUNCH_ATTRIBUTE_PRIORITY, &back));
  std::printf("priority %d\n", back.priority);
  D(cuGraphAddBatchMemOpNode(&any, graph, nullptr, 0, nullptr));
  CUstreamBatchMemOpParams operation{};
  operation.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
  operation.writeValue.address = a, operation.writeValue.value = 5;
  CUDA_BATCH_MEM_OP_NODE_PARAMS batch{context, 1, &operation, 0}, got_batch{};
  D(cuGraphAddBatchMemOpNode(&any, graph, nullptr, 0, &batch));
  D(cuGraphBatchMemOpNodeGetParams(any, &got_batch));
  std::printf("operations %u\n", got_batch.count);
  operation.writeValue.value = 6;
  D(cuGraphBatchMemOpNodeSetParams(any, &batch));
  D(cuGraphBatchMemOpNodeSetParams(copy, &batch));
}

}  // namespace of_calls

int main(int argument_count, char** words) {
  using namespace of_calls;
  const std::string what = argument_count > 1 ? words[1] : "";
  if (what == "calls_of_contexts") return contexts(), 0;
  if (what == "calls_of_functions") return devices_and_functions(), 0;
  if (what == "calls_of_libraries") return kernels_of_libraries(), 0;
  if (what == "calls_of_copies") return copies_and_fills(), 0;
  if (what == "calls_of_streams") return streams_and_captures(), 0;
  if (what == "calls_of_nodes") return nodes(), 0;
  std::printf(
      "answers_calls calls_of_contexts|calls_of_functions|calls_of_libraries|calls_of_copies|"
      "calls_of_streams|calls_of_nodes\n");
  return 2;
}
