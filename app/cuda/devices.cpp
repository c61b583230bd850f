// The driver, and the one device that there is, as `--device` describes it.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "app/cuda/connection.h"
#include "app/cuda/contexts.h"
#include "app/cuda/names.h"

namespace tilescope::standin {
namespace {

// What nvidia-smi would call it, by its UUID below.
constexpr std::string_view device_id = "GPU-74696c65-7363-6f70-652d-73696d2d3030";

CUresult wrong_device(CUdevice device) {
  if (!is_connected()) return CUDA_ERROR_NOT_INITIALIZED;
  return device == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

// What the program's user lets it see (CUDA C++ Programming Guide, "CUDA Environment Variables"):
// numbers, or the beginning of what the device is called, up to the first that there is none of.
CUresult hidden() {
  const char* const list = std::getenv("CUDA_VISIBLE_DEVICES");
  if (!list) return CUDA_SUCCESS;
  int seen = 0;
  for (std::string_view left = list; !left.empty();) {
    const std::size_t comma = left.find(',');
    std::string_view one = left.substr(0, comma);
    while (!one.empty() && one.front() == ' ') one.remove_prefix(1);
    const std::size_t digits = one.find_first_not_of("0");
    const bool is_it = one.size() > 4 ? device_id.substr(0, one.size()) == one
                                      : !one.empty() && digits == one.npos;
    if (!is_it) break;
    if (++seen > 1) return CUDA_ERROR_INVALID_DEVICE;  // twice (measured on an H200)
    left.remove_prefix(comma == left.npos ? left.size() : comma + 1);
  }
  return seen ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE;
}

}  // namespace

TILESCOPE_CUDA cuInit(unsigned flags) {
  if (flags) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult none = hidden()) return none;
  return connect();
}

TILESCOPE_CUDA cuDriverGetVersion(int* version) {
  if (!version) return CUDA_ERROR_INVALID_VALUE;
  *version = driver_version;
  return CUDA_SUCCESS;
}

TILESCOPE_CUDA cuGetProcAddress_v2(const char* name, void** function, int version,
                                   std::uint64_t flags, int* status) {
  constexpr std::uint64_t per_thread = 2;  // CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM
  if (!name || !function || flags > per_thread) return CUDA_ERROR_INVALID_VALUE;
  const FoundCall found = find_call(name, version, flags == per_thread);
  *function = found.address;
  if (status)
    *status = found.address ? 0 : found.too_new ? 2 : 1;  // CUdriverProcAddressQueryResult
  return found.address ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
TILESCOPE_CUDA cuGetProcAddress(const char* name, void** function, int version,
                                std::uint64_t flags) {
  return cuGetProcAddress_v2(name, function, version, flags, nullptr);
}

TILESCOPE_CUDA cuDeviceGetCount(int* count) {
  if (!is_connected()) return CUDA_ERROR_NOT_INITIALIZED;
  if (in_host_function()) return CUDA_ERROR_NOT_PERMITTED;
  if (!count) return CUDA_ERROR_INVALID_VALUE;
  *count = 1;
  return CUDA_SUCCESS;
}

TILESCOPE_CUDA cuDeviceGet(CUdevice* device, int ordinal) {
  if (!device) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult wrong = wrong_device(ordinal)) return wrong;
  *device = ordinal;
  return CUDA_SUCCESS;
}

TILESCOPE_CUDA cuDeviceGetName(char* name, int length, CUdevice device) {
  if (const CUresult wrong = wrong_device(device)) return wrong;
  if (!name || length < 1) return CUDA_ERROR_INVALID_VALUE;
  Question question(Call::device_name);
  if (const CUresult result = question.ask()) return result;
  std::snprintf(name, static_cast<std::size_t>(length), "%s",
                std::string(question.results().text()).c_str());
  return CUDA_SUCCESS;
}

TILESCOPE_CUDA cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice device) {
  if (const CUresult wrong = wrong_device(device)) return wrong;
  if (!uuid) return CUDA_ERROR_INVALID_VALUE;
  std::memcpy(uuid->bytes, "tilescope-sim-00", sizeof uuid->bytes);
  return CUDA_SUCCESS;
}
TILESCOPE_CUDA cuDeviceGetUuid(CUuuid* uuid, CUdevice device) {
  return cuDeviceGetUuid_v2(uuid, device);
}

TILESCOPE_CUDA cuDeviceTotalMem_v2(std::size_t* bytes, CUdevice device) {
  if (const CUresult wrong = wrong_device(device)) return wrong;
  std::uint64_t free = 0, all = 0;
  if (!bytes) return CUDA_ERROR_INVALID_VALUE;
  const CUresult result = Question(Call::device_memory).ask(&free, &all);
  *bytes = all;
  return result;
}

TILESCOPE_CUDA cuMemGetInfo_v2(std::size_t* free, std::size_t* all) {
  return Question(Call::device_memory).ask(free, all);
}

TILESCOPE_CUDA cuDeviceGetAttribute(int* value, int attribute, CUdevice device) {
  if (const CUresult wrong = wrong_device(device)) return wrong;
  return Question(Call::device_attribute).with(attribute).ask(value);
}

TILESCOPE_CUDA cuDeviceComputeCapability(int* major, int* minor, CUdevice device) {
  if (const CUresult wrong = cuDeviceGetAttribute(major, 75, device)) return wrong;
  return cuDeviceGetAttribute(minor, 76, device);
}

TILESCOPE_CUDA cuDeviceGetPCIBusId(char* id, int length, CUdevice device) {
  if (const CUresult wrong = wrong_device(device)) return wrong;
  if (!id || length < 13) return CUDA_ERROR_INVALID_VALUE;
  std::snprintf(id, static_cast<std::size_t>(length), "0000:01:00.0");
  return CUDA_SUCCESS;
}

TILESCOPE_CUDA cuDeviceGetByPCIBusId(CUdevice* device, const char* id) {
  if (!device || !id) return CUDA_ERROR_INVALID_VALUE;
  if (!std::strstr(id, "01:00")) return CUDA_ERROR_INVALID_DEVICE;
  *device = 0;
  return CUDA_SUCCESS;
}

TILESCOPE_CUDA cuDeviceGetTexture1DLinearMaxWidth(std::size_t* width, int, unsigned,
                                                  CUdevice device) {
  if (const CUresult wrong = wrong_device(device)) return wrong;
  if (!width) return CUDA_ERROR_INVALID_VALUE;
  *width = std::size_t{1} << 28;
  return CUDA_SUCCESS;
}

TILESCOPE_CUDA cuDeviceGetExecAffinitySupport(int* supported, int, CUdevice device) {
  if (const CUresult wrong = wrong_device(device)) return wrong;
  if (!supported) return CUDA_ERROR_INVALID_VALUE;
  *supported = 0;
  return CUDA_SUCCESS;
}

// There is no other.
TILESCOPE_CUDA cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer) {
  if (!can) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult wrong = wrong_device(device)) return wrong;
  *can = 0;
  return wrong_device(peer);
}
TILESCOPE_CUDA cuDeviceGetP2PAttribute(int* value, int, CUdevice device, CUdevice peer) {
  if (!value) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult wrong = wrong_device(device)) return wrong;
  if (const CUresult wrong = wrong_device(peer)) return wrong;
  return CUDA_ERROR_INVALID_DEVICE;  // one and the same
}
// Of contexts of one device (measured on an H200).
TILESCOPE_CUDA cuCtxEnablePeerAccess(CUcontext context, unsigned flags) {
  if (flags) return CUDA_ERROR_INVALID_VALUE;
  return is_context(context) ? CUDA_ERROR_PEER_ACCESS_UNSUPPORTED : CUDA_ERROR_INVALID_CONTEXT;
}

}  // namespace tilescope::standin
