// cuGetProcAddress: as the real driver answers, but for what is looked at.
#include "app/cuda_capture/real.h"

namespace tilescope::shim {
namespace {

Real<const char*, void**, int, std::uint64_t> get_address("cuGetProcAddress");
Real<const char*, void**, int, std::uint64_t, int*> get_address_v2("cuGetProcAddress_v2");

CUresult with_ours(CUresult result, const char* name, void** function, int version,
                   std::uint64_t flags) {
  if (result == CUDA_SUCCESS && name && function && *function) {
    if (void* const own = own_for(name, *function, version, flags)) *function = own;
  }
  return result;
}

}  // namespace

TILESCOPE_CUDA cuGetProcAddress_v2(const char* name, void** function, int version,
                                   std::uint64_t flags, int* status) {
  return with_ours(get_address_v2(name, function, version, flags, status), name, function, version,
                   flags);
}
TILESCOPE_CUDA cuGetProcAddress(const char* name, void** function, int version,
                                std::uint64_t flags) {
  return with_ours(get_address(name, function, version, flags), name, function, version, flags);
}

}  // namespace tilescope::shim
