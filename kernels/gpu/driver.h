// The few functions of the CUDA driver that a run needs, found in libcuda.so.1 at run time.
//
// Nothing here needs CUDA to build: types, constants and signatures are written down as the CUDA
// Driver API documents them. The names carry the version suffixes of the library (cuMemAlloc is
// the symbol cuMemAlloc_v2), which it keeps for ever.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "core/error.h"

namespace tilescope::gpu {

using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = struct CUctx_st*;
using CUmodule = struct CUmod_st*;
using CUlinkState = struct CUlinkState_st*;
using CUfunction = struct CUfunc_st*;
using CUstream = struct CUstream_st*;
using CUevent = struct CUevent_st*;

// CUresult: those that get a sentence of their own; every other one is told by its name.
enum class Result : int {
  success = 0,
  invalid_value = 1,
  out_of_memory = 2,
  no_device = 100,
  invalid_image = 200,
  no_binary_for_gpu = 209,
  invalid_ptx = 218,
  jit_compiler_not_found = 221,
  unsupported_ptx_version = 222,
  invalid_handle = 400,
  not_found = 500,
  not_ready = 600,
  illegal_address = 700,
  launch_out_of_resources = 701,
  launch_timeout = 702,
  assert_failed = 710,
  hardware_stack_error = 714,
  illegal_instruction = 715,
  misaligned_address = 716,
  invalid_address_space = 717,
  invalid_pc = 718,
  launch_failed = 719,
  not_supported = 801,
  invalid_cluster_size = 912,
};

// CUdevice_attribute
constexpr int multiprocessors = 16, capability_major = 75, capability_minor = 76;
// CUfunction_attribute
constexpr int max_dynamic_shared = 8, larger_clusters_allowed = 14;
// CUjit_option
constexpr int jit_error_log = 5, jit_error_log_bytes = 6;
constexpr int linked_is_ptx = 1;  // CUjitInputType

struct LaunchAttribute {  // CUlaunchAttribute
  int id;
  char pad[4];
  union {
    std::uint32_t cluster[3];
    int allowed;
    char bytes[64];
  } value;
};
// CUlaunchAttributeID
constexpr int cooperative = 2, cluster_dimension = 4, programmatic_stream_serialization = 6;

struct LaunchConfig {  // CUlaunchConfig
  unsigned grid[3], block[3], shared_bytes;
  CUstream stream;
  LaunchAttribute* attributes;
  unsigned attribute_count;
};

struct Driver {
  Result (*cuInit)(unsigned flags);
  Result (*cuDriverGetVersion)(int* version);
  Result (*cuGetErrorName)(Result error, const char** name);
  Result (*cuGetErrorString)(Result error, const char** text);
  Result (*cuDeviceGetCount)(int* count);
  Result (*cuDeviceGet)(CUdevice* device, int ordinal);
  Result (*cuDeviceGetName)(char* name, int length, CUdevice device);
  Result (*cuDeviceGetAttribute)(int* value, int attribute, CUdevice device);
  Result (*cuDevicePrimaryCtxRetain)(CUcontext* context, CUdevice device);
  Result (*cuDevicePrimaryCtxRelease)(CUdevice device);
  Result (*cuCtxSetCurrent)(CUcontext context);
  Result (*cuModuleLoadDataEx)(CUmodule* module, const void* image, unsigned count, int* options,
                               void** values);
  Result (*cuModuleUnload)(CUmodule module);
  Result (*cuLinkCreate)(unsigned count, int* options, void** values, CUlinkState* state);
  Result (*cuLinkAddData)(CUlinkState state, int type, void* data, std::size_t bytes,
                          const char* name, unsigned count, int* options, void** values);
  Result (*cuLinkComplete)(CUlinkState state, void** image, std::size_t* bytes);
  Result (*cuLinkDestroy)(CUlinkState state);
  Result (*cuModuleGetFunction)(CUfunction* function, CUmodule module, const char* name);
  Result (*cuFuncSetAttribute)(CUfunction function, int attribute, int value);
  Result (*cuMemAlloc)(CUdeviceptr* address, std::size_t bytes);
  Result (*cuMemFree)(CUdeviceptr address);
  Result (*cuMemcpyHtoD)(CUdeviceptr to, const void* from, std::size_t bytes);
  Result (*cuMemcpyDtoH)(void* to, CUdeviceptr from, std::size_t bytes);
  Result (*cuMemsetD8)(CUdeviceptr to, unsigned char value, std::size_t bytes);
  Result (*cuLaunchKernelEx)(const LaunchConfig* config, CUfunction function, void** parameters,
                             void** extra);
  Result (*cuEventCreate)(CUevent* event, unsigned flags);
  Result (*cuEventDestroy)(CUevent event);
  Result (*cuEventRecord)(CUevent event, CUstream stream);
  Result (*cuEventQuery)(CUevent event);
  Result (*cuEventElapsedTime)(float* milliseconds, CUevent begin, CUevent end);

  // Null where the driver is older than CUDA 12.
  Result (*cuTensorMapEncodeTiled)(void* map, int type, unsigned rank, void* address,
                                   const std::uint64_t* dims, const std::uint64_t* strides,
                                   const unsigned* box, const unsigned* element_strides,
                                   int interleave, int swizzle, int promotion, int fill);
  Result (*cuTensorMapEncodeIm2col)(void* map, int type, unsigned rank, void* address,
                                    const std::uint64_t* dims, const std::uint64_t* strides,
                                    const int* lower, const int* upper, unsigned channels,
                                    unsigned pixels, const unsigned* element_strides,
                                    int interleave, int swizzle, int promotion, int fill);

  // Null where the driver is very old: only who watches the chip asks.
  Result (*cuDeviceGetPCIBusId)(char* id, int length, CUdevice device);

  int version = 0;  // 13000 is CUDA 13.0: the newest that it supports

  // "CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory access was encountered)"
  std::string name_of(Result error) const;
  std::string version_text() const;  // "13.0"
};

// Loads and initialises the driver: the library `path`, or libcuda.so.1 where that is empty.
// no_device: there is none, it is too old, or it does not start.
Outcome<std::shared_ptr<const Driver>> load_driver(const std::string& path);

}  // namespace tilescope::gpu
