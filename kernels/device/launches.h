// Launches that follow one another in a stream. Where a launch says that it may begin early
// (cudaLaunchAttributeProgrammaticStreamSerialization), its CTAs are placed as soon as those of
// the launch before have left, and the GPU's work between two launches falls together with their
// first instructions (CUDA C++ Programming Guide, "Programmatic Dependent Launch and
// Synchronization").
#pragma once

namespace tilescope::device {

// Until the launches before this one have ended and all that they wrote can be seen: to be called
// by each thread that touches global memory, before it does (PTX ISA 9.7.13.13). Where the launch
// does not say that it may begin early, that is so from the start.
__device__ inline void wait_for_launches_before() {
  asm volatile("griddepcontrol.wait;" ::: "memory");
}

}  // namespace tilescope::device
