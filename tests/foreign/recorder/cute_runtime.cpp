// What code that CuTeDSL compiled for the host calls, by the names under which its libcute_dsl_runtime.so
// has them: the CUDA runtime's functions with an underscore before them (what its LLVM IR shows,
// CUTE_DSL_KEEP=ir). Here they lead to the driver's stand-in. CUTE_DSL_LIBS names this library, which in turn
// needs CuTeDSL's own for all else.
#include <cuda_runtime_api.h>

#include <cuda.h>

#include "common.h"

extern "C" {

cudaError_t _cudaGetDeviceCount(int* count) { return *count = 1, cudaSuccess; }
cudaError_t _cudaGetDevice(int* device) { return *device = 0, cudaSuccess; }
cudaError_t _cudaSetDevice(int) { return cudaSuccess; }
cudaError_t _cudaDeviceGetAttribute(int* value, cudaDeviceAttr which, int) {
  // The runtime's numbers are the driver's.
  return static_cast<cudaError_t>(cuDeviceGetAttribute(value, static_cast<CUdevice_attribute>(which), 0));
}
cudaError_t _cudaDeviceSynchronize() { return cudaSuccess; }
cudaError_t _cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
cudaError_t _cudaLibraryLoadData(cudaLibrary_t* library, const void* image, cudaJitOption*, void**, unsigned, cudaLibraryOption*,
                                 void**, unsigned) {
  return static_cast<cudaError_t>(
      cuLibraryLoadData(reinterpret_cast<CUlibrary*>(library), image, nullptr, nullptr, 0, nullptr, nullptr, 0));
}
cudaError_t _cudaLibraryUnload(cudaLibrary_t) { return cudaSuccess; }
cudaError_t _cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t library, const char* name) {
  return static_cast<cudaError_t>(
      cuLibraryGetKernel(reinterpret_cast<CUkernel*>(kernel), reinterpret_cast<CUlibrary>(library), name));
}
cudaError_t _cudaKernelSetAttributeForDevice(cudaKernel_t, cudaFuncAttribute, int, int) { return cudaSuccess; }
cudaError_t _cudaFuncSetAttribute(const void*, cudaFuncAttribute, int) { return cudaSuccess; }
CUresult _cuKernelGetAttribute(int* value, CUfunction_attribute which, CUkernel kernel, CUdevice device) {
  return cuKernelGetAttribute(value, which, kernel, device);
}
CUresult _cuDeviceGet(CUdevice* device, int ordinal) { return cuDeviceGet(device, ordinal); }
cudaError_t _cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function, int threads, std::size_t smem) {
  return static_cast<cudaError_t>(
      cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, static_cast<CUfunction>(const_cast<void*>(function)), threads, smem));
}
cudaError_t _cudaMalloc(void** at, std::size_t bytes) {
  return static_cast<cudaError_t>(cuMemAlloc(reinterpret_cast<CUdeviceptr*>(at), bytes));
}
cudaError_t _cudaMallocAsync(void** at, std::size_t bytes, cudaStream_t) { return _cudaMalloc(at, bytes); }
cudaError_t _cudaFree(void* at) { return static_cast<cudaError_t>(cuMemFree(reinterpret_cast<CUdeviceptr>(at))); }
cudaError_t _cudaFreeAsync(void* at, cudaStream_t) { return _cudaFree(at); }
cudaError_t _cudaMemset(void* at, int value, std::size_t bytes) { return std::memset(at, value, bytes), cudaSuccess; }
cudaError_t _cudaMemsetAsync(void* at, int value, std::size_t bytes, cudaStream_t) { return _cudaMemset(at, value, bytes); }
cudaError_t _cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind) {
  return std::memcpy(to, from, bytes), cudaSuccess;
}
cudaError_t _cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t) {
  return _cudaMemcpy(to, from, bytes, kind);
}
cudaError_t _cudaLaunchKernelEx(const cudaLaunchConfig_t* config, const void* function, void** parameters) {
  recorder::Shape shape{{config->gridDim.x, config->gridDim.y, config->gridDim.z},
                        {config->blockDim.x, config->blockDim.y, config->blockDim.z},
                        std::nullopt,
                        config->dynamicSmemBytes};
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    const cudaLaunchAttribute& one = config->attrs[i];
    if (one.id != cudaLaunchAttributeClusterDimension || one.val.clusterDim.x == 0) continue;
    shape.cluster = {one.val.clusterDim.x, one.val.clusterDim.y, one.val.clusterDim.z};
  }
  const auto& kernel = *static_cast<const recorder::Kernel*>(function);
  return recorder::launch(kernel, shape, parameters).empty() ? cudaSuccess : cudaErrorLaunchFailure;
}
cudaError_t _cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** parameters, std::size_t smem, cudaStream_t) {
  const auto& kernel = *static_cast<const recorder::Kernel*>(function);
  const recorder::Shape shape{{grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, std::nullopt, smem};
  return recorder::launch(kernel, shape, parameters).empty() ? cudaSuccess : cudaErrorLaunchFailure;
}
CUresult _cuTensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank, void* address,
                                 const cuuint64_t* dims, const cuuint64_t* strides, const cuuint32_t* box,
                                 const cuuint32_t* element_strides, CUtensorMapInterleave interleave,
                                 CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill oob) {
  return cuTensorMapEncodeTiled(map, type, rank, address, dims, strides, box, element_strides, interleave, swizzle, promotion, oob);
}

// Loads a module once: `load` makes it, `prepare` sets it up for one device.
int cuda_dialect_init_library_once(void** slot, int (*load)(void**), int (*prepare)(void**, int)) {
  if (*slot) return 0;
  void* library = nullptr;
  if (const int code = load(&library)) return code;
  if (prepare) prepare(&library, 0);
  *slot = library;
  return 0;
}
void cuda_dialect_unload_library_once(void**) {}

}  // extern "C"
