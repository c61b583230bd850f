// The tensor cores of Blackwell and their memory, TMEM (PTX ISA 9.7.16): 128 lanes of 512 columns
// of 32 bits. One thread multiplies; a warp allocates, and reads its 32 lanes.
#pragma once

#include <cstdint>

#include "kernels/device/mbarrier.h"

namespace tilescope::device::tcgen05 {

// All columns below are whole: 128 lanes. A whole warp allocates, and says when it is done with it;
// the address of the first column is written to shared memory.
template <int columns>
__device__ inline void allocate(std::uint32_t& address) {
  static_assert(columns >= 32 && columns <= 512 && (columns & (columns - 1)) == 0);
  asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(
                   shared_address(&address)),
               "n"(columns)
               : "memory");
}
// No further allocation: other blocks on this SM need not keep room for one.
__device__ inline void relinquish() {
  asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;");
}
template <int columns>
__device__ inline void deallocate(std::uint32_t address) {
  asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" ::"r"(address),
               "n"(columns));
}

// Around a barrier of the block, or an mbarrier: what of tcgen05 comes before it is ordered before
// what comes after it in the other threads (9.7.16.6).
__device__ inline void fence_before() {
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
}
__device__ inline void fence_after() {
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
}

// D = A * B, or D += A * B. One thread, for all. K is 16 elements: 32 bytes.
__device__ inline void multiply(std::uint32_t d, std::uint64_t a, std::uint64_t b,
                                std::uint32_t instruction, bool accumulate) {
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "setp.ne.u32 p, %4, 0;\n"
      "tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p;\n"
      "}" ::"r"(d),
      "l"(a), "l"(b), "r"(instruction), "r"(static_cast<int>(accumulate))
      : "memory");
}

// The barrier gets an arrival once all that this thread has multiplied so far is done.
__device__ inline void commit(Barrier& barrier) {
  asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(
                   shared_address(&barrier))
               : "memory");
}

// 32 columns of this warp's 32 lanes, a lane of TMEM to each lane of the warp. The values are there
// after wait_load().
__device__ inline void load(std::uint32_t address, std::uint32_t (&to)[32]) {
  asm volatile(
      "tcgen05.ld.sync.aligned.32x32b.x32.b32 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, [%32];"
      : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]), "=r"(to[4]), "=r"(to[5]), "=r"(to[6]),
        "=r"(to[7]), "=r"(to[8]), "=r"(to[9]), "=r"(to[10]), "=r"(to[11]), "=r"(to[12]),
        "=r"(to[13]), "=r"(to[14]), "=r"(to[15]), "=r"(to[16]), "=r"(to[17]), "=r"(to[18]),
        "=r"(to[19]), "=r"(to[20]), "=r"(to[21]), "=r"(to[22]), "=r"(to[23]), "=r"(to[24]),
        "=r"(to[25]), "=r"(to[26]), "=r"(to[27]), "=r"(to[28]), "=r"(to[29]), "=r"(to[30]),
        "=r"(to[31])
      : "r"(address));
}
__device__ inline void wait_load() {
  asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
}

}  // namespace tilescope::device::tcgen05
