// What bulk copies do at their moments: many bytes side by side (cp.async.bulk, PTX
// ISA 9.7.9.25.4), or a box of a tensor (cp.async.bulk.tensor, 9.7.9.25.5), between global and
// shared memory. The handlers in core/sim/lanes/bulk.cpp issue them.
#pragma once

#include <array>
#include <cstdint>
#include <functional>

#include "core/ptx/opcodes.h"
#include "core/sim/async/map_bits.h"
#include "core/sim/async/operation.h"

namespace tilescope::sim {

// An element in memory and another become one there. Null where PTX has no such reduction.
using Reduction = void (*)(std::byte* memory, const std::byte* with);
Reduction reduction_of(ptx::Operation how, DType type);

enum class Way : std::uint8_t { load, store, reduce };

// Bytes side by side; `reduction` with Way::reduce only.
struct Span {
  std::uint64_t global = 0;  // address
  std::uint32_t shared = 0;  // offset in the block's shared memory
  std::uint32_t bytes = 0;
  ptx::Operation how = ptx::Operation::none;
  DType dtype = DType::u8;
};
AsyncOperation bulk_copy(Way way, const Span& span);

// A box of a tensor, from the coordinates `start` on.
struct Box {
  MapFields map;
  std::array<std::int32_t, most_map_dims> start{};
  std::uint32_t shared = 0;
  ptx::Operation how = ptx::Operation::none;

  std::uint32_t rows() const;       // of dimension 0
  std::uint32_t row_bytes() const;  // of a row in the box, inside the tensor or not
  // From one row to the next in shared memory: with a swizzle its whole span, however narrow the
  // rows are (seen on an H200); what lies between them is left as it was.
  std::uint32_t pitch() const;
};
AsyncOperation tensor_copy(Way way, const Box& box);

// A row of a box: which of its elements lie in the tensor, [first, end), and where in global
// memory.
struct BoxRow {
  std::uint32_t number = 0;
  std::uint32_t first = 0, end = 0;
  std::uint64_t address = 0;  // of element `first`
};
// Hands all rows to f, until it answers false.
void for_rows(const Box& box, const std::function<bool(const BoxRow&)>& f);

// Where a byte of a box lies in shared memory that would lie at `address` without the swizzle: bits
// of the address change 16, 32 or 64 bytes within a row (5.5.7).
std::uint32_t swizzled(MapSwizzle swizzle, std::uint32_t address);

}  // namespace tilescope::sim
