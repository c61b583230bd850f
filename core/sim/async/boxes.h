// Which elements of a tensor one copy moves, and where they are in shared memory: a box of it, four
// rows of a matrix, or columns of pixels (PTX ISA 5.5.3 to 5.5.7). Whatever it is, it falls
// into rows of elements that are side by side on both sides.
#pragma once

#include <array>
#include <cstdint>
#include <functional>

#include "core/ptx/opcodes.h"
#include "core/run/tensor_map.h"

namespace tilescope::sim {

enum class Walk : std::uint8_t { tile, four_rows, im2col, im2col_w };

struct Box {
  MapFields map;
  Walk walk = Walk::tile;
  // Coordinates, innermost first; of four rows the column, and then each row.
  std::array<std::int32_t, most_map_dims> start{};
  // Of W, H, D: im2col. wHalo and wOffset: im2col_w.
  std::array<std::uint16_t, most_map_dims - 2> offsets{};
  std::uint32_t shared = 0;                   // offset in the block's shared memory
  ptx::Operation how = ptx::Operation::none;  // of a reduction

  std::uint32_t rows() const;
  std::uint32_t row_bytes() const { return map.row_bytes(); }
  // All of it, inside the tensor or not: what an mbarrier counts (seen on an H200 for boxes). Of
  // packed elements those of global memory, as DeepGEMM's products of f8 and f4 count them
  // (sm100_fp8_fp4_gemm_1d1d.cuh).
  std::uint32_t bytes() const {
    const std::uint32_t row = row_bytes();
    return rows() * (packed() ? static_cast<std::uint32_t>(map.global_bytes(row)) : row);
  }
  bool packed() const { return map.packing != MapPacking::none; }
  // From one row to the next in shared memory: with a swizzle its whole span, however narrow the
  // rows are (seen on an H200); what is between them is left as it was. Pixels of interleaved
  // tensors lie side by side all the same (measured on an H200).
  std::uint32_t pitch() const;
  // From its first byte on, with what a swizzle may reach in the last line.
  std::uint32_t shared_bytes() const;
};
// Of an interleaved tensor the one slice that is copied, as if there were no other: its map's
// dimensions are channels of the slice, W, H, D, N, and those of `start` too. Measured on an H200:
// 3,000 of 3,000 random copies.
Box of_slice(const Box& box);

struct BoxRow;
// Bytes of a row that a store or a reduction writes, from element `first` on: a multiple of 16, so
// up to 15 after the tensor's last element. PTX has it that nothing outside is written
// (5.5.3.1); an H200 writes them, in all 139 of 1,500 random copies where a row ends so.
std::uint32_t written_bytes(const Box& box, const BoxRow& row);

// Which elements of a row are in the tensor, [first, end), and where in global memory.
struct BoxRow {
  std::uint32_t number = 0;
  std::uint32_t first = 0, end = 0;
  std::uint64_t address = 0;  // of element `first`
};
BoxRow row_of(const Box& box, std::uint32_t number);
// Hands all rows to f, in the order of shared memory, until it answers false.
void for_rows(const Box& box, const std::function<bool(const BoxRow&)>& f);

// Where a byte is in shared memory that would be at `address` without the swizzle: bits of the
// address change 16, 32 or 64 bytes within a row (5.5.7).
std::uint32_t swizzled(MapSwizzle swizzle, std::uint32_t address);

}  // namespace tilescope::sim
