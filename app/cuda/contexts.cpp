#include "app/cuda/contexts.h"

#include <array>
#include <memory>
#include <mutex>
#include <set>
#include <type_traits>
#include <utility>

#include "app/cuda/connection.h"
#include "app/cuda/graphs.h"
#include "app/cuda/memory.h"
#include "app/cuda/pools.h"

namespace tilescope::standin {
namespace {

std::mutex contexts_mutex;
std::set<std::unique_ptr<CUctx_st>>& contexts() {
  static auto* const all = new std::set<std::unique_ptr<CUctx_st>>;  // outlives every thread
  return *all;
}
CUcontext primary = nullptr;
int primary_uses = 0;
unsigned primary_flags = 0;
// Those of a thread, the current one last. Runtimes end their context when all that a thread has to
// destroy is destroyed, so that there is nothing of that kind here.
class Stack {
 public:
  bool empty() const { return count_ == 0; }
  CUcontext back() const { return all_[count_ - 1]; }
  void pop_back() { --count_; }
  bool push_back(CUcontext context) {
    if (count_ == all_.size()) return false;
    all_[count_++] = context;
    return true;
  }

 private:
  std::array<CUcontext, 256> all_;
  std::size_t count_;
};
thread_local Stack stack;
static_assert(std::is_trivially_destructible_v<Stack>);
thread_local bool is_in_host_function = false;

// CU_CTX_...: how the host waits (one of 1, 2, 4), and flags that change nothing here.
bool are_flags(unsigned flags) {
  constexpr unsigned waits = 7, others = 0xf8;
  const unsigned how = flags & waits;
  return !(flags & ~(waits | others)) && (how & (how - 1)) == 0;
}

CUcontext make_context(bool is_primary, unsigned flags) {
  static unsigned long long next = 1;
  auto made = std::make_unique<CUctx_st>();
  made->primary = is_primary;
  made->flags = flags;
  made->id = next++;
  return contexts().insert(std::move(made)).first->get();
}

void end_storage(CUcontext context) {
  const auto storage = std::move(context->storage);
  context->storage.clear();
  for (const auto& [key, value] : storage) {
    if (value.second) value.second(context, key, value.first);
  }
}

bool is_device(CUdevice device) {
  return device == 0;
}

// Its memory, modules, streams and events are gone; what its kernels have printed comes.
CUresult end(CUcontext context) {
  if (const CUresult wrong = catch_up_all(); wrong == CUDA_ERROR_NOT_PERMITTED) return wrong;
  end_storage(context);
  context->destroyed = true;
  forget_memory_of(context->id);
  Question question(Call::context_end);
  const CUresult result = question.with(std::uint64_t{context->id}).ask();
  print(question.results().text());
  return result;
}

}  // namespace

bool in_host_function() {
  return is_in_host_function;
}
void set_in_host_function(bool is) {
  is_in_host_function = is;
}

CUcontext current_context() {
  return stack.empty() ? nullptr : stack.back();
}

CUcontext primary_context() {
  const std::lock_guard lock(contexts_mutex);
  if (!primary) primary = make_context(true, primary_flags);
  return primary;
}

bool is_context(CUcontext context) {
  const std::lock_guard lock(contexts_mutex);
  for (const auto& each : contexts()) {
    if (each.get() == context) return context->primary || !context->destroyed;
  }
  return false;
}

// ---- the primary one ----------------------------------------------------------------------------

TILESCOPE_CUDA cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  if (!is_connected()) return CUDA_ERROR_NOT_INITIALIZED;
  if (!context) return CUDA_ERROR_INVALID_VALUE;
  if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  *context = primary_context();
  (*context)->destroyed = false;
  ++primary_uses;
  return CUDA_SUCCESS;
}

TILESCOPE_CUDA cuDevicePrimaryCtxReset_v2(CUdevice device) {
  if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  primary_uses = 0;
  return primary && !primary->destroyed ? end(primary) : CUDA_SUCCESS;
}

TILESCOPE_CUDA cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  if (primary_uses == 0) return CUDA_ERROR_INVALID_CONTEXT;
  return primary_uses == 1 ? cuDevicePrimaryCtxReset_v2(device) : (--primary_uses, CUDA_SUCCESS);
}

TILESCOPE_CUDA cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned flags) {
  if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  if (!are_flags(flags)) return CUDA_ERROR_INVALID_VALUE;
  primary_flags = flags;
  if (primary) primary->flags = flags;
  return CUDA_SUCCESS;
}

TILESCOPE_CUDA cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
  if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  if (!flags || !active) return CUDA_ERROR_INVALID_VALUE;
  *flags = primary_flags;
  *active = primary_uses > 0;
  return CUDA_SUCCESS;
}

// ---- one's own ----------------------------------------------------------------------------------

TILESCOPE_CUDA cuCtxCreate_v2(CUcontext* context, unsigned flags, CUdevice device) {
  if (!is_connected()) return CUDA_ERROR_NOT_INITIALIZED;
  if (!context || !are_flags(flags)) return CUDA_ERROR_INVALID_VALUE;
  if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  const std::lock_guard lock(contexts_mutex);
  *context = make_context(false, flags);
  return stack.push_back(*context) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

TILESCOPE_CUDA cuCtxCreate_v3(CUcontext* context, void* affinities, int count, unsigned flags,
                              CUdevice device) {
  if (affinities || count) return not_supported("cuCtxCreate with execution affinity");
  return cuCtxCreate_v2(context, flags, device);
}

// CUctxCreateParams; programs hand over one that says nothing.
struct ContextParameters {
  void* affinities;
  int count;
  void* graphics;
};
TILESCOPE_CUDA cuCtxCreate_v4(CUcontext* context, const ContextParameters* parameters,
                              unsigned flags, CUdevice device) {
  if (parameters && (parameters->affinities || parameters->count || parameters->graphics)) {
    return not_supported("cuCtxCreate with parameters");
  }
  return cuCtxCreate_v2(context, flags, device);
}

TILESCOPE_CUDA cuCtxDestroy_v2(CUcontext context) {
  if (!is_context(context) || context->primary) return CUDA_ERROR_INVALID_CONTEXT;
  const CUresult result = end(context);
  if (current_context() == context) stack.pop_back();
  return result;
}

TILESCOPE_CUDA cuCtxPushCurrent_v2(CUcontext context) {
  if (!is_context(context)) return CUDA_ERROR_INVALID_CONTEXT;
  return stack.push_back(context) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

TILESCOPE_CUDA cuCtxPopCurrent_v2(CUcontext* context) {
  if (stack.empty()) return CUDA_ERROR_INVALID_CONTEXT;
  if (context) *context = stack.back();
  stack.pop_back();
  return CUDA_SUCCESS;
}

TILESCOPE_CUDA cuCtxSetCurrent(CUcontext context) {
  if (!is_connected()) return CUDA_ERROR_NOT_INITIALIZED;
  if (context && !is_context(context)) return CUDA_ERROR_INVALID_CONTEXT;
  if (!stack.empty()) stack.pop_back();
  if (context) stack.push_back(context);
  return CUDA_SUCCESS;
}

TILESCOPE_CUDA cuCtxGetCurrent(CUcontext* context) {
  if (!is_connected()) return CUDA_ERROR_NOT_INITIALIZED;
  if (in_host_function()) return CUDA_ERROR_NOT_PERMITTED;
  if (!context) return CUDA_ERROR_INVALID_VALUE;
  *context = current_context();
  return CUDA_SUCCESS;
}

TILESCOPE_CUDA cuCtxGetDevice(CUdevice* device) {
  if (!device) return CUDA_ERROR_INVALID_VALUE;
  if (!current_context()) return CUDA_ERROR_INVALID_CONTEXT;
  *device = 0;
  return CUDA_SUCCESS;
}

TILESCOPE_CUDA cuCtxGetDevice_v2(CUdevice* device, CUcontext context) {
  if (!device) return CUDA_ERROR_INVALID_VALUE;
  if (!is_context(context ? context : current_context())) return CUDA_ERROR_INVALID_CONTEXT;
  *device = 0;
  return CUDA_SUCCESS;
}

TILESCOPE_CUDA cuCtxGetFlags(unsigned* flags) {
  if (!flags) return CUDA_ERROR_INVALID_VALUE;
  if (!current_context()) return CUDA_ERROR_INVALID_CONTEXT;
  *flags = current_context()->flags;
  return CUDA_SUCCESS;
}

TILESCOPE_CUDA cuCtxSetFlags(unsigned flags) {
  if (!are_flags(flags)) return CUDA_ERROR_INVALID_VALUE;
  if (!current_context()) return CUDA_ERROR_INVALID_CONTEXT;
  current_context()->flags = flags;
  return CUDA_SUCCESS;
}

TILESCOPE_CUDA cuCtxGetId(CUcontext context, unsigned long long* id) {
  if (!id) return CUDA_ERROR_INVALID_VALUE;
  const CUcontext of = context ? context : current_context();
  if (!is_context(of)) return CUDA_ERROR_INVALID_CONTEXT;
  *id = of->id;
  return CUDA_SUCCESS;
}

TILESCOPE_CUDA cuCtxGetApiVersion(CUcontext, unsigned* version) {
  if (!version) return CUDA_ERROR_INVALID_VALUE;
  *version = 3020;
  return CUDA_SUCCESS;
}

TILESCOPE_CUDA cuCtxSynchronize() {
  if (!current_context()) return CUDA_ERROR_INVALID_CONTEXT;
  if (const CUresult wrong = waits_for_all()) return wrong;
  if (const CUresult wrong = catch_up_all()) return wrong;
  Question question(Call::synchronize);
  const CUresult result = question.with(~std::uint64_t{0}).ask();
  print(question.results().text());
  trim_pools();
  return result;
}

TILESCOPE_CUDA cuCtxSynchronize_v2(CUcontext context) {
  if (context && !is_context(context)) return CUDA_ERROR_INVALID_CONTEXT;
  if (const CUresult wrong = waits_for_all()) return wrong;
  if (const CUresult wrong = catch_up_all()) return wrong;
  Question question(Call::synchronize);
  const CUresult result = question.with(~std::uint64_t{0}).ask();
  print(question.results().text());
  trim_pools();
  return result;
}

// ---- what can be set, and changes nothing here --------------------------------------------------

namespace {
// CUlimit: the stack, printf's buffer, the heap, two of dynamic parallelism, L2's grain and share.
std::array<std::size_t, 10> limits = {1024, 8650752, 8 << 20, 2, 2048, 64, 0, 0, 0, 0};
int cache_config = 0, shared_config = 0;
}  // namespace

TILESCOPE_CUDA cuCtxSetLimit(int limit, std::size_t value) {
  // CU_LIMIT_..., CU_DEVICE_ATTRIBUTE_...
  constexpr int persisting = 6, most_persisting = 108, cache_bytes = 38;
  if (limit < 0 || limit >= static_cast<int>(limits.size())) return CUDA_ERROR_INVALID_VALUE;
  if (!current_context()) return CUDA_ERROR_INVALID_CONTEXT;
  if (limit == persisting) {
    std::int32_t most = 0, cache = 0;
    const std::pair<std::int32_t, std::int32_t*> asked[] = {{most_persisting, &most},
                                                            {cache_bytes, &cache}};
    for (const auto& [attribute, answer] : asked) {
      if (const auto wrong = Question(Call::device_attribute).with(attribute).ask(answer)) {
        return wrong;
      }
    }
    if (value > static_cast<std::size_t>(most)) return CUDA_ERROR_INVALID_VALUE;
    // In ways of L2, of which there are 16 (measured on an H200).
    const std::size_t way = static_cast<std::size_t>(cache) / 16;
    if (way) value = std::min<std::size_t>((value + way - 1) / way * way, most);
  }
  limits[static_cast<std::size_t>(limit)] = value;
  return CUDA_SUCCESS;
}
TILESCOPE_CUDA cuCtxGetLimit(std::size_t* value, int limit) {
  if (!value || limit < 0 || limit >= static_cast<int>(limits.size())) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *value = limits[static_cast<std::size_t>(limit)];
  return CUDA_SUCCESS;
}
TILESCOPE_CUDA cuCtxSetCacheConfig(int config) {
  if (!is_cache_config(config)) return CUDA_ERROR_INVALID_VALUE;
  cache_config = config;
  return CUDA_SUCCESS;
}
TILESCOPE_CUDA cuCtxGetCacheConfig(int* config) {
  if (!config) return CUDA_ERROR_INVALID_VALUE;
  *config = cache_config;
  return CUDA_SUCCESS;
}
TILESCOPE_CUDA cuCtxSetSharedMemConfig(int config) {
  shared_config = config;
  return CUDA_SUCCESS;
}
TILESCOPE_CUDA cuCtxGetSharedMemConfig(int* config) {
  if (!config) return CUDA_ERROR_INVALID_VALUE;
  *config = shared_config;
  return CUDA_SUCCESS;
}
TILESCOPE_CUDA cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  if (least) *least = 0;
  if (greatest) *greatest = -5;
  return CUDA_SUCCESS;
}
TILESCOPE_CUDA cuCtxResetPersistingL2Cache() {
  return CUDA_SUCCESS;
}

// What is measured here is measured always.
TILESCOPE_CUDA cuProfilerStart() {
  return CUDA_SUCCESS;
}
TILESCOPE_CUDA cuProfilerStop() {
  return CUDA_SUCCESS;
}

}  // namespace tilescope::standin
