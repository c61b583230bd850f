// Pools of memory. What each has used, and what it keeps, is counted as a driver was seen to (an
// H200, CUDA 13.0): used memory in bytes, and what is kept in pieces of 32 MiB, up to the next wait
// of the host, and from then on up to the threshold. All of it is the device's memory: who asks for
// a pool of the host's gets one from which nothing can be allocated.
#include "app/cuda/pools.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>

#include "app/cuda/connection.h"

struct CUmemPoolHandle_st {
  bool is_default = false, on_device = true;
  std::uint64_t most = 0;  // bytes; 0: no limit
  std::array<int, 4> reuse = {0, 1, 1, 1};
  std::uint64_t threshold = 0;
  std::uint64_t reserved = 0, reserved_most = 0, used = 0, used_most = 0;  // bytes
};

namespace tilescope::standin {
namespace {

using Pool = CUmemPoolHandle_st;
struct PoolMemory {
  Pool* pool = nullptr;  // null: it is destroyed
  std::uint64_t bytes = 0;
};
struct PoolPlace {
  int type, id;
};
constexpr int invalid_location = 0, device_location = 1, last_location = 4;  // CUmemLocationType
constexpr int type_pinned = 1, type_managed = 2;                             // CUmemAllocationType
constexpr std::uint64_t pool_piece = std::uint64_t{32} << 20;
constexpr std::uint64_t in_pieces(std::uint64_t bytes) {
  return (bytes + pool_piece - 1) / pool_piece * pool_piece;
}

struct Pools {
  std::mutex mutex;
  std::map<Pool*, std::unique_ptr<Pool>> all;
  std::map<std::tuple<int, int>, Pool*> defaults, current;  // by allocation type and place
  std::map<std::uint64_t, PoolMemory> memory;               // by address
};
Pools& pools() {
  static auto* const all = new Pools;
  return *all;
}

Pool* make_pool(bool is_default, bool on_device) {
  auto made = std::make_unique<Pool>();
  made->is_default = is_default, made->on_device = on_device;
  Pool* const out = made.get();
  pools().all[out] = std::move(made);
  return out;
}

// Of an allocation type at a place; made when somebody first asks. Under the lock.
Pool* default_pool(int type, int location) {
  Pool*& pool = pools().defaults[{type, location}];
  if (!pool) pool = make_pool(true, type == type_pinned && location == device_location);
  return pool;
}
Pool* pool_now(int type, int location) {
  Pool* const chosen = pools().current[{type, location}];
  return chosen ? chosen : default_pool(type, location);
}
bool is_there_pool(const Pool* pool) {
  return std::any_of(pools().all.begin(), pools().all.end(),
                     [&](const auto& each) { return each.first == pool; });
}
void keep(Pool& pool, std::uint64_t most) {
  pool.reserved = std::max(in_pieces(pool.used), std::min(pool.reserved, in_pieces(most)));
}

CUresult wrong_pool_place(const PoolPlace* at, int type) {
  if (!at || (type != type_pinned && type != type_managed)) return CUDA_ERROR_INVALID_VALUE;
  if (at->type <= invalid_location || at->type > last_location) return CUDA_ERROR_INVALID_VALUE;
  return at->type == device_location && at->id ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

}  // namespace

CUmemoryPool current_pool() {
  const std::lock_guard lock(pools().mutex);
  return pool_now(type_pinned, device_location);
}
bool is_pool(CUmemoryPool pool) {
  const std::lock_guard lock(pools().mutex);
  return is_there_pool(pool);
}
bool is_of_device(CUmemoryPool pool) {
  return pool->on_device;
}
CUmemoryPool pool_of(std::uint64_t address) {
  const std::lock_guard lock(pools().mutex);
  const auto after = pools().memory.upper_bound(address);
  if (after == pools().memory.begin()) return nullptr;
  const auto& [begin, memory] = *std::prev(after);
  return address - begin < memory.bytes ? memory.pool : nullptr;
}
bool has_room(CUmemoryPool pool, std::uint64_t bytes) {
  const std::lock_guard lock(pools().mutex);
  return !pool->most || pool->used + bytes <= in_pieces(pool->most);
}
void took_from_pool(CUmemoryPool pool, std::uint64_t address, std::uint64_t bytes) {
  const std::lock_guard lock(pools().mutex);
  pools().memory[address] = {pool, bytes};
  pool->used += bytes;
  pool->used_most = std::max(pool->used_most, pool->used);
  pool->reserved = std::max(pool->reserved, in_pieces(pool->used));
  pool->reserved_most = std::max(pool->reserved_most, pool->reserved);
}
void gave_to_pool(std::uint64_t address) {
  const std::lock_guard lock(pools().mutex);
  const auto found = pools().memory.find(address);
  if (found == pools().memory.end()) return;
  if (found->second.pool) found->second.pool->used -= found->second.bytes;
  pools().memory.erase(found);
}
void trim_pools() {
  const std::lock_guard lock(pools().mutex);
  for (const auto& [at, pool] : pools().all) keep(*pool, pool->threshold);
}

TILESCOPE_CUDA cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice device) {
  if (!pool) return CUDA_ERROR_INVALID_VALUE;
  if (device != 0) return CUDA_ERROR_INVALID_DEVICE;
  const std::lock_guard lock(pools().mutex);
  *pool = default_pool(type_pinned, device_location);
  return CUDA_SUCCESS;
}
TILESCOPE_CUDA cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice device) {
  if (!pool) return CUDA_ERROR_INVALID_VALUE;
  if (device != 0) return CUDA_ERROR_INVALID_DEVICE;
  *pool = current_pool();
  return CUDA_SUCCESS;
}
TILESCOPE_CUDA cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool) {
  if (device != 0) return CUDA_ERROR_INVALID_DEVICE;
  const std::lock_guard lock(pools().mutex);
  if (!is_there_pool(pool) || !pool->on_device) return CUDA_ERROR_INVALID_VALUE;
  pools().current[{type_pinned, device_location}] = pool;
  return CUDA_SUCCESS;
}
TILESCOPE_CUDA cuMemGetDefaultMemPool(CUmemoryPool* pool, PoolPlace* at, int type) {
  if (!pool) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult wrong = wrong_pool_place(at, type)) return wrong;
  const std::lock_guard lock(pools().mutex);
  *pool = default_pool(type, at->type);
  return CUDA_SUCCESS;
}
TILESCOPE_CUDA cuMemGetMemPool(CUmemoryPool* pool, PoolPlace* at, int type) {
  if (!pool) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult wrong = wrong_pool_place(at, type)) return wrong;
  const std::lock_guard lock(pools().mutex);
  *pool = pool_now(type, at->type);
  return CUDA_SUCCESS;
}
TILESCOPE_CUDA cuMemSetMemPool(PoolPlace* at, int type, CUmemoryPool pool) {
  if (const CUresult wrong = wrong_pool_place(at, type)) return wrong;
  const std::lock_guard lock(pools().mutex);
  const bool of_device = type == type_pinned && at->type == device_location;
  if (!is_there_pool(pool) || pool->on_device != of_device) return CUDA_ERROR_INVALID_VALUE;
  pools().current[{type, at->type}] = pool;
  return CUDA_SUCCESS;
}
TILESCOPE_CUDA cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* how) {
  if (!pool || !how) return CUDA_ERROR_INVALID_VALUE;
  const PoolPlace at{how->location_type, how->location_id};
  if (wrong_pool_place(&at, how->allocType)) return CUDA_ERROR_INVALID_VALUE;
  const std::lock_guard lock(pools().mutex);
  *pool = make_pool(false, how->allocType == type_pinned && at.type == device_location);
  (*pool)->most = how->maxSize;
  return CUDA_SUCCESS;
}
// What was allocated from it stays until it is given back.
TILESCOPE_CUDA cuMemPoolDestroy(CUmemoryPool pool) {
  const std::lock_guard lock(pools().mutex);
  if (!is_there_pool(pool) || pool->is_default) return CUDA_ERROR_INVALID_VALUE;
  for (auto& [address, memory] : pools().memory) {
    if (memory.pool == pool) memory.pool = nullptr;
  }
  std::erase_if(pools().current, [&](const auto& each) { return each.second == pool; });
  pools().all.erase(pool);
  return CUDA_SUCCESS;
}
TILESCOPE_CUDA cuMemPoolTrimTo(CUmemoryPool pool, std::size_t bytes) {
  const std::lock_guard lock(pools().mutex);
  if (!is_there_pool(pool)) return CUDA_ERROR_INVALID_VALUE;
  keep(*pool, bytes);
  return CUDA_SUCCESS;
}
struct PoolAccess {  // CUmemAccessDesc
  PoolPlace at;
  unsigned flags;
};
// The device whose memory it is keeps its access.
TILESCOPE_CUDA cuMemPoolSetAccess(CUmemoryPool pool, const PoolAccess* how, std::size_t count) {
  if (!is_pool(pool) || (!how && count)) return CUDA_ERROR_INVALID_VALUE;
  for (std::size_t i = 0; i < count; ++i) {
    if (how[i].flags == 0) return CUDA_ERROR_INVALID_DEVICE;
  }
  return CUDA_SUCCESS;
}
TILESCOPE_CUDA cuMemPoolGetAccess(int* flags, CUmemoryPool pool, const PoolPlace* at) {
  if (!flags || !at || !is_pool(pool)) return CUDA_ERROR_INVALID_VALUE;
  *flags = 3;  // reading and writing
  return CUDA_SUCCESS;
}

// CUmemPool_attribute: from 1 three about reuse, which change nothing here, the threshold, then
// what is reserved and used, now and at most.
namespace pool_attribute {
enum : int { last_reuse = 3, threshold, reserved, reserved_most, used, used_most };
}
TILESCOPE_CUDA cuMemPoolSetAttribute(CUmemoryPool pool, int which, void* value) {
  const std::lock_guard lock(pools().mutex);
  if (!value || !is_there_pool(pool) || which < 1) return CUDA_ERROR_INVALID_VALUE;
  if (which <= pool_attribute::last_reuse) {
    std::memcpy(&pool->reuse[static_cast<std::size_t>(which)], value, sizeof(int));
    return CUDA_SUCCESS;
  }
  std::uint64_t asked = 0;
  std::memcpy(&asked, value, sizeof asked);
  if (which == pool_attribute::threshold) return pool->threshold = asked, CUDA_SUCCESS;
  // The most can be set back, and nothing else.
  if (asked || (which != pool_attribute::reserved_most && which != pool_attribute::used_most))
    return CUDA_ERROR_INVALID_VALUE;
  if (which == pool_attribute::reserved_most) pool->reserved_most = pool->reserved;
  if (which == pool_attribute::used_most) pool->used_most = pool->used;
  return CUDA_SUCCESS;
}
TILESCOPE_CUDA cuMemPoolGetAttribute(CUmemoryPool pool, int which, void* value) {
  const std::lock_guard lock(pools().mutex);
  if (!value || !is_there_pool(pool) || which < 1 || which > pool_attribute::used_most)
    return CUDA_ERROR_INVALID_VALUE;
  if (which <= pool_attribute::last_reuse) {
    std::memcpy(value, &pool->reuse[static_cast<std::size_t>(which)], sizeof(int));
    return CUDA_SUCCESS;
  }
  const std::uint64_t all[] = {pool->threshold, pool->reserved, pool->reserved_most, pool->used,
                               pool->used_most};
  std::memcpy(value, &all[which - pool_attribute::threshold], sizeof all[0]);
  return CUDA_SUCCESS;
}
}  // namespace tilescope::standin
