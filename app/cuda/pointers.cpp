// What a pointer is; pools, of which there is one.
#include <array>
#include <cstring>

#include "app/cuda/connection.h"
#include "app/cuda/contexts.h"
#include "app/cuda/memory.h"

namespace tilescope::standin {
namespace {

struct Pointed {
  std::uint64_t begin = 0, bytes = 0;
  bool known = false, on_host = false, managed = false;
};

Pointed pointed(std::uint64_t address) {
  Pointed out;
  if (const auto block = host_block(address)) {
    return {block->begin, block->bytes, true, !block->managed, block->managed};
  }
  if (wire::on_device(address)) {
    out.known = Question(Call::find).with(address).ask(&out.begin, &out.bytes) == CUDA_SUCCESS;
  }
  return out;
}

template <class T>
CUresult give(void* to, const T& value) {
  std::memcpy(to, &value, sizeof value);
  return CUDA_SUCCESS;
}

CUresult attribute(void* to, int which, std::uint64_t address, const Pointed& p) {
  switch (which) {
    case pointer_context:
      return give(to, current_context() ? current_context() : primary_context());
    case pointer_memory_type:
      return give(to, p.on_host ? memory_host : memory_device);
    case pointer_device_pointer:
      return give(to, address);
    case pointer_host_pointer:
      if (!p.on_host && !p.managed) return CUDA_ERROR_INVALID_VALUE;
      return give(to, address);
    case pointer_buffer_id:
      return give(to, static_cast<unsigned long long>(p.begin));
    case pointer_is_managed:
      return give(to, static_cast<int>(p.managed));
    case pointer_device_ordinal:
      return give(to, int{0});
    case pointer_range_start:
      return give(to, p.begin);
    case pointer_range_size:
      return give(to, p.bytes);
    case pointer_mapped:
      return give(to, int{1});
    case pointer_access_flags:
      return give(to, int{3});  // reading and writing
    case pointer_is_legacy_ipc_capable:
    case pointer_is_gpu_direct_capable:
    case pointer_sync_memops:
      return give(to, int{0});
    case pointer_allowed_handle_types:
    case pointer_mempool:
      return give(to, std::uint64_t{0});
    default:
      return CUDA_ERROR_NOT_SUPPORTED;
  }
}

// Where nothing is known of the pointer (CUDA Driver API, cuPointerGetAttributes).
void give_nothing(void* to, int which) {
  switch (which) {
    case pointer_context:
    case pointer_device_pointer:
    case pointer_host_pointer:
    case pointer_buffer_id:
    case pointer_range_start:
    case pointer_range_size:
    case pointer_allowed_handle_types:
    case pointer_mempool:
      give(to, std::uint64_t{0});
      break;
    case pointer_device_ordinal:
      give(to, int{-2});
      break;
    default:
      give(to, int{0});
  }
}

}  // namespace

TILESCOPE_CUDA cuPointerGetAttribute(void* to, int which, CUdeviceptr address) {
  const Pointed p = pointed(address);
  if (!to || !p.known) return CUDA_ERROR_INVALID_VALUE;
  return attribute(to, which, address, p);
}
TILESCOPE_CUDA cuPointerGetAttributes(unsigned count, int* which, void** to, CUdeviceptr address) {
  if (!which || !to) return CUDA_ERROR_INVALID_VALUE;
  const Pointed p = pointed(address);
  for (unsigned i = 0; i < count; ++i) {
    if (!p.known || attribute(to[i], which[i], address, p)) give_nothing(to[i], which[i]);
  }
  return CUDA_SUCCESS;
}
TILESCOPE_CUDA cuPointerSetAttribute(const void*, int which, CUdeviceptr) {
  return which == pointer_sync_memops ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

// ---- pools --------------------------------------------------------------------------------------

namespace {
// CUmemPool_attribute, from 1: three ints about reuse, the threshold, then what is reserved and
// used.
std::array<std::uint64_t, 9> pool_attributes = {0, 1, 1, 1};
constexpr int first_number = 4, used = 7, last_attribute = 8;
CUmemoryPool the_pool() {
  return handle_of<CUmemoryPool>(1);
}
CUresult give_pool(CUmemoryPool* pool) {
  if (!pool) return CUDA_ERROR_INVALID_VALUE;
  *pool = the_pool();
  return CUDA_SUCCESS;
}
}  // namespace

TILESCOPE_CUDA cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice) {
  return give_pool(pool);
}
TILESCOPE_CUDA cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice) {
  return give_pool(pool);
}
TILESCOPE_CUDA cuDeviceSetMemPool(CUdevice, CUmemoryPool) {
  return CUDA_SUCCESS;
}
TILESCOPE_CUDA cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps*) {
  return give_pool(pool);
}
TILESCOPE_CUDA cuMemPoolDestroy(CUmemoryPool) {
  return CUDA_SUCCESS;
}
TILESCOPE_CUDA cuMemPoolTrimTo(CUmemoryPool, std::size_t) {
  return CUDA_SUCCESS;
}
TILESCOPE_CUDA cuMemPoolSetAccess(CUmemoryPool, const void*, std::size_t) {
  return CUDA_SUCCESS;
}
TILESCOPE_CUDA cuMemPoolGetAccess(int* flags, CUmemoryPool, void*) {
  if (!flags) return CUDA_ERROR_INVALID_VALUE;
  *flags = 3;
  return CUDA_SUCCESS;
}
TILESCOPE_CUDA cuMemPoolSetAttribute(CUmemoryPool, int which, void* value) {
  if (!value || which < 1 || which > last_attribute) return CUDA_ERROR_INVALID_VALUE;
  auto& own = pool_attributes[static_cast<std::size_t>(which)];
  own = 0;
  std::memcpy(&own, value, which < first_number ? sizeof(int) : sizeof own);
  return CUDA_SUCCESS;
}
TILESCOPE_CUDA cuMemPoolGetAttribute(CUmemoryPool, int which, void* value) {
  if (!value || which < 1 || which > last_attribute) return CUDA_ERROR_INVALID_VALUE;
  std::uint64_t own = pool_attributes[static_cast<std::size_t>(which)];
  if (which > first_number) {  // what is reserved is what is used
    std::uint64_t free = 0, all = 0;
    if (const CUresult result = Question(Call::device_memory).ask(&free, &all)) return result;
    own = all - free;
  }
  std::memcpy(value, &own, which < first_number ? sizeof(int) : sizeof own);
  return CUDA_SUCCESS;
}

}  // namespace tilescope::standin
