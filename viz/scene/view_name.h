// The views that can be open. What each of them is stands in its row (viz/session/views.h).
#pragma once

#include <cstdint>

namespace tilescope {

// `wavefronts`, `sectors` and `bits` show the open layout too: as memory that a warp meets, and as
// a matrix over GF(2).
enum class ViewName : std::uint8_t {
  layout,
  wavefronts,
  sectors,
  bits,
  lower,   // the open layout from the program down to LLVM
  course,  // exercises: kernels to write oneself
  kernel,  // the open kernel on one page: what it computes, how, and what can be done
  matrices,
  diff,
  theatre,   // of a run, from its record: its pipeline at one time
  timeline,  // of a run, from its record
  why,       // its longest chain, and what if
  handoffs,  // who hands what on to whom
  product,   // of tensor cores, opened: bits, bytes, sums, numbers
  // Of a run, where its machine is: those who execute, and what they see.
  source,
  registers,
  barriers,
  memory,
  tmem,
  compare  // with the baseline
};
}  // namespace tilescope
