// The CUDA Driver API as far as the stand-in answers it: types, numbers and layouts, written down
// from its documentation (CUDA Driver API, "Data types used by CUDA driver"). Nothing here needs
// CUDA to build.
#pragma once

#include <cstddef>
#include <cstdint>

using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = struct CUctx_st*;
using CUmodule = struct CUmod_st*;
using CUlibrary = struct CUlib_st*;
using CUfunction = struct CUfunc_st*;
using CUkernel = struct CUkern_st*;
using CUstream = struct CUstream_st*;
using CUevent = struct CUevent_st*;
using CUarray = struct CUarray_st*;
using CUtexObject = unsigned long long;
using CUsurfObject = unsigned long long;
using CUmemoryPool = struct CUmemPoolHandle_st*;
using CUlinkState = struct CUlinkState_st*;
using CUgraph = struct CUgraph_st*;
struct CUuuid {
  unsigned char bytes[16];
};

enum CUresult : int {
  CUDA_SUCCESS = 0,
  CUDA_ERROR_INVALID_VALUE = 1,
  CUDA_ERROR_OUT_OF_MEMORY = 2,
  CUDA_ERROR_NOT_INITIALIZED = 3,
  CUDA_ERROR_DEINITIALIZED = 4,
  CUDA_ERROR_NO_DEVICE = 100,
  CUDA_ERROR_INVALID_DEVICE = 101,
  CUDA_ERROR_INVALID_IMAGE = 200,
  CUDA_ERROR_INVALID_CONTEXT = 201,
  CUDA_ERROR_NO_BINARY_FOR_GPU = 209,
  CUDA_ERROR_PEER_ACCESS_UNSUPPORTED = 217,
  CUDA_ERROR_INVALID_PTX = 218,
  CUDA_ERROR_FILE_NOT_FOUND = 301,
  CUDA_ERROR_OPERATING_SYSTEM = 304,
  CUDA_ERROR_INVALID_HANDLE = 400,
  CUDA_ERROR_NOT_FOUND = 500,
  CUDA_ERROR_NOT_READY = 600,
  CUDA_ERROR_CONTEXT_IS_DESTROYED = 709,
  CUDA_ERROR_NOT_PERMITTED = 800,
  CUDA_ERROR_NOT_SUPPORTED = 801,
};

inline constexpr unsigned disable_timing = 2;                      // CU_EVENT_DISABLE_TIMING
inline constexpr unsigned record_external = 1, wait_external = 1;  // CU_EVENT_..._EXTERNAL

// CUstream: those that always exist.
inline CUstream stream_legacy() {
  return reinterpret_cast<CUstream>(1);
}
inline CUstream stream_per_thread() {
  return reinterpret_cast<CUstream>(2);
}

enum CUmemorytype : unsigned {
  memory_host = 1,
  memory_device = 2,
  memory_array = 3,
  memory_unified = 4,
};

struct CUDA_MEMCPY2D {
  std::size_t srcXInBytes, srcY;
  CUmemorytype srcMemoryType;
  const void* srcHost;
  CUdeviceptr srcDevice;
  CUarray srcArray;
  std::size_t srcPitch;
  std::size_t dstXInBytes, dstY;
  CUmemorytype dstMemoryType;
  void* dstHost;
  CUdeviceptr dstDevice;
  CUarray dstArray;
  std::size_t dstPitch;
  std::size_t WidthInBytes, Height;
};
static_assert(sizeof(CUDA_MEMCPY2D) == 128);

struct CUDA_MEMCPY3D {
  std::size_t srcXInBytes, srcY, srcZ, srcLOD;
  CUmemorytype srcMemoryType;
  const void* srcHost;
  CUdeviceptr srcDevice;
  CUarray srcArray;
  void* reserved0;
  std::size_t srcPitch, srcHeight;
  std::size_t dstXInBytes, dstY, dstZ, dstLOD;
  CUmemorytype dstMemoryType;
  void* dstHost;
  CUdeviceptr dstDevice;
  CUarray dstArray;
  void* reserved1;
  std::size_t dstPitch, dstHeight;
  std::size_t WidthInBytes, Height, Depth;
};
static_assert(sizeof(CUDA_MEMCPY3D) == 200);

struct CUDA_ARRAY_DESCRIPTOR {
  std::size_t Width, Height;
  unsigned Format, NumChannels;  // CUarray_format
};
static_assert(sizeof(CUDA_ARRAY_DESCRIPTOR) == 24);
struct CUDA_ARRAY3D_DESCRIPTOR {
  std::size_t Width, Height, Depth;
  unsigned Format, NumChannels, Flags;
};
static_assert(sizeof(CUDA_ARRAY3D_DESCRIPTOR) == 40);

enum CUresourcetype : unsigned {
  resource_array = 0,
  resource_mipmapped_array = 1,
  resource_linear = 2,
  resource_pitch_2d = 3,
};
struct CUDA_RESOURCE_DESC {
  CUresourcetype type;
  union {
    CUarray array;
    struct {
      CUdeviceptr address;
      unsigned format, channels;
      std::size_t bytes;
    } linear;
    struct {
      CUdeviceptr address;
      unsigned format, channels;
      std::size_t width, height, pitch;
    } rows;
    int reserved[32];
  };
  unsigned flags;
};
static_assert(sizeof(CUDA_RESOURCE_DESC) == 144);
struct CUDA_TEXTURE_DESC {
  unsigned modes[3], filter, flags, anisotropy, mip_filter;
  float mip[3], border[4];
  int reserved[12];
};
static_assert(sizeof(CUDA_TEXTURE_DESC) == 104);
struct CUDA_RESOURCE_VIEW_DESC {
  unsigned format;
  std::size_t width, height, depth;
  unsigned levels[2], layers[2], reserved[16];
};
static_assert(sizeof(CUDA_RESOURCE_VIEW_DESC) == 112);

struct CUaccessPolicyWindow {
  void* base;
  std::size_t bytes;
  float hit_ratio;
  int hit, miss;  // CUaccessProperty
};
union CUlaunchAttributeValue {
  unsigned cluster[3];
  int number;
  CUaccessPolicyWindow window;
  struct {
    CUevent event;
    int flags;
  } event;
  char bytes[64];
};
struct CUlaunchAttribute {
  int id;
  char pad[4];
  CUlaunchAttributeValue value;
};
enum CUlaunchAttributeID : int {
  attribute_access_policy_window = 1,
  attribute_cooperative = 2,
  attribute_synchronization_policy = 3,
  attribute_cluster_dimension = 4,
  attribute_programmatic_stream_serialization = 6,
  attribute_programmatic_event = 7,
  attribute_priority = 8,
  attribute_sync_domain_map = 9,
  attribute_sync_domain = 10,
  attribute_launch_completion_event = 12,
};
struct CUlaunchConfig {
  unsigned grid[3], block[3], sharedMemBytes;
  CUstream hStream;
  CUlaunchAttribute* attrs;
  unsigned numAttrs;
};
static_assert(sizeof(CUlaunchConfig) == 56);

// `extra` of a launch: pairs of a key and a value, up to the key 0.
inline void* const launch_parameter_end = nullptr;
inline void* const launch_parameter_buffer = reinterpret_cast<void*>(1);
inline void* const launch_parameter_bytes = reinterpret_cast<void*>(2);

enum CUpointer_attribute : int {
  pointer_context = 1,
  pointer_memory_type = 2,
  pointer_device_pointer = 3,
  pointer_host_pointer = 4,
  pointer_sync_memops = 6,
  pointer_buffer_id = 7,
  pointer_is_managed = 8,
  pointer_device_ordinal = 9,
  pointer_is_legacy_ipc_capable = 10,
  pointer_range_start = 11,
  pointer_range_size = 12,
  pointer_mapped = 13,
  pointer_allowed_handle_types = 14,
  pointer_is_gpu_direct_capable = 15,
  pointer_access_flags = 16,
  pointer_mempool = 17,
};

struct CUmemPoolProps {
  int allocType, handleTypes;
  int location_type, location_id;
  void* win32SecurityAttributes;
  std::size_t maxSize;
  unsigned short usage;
  unsigned char reserved[54];
};
static_assert(sizeof(CUmemPoolProps) == 88);

// CUstreamBatchMemOpType
enum CUstreamBatchMemOpType : unsigned {
  wait_value_32 = 1,
  write_value_32 = 2,
  flush_remote_writes = 3,
  wait_value_64 = 4,
  write_value_64 = 5,
  memory_barrier = 6,
};
struct CUstreamBatchMemOpParams {
  CUstreamBatchMemOpType operation;
  unsigned barrier;  // of a memory barrier, or a flush: its flags
  CUdeviceptr address;
  unsigned long long value;  // of 32 bits the lower half
  unsigned flags;
  CUdeviceptr alias;
  unsigned long long pad;
};
static_assert(sizeof(CUstreamBatchMemOpParams) == 48);

// Of the newest CUDA whose programs were tried.
inline constexpr int driver_version = 13000;

using CUhostFn = void (*)(void*);
using CUstreamCallback = void (*)(CUstream, CUresult, void*);

// What the stand-in exports.
#define TILESCOPE_CUDA extern "C" __attribute__((visibility("default"))) CUresult
