// What a pointer is.
#include <cstring>

#include "app/cuda/connection.h"
#include "app/cuda/contexts.h"
#include "app/cuda/memory.h"
#include "app/cuda/pools.h"

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
      return give(to, std::uint64_t{0});
    case pointer_mempool:
      return give(to, pool_of(address));
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
TILESCOPE_CUDA cuPointerSetAttribute(const void* value, int which, CUdeviceptr) {
  return value && which == pointer_sync_memops ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

}  // namespace tilescope::standin
