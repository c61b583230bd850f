// What an operation reads and writes: which stage of shared memory a copy fills and a product
// takes, which part of a tensor is in it, where in TMEM a sum is. A row of a record's table for
// each piece; by the number of the event, so that those of one are found by bisection.
//
//     copy_in        reads a part of a buffer, writes bytes of shared memory
//     copy_out       reads bytes of shared memory, writes a part of a buffer
//     tensor         reads A and B (shared memory, or A in TMEM or registers), writes D (TMEM, or
//                    registers of a warpgroup)
//     tensor_copy    reads bytes of shared memory, writes cells of TMEM
//     tensor_load    reads cells of TMEM       tensor_store   writes cells of TMEM
//
// A piece is what lies from its first byte or element to its last: the rows of a swizzled tile that
// a k-step of a product takes are 32 bytes each, 128 apart, and the piece is all that they span.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/numeric/dtype.h"
#include "core/record/event.h"

namespace tilescope::sim {

struct MemoryUse {
  enum class Of : std::uint8_t { shared, tensor, registers, global, count_ };
  // Which matrix of a product; `scales` are factors and metadata.
  enum class Operand : std::uint8_t { none, a, b, d, scales, count_ };

  EventId event = no_event;
  Of of = Of::shared;
  bool writes = false;
  Operand operand = Operand::none;
  std::uint8_t rank = 0;     // of the CTA whose memory it is, in its cluster; not of global memory
  std::uint32_t buffer = 0;  // of global memory: index into Record::buffers
  // shared:     bytes [column, column + columns) of the CTA's shared memory
  // tensor:     lanes [row, row + rows), columns [column, column + columns)
  // registers:  of warps [row, row + rows) of the CTA
  // global:     of the buffer as a matrix, whose last index is the column and all others the row
  std::uint32_t row = 0, rows = 1, column = 0, columns = 0;
  // Of global memory, by a copy of a timed run: bytes that it asked L2 for; of these, those that L2
  // did not have.
  std::uint32_t asked = 0, missed = 0;

  bool meets(const MemoryUse& o) const {
    return of == o.of && (of == Of::global ? buffer == o.buffer : rank == o.rank) &&
           row < o.row + o.rows && o.row < row + rows && column < o.column + o.columns &&
           o.column < column + columns;
  }
  bool operator==(const MemoryUse&) const = default;
};

// A tensor in global memory, without its contents.
struct RecordedBuffer {
  std::string name;
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape;
  // As a matrix: see MemoryUse.
  std::int64_t rows() const;
  std::int64_t columns() const;
  bool operator==(const RecordedBuffer&) const = default;
};

// Of a table in the order of its events.
std::span<const MemoryUse> uses_of(std::span<const MemoryUse> all, EventId event);

}  // namespace tilescope::sim
