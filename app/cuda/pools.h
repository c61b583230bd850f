// Pools of memory: what of it comes from which, and what each keeps.
#pragma once

#include <cstdint>

#include "app/cuda/api.h"

namespace tilescope::standin {

// The one of the device that allocations come from where no other is named.
CUmemoryPool current_pool();
bool is_pool(CUmemoryPool pool);
bool is_of_device(CUmemoryPool pool);  // its memory, and not the host's
// Null: this memory is of none.
CUmemoryPool pool_of(std::uint64_t address);
// Whether it has room for so many bytes.
bool has_room(CUmemoryPool pool, std::uint64_t bytes);
void took_from_pool(CUmemoryPool pool, std::uint64_t address, std::uint64_t bytes);
// Nothing where the memory is of no pool.
void gave_to_pool(std::uint64_t address);
// The host has waited: pools give back what they keep beyond their thresholds.
void trim_pools();

}  // namespace tilescope::standin
