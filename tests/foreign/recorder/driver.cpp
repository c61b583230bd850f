// A stand-in for the CUDA driver (libcuda.so.1) that records launches: common.h says how. It serves
// what Triton, Numba, CuPy, cuda-python and the like ask of a driver; what nobody asked for yet is
// missing.
//
//   RECORDER_SM    the compute capability that it says it has: 100 (default), 90, 80, 120
//   RECORDER_SMS   multiprocessors (default: as many as the chip has)
//
// Memory of a host program is device memory too: PyTorch for CPUs takes its tensors from
// posix_memalign, which is watched here (with LD_PRELOAD), so a tensor "on the GPU" is one on the
// CPU.
#include <cuda.h>
#include <dlfcn.h>
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>

#include "common.h"

using recorder::memory;

// ---- Memory that is watched
// ------------------------------------------------------------------------

namespace {

constexpr std::size_t device_alignment =
    512;  // cudaMalloc aligns to 256 at least; PyTorch's to 512

// A new allocation holds no numbers: every byte 255, which floating point reads as NaN.
void* allocate(std::size_t bytes, bool watched = true) {
  static int (*const real)(void**, std::size_t, std::size_t) =
      reinterpret_cast<int (*)(void**, std::size_t, std::size_t)>(
          dlsym(RTLD_NEXT, "posix_memalign"));
  void* at = nullptr;
  if (real(&at, device_alignment, std::max<std::size_t>(bytes, 1))) return nullptr;
  std::memset(at, 255, bytes);
  if (watched) memory().add(at, bytes);
  return at;
}

void release(void* at) {
  memory().remove(at);
  std::free(at);
}

}  // namespace

extern "C" int posix_memalign(void** at, std::size_t, std::size_t bytes) {
  *at = allocate(bytes);
  return *at ? 0 : ENOMEM;
}

extern "C" void free(void* at) {
  static void (*const real)(void*) = reinterpret_cast<void (*)(void*)>(dlsym(RTLD_NEXT, "free"));
  static thread_local bool inside = false;  // the list of allocations frees its own nodes
  // Watched blocks are aligned: most others are told apart by that.
  if (!inside && at && reinterpret_cast<std::uintptr_t>(at) % device_alignment == 0) {
    inside = true;
    memory().remove(at);
    inside = false;
  }
  real(at);
}

// ---- What a chip says of itself
// --------------------------------------------------------------------

namespace {

struct Chip {
  int sm, multiprocessors, shared_optin, shared_multiprocessor, threads_multiprocessor,
      blocks_multiprocessor;
  const char* name;
};

// From the CUDA C++ Programming Guide, "Compute Capabilities".
constexpr Chip chips[] = {{80, 108, 166912, 167936, 2048, 32, "A100"},
                          {90, 132, 232448, 233472, 2048, 32, "H100"},
                          {100, 148, 232448, 233472, 2048, 32, "B200"},
                          {103, 148, 232448, 233472, 2048, 32, "B300"},
                          {120, 170, 101376, 102400, 1536, 24, "RTX 5090"}};

const Chip& chip() {
  static const Chip one = [] {
    const std::string sm = recorder::text_of("RECORDER_SM"),
                      sms = recorder::text_of("RECORDER_SMS");
    const int wanted = sm.empty() ? 100 : std::atoi(sm.c_str());
    Chip found = chips[2];
    for (const Chip& c : chips) {
      if (c.sm == wanted) found = c;
    }
    if (!sms.empty()) found.multiprocessors = std::atoi(sms.c_str());
    return found;
  }();
  return one;
}

int attribute(CUdevice_attribute which) {
  switch (which) {
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y:
      return 1024;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z:
      return 64;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X:
      return 2147483647;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y:
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z:
      return 65535;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:
      return 49152;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
      return chip().shared_optin;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
      return chip().shared_multiprocessor;
    case CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK:
      return 1024;
    case CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY:
      return 65536;
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
      return 32;
    case CU_DEVICE_ATTRIBUTE_MAX_PITCH:
      return 2147483647;
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK:
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR:
      return 65536;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
      return chip().threads_multiprocessor;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR:
      return chip().blocks_multiprocessor;
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
      return 1800000;
    case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE:
      return 2600000;
    case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH:
      return 5120;
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
      return 50 << 20;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
      return chip().multiprocessors;
    case CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT:
      return 512;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
      return chip().sm / 10;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
      return chip().sm % 10;
    case CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH:
    case CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED:
      return chip().sm >= 90;
    case CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH:
    case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:
    case CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY:
    case CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS:
    case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT:
      return 1;
    default:
      return 0;
  }
}

// ---- What handles point to
// -------------------------------------------------------------------------

// A cubin whose PTX is not there is loaded too (programs load one only to ask how much of a chip it
// takes): its kernels have no PTX, and cannot be launched.
struct Module {
  std::string ptx;
  std::deque<recorder::Kernel> kernels;
};

std::deque<Module>& modules() {
  static auto* all = new std::deque<Module>;
  return *all;
}

CUresult load(Module** module, const void* image) {
  Module& one = modules().emplace_back();
  one.ptx = recorder::ptx_of(image);
  for (const std::string& name : recorder::entries_of(one.ptx)) {
    one.kernels.push_back({&one.ptx, name, recorder::parameters_of(one.ptx, name)});
  }
  *module = &one;
  return CUDA_SUCCESS;
}

recorder::Kernel* find(Module* module, const char* name) {
  for (recorder::Kernel& kernel : module->kernels) {
    if (kernel.entry == name) return &kernel;
  }
  if (!module->ptx.empty()) return nullptr;
  module->kernels.push_back({&module->ptx, name, {}});
  return &module->kernels.back();
}

int function_attribute(CUfunction_attribute which) {
  switch (which) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      return 1024;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      return 64;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      return chip().shared_optin;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      return chip().sm;
    default:
      return 0;
  }
}

template <class Handle, class T>
CUresult give(Handle* to, T* value) {
  *to = reinterpret_cast<Handle>(value);
  return CUDA_SUCCESS;
}

template <class T>
T* pointer(CUdeviceptr address) {
  return reinterpret_cast<T*>(address);
}

template <class T>
CUresult fill(CUdeviceptr at, T value, std::size_t count) {
  std::fill_n(pointer<T>(at), count, value);
  return CUDA_SUCCESS;
}

CUresult copy(void* to, const void* from, std::size_t bytes) {
  std::memcpy(to, from, bytes);
  return CUDA_SUCCESS;
}

int handle;  // what contexts, streams, events and pools are: one of each is enough

double now() {
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

CUresult launch(CUfunction function, const recorder::Shape& shape, void** parameters,
                void** extra) {
  const auto& kernel = *reinterpret_cast<const recorder::Kernel*>(function);
  std::vector<void*> places;
  if (!parameters && extra) {
    char* buffer = nullptr;
    for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
      if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER) buffer = static_cast<char*>(extra[1]);
    }
    for (const auto& parameter : kernel.parameters) places.push_back(buffer + parameter.offset);
    parameters = places.data();
  }
  return recorder::launch(kernel, shape, parameters).empty() ? CUDA_SUCCESS
                                                             : CUDA_ERROR_LAUNCH_FAILED;
}

}  // namespace

extern "C" {

// ---- Version, devices, contexts
// --------------------------------------------------------------------

CUresult cuInit(unsigned) {
  return CUDA_SUCCESS;
}
CUresult cuDriverGetVersion(int* version) {
  return *version = CUDA_VERSION, CUDA_SUCCESS;
}
CUresult cuDeviceGetCount(int* count) {
  return *count = 1, CUDA_SUCCESS;
}
CUresult cuDeviceGet(CUdevice* device, int) {
  return *device = 0, CUDA_SUCCESS;
}
CUresult cuDeviceGetName(char* name, int size, CUdevice) {
  std::snprintf(name, static_cast<std::size_t>(size), "recorder, as %s", chip().name);
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice) {
  return std::memset(uuid, 1, sizeof *uuid), CUDA_SUCCESS;
}
CUresult cuDeviceTotalMem(std::size_t* bytes, CUdevice) {
  return *bytes = std::size_t{1} << 36, CUDA_SUCCESS;
}
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute which, CUdevice) {
  return *value = attribute(which), CUDA_SUCCESS;
}
CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice) {
  *major = chip().sm / 10, *minor = chip().sm % 10;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetPCIBusId(char* text, int size, CUdevice) {
  std::snprintf(text, static_cast<std::size_t>(size), "0000:00:00.0");
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice) {
  return give(pool, &handle);
}
CUresult cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice) {
  return give(pool, &handle);
}
CUresult cuMemPoolSetAttribute(CUmemoryPool, CUmemPool_attribute, void*) {
  return CUDA_SUCCESS;
}
CUresult cuMemPoolGetAttribute(CUmemoryPool, CUmemPool_attribute, void* value) {
  return std::memset(value, 0, 8), CUDA_SUCCESS;
}
CUresult cuMemPoolTrimTo(CUmemoryPool, std::size_t) {
  return CUDA_SUCCESS;
}

CUresult cuGetErrorName(CUresult code, const char** text) {
  *text = code == CUDA_SUCCESS               ? "CUDA_SUCCESS"
          : code == CUDA_ERROR_LAUNCH_FAILED ? "CUDA_ERROR_LAUNCH_FAILED"
                                             : "CUDA_ERROR";
  return CUDA_SUCCESS;
}
CUresult cuGetErrorString(CUresult code, const char** text) {
  *text = code == CUDA_SUCCESS               ? "no error"
          : code == CUDA_ERROR_LAUNCH_FAILED ? "the recorded launch failed"
                                             : "recorder: error";
  return CUDA_SUCCESS;
}
CUresult cuGetExportTable(const void**, const CUuuid*) {
  return CUDA_ERROR_NOT_FOUND;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice) {
  return give(context, &handle);
}
CUresult cuDevicePrimaryCtxRelease(CUdevice) {
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxSetFlags(CUdevice, unsigned) {
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxReset(CUdevice) {
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxGetState(CUdevice, unsigned* flags, int* active) {
  return *flags = 0, *active = 1, CUDA_SUCCESS;
}
CUresult cuCtxCreate_v2(CUcontext* context, unsigned, CUdevice) {
  return give(context, &handle);
}
CUresult cuCtxDestroy(CUcontext) {
  return CUDA_SUCCESS;
}
CUresult cuCtxGetCurrent(CUcontext* context) {
  return give(context, &handle);
}
CUresult cuCtxSetCurrent(CUcontext) {
  return CUDA_SUCCESS;
}
CUresult cuCtxPushCurrent(CUcontext) {
  return CUDA_SUCCESS;
}
CUresult cuCtxPopCurrent(CUcontext* context) {
  return context ? give(context, &handle) : CUDA_SUCCESS;
}
CUresult cuCtxGetDevice(CUdevice* device) {
  return *device = 0, CUDA_SUCCESS;
}
CUresult cuCtxGetFlags(unsigned* flags) {
  return *flags = 0, CUDA_SUCCESS;
}
CUresult cuCtxGetApiVersion(CUcontext, unsigned* version) {
  return *version = CUDA_VERSION, CUDA_SUCCESS;
}
CUresult cuCtxSynchronize() {
  return CUDA_SUCCESS;
}
CUresult cuCtxGetLimit(std::size_t* value, CUlimit) {
  return *value = 1 << 20, CUDA_SUCCESS;
}
CUresult cuCtxSetLimit(CUlimit, std::size_t) {
  return CUDA_SUCCESS;
}
CUresult cuCtxGetStreamPriorityRange(int* least, int* most) {
  return *least = 0, *most = 0, CUDA_SUCCESS;
}

// ---- Modules, libraries, the linker
// ----------------------------------------------------------------

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  Module* one = nullptr;
  const CUresult code = load(&one, image);
  return code == CUDA_SUCCESS ? give(module, one) : code;
}
CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned, CUjit_option*, void**) {
  return cuModuleLoadData(module, image);
}
CUresult cuModuleUnload(CUmodule) {
  return CUDA_SUCCESS;
}
CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  recorder::Kernel* kernel = find(reinterpret_cast<Module*>(module), name);
  return kernel ? give(function, kernel) : CUDA_ERROR_NOT_FOUND;
}
CUresult cuModuleGetGlobal(CUdeviceptr*, std::size_t*, CUmodule, const char*) {
  return CUDA_ERROR_NOT_FOUND;
}
CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode* mode) {
  return *mode = CU_MODULE_LAZY_LOADING, CUDA_SUCCESS;
}

CUresult cuLibraryLoadData(CUlibrary* library, const void* image, CUjit_option*, void**, unsigned,
                           CUlibraryOption*, void**, unsigned) {
  Module* one = nullptr;
  const CUresult code = load(&one, image);
  return code == CUDA_SUCCESS ? give(library, one) : code;
}
CUresult cuLibraryUnload(CUlibrary) {
  return CUDA_SUCCESS;
}
CUresult cuLibraryGetModule(CUmodule* module, CUlibrary library) {
  return give(module, reinterpret_cast<Module*>(library));
}
CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary library, const char* name) {
  recorder::Kernel* one = find(reinterpret_cast<Module*>(library), name);
  return one ? give(kernel, one) : CUDA_ERROR_NOT_FOUND;
}
CUresult cuLibraryGetKernelCount(unsigned* count, CUlibrary library) {
  return *count = static_cast<unsigned>(reinterpret_cast<Module*>(library)->kernels.size()),
         CUDA_SUCCESS;
}
CUresult cuLibraryEnumerateKernels(CUkernel* kernels, unsigned count, CUlibrary library) {
  auto& all = reinterpret_cast<Module*>(library)->kernels;
  for (unsigned i = 0; i < count && i < all.size(); ++i) give(&kernels[i], &all[i]);
  return CUDA_SUCCESS;
}
CUresult cuLibraryGetGlobal(CUdeviceptr*, std::size_t*, CUlibrary, const char*) {
  return CUDA_ERROR_NOT_FOUND;
}
CUresult cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
  return give(function, reinterpret_cast<recorder::Kernel*>(kernel));
}
CUresult cuKernelGetName(const char** name, CUkernel kernel) {
  return *name = reinterpret_cast<recorder::Kernel*>(kernel)->entry.c_str(), CUDA_SUCCESS;
}
CUresult cuKernelGetAttribute(int* value, CUfunction_attribute which, CUkernel, CUdevice) {
  return *value = function_attribute(which), CUDA_SUCCESS;
}
CUresult cuKernelSetAttribute(CUfunction_attribute, int, CUkernel, CUdevice) {
  return CUDA_SUCCESS;
}
CUresult cuFuncGetAttribute(int* value, CUfunction_attribute which, CUfunction) {
  return *value = function_attribute(which), CUDA_SUCCESS;
}
CUresult cuFuncSetAttribute(CUfunction, CUfunction_attribute, int) {
  return CUDA_SUCCESS;
}
CUresult cuFuncSetCacheConfig(CUfunction, CUfunc_cache) {
  return CUDA_SUCCESS;
}
CUresult cuFuncGetName(const char** name, CUfunction function) {
  return cuKernelGetName(name, reinterpret_cast<CUkernel>(function));
}
CUresult cuFuncLoad(CUfunction) {
  return CUDA_SUCCESS;
}
CUresult cuFuncIsLoaded(CUfunctionLoadingState* state, CUfunction) {
  return *state = CU_FUNCTION_LOADING_STATE_LOADED, CUDA_SUCCESS;
}
CUresult cuFuncGetModule(CUmodule* module, CUfunction function) {
  const auto* kernel = reinterpret_cast<recorder::Kernel*>(function);
  for (Module& one : modules()) {
    if (&one.ptx == kernel->ptx) return give(module, &one);
  }
  return CUDA_ERROR_NOT_FOUND;
}
CUresult cuKernelGetParamInfo(CUkernel kernel, std::size_t index, std::size_t* offset,
                              std::size_t* bytes) {
  const auto& all = reinterpret_cast<recorder::Kernel*>(kernel)->parameters;
  if (index >= all.size()) return CUDA_ERROR_INVALID_VALUE;
  if (offset) *offset = all[index].offset;
  if (bytes) *bytes = all[index].bytes;
  return CUDA_SUCCESS;
}
CUresult cuFuncGetParamInfo(CUfunction function, std::size_t index, std::size_t* offset,
                            std::size_t* bytes) {
  return cuKernelGetParamInfo(reinterpret_cast<CUkernel>(function), index, offset, bytes);
}

// Linking one PTX text gives this text.
CUresult cuLinkCreate(unsigned, CUjit_option*, void**, CUlinkState* state) {
  return give(state, new std::string);
}
CUresult cuLinkAddData(CUlinkState state, CUjitInputType, void* data, std::size_t size, const char*,
                       unsigned, CUjit_option*, void**) {
  *reinterpret_cast<std::string*>(state) = std::string(static_cast<const char*>(data), size);
  return CUDA_SUCCESS;
}
CUresult cuLinkComplete(CUlinkState state, void** image, std::size_t* size) {
  auto& text = *reinterpret_cast<std::string*>(state);
  *image = text.data(), *size = text.size() + 1;
  return CUDA_SUCCESS;
}
CUresult cuLinkDestroy(CUlinkState state) {
  return delete reinterpret_cast<std::string*>(state), CUDA_SUCCESS;
}

// ---- Memory
// ----------------------------------------------------------------------------------------

CUresult cuMemAlloc(CUdeviceptr* address, std::size_t bytes) {
  void* at = allocate(bytes);
  *address = reinterpret_cast<CUdeviceptr>(at);
  return at ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}
CUresult cuMemFree(CUdeviceptr at) {
  return release(pointer<void>(at)), CUDA_SUCCESS;
}
CUresult cuMemAllocAsync(CUdeviceptr* address, std::size_t bytes, CUstream) {
  return cuMemAlloc(address, bytes);
}
CUresult cuMemAllocFromPoolAsync(CUdeviceptr* address, std::size_t bytes, CUmemoryPool, CUstream) {
  return cuMemAlloc(address, bytes);
}
CUresult cuMemFreeAsync(CUdeviceptr at, CUstream) {
  return cuMemFree(at);
}
CUresult cuMemAllocManaged(CUdeviceptr* address, std::size_t bytes, unsigned) {
  return cuMemAlloc(address, bytes);
}
CUresult cuMemAllocPitch(CUdeviceptr* address, std::size_t* pitch, std::size_t width,
                         std::size_t height, unsigned) {
  *pitch = (width + 511) / 512 * 512;
  return cuMemAlloc(address, *pitch * height);
}
CUresult cuMemAllocHost(void** at, std::size_t bytes) {
  return (*at = allocate(bytes)) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}
CUresult cuMemHostAlloc(void** at, std::size_t bytes, unsigned) {
  return cuMemAllocHost(at, bytes);
}
CUresult cuMemFreeHost(void* at) {
  return release(at), CUDA_SUCCESS;
}
CUresult cuMemHostGetDevicePointer(CUdeviceptr* address, void* at, unsigned) {
  return *address = reinterpret_cast<CUdeviceptr>(at), CUDA_SUCCESS;
}
CUresult cuMemHostRegister(void* at, std::size_t bytes, unsigned) {
  return memory().add(at, bytes), CUDA_SUCCESS;
}
CUresult cuMemHostUnregister(void* at) {
  return memory().remove(at), CUDA_SUCCESS;
}
CUresult cuMemGetInfo(std::size_t* left, std::size_t* all) {
  return *left = *all = std::size_t{1} << 36, CUDA_SUCCESS;
}
CUresult cuMemGetAddressRange(CUdeviceptr* base, std::size_t* bytes, CUdeviceptr at) {
  const auto one = memory().find(at);
  if (!one) return CUDA_ERROR_INVALID_VALUE;
  if (base) *base = one->at;
  if (bytes) *bytes = one->bytes;
  return CUDA_SUCCESS;
}
CUresult cuPointerGetAttribute(void* data, CUpointer_attribute which, CUdeviceptr at) {
  const auto one = memory().find(at);
  switch (which) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      *static_cast<void**>(data) = &handle;
      break;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      *static_cast<unsigned*>(data) = CU_MEMORYTYPE_DEVICE;
      break;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      *static_cast<CUdeviceptr*>(data) = at;
      break;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      *static_cast<void**>(data) = pointer<void>(at);
      break;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      *static_cast<unsigned*>(data) = 0;
      break;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      *static_cast<int*>(data) = 0;
      break;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      *static_cast<CUdeviceptr*>(data) = one ? one->at : at;
      break;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
      *static_cast<std::size_t*>(data) = one ? one->bytes : 0;
      break;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}
CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute* which, void** data,
                                CUdeviceptr at) {
  for (unsigned i = 0; i < count; ++i) cuPointerGetAttribute(data[i], which[i], at);
  return CUDA_SUCCESS;
}

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  return copy(pointer<void>(to), pointer<void>(from), bytes);
}
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream) {
  return cuMemcpy(to, from, bytes);
}
CUresult cuMemcpyHtoD(CUdeviceptr to, const void* from, std::size_t bytes) {
  return copy(pointer<void>(to), from, bytes);
}
CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void* from, std::size_t bytes, CUstream) {
  return copy(pointer<void>(to), from, bytes);
}
CUresult cuMemcpyDtoH(void* to, CUdeviceptr from, std::size_t bytes) {
  return copy(to, pointer<void>(from), bytes);
}
CUresult cuMemcpyDtoHAsync(void* to, CUdeviceptr from, std::size_t bytes, CUstream) {
  return copy(to, pointer<void>(from), bytes);
}
CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  return cuMemcpy(to, from, bytes);
}
CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream) {
  return cuMemcpy(to, from, bytes);
}
CUresult cuMemsetD8(CUdeviceptr at, unsigned char value, std::size_t count) {
  return fill(at, value, count);
}
CUresult cuMemsetD8Async(CUdeviceptr at, unsigned char value, std::size_t count, CUstream) {
  return fill(at, value, count);
}
CUresult cuMemsetD16(CUdeviceptr at, unsigned short value, std::size_t count) {
  return fill(at, value, count);
}
CUresult cuMemsetD16Async(CUdeviceptr at, unsigned short value, std::size_t count, CUstream) {
  return fill(at, value, count);
}
CUresult cuMemsetD32(CUdeviceptr at, unsigned value, std::size_t count) {
  return fill(at, value, count);
}
CUresult cuMemsetD32Async(CUdeviceptr at, unsigned value, std::size_t count, CUstream) {
  return fill(at, value, count);
}

// ---- Streams and events: everything is done when it is asked for
// -----------------------------------

CUresult cuStreamCreate(CUstream* stream, unsigned) {
  return give(stream, &handle);
}
CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned, int) {
  return give(stream, &handle);
}
CUresult cuStreamDestroy(CUstream) {
  return CUDA_SUCCESS;
}
CUresult cuStreamSynchronize(CUstream) {
  return CUDA_SUCCESS;
}
CUresult cuStreamQuery(CUstream) {
  return CUDA_SUCCESS;
}
CUresult cuStreamWaitEvent(CUstream, CUevent, unsigned) {
  return CUDA_SUCCESS;
}
CUresult cuStreamIsCapturing(CUstream, CUstreamCaptureStatus* status) {
  return *status = CU_STREAM_CAPTURE_STATUS_NONE, CUDA_SUCCESS;
}
CUresult cuStreamGetCtx(CUstream, CUcontext* context) {
  return give(context, &handle);
}
CUresult cuStreamGetPriority(CUstream, int* priority) {
  return *priority = 0, CUDA_SUCCESS;
}
CUresult cuStreamGetFlags(CUstream, unsigned* flags) {
  return *flags = 0, CUDA_SUCCESS;
}
CUresult cuLaunchHostFunc(CUstream, CUhostFn function, void* data) {
  return function(data), CUDA_SUCCESS;
}
CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback function, void* data, unsigned) {
  return function(stream, CUDA_SUCCESS, data), CUDA_SUCCESS;
}
CUresult cuEventCreate(CUevent* event, unsigned) {
  return give(event, new double(now()));
}
CUresult cuEventRecord(CUevent event, CUstream) {
  return *reinterpret_cast<double*>(event) = now(), CUDA_SUCCESS;
}
CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned) {
  return cuEventRecord(event, stream);
}
CUresult cuEventSynchronize(CUevent) {
  return CUDA_SUCCESS;
}
CUresult cuEventQuery(CUevent) {
  return CUDA_SUCCESS;
}
CUresult cuEventElapsedTime(float* milliseconds, CUevent from, CUevent to) {
  *milliseconds =
      static_cast<float>(*reinterpret_cast<double*>(to) - *reinterpret_cast<double*>(from));
  return CUDA_SUCCESS;
}
CUresult cuEventDestroy(CUevent event) {
  return delete reinterpret_cast<double*>(event), CUDA_SUCCESS;
}
CUresult cuProfilerStart() {
  return CUDA_SUCCESS;
}
CUresult cuProfilerStop() {
  return CUDA_SUCCESS;
}

// ---- Launches
// --------------------------------------------------------------------------------------

CUresult cuLaunchKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                        unsigned by, unsigned bz, unsigned smem, CUstream, void** parameters,
                        void** extra) {
  return launch(function, {{gx, gy, gz}, {bx, by, bz}, std::nullopt, smem}, parameters, extra);
}
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction, int threads,
                                                     std::size_t smem) {
  const int by_smem =
      smem
          ? static_cast<int>(static_cast<std::size_t>(chip().shared_multiprocessor) / (smem + 1024))
          : 32;
  *blocks =
      std::max(1, std::min({by_smem, chip().threads_multiprocessor / std::max(threads, 1), 8}));
  return CUDA_SUCCESS;
}
CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz,
                                   unsigned bx, unsigned by, unsigned bz, unsigned smem, CUstream,
                                   void** parameters) {
  if (recorder::too_large_together({{gx, gy, gz}, {bx, by, bz}, std::nullopt, smem}))
    return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
  return launch(function, {{gx, gy, gz}, {bx, by, bz}, std::nullopt, smem, true}, parameters,
                nullptr);
}
CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** parameters,
                          void** extra) {
  recorder::Shape shape{{config->gridDimX, config->gridDimY, config->gridDimZ},
                        {config->blockDimX, config->blockDimY, config->blockDimZ},
                        std::nullopt,
                        config->sharedMemBytes};
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    const auto& one = config->attrs[i];
    if (one.id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) shape.cooperative = one.value.cooperative;
    if (shape.cooperative && recorder::too_large_together(shape))
      return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
    if (one.id != CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION || one.value.clusterDim.x == 0) continue;
    shape.cluster = {one.value.clusterDim.x, one.value.clusterDim.y, one.value.clusterDim.z};
  }
  return launch(function, shape, parameters, extra);
}
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, CUfunction function,
                                                              int threads, std::size_t smem,
                                                              unsigned) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, smem);
}
CUresult cuOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, CUfunction, int, int) {
  return *bytes = static_cast<std::size_t>(chip().shared_optin), CUDA_SUCCESS;
}
CUresult cuOccupancyMaxActiveClusters(int* clusters, CUfunction, const CUlaunchConfig* config) {
  unsigned size = 1;
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    const auto& one = config->attrs[i];
    if (one.id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
      size = one.value.clusterDim.x * one.value.clusterDim.y * one.value.clusterDim.z;
    }
  }
  *clusters = chip().multiprocessors / static_cast<int>(std::max(size, 1u));
  return CUDA_SUCCESS;
}
CUresult cuOccupancyMaxPotentialClusterSize(int* size, CUfunction, const CUlaunchConfig*) {
  return *size = 8, CUDA_SUCCESS;
}
CUresult cuOccupancyMaxPotentialBlockSize(int* grid, int* block, CUfunction, CUoccupancyB2DSize,
                                          std::size_t, int most) {
  *grid = chip().multiprocessors, *block = most > 0 ? std::min(most, 1024) : 1024;
  return CUDA_SUCCESS;
}

// ---- Tensor maps
// -----------------------------------------------------------------------------------

CUresult cuTensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank,
                                void* address, const cuuint64_t* dims, const cuuint64_t* strides,
                                const cuuint32_t* box, const cuuint32_t* element_strides,
                                CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion, CUtensorMapFloatOOBfill oob) {
  recorder::Map one;
  one.address = reinterpret_cast<recorder::Address>(address);
  one.type = type;
  one.dims.assign(dims, dims + rank);
  one.strides.assign(strides, strides + rank - 1);
  one.box.assign(box, box + rank);
  one.element_strides.assign(element_strides, element_strides + rank);
  one.interleave = interleave, one.swizzle = swizzle, one.oob = oob;
  recorder::encode(map, std::move(one));
  return CUDA_SUCCESS;
}
CUresult cuTensorMapEncodeIm2col(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank,
                                 void* address, const cuuint64_t* dims, const cuuint64_t* strides,
                                 const int* lower, const int* upper, cuuint32_t channels,
                                 cuuint32_t pixels, const cuuint32_t* element_strides,
                                 CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                 CUtensorMapL2promotion, CUtensorMapFloatOOBfill oob) {
  recorder::Map one;
  one.address = reinterpret_cast<recorder::Address>(address);
  one.type = type;
  one.dims.assign(dims, dims + rank);
  one.strides.assign(strides, strides + rank - 1);
  one.element_strides.assign(element_strides, element_strides + rank);
  one.im2col = true;
  one.lower.assign(lower, lower + rank - 2);
  one.upper.assign(upper, upper + rank - 2);
  one.channels = channels, one.pixels = pixels;
  one.interleave = interleave, one.swizzle = swizzle, one.oob = oob;
  recorder::encode(map, std::move(one));
  return CUDA_SUCCESS;
}
CUresult cuTensorMapReplaceAddress(CUtensorMap* map, void* address) {
  const auto index = recorder::map_at(map);
  if (!index) return CUDA_ERROR_INVALID_VALUE;
  recorder::Map one = recorder::maps()[*index];
  one.address = reinterpret_cast<recorder::Address>(address);
  recorder::encode(map, std::move(one));
  return CUDA_SUCCESS;
}

// ---- Names to functions
// ----------------------------------------------------------------------------

// The newest version of each function that is here: cuMemAlloc_v2 for cuMemAlloc.
CUresult cuGetProcAddress_v2(const char* name, void** function, int, cuuint64_t,
                             CUdriverProcAddressQueryResult* result) {
  Dl_info self;
  static void* const library = dladdr(reinterpret_cast<void*>(&cuInit), &self)
                                   ? dlopen(self.dli_fname, RTLD_NOW)
                                   : RTLD_DEFAULT;
  *function = nullptr;
  for (const char* version : {"_v4", "_v3", "_v2", ""}) {
    if (!*function) *function = dlsym(library, (std::string(name) + version).c_str());
  }
  if (result)
    *result = *function ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  return *function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
#undef cuGetProcAddress
CUresult cuGetProcAddress(const char* name, void** function, int version, cuuint64_t flags) {
  return cuGetProcAddress_v2(name, function, version, flags, nullptr);
}

}  // extern "C"
