// Contexts. All of them are the one device's: what differs is which is current in which thread.
#pragma once

#include <map>
#include <utility>

#include "app/cuda/api.h"

using ContextStorageEnd = void (*)(CUcontext, void* key, void* value);

struct CUctx_st {
  bool primary = false;
  unsigned flags = 0;
  unsigned long long id = 0;
  bool destroyed = false;  // a primary one may come back; the others' handles are never used again
  std::map<void*, std::pair<void*, ContextStorageEnd>> storage;  // tables.cpp
};

namespace tilescope::standin {

// Of CUfunc_cache.
constexpr bool is_cache_config(int config) {
  return config >= 0 && config <= 3;
}

CUcontext current_context();  // null: none is
// The one of the device; made where there is none.
CUcontext primary_context();
bool is_context(CUcontext context);

// What happens in host functions: nothing of CUDA may be called there.
bool in_host_function();
void set_in_host_function(bool is);

}  // namespace tilescope::standin
