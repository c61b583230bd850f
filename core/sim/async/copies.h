// What bulk copies do at their moments: many bytes side by side (cp.async.bulk, PTX
// ISA 9.7.9.25.4), or of a tensor what core/sim/async/boxes.h says
// (cp.async.bulk.tensor, 9.7.9.25.5), between global and shared memory. The handlers in
// core/sim/handlers/bulk.cpp issue them.
#pragma once

#include <cstdint>

#include "core/ptx/opcodes.h"
#include "core/sim/async/boxes.h"
#include "core/sim/async/operation.h"
#include "core/sim/async/shared_tiles.h"

namespace tilescope::sim {

// An element in memory and another become one there. Null where PTX has no such reduction.
using Reduction = void (*)(std::byte* memory, const std::byte* with);
// `flushes`: sums of f32 take subnormals for zeros.
Reduction reduction_of(ptx::Operation how, DType type, bool flushes = false);

enum class Way : std::uint8_t { load, store, reduce };

// Bytes side by side; `reduction` with Way::reduce only.
struct Span {
  std::uint64_t global = 0;  // address
  std::uint32_t shared = 0;  // offset in the block's shared memory
  std::uint32_t bytes = 0;
  ptx::Operation how = ptx::Operation::none;
  DType dtype = DType::u8;
  std::uint16_t mask = 0xffff;  // which bytes of each 16 are written (.cp_mask)
};
AsyncOperation bulk_copy(Way way, const Span& span);
// From the shared memory of the block that issues it, from byte `global` on, to that of the block
// that it is in flight in; and what it uses of the former until it has read it.
AsyncOperation copy_between_blocks(const Span& span);
AsyncOperation source_between_blocks(const Span& span);

AsyncOperation tensor_copy(Way way, const Box& box);

}  // namespace tilescope::sim
