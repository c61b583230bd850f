// More right and wrong calls (answers.cu): the functions of the driver that none of the others ask
// for.
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>

#ifndef D
#define D(call) std::printf("%s %d\n", #call, static_cast<int>(call))
#endif

namespace of_rest {

__global__ void add(int* to, int value) {
  to[threadIdx.x] += value;
}

CUcontext context = nullptr;
void current() {
  cuInit(0);
  cuDevicePrimaryCtxRetain(&context, 0);
  cuCtxSetCurrent(context);
}

unsigned long long of_graphs(CUgraphMem_attribute which) {
  cuuint64_t value = 77;
  cuDeviceGetGraphMemAttribute(0, which, &value);
  return static_cast<unsigned long long>(value);
}

// What belongs to graphs and what is kept for them, now and at most, in MiB.
void show(const char* when) {
  std::printf("%s:", when);
  for (const auto which :
       {CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH,
        CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT, CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH}) {
    std::printf(" %llu", of_graphs(which) >> 20);
  }
  std::printf("\n");
}

void memory_of_graphs() {
  current();
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  CUgraphNode taken = nullptr, given = nullptr;
  cuGraphCreate(&graph, 0);
  CUDA_MEM_ALLOC_NODE_PARAMS how{}, back{};
  how.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  how.poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  how.bytesize = 1000;
  D(cuGraphAddMemAllocNode(&taken, graph, nullptr, 0, &how));
  D(cuGraphAddMemFreeNode(&given, graph, &taken, 1, how.dptr));
  D(cuGraphMemAllocNodeGetParams(taken, &back));
  std::printf("bytes %zu, the address is that of the node: %d\n", back.bytesize,
              back.dptr == how.dptr);
  std::printf("type %d, place %d %d\n", back.poolProps.allocType, back.poolProps.location.type,
              back.poolProps.location.id);
  D(cuGraphMemAllocNodeGetParams(taken, nullptr));
  D(cuGraphMemAllocNodeGetParams(given, &back));
  CUdeviceptr address = 0;
  D(cuGraphMemFreeNodeGetParams(given, &address));
  std::printf("the same address: %d\n", address == how.dptr);
  D(cuGraphMemFreeNodeGetParams(taken, &address));
  D(cuGraphMemFreeNodeGetParams(given, nullptr));
  D(cuGraphInstantiate(&exec, graph, 0));
  show("instantiated");
  D(cuGraphLaunch(exec, nullptr));
  D(cuCtxSynchronize());
  show("launched");
  D(cuGraphLaunch(exec, nullptr));
  D(cuCtxSynchronize());
  show("launched again");
  cuuint64_t zero = 0, five = 5;
  D(cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &zero));
  D(cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH, &zero));
  show("set back");
  D(cuDeviceGraphMemTrim(0));
  show("trimmed");
  D(cuGraphLaunch(exec, nullptr));
  D(cuCtxSynchronize());
  show("launched once more");
  D(cuGraphExecDestroy(exec));
  show("destroyed");
  D(cuDeviceGraphMemTrim(0));
  show("trimmed");
  D(cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &five));
  D(cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &zero));
  D(cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT, &zero));
  D(cuDeviceSetGraphMemAttribute(0, static_cast<CUgraphMem_attribute>(9), &zero));
  D(cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, nullptr));
  D(cuDeviceSetGraphMemAttribute(7, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &zero));
  D(cuDeviceGraphMemTrim(7));

  // Of several pieces, and one that is left to whoever frees it.
  CUgraph large = nullptr, left = nullptr;
  CUgraphNode more = nullptr;
  cuGraphCreate(&large, 0);
  how.bytesize = 40 << 20;
  cuGraphAddMemAllocNode(&taken, large, nullptr, 0, &how);
  const CUdeviceptr first = how.dptr;
  how.bytesize = 1 << 20;
  cuGraphAddMemAllocNode(&more, large, &taken, 1, &how);
  cuGraphAddMemFreeNode(&given, large, &more, 1, first);
  cuGraphAddMemFreeNode(&given, large, &given, 1, how.dptr);
  D(cuGraphInstantiate(&exec, large, 0));
  D(cuGraphLaunch(exec, nullptr));
  D(cuCtxSynchronize());
  show("41 MiB");
  D(cuGraphExecDestroy(exec));
  D(cuDeviceGraphMemTrim(0));
  show("trimmed");
  cuGraphCreate(&left, 0);
  cuGraphAddMemAllocNode(&taken, left, nullptr, 0, &how);
  D(cuGraphInstantiate(&exec, left, 0));
  D(cuGraphLaunch(exec, nullptr));
  D(cuCtxSynchronize());
  show("left");
  D(cuMemFree(how.dptr));
  D(cuCtxSynchronize());
  show("freed");
  D(cuDeviceGraphMemTrim(0));
  show("trimmed");
  D(cuGraphExecDestroy(exec));
  show("destroyed");
}

void objects_and_batches() {
  current();
  CUgraph graph = nullptr, none = nullptr;
  CUuserObject object = nullptr;
  cuGraphCreate(&graph, 0);
  static int destroyed = 0;
  cuUserObjectCreate(
      &object, &destroyed, [](void* p) { ++*static_cast<int*>(p); }, 3,
      CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
  D(cuGraphRetainUserObject(graph, object, 2, CU_GRAPH_USER_OBJECT_MOVE));
  D(cuGraphReleaseUserObject(graph, object, 0));
  D(cuGraphReleaseUserObject(graph, object, 1));
  D(cuGraphReleaseUserObject(graph, nullptr, 1));
  D(cuGraphReleaseUserObject(none, object, 1));
  D(cuUserObjectRelease(object, 1));
  std::printf("destroyed %d\n", destroyed);
  D(cuGraphReleaseUserObject(graph, object, 1));
  std::printf("destroyed %d\n", destroyed);

  CUdeviceptr words = 0;
  cuMemAlloc(&words, 64);
  cuMemsetD32(words, 1, 16);
  CUstreamBatchMemOpParams operation{};
  operation.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
  operation.writeValue.address = words, operation.writeValue.value = 5;
  CUDA_BATCH_MEM_OP_NODE_PARAMS batch{context, 1, &operation, 0};
  CUgraphNode node = nullptr, empty = nullptr;
  CUgraphExec exec = nullptr;
  cuGraphAddBatchMemOpNode(&node, graph, nullptr, 0, &batch);
  cuGraphAddEmptyNode(&empty, graph, nullptr, 0);
  cuGraphInstantiate(&exec, graph, 0);
  operation.writeValue.value = 6;
  D(cuGraphExecBatchMemOpNodeSetParams(exec, node, &batch));
  D(cuGraphLaunch(exec, nullptr));
  D(cuCtxSynchronize());
  int first = 0;
  cuMemcpyDtoH(&first, words, 4);
  std::printf("written %d\n", first);
  D(cuGraphExecBatchMemOpNodeSetParams(exec, empty, &batch));
  D(cuGraphExecBatchMemOpNodeSetParams(exec, node, nullptr));
  batch.flags = 3;
  D(cuGraphExecBatchMemOpNodeSetParams(exec, node, &batch));
  batch.flags = 0, batch.count = 257;
  D(cuGraphExecBatchMemOpNodeSetParams(exec, node, &batch));
}

void pools_of_places() {
  current();
  CUmemoryPool first = nullptr, now = nullptr, own = nullptr;
  CUmemLocation here{CU_MEM_LOCATION_TYPE_DEVICE, 0}, host{CU_MEM_LOCATION_TYPE_HOST, 0},
      nowhere{CU_MEM_LOCATION_TYPE_DEVICE, 9};
  D(cuMemGetDefaultMemPool(&first, &here, CU_MEM_ALLOCATION_TYPE_PINNED));
  D(cuMemGetMemPool(&now, &here, CU_MEM_ALLOCATION_TYPE_PINNED));
  std::printf("the same: %d\n", now == first);
  CUmemPoolProps how{};
  how.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  how.location = here;
  cuMemPoolCreate(&own, &how);
  D(cuMemSetMemPool(&here, CU_MEM_ALLOCATION_TYPE_PINNED, own));
  D(cuMemGetMemPool(&now, &here, CU_MEM_ALLOCATION_TYPE_PINNED));
  std::printf("ours: %d\n", now == own);
  D(cuDeviceGetMemPool(&now, 0));
  std::printf("ours: %d\n", now == own);
  D(cuMemGetMemPool(nullptr, &here, CU_MEM_ALLOCATION_TYPE_PINNED));
  D(cuMemGetMemPool(&now, nullptr, CU_MEM_ALLOCATION_TYPE_PINNED));
  D(cuMemGetMemPool(&now, &nowhere, CU_MEM_ALLOCATION_TYPE_PINNED));
  D(cuMemGetMemPool(&now, &here, CU_MEM_ALLOCATION_TYPE_INVALID));
  D(cuMemSetMemPool(&here, CU_MEM_ALLOCATION_TYPE_PINNED, nullptr));
  D(cuMemSetMemPool(nullptr, CU_MEM_ALLOCATION_TYPE_PINNED, own));
  D(cuMemSetMemPool(&nowhere, CU_MEM_ALLOCATION_TYPE_PINNED, own));
  D(cuMemSetMemPool(&host, CU_MEM_ALLOCATION_TYPE_PINNED, own));
  D(cuMemPoolDestroy(own));
  D(cuMemGetMemPool(&now, &here, CU_MEM_ALLOCATION_TYPE_PINNED));
  std::printf("the first again: %d\n", now == first);
}

void ranges() {
  current();
  CUdeviceptr managed = 0, plain = 0;
  cuMemAllocManaged(&managed, 8192, CU_MEM_ATTACH_GLOBAL);
  cuMemAlloc(&plain, 8192);
  cuMemAdvise(managed, 8192, CU_MEM_ADVISE_SET_READ_MOSTLY,
              CUmemLocation{CU_MEM_LOCATION_TYPE_DEVICE, 0});
  int mostly = 9, preferred = 9;
  void* to[] = {&mostly, &preferred};
  std::size_t room[] = {4, 4}, small[] = {4, 2};
  CUmem_range_attribute which[] = {CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY,
                                   CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION};
  D(cuMemRangeGetAttributes(to, room, which, 2, managed, 8192));
  std::printf("mostly %d, preferred %d\n", mostly, preferred);
  D(cuMemRangeGetAttributes(to, small, which, 2, managed, 8192));
  D(cuMemRangeGetAttributes(to, room, which, 0, managed, 8192));
  D(cuMemRangeGetAttributes(nullptr, room, which, 2, managed, 8192));
  D(cuMemRangeGetAttributes(to, nullptr, which, 2, managed, 8192));
  D(cuMemRangeGetAttributes(to, room, nullptr, 2, managed, 8192));
  D(cuMemRangeGetAttributes(to, room, which, 2, managed, 0));
  D(cuMemRangeGetAttributes(to, room, which, 2, plain, 8192));
  which[1] = static_cast<CUmem_range_attribute>(99);
  D(cuMemRangeGetAttributes(to, room, which, 2, managed, 8192));
}

const char* const text =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry one(.param .u64 to) {\n  ret;\n}\n";

void files_and_boxes() {
  current();
  std::ofstream("rest.ptx") << text;
  std::ofstream("empty.ptx");
  std::ofstream("wrong.ptx") << ".version 8.0\n.target sm_80\n.address_size 64\nnothing\n";
  CUlinkState state = nullptr;
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  void* image = nullptr;
  std::size_t bytes = 0;
  D(cuLinkCreate(0, nullptr, nullptr, &state));
  D(cuLinkAddFile(state, CU_JIT_INPUT_PTX, "rest.ptx", 0, nullptr, nullptr));
  D(cuLinkAddFile(state, CU_JIT_INPUT_PTX, "there_is_none.ptx", 0, nullptr, nullptr));
  D(cuLinkAddFile(state, CU_JIT_INPUT_PTX, nullptr, 0, nullptr, nullptr));
  D(cuLinkAddFile(state, static_cast<CUjitInputType>(77), "rest.ptx", 0, nullptr, nullptr));
  D(cuLinkComplete(state, &image, &bytes));
  D(cuModuleLoadData(&module, image));
  D(cuModuleGetFunction(&function, module, "one"));
  D(cuLinkDestroy(state));
  D(cuLinkCreate(0, nullptr, nullptr, &state));
  D(cuLinkAddFile(state, CU_JIT_INPUT_PTX, "wrong.ptx", 0, nullptr, nullptr));
  D(cuLinkDestroy(state));

  CUdeviceptr a = 0, b = 0;
  cuMemAlloc(&a, 256), cuMemAlloc(&b, 256);
  for (unsigned i = 0; i < 64; ++i) cuMemsetD32(a + 4 * i, i, 1);
  cuMemsetD32(b, 0, 64);
  CUDA_MEMCPY3D_PEER box{};
  box.srcMemoryType = box.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  box.srcDevice = a, box.dstDevice = b;
  box.srcContext = box.dstContext = context;
  box.srcPitch = box.dstPitch = 32, box.srcHeight = box.dstHeight = 2;
  box.WidthInBytes = 16, box.Height = 2, box.Depth = 3;
  D(cuMemcpy3DPeerAsync(&box, nullptr));
  D(cuCtxSynchronize());
  int words[64] = {};
  cuMemcpyDtoH(words, b, 256);
  std::printf("%d %d %d %d %d\n", words[3], words[4], words[8], words[43], words[48]);
  box.srcPitch = 8;
  D(cuMemcpy3DPeerAsync(&box, nullptr));
  box.srcPitch = 32, box.srcDevice = 16;
  D(cuMemcpy3DPeerAsync(&box, nullptr));
}

void clusters() {
  current();
  CUfunction function = nullptr;
  D(cudaGetFuncBySymbol(&function, reinterpret_cast<const void*>(add)));
  CUlaunchAttribute attribute{};
  attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  attribute.value.clusterDim = {2, 1, 1};
  CUlaunchConfig config{};
  config.gridDimX = 64, config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = 128, config.blockDimY = config.blockDimZ = 1;
  config.attrs = &attribute, config.numAttrs = 1;
  int largest = 99, active = 99;
  D(cuOccupancyMaxPotentialClusterSize(&largest, function, &config));
  std::printf("largest %d\n", largest);
  D(cuOccupancyMaxActiveClusters(&active, function, &config));
  std::printf("there are some: %d\n", active > 0);
  D(cuOccupancyMaxPotentialClusterSize(nullptr, function, &config));
  D(cuOccupancyMaxPotentialClusterSize(&largest, function, nullptr));
  D(cuOccupancyMaxActiveClusters(nullptr, function, &config));
  D(cuOccupancyMaxActiveClusters(&active, function, nullptr));
  attribute.value.clusterDim = {16, 1, 1};
  D(cuOccupancyMaxActiveClusters(&active, function, &config));
  attribute.value.clusterDim = {3, 1, 1};
  D(cuOccupancyMaxActiveClusters(&active, function, &config));
  config.gridDimX = 66;
  D(cuOccupancyMaxActiveClusters(&active, function, &config));
  config.gridDimX = 64;
  attribute.value.clusterDim = {2, 1, 1};
  config.blockDimX = 2048;
  D(cuOccupancyMaxActiveClusters(&active, function, &config));
  std::printf("of too many threads %d\n", active);
  D(cuOccupancyMaxPotentialClusterSize(&largest, function, &config));
  std::printf("largest %d\n", largest);
  config.blockDimX = 128, config.sharedMemBytes = 1 << 20;
  D(cuOccupancyMaxActiveClusters(&active, function, &config));
  std::printf("with too much shared memory %d\n", active);
  config.sharedMemBytes = 0, config.numAttrs = 0;
  D(cuOccupancyMaxActiveClusters(&active, function, &config));
  config.numAttrs = 1, attribute.value.clusterDim = {16, 1, 1};
  D(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
  D(cuOccupancyMaxActiveClusters(&active, function, &config));
  std::printf("there are some: %d\n", active > 0);
  D(cuOccupancyMaxPotentialClusterSize(&largest, function, &config));
  std::printf("largest %d\n", largest);
}

void windows_of_images() {
  current();
  CUdeviceptr images = 0;
  cuMemAlloc(&images, 2 * 8 * 8 * 64 * 2);
  alignas(64) CUtensorMap map;
  // Two images of 8 x 8 pixels with 64 channels of f16; windows of 3 x 3.
  const auto encode = [&](cuuint64_t channels_there, cuuint64_t pitch, int lower, unsigned channels,
                          unsigned pixels, cuuint32_t rank = 4,
                          CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_128B,
                          CUdeviceptr moved = 0) {
    const cuuint64_t extent[] = {channels_there, 8, 8, 2};
    const cuuint64_t strides[] = {pitch, pitch * 8, pitch * 64};
    const int lowers[] = {lower, lower}, uppers[] = {-1, -1};
    const cuuint32_t steps[] = {1, 1, 1, 1};
    return cuTensorMapEncodeIm2col(
        &map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, rank, reinterpret_cast<void*>(images + moved),
        extent, strides, lowers, uppers, channels, pixels, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
        swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  };
  D(encode(64, 128, -1, 64, 32));
  D(encode(64, 120, -1, 64, 32));
  D(encode(64, 128, -1, 128, 32));
  D(encode(64, 128, -1, 64, 2000));
  D(encode(64, 128, -200, 64, 32));
  D(encode(64, 128, -1, 0, 32));
  D(encode(64, 128, -1, 64, 0));
  D(encode(0, 128, -1, 64, 32));
  D(encode(64, 128, -1, 64, 32, 2));
  D(encode(64, 128, -1, 64, 32, 6));
  D(encode(64, 128, -1, 64, 32, 4, static_cast<CUtensorMapSwizzle>(99)));
  D(encode(64, 128, -1, 64, 32, 4, CU_TENSOR_MAP_SWIZZLE_128B, 8));
  D(encode(64, 128, -1, 16, 32, 4, CU_TENSOR_MAP_SWIZZLE_32B));
  D(encode(64, 128, -1, 24, 32, 4, CU_TENSOR_MAP_SWIZZLE_32B));
}

void tables() {
  current();
  const void* table = &table;
  CUuuid none{};
  D(cuGetExportTable(&table, &none));
  std::memset(&none, 0x5a, sizeof none);
  D(cuGetExportTable(&table, &none));
  std::printf("a table: %d\n", table != nullptr && table != &table);
  D(cuGetExportTable(nullptr, &none));
  D(cuGetExportTable(&table, nullptr));
}

}  // namespace of_rest

int main(int argument_count, char** words) {
  using namespace of_rest;
  const std::string what = argument_count > 1 ? words[1] : "";
  if (what == "rest_memory_of_graphs") return memory_of_graphs(), 0;
  if (what == "rest_objects_and_batches") return objects_and_batches(), 0;
  if (what == "rest_pools_of_places") return pools_of_places(), 0;
  if (what == "rest_ranges") return ranges(), 0;
  if (what == "rest_files_and_boxes") return files_and_boxes(), 0;
  if (what == "rest_clusters") return clusters(), 0;
  if (what == "rest_windows_of_images") return windows_of_images(), 0;
  if (what == "rest_tables") return tables(), 0;
  std::printf(
      "answers_rest "
      "rest_memory_of_graphs|rest_objects_and_batches|rest_pools_of_places|rest_ranges|"
      "rest_files_and_boxes|rest_clusters|rest_windows_of_images|rest_tables\n");
  return 2;
}
