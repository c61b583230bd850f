// Managed memory: where it should be, and what a program has said of it. Nothing here moves, so
// that it is kept only to be asked for.
#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "app/cuda/connection.h"
#include "app/cuda/graphs.h"
#include "app/cuda/memory.h"

namespace tilescope::standin {
namespace {

struct MemoryPlace {
  int type, id;
  bool operator==(const MemoryPlace&) const = default;
};
// CUmemLocationType; a device's number, and those that stand for the host and for none.
constexpr int place_none = 0, place_device = 1, place_host = 2, place_host_node = 3,
              place_own_node = 4;
constexpr int host_ordinal = -1, no_ordinal = -2;
constexpr MemoryPlace nowhere{place_none, no_ordinal};

struct Advice {
  bool mostly_read = false;
  bool by_device = false, by_host = false;  // accessed
  MemoryPlace preferred = nowhere, prefetched = nowhere;
};

std::mutex advice_mutex;
// By where it begins to hold, up to the next one; nothing was said of what lies before the first.
std::map<std::uint64_t, Advice>& all_advice() {
  static auto* const map = new std::map<std::uint64_t, Advice>{{0, {}}};
  return *map;
}

constexpr std::uint64_t advised_grain = 4096;

// From here on what holds can be another. Under the lock, as are those below.
std::map<std::uint64_t, Advice>::iterator split_advice(std::uint64_t at) {
  const auto before = std::prev(all_advice().upper_bound(at));
  return before->first == at ? before : all_advice().emplace(at, before->second).first;
}

template <class F>
void each_advice(std::uint64_t begin, std::uint64_t bytes, F f) {
  const std::uint64_t end = (begin + bytes + advised_grain - 1) / advised_grain * advised_grain;
  const auto first = split_advice(begin / advised_grain * advised_grain);
  const auto last = split_advice(end);
  for (auto at = first; at != last; ++at) f(at->second);
}

// All of it must be managed memory (CUDA Driver API, cuMemAdvise).
bool is_managed_range(std::uint64_t address, std::uint64_t bytes) {
  const auto block = host_block(address);
  return block && block->managed && bytes > 0 && bytes <= block->begin + block->bytes - address;
}

CUresult wrong_memory_place(MemoryPlace at) {
  if (at.type < place_device || at.type > place_own_node) return CUDA_ERROR_INVALID_VALUE;
  return at.type == place_device && at.id ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
}

MemoryPlace place_of(CUdevice device) {
  return device == host_ordinal ? MemoryPlace{place_host, 0} : MemoryPlace{place_device, device};
}

CUresult advise(std::uint64_t address, std::size_t bytes, int what, MemoryPlace at) {
  constexpr int set_read = 1, unset_read = 2, set_place = 3, unset_place = 4, set_by = 5,
                unset_by = 6;  // CUmem_advise
  if (what < set_read || what > unset_by || !is_managed_range(address, bytes)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (what == set_place && wrong_memory_place(at)) return CUDA_ERROR_INVALID_VALUE;
  const bool accessed = what == set_by || what == unset_by;
  if (accessed && !(at.type == place_device && at.id == 0) && at.type != place_host) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const std::lock_guard lock(advice_mutex);
  each_advice(address, bytes, [&](Advice& a) {
    if (what == set_read || what == unset_read) a.mostly_read = what == set_read;
    if (what == set_place) a.preferred = at;
    if (what == unset_place) a.preferred = nowhere;
    if (accessed) (at.type == place_device ? a.by_device : a.by_host) = what == set_by;
  });
  return CUDA_SUCCESS;
}

CUresult prefetch(std::uint64_t address, std::size_t bytes, MemoryPlace at, unsigned flags,
                  CUstream stream) {
  if (flags || !is_managed_range(address, bytes)) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult wrong = wrong_memory_place(at)) return wrong;
  if (const CUresult wrong = waits_for_captured(stream)) return wrong;
  const std::lock_guard lock(advice_mutex);
  each_advice(address, bytes, [&](Advice& a) { a.prefetched = at; });
  return CUDA_SUCCESS;
}

// The ordinal by which a place is told.
int ordinal_of(MemoryPlace at) {
  return at.type == place_none ? no_ordinal : at.type == place_device ? at.id : host_ordinal;
}

// What all of it has in common.
Advice common_advice(std::uint64_t address, std::size_t bytes) {
  Advice out;
  bool first = true;
  each_advice(address, bytes, [&](const Advice& a) {
    if (std::exchange(first, false)) {
      out = a;
      return;
    }
    out.mostly_read = out.mostly_read && a.mostly_read;
    out.by_device = out.by_device && a.by_device;
    out.by_host = out.by_host && a.by_host;
    if (!(out.preferred == a.preferred)) out.preferred = nowhere;
    if (!(out.prefetched == a.prefetched)) out.prefetched = nowhere;
  });
  return out;
}

CUresult range_attribute(void* to, std::size_t room, int which, const Advice& a) {
  constexpr int mostly_read = 1, preferred = 2, accessed_by = 3, prefetched = 4, preferred_type = 5,
                preferred_id = 6, prefetched_type = 7,
                prefetched_id = 8;  // CUmem_range_attribute
  const std::size_t words = room / sizeof(int);
  if (!to || room % sizeof(int) || words == 0 || (which != accessed_by && words != 1)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  int* const out = static_cast<int*>(to);
  const auto id = [](MemoryPlace at) { return at.type == place_none ? no_ordinal : at.id; };
  switch (which) {
    case mostly_read:
      return *out = a.mostly_read, CUDA_SUCCESS;
    case preferred:
      return *out = ordinal_of(a.preferred), CUDA_SUCCESS;
    case prefetched:
      return *out = ordinal_of(a.prefetched), CUDA_SUCCESS;
    case preferred_type:
      return *out = a.preferred.type, CUDA_SUCCESS;
    case preferred_id:
      return *out = id(a.preferred), CUDA_SUCCESS;
    case prefetched_type:
      return *out = a.prefetched.type, CUDA_SUCCESS;
    case prefetched_id:
      return *out = id(a.prefetched), CUDA_SUCCESS;
    case accessed_by: {
      std::fill_n(out, words, no_ordinal);
      std::size_t n = 0;
      if (a.by_device && n < words) out[n++] = 0;
      if (a.by_host && n < words) out[n++] = host_ordinal;
      return CUDA_SUCCESS;
    }
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

}  // namespace

TILESCOPE_CUDA cuMemAdvise(CUdeviceptr address, std::size_t bytes, int what, CUdevice device) {
  return advise(address, bytes, what, place_of(device));
}
TILESCOPE_CUDA cuMemAdvise_v2(CUdeviceptr address, std::size_t bytes, int what, MemoryPlace at) {
  return advise(address, bytes, what, at);
}
TILESCOPE_CUDA cuMemPrefetchAsync(CUdeviceptr address, std::size_t bytes, CUdevice device,
                                  CUstream stream) {
  return prefetch(address, bytes, place_of(device), 0, stream);
}
TILESCOPE_CUDA cuMemPrefetchAsync_v2(CUdeviceptr address, std::size_t bytes, MemoryPlace at,
                                     unsigned flags, CUstream stream) {
  return prefetch(address, bytes, at, flags, stream);
}
TILESCOPE_CUDA cuMemRangeGetAttribute(void* to, std::size_t room, int which, CUdeviceptr address,
                                      std::size_t bytes) {
  if (!is_managed_range(address, bytes)) return CUDA_ERROR_INVALID_VALUE;
  const std::lock_guard lock(advice_mutex);
  return range_attribute(to, room, which, common_advice(address, bytes));
}
TILESCOPE_CUDA cuMemRangeGetAttributes(void** to, std::size_t* room, int* which, std::size_t count,
                                       CUdeviceptr address, std::size_t bytes) {
  if (!to || !room || !which || count == 0 || !is_managed_range(address, bytes)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const std::lock_guard lock(advice_mutex);
  const Advice all_of_it = common_advice(address, bytes);
  for (std::size_t i = 0; i < count; ++i) {
    if (const CUresult wrong = range_attribute(to[i], room[i], which[i], all_of_it)) return wrong;
  }
  return CUDA_SUCCESS;
}
TILESCOPE_CUDA cuStreamAttachMemAsync(CUstream, CUdeviceptr address, std::size_t, unsigned flags) {
  constexpr unsigned global = 1, host = 2, single = 4;  // CU_MEM_ATTACH_...
  const auto block = host_block(address);
  const bool known = flags == global || flags == host || flags == single;
  return block && block->managed && known ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

}  // namespace tilescope::standin
