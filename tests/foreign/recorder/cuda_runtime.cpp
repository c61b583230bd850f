// The CUDA runtime on the driver's stand-in: what programs call that link a shared libcudart (TVM),
// and, with an underscore before the names, what code calls that CuTeDSL compiled for the host (its
// LLVM IR shows it, CUTE_DSL_KEEP=ir), which otherwise finds them in its libcute_dsl_runtime.so.
#include <cuda.h>
#include <cuda_runtime_api.h>

#include "common.h"

// `_NAME` for NAME, for CuTeDSL.
#define CUTE(name) extern "C" __attribute__((alias(#name))) decltype(name) _##name

extern "C" {

// ---- Devices, errors
// -------------------------------------------------------------------------------

cudaError_t cudaGetDeviceCount(int* count) {
  return *count = 1, cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
  return *device = 0, cudaSuccess;
}
cudaError_t cudaSetDevice(int) {
  return cudaSuccess;
}
// The runtime's numbers are the driver's.
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr which, int) {
  return static_cast<cudaError_t>(
      cuDeviceGetAttribute(value, static_cast<CUdevice_attribute>(which), 0));
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  std::memset(properties, 0, sizeof *properties);
  cuDeviceGetName(properties->name, sizeof properties->name, 0);
  const auto ask = [](CUdevice_attribute which) {
    int value = 0;
    cuDeviceGetAttribute(&value, which, 0);
    return value;
  };
  properties->major = ask(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  properties->minor = ask(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  properties->multiProcessorCount = ask(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  properties->warpSize = 32;
  properties->maxThreadsPerBlock = 1024;
  properties->sharedMemPerBlock =
      static_cast<std::size_t>(ask(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK));
  properties->sharedMemPerBlockOptin =
      static_cast<std::size_t>(ask(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN));
  properties->regsPerBlock = 65536;
  properties->totalGlobalMem = std::size_t{1} << 36;
  return cudaSuccess;
}
cudaError_t cudaGetLastError() {
  return cudaSuccess;
}
cudaError_t cudaPeekAtLastError() {
  return cudaSuccess;
}
const char* cudaGetErrorName(cudaError_t code) {
  const char* text = "";
  cuGetErrorName(static_cast<CUresult>(code), &text);
  return text;
}
const char* cudaGetErrorString(cudaError_t code) {
  const char* text = "";
  cuGetErrorString(static_cast<CUresult>(code), &text);
  return text;
}

// ---- Memory, streams, events
// -----------------------------------------------------------------------

cudaError_t cudaMalloc(void** at, std::size_t bytes) {
  return static_cast<cudaError_t>(cuMemAlloc(reinterpret_cast<CUdeviceptr*>(at), bytes));
}
cudaError_t cudaMallocAsync(void** at, std::size_t bytes, cudaStream_t) {
  return cudaMalloc(at, bytes);
}
cudaError_t cudaMallocHost(void** at, std::size_t bytes) {
  return cudaMalloc(at, bytes);
}
cudaError_t cudaFree(void* at) {
  return static_cast<cudaError_t>(cuMemFree(reinterpret_cast<CUdeviceptr>(at)));
}
cudaError_t cudaFreeAsync(void* at, cudaStream_t) {
  return cudaFree(at);
}
cudaError_t cudaFreeHost(void* at) {
  return cudaFree(at);
}
cudaError_t cudaMemGetInfo(std::size_t* left, std::size_t* all) {
  return static_cast<cudaError_t>(cuMemGetInfo(left, all));
}
cudaError_t cudaMemset(void* at, int value, std::size_t bytes) {
  return std::memset(at, value, bytes), cudaSuccess;
}
cudaError_t cudaMemsetAsync(void* at, int value, std::size_t bytes, cudaStream_t) {
  return cudaMemset(at, value, bytes);
}
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind) {
  return std::memcpy(to, from, bytes), cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t) {
  return cudaMemcpy(to, from, bytes, kind);
}
cudaError_t cudaDeviceSynchronize() {
  return cudaSuccess;
}
cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return static_cast<cudaError_t>(cuStreamCreate(stream, 0));
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  return cudaStreamCreate(stream);
}
cudaError_t cudaStreamDestroy(cudaStream_t) {
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t) {
  return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) {
  return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return static_cast<cudaError_t>(cuEventCreate(event, 0));
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return static_cast<cudaError_t>(cuEventRecord(event, stream));
}
cudaError_t cudaEventSynchronize(cudaEvent_t) {
  return cudaSuccess;
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from, cudaEvent_t to) {
  return static_cast<cudaError_t>(cuEventElapsedTime(milliseconds, from, to));
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return static_cast<cudaError_t>(cuEventDestroy(event));
}

// ---- Kernels
// ---------------------------------------------------------------------------------------

cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void* image, cudaJitOption*, void**,
                                unsigned, cudaLibraryOption*, void**, unsigned) {
  return static_cast<cudaError_t>(cuLibraryLoadData(reinterpret_cast<CUlibrary*>(library), image,
                                                    nullptr, nullptr, 0, nullptr, nullptr, 0));
}
cudaError_t cudaLibraryUnload(cudaLibrary_t) {
  return cudaSuccess;
}
cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t library, const char* name) {
  return static_cast<cudaError_t>(cuLibraryGetKernel(reinterpret_cast<CUkernel*>(kernel),
                                                     reinterpret_cast<CUlibrary>(library), name));
}
cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t, cudaFuncAttribute, int, int) {
  return cudaSuccess;
}
cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute, int) {
  return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function,
                                                          int threads, std::size_t smem) {
  return static_cast<cudaError_t>(cuOccupancyMaxActiveBlocksPerMultiprocessor(
      blocks, static_cast<CUfunction>(const_cast<void*>(function)), threads, smem));
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function,
                                void** parameters) {
  recorder::Shape shape{{config->gridDim.x, config->gridDim.y, config->gridDim.z},
                        {config->blockDim.x, config->blockDim.y, config->blockDim.z},
                        std::nullopt,
                        config->dynamicSmemBytes};
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    const cudaLaunchAttribute& one = config->attrs[i];
    if (one.id == cudaLaunchAttributeCooperative) shape.cooperative = one.val.cooperative;
    if (shape.cooperative && recorder::too_large_together(shape))
      return cudaErrorCooperativeLaunchTooLarge;
    if (one.id != cudaLaunchAttributeClusterDimension || one.val.clusterDim.x == 0) continue;
    shape.cluster = {one.val.clusterDim.x, one.val.clusterDim.y, one.val.clusterDim.z};
  }
  const auto& kernel = *static_cast<const recorder::Kernel*>(function);
  return recorder::launch(kernel, shape, parameters).empty() ? cudaSuccess : cudaErrorLaunchFailure;
}
cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** parameters,
                             std::size_t smem, cudaStream_t) {
  const auto& kernel = *static_cast<const recorder::Kernel*>(function);
  const recorder::Shape shape{
      {grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, std::nullopt, smem};
  return recorder::launch(kernel, shape, parameters).empty() ? cudaSuccess : cudaErrorLaunchFailure;
}

}  // extern "C"

// ---- CuTeDSL
// ---------------------------------------------------------------------------------------

CUTE(cudaGetDeviceCount);
CUTE(cudaGetDevice);
CUTE(cudaSetDevice);
CUTE(cudaDeviceGetAttribute);
CUTE(cudaDeviceSynchronize);
CUTE(cudaStreamSynchronize);
CUTE(cudaLibraryLoadData);
CUTE(cudaLibraryUnload);
CUTE(cudaLibraryGetKernel);
CUTE(cudaKernelSetAttributeForDevice);
CUTE(cudaFuncSetAttribute);
CUTE(cudaOccupancyMaxActiveBlocksPerMultiprocessor);
CUTE(cudaMalloc);
CUTE(cudaMallocAsync);
CUTE(cudaFree);
CUTE(cudaFreeAsync);
CUTE(cudaMemset);
CUTE(cudaMemsetAsync);
CUTE(cudaMemcpy);
CUTE(cudaMemcpyAsync);
CUTE(cudaLaunchKernel);

extern "C" {

cudaError_t _cudaLaunchKernelEx(const cudaLaunchConfig_t* config, const void* function,
                                void** parameters) {
  return cudaLaunchKernelExC(config, function, parameters);
}
CUresult _cuKernelGetAttribute(int* value, CUfunction_attribute which, CUkernel kernel,
                               CUdevice device) {
  return cuKernelGetAttribute(value, which, kernel, device);
}
CUresult _cuDeviceGet(CUdevice* device, int ordinal) {
  return cuDeviceGet(device, ordinal);
}
CUresult _cuTensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank,
                                 void* address, const cuuint64_t* dims, const cuuint64_t* strides,
                                 const cuuint32_t* box, const cuuint32_t* element_strides,
                                 CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                 CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill oob) {
  return cuTensorMapEncodeTiled(map, type, rank, address, dims, strides, box, element_strides,
                                interleave, swizzle, promotion, oob);
}

// A library that is made once and loaded to each device, of which there is one; what its arguments
// are CuTeDSL's sources say (tvm_ffi_provider.py, insert_lazy_init_cuda;
// cute/export/c_header_generator.py, of its repository): where the library is kept, and functions
// that make and load it. The fourth, which would be told of an error, is not used.
cudaError_t cuda_dialect_init_library_once(cudaLibrary_t* kept, cudaError_t (*init)(cudaLibrary_t*),
                                           cudaError_t (*load_to_device)(cudaLibrary_t*,
                                                                         int device),
                                           void*) {
  if (*kept) return cudaSuccess;
  cudaLibrary_t library = nullptr;
  cudaError_t error = init(&library);
  if (error == cudaSuccess && load_to_device) error = load_to_device(&library, 0);
  if (error == cudaSuccess) *kept = library;
  return error;
}
void cuda_dialect_unload_library_once(void**) {}

}  // extern "C"
