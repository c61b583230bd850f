// Virtual memory management: addresses are reserved, memory is made, and what lies where is said.
#include <algorithm>

#include "app/cuda/connection.h"
#include "app/cuda/graphs.h"

namespace tilescope::standin {
namespace {

using Physical = unsigned long long;  // CUmemGenericAllocationHandle

struct Location {  // CUmemLocation
  int type, id;
};
struct Properties {  // CUmemAllocationProp
  int type, handles;
  Location location;
  void* windows;
  unsigned char compression, rdma;
  unsigned short usage;
  unsigned char reserved[4];
};
static_assert(sizeof(Properties) == 32);
struct Access {  // CUmemAccessDesc
  Location location;
  int flags;
};

constexpr int pinned = 1, on_a_device = 1;  // CU_MEM_ALLOCATION_TYPE_..., CU_MEM_LOCATION_TYPE_...
constexpr int reads = 1, reads_and_writes = 3;  // CU_MEM_ACCESS_FLAGS_PROT_...

CUresult wrong_location(const Location& where) {
  if (where.type == on_a_device) {
    return where.id == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
  }
  const bool of_host = where.type >= 2 && where.type <= 4;  // the host, one of its NUMA nodes
  return of_host ? not_supported("virtual memory of the host") : CUDA_ERROR_INVALID_VALUE;
}

CUresult wrong_properties(const Properties* how) {
  if (!is_connected()) return CUDA_ERROR_NOT_INITIALIZED;
  if (!how || how->type != pinned) return CUDA_ERROR_INVALID_VALUE;
  return wrong_location(how->location);
}

}  // namespace

TILESCOPE_CUDA cuMemGetAllocationGranularity(std::size_t* grain, const Properties* how, int which) {
  if (!grain || which < 0 || which > 1) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult wrong = wrong_properties(how)) return wrong;
  *grain = wire::mapped_grain;  // the least one, and the one that is recommended
  return CUDA_SUCCESS;
}

// ---- addresses ----------------------------------------------------------------------------------

TILESCOPE_CUDA cuMemAddressReserve(CUdeviceptr* address, std::size_t bytes, std::size_t alignment,
                                   CUdeviceptr at, unsigned long long flags) {
  if (!address || flags) return CUDA_ERROR_INVALID_VALUE;
  return Question(Call::reserve)
      .with(std::uint64_t{bytes})
      .with(std::uint64_t{alignment})
      .with(std::uint64_t{at})
      .ask(address);
}
TILESCOPE_CUDA cuMemAddressFree(CUdeviceptr address, std::size_t bytes) {
  return Question(Call::unreserve).with(std::uint64_t{address}).with(std::uint64_t{bytes}).ask();
}

// ---- memory -------------------------------------------------------------------------------------

TILESCOPE_CUDA cuMemCreate(Physical* memory, std::size_t bytes, const Properties* how,
                           unsigned long long flags) {
  if (!memory || flags) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult wrong = wrong_properties(how)) return wrong;
  return Question(Call::physical_create)
      .with(std::uint64_t{bytes})
      .with(static_cast<std::uint32_t>(how->handles))
      .ask(memory);
}
TILESCOPE_CUDA cuMemRelease(Physical memory) {
  return Question(Call::physical_release).with(std::uint64_t{memory}).ask();
}
TILESCOPE_CUDA cuMemRetainAllocationHandle(Physical* memory, void* address) {
  return Question(Call::retain).with(reinterpret_cast<std::uint64_t>(address)).ask(memory);
}
TILESCOPE_CUDA cuMemGetAllocationPropertiesFromHandle(Properties* how, Physical memory) {
  std::uint64_t bytes = 0;
  std::uint32_t handles = 0;
  if (!how) return CUDA_ERROR_INVALID_VALUE;
  const CUresult result =
      Question(Call::physical_find).with(std::uint64_t{memory}).ask(&bytes, &handles);
  if (result) return result;
  *how = {};
  how->type = pinned;
  how->handles = static_cast<int>(handles);
  how->location = {on_a_device, 0};
  return CUDA_SUCCESS;
}

// ---- what lies where ----------------------------------------------------------------------------

TILESCOPE_CUDA cuMemMap(CUdeviceptr address, std::size_t bytes, std::size_t offset, Physical memory,
                        unsigned long long flags) {
  if (offset || flags) return CUDA_ERROR_INVALID_VALUE;
  return Question(Call::map)
      .with(std::uint64_t{address})
      .with(std::uint64_t{bytes})
      .with(std::uint64_t{memory})
      .ask();
}
TILESCOPE_CUDA cuMemUnmap(CUdeviceptr address, std::size_t bytes) {
  catch_up_all();
  return Question(Call::unmap).with(std::uint64_t{address}).with(std::uint64_t{bytes}).ask();
}
TILESCOPE_CUDA cuMemSetAccess(CUdeviceptr address, std::size_t bytes, const Access* who,
                              std::size_t count) {
  if (!who || count == 0) return CUDA_ERROR_INVALID_VALUE;
  for (std::size_t i = 0; i < count; ++i) {
    if (const CUresult wrong = wrong_location(who[i].location)) return wrong;
    if (who[i].flags && who[i].flags != reads && who[i].flags != reads_and_writes) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    const CUresult wrong = Question(Call::access_set)
                               .with(std::uint64_t{address})
                               .with(std::uint64_t{bytes})
                               .with(static_cast<std::uint32_t>(who[i].flags))
                               .ask();
    if (wrong) return wrong;
  }
  return CUDA_SUCCESS;
}
TILESCOPE_CUDA cuMemGetAccess(unsigned long long* flags, const Location* where,
                              CUdeviceptr address) {
  std::uint32_t own = 0;
  if (!flags || !where) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult wrong = wrong_location(*where)) return wrong;
  const CUresult result = Question(Call::access_get).with(std::uint64_t{address}).ask(&own);
  *flags = own;
  return result;
}

}  // namespace tilescope::standin
