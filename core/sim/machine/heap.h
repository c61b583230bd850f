// The heap of malloc and free in kernels (CUDA C++ Programming Guide, "Dynamic Global Memory
// Allocation"): one region (ptx::heap_name), which outlives launches.
//
// It begins with how much of it was given out. Each piece is given once and has 16 bytes before it:
// its size, and whether it is in use. What is given back is not given again, so that who still uses
// it is told so, and never finds bytes of others. Behind the heap's own bytes lies one bit for each
// of them: whether it is in a piece in use.
#pragma once

#include <cstdint>

#include "core/sim/memory/memory.h"

namespace tilescope::sim {

// Of a region of zeros.
void begin_heap(Region& heap);

// The offset of a new piece of `bytes`, undefined; 0 where there is no room any more.
std::uint64_t take_piece(Region& heap, std::uint64_t bytes);

enum class GivesBack : std::uint8_t { done, again, no_piece };
GivesBack give_back_piece(Region& heap, std::uint64_t offset);

// Whether all these bytes lie in pieces in use.
bool is_in_pieces(const Region& heap, std::uint64_t offset, std::uint32_t bytes);

// The last piece that begins before the end of bytes that do not; at 0: there is none.
struct PieceNear {
  std::uint64_t offset = 0, bytes = 0;
  bool is_given_back = false;
};
PieceNear piece_near(const Region& heap, std::uint64_t offset, std::uint32_t bytes);

}  // namespace tilescope::sim
