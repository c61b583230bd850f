// mbarriers (PTX ISA 9.7.13.15): 64 bits of shared memory that count arrivals, and bytes, of a
// phase. A phase completes when all that were expected have come; then the next one begins.
//
// wait(barrier, parity) returns once the phase of that parity has completed. A fresh barrier is in
// phase 0: wait(barrier, 1) passes, wait(barrier, 0) waits. So who waits for something to be
// finished starts with parity 0, and who waits for room that is free at first, with 1.
#pragma once

#include "kernels/device/manifest.h"
#include "kernels/device/memory.h"

namespace tilescope::device {

// In shared memory.
using Barrier = std::uint64_t;

__device__ inline void init(Barrier& barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(&barrier)),
               "r"(arrivals)
               : "memory");
}

// Barriers that have been initialised can be seen by TMA, which arrives at them.
__device__ inline void fence_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

// This thread arrives: what it did before is seen by the waiters for the phase.
__device__ inline void arrive(Barrier& barrier) {
  asm volatile(
      "mbarrier.arrive.release.cta.shared::cta.b64 _, [%0];" ::"r"(shared_address(&barrier))
      : "memory");
}

// This thread arrives, and the phase shall also wait for so many bytes.
__device__ inline void arrive_and_expect(Barrier& barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], %1;" ::"r"(
                   shared_address(&barrier)),
               "r"(bytes)
               : "memory");
}

__device__ inline void wait(Barrier& barrier, int parity) {
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;\n"
      "}" ::"r"(shared_address(&barrier)),
      "r"(parity)
      : "memory");
}

// Which of several stages is next, and the parity to wait for: it flips when the stages have all
// been gone through.
template <int stages>
struct PipelineState {
  int stage = 0;
  int parity;
  __device__ explicit PipelineState(int first_parity) : parity(first_parity) {}
  __device__ void advance() {
    if (++stage == stages) stage = 0, parity ^= 1;
  }
  // As advance(), `count` times.
  __device__ void skip(int count) {
    stage += count;
    parity ^= stage / stages & 1;
    stage %= stages;
  }
};

}  // namespace tilescope::device
