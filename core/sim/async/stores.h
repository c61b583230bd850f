// What st.async and red.async do at their moments (PTX ISA 9.7.9.12, 9.7.13.7): bytes of a register
// go to memory, or are added to what is there, later than the thread goes on. The handlers in
// core/sim/handlers/async_store.cpp issue them.
#pragma once

#include <cstdint>

#include "core/numeric/dtype.h"
#include "core/ptx/opcodes.h"
#include "core/sim/async/operation.h"

namespace tilescope::sim {

struct AsyncStore {
  std::uint64_t to = 0;  // an address of global memory, or an offset in shared memory of the block
                         // that it is in flight in
  ptx::Operation how = ptx::Operation::none;  // none: it stores
  DType dtype = DType::u32;                   // of what it adds
};

// Its bytes are those of the operation.
AsyncOperation store_to_shared(const AsyncStore& store, std::uint32_t bytes);
AsyncOperation store_to_global(const AsyncStore& store);

}  // namespace tilescope::sim
