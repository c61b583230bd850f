// Registers move between warpgroups (PTX ISA 9.7.19.5, setmaxnreg): all warps of one execute it,
// and the kernel is compiled for a known number of threads (__launch_bounds__). 24 to 256, in steps
// of 8.
#pragma once

namespace tilescope::device {

// From now on so many a thread; the others are free for who takes them.
template <int count>
__device__ inline void give_registers() {
  static_assert(count >= 24 && count <= 256 && count % 8 == 0);
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(count));
}
// Waits until so many are free.
template <int count>
__device__ inline void take_registers() {
  static_assert(count >= 24 && count <= 256 && count % 8 == 0);
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(count));
}

}  // namespace tilescope::device
