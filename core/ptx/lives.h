// From where to where each register of a program holds a value that is still wanted: what shares
// its place with it lives before or after.
#pragma once

#include <cstdint>
#include <vector>

#include "core/ptx/program.h"

namespace tilescope::ptx {

// Positions of the first instruction that writes it, or that needs it, and of the last that does,
// with all of the loops that it is carried around. Positions number the instructions in the order
// of their blocks' ranks.
struct Life {
  std::uint32_t begin = ~0u, end = 0;  // begin > end: it is never used
  // Before the instruction at this position: is its place its own, and written?
  bool holds_at(std::uint32_t position) const { return begin < position && position <= end; }
};

std::vector<Life> lives_of(const Program& program);               // of each register
std::vector<std::uint32_t> positions_of(const Program& program);  // of each instruction

}  // namespace tilescope::ptx
