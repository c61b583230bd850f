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
  std::map<void*, std::pair<void*, ContextStorageEnd>> storage;  // tables.cpp
};

namespace tilescope::standin {

CUcontext current_context();  // null: none is
// The one of the device; made where there is none.
CUcontext primary_context();
bool is_context(CUcontext context);

}  // namespace tilescope::standin
