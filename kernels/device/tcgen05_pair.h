// tcgen05 by two blocks together (PTX ISA 9.7.16.5, .cta_group::2): blocks of a cluster whose ranks
// differ in the last bit. All tcgen05 instructions of a kernel are of one kind or of the other.
//
// A warp of each block allocates, relinquishes and frees; whether the first to come waits for
// the other is open. So a barrier of the cluster belongs between allocation and freeing:
// without one 96 of 96 launches failed on a B300 (NVIDIA/cutlass#3435). Columns are the same in
// both.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <type_traits>

#include "kernels/device/tcgen05.h"

namespace tilescope::device::tcgen05::pair {

template <int columns>
__device__ inline void allocate(std::uint32_t& address) {
  static_assert(columns >= 32 && columns <= 512 && (columns & (columns - 1)) == 0);
  asm volatile("tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(
                   shared_address(&address)),
               "n"(columns)
               : "memory");
}
__device__ inline void relinquish() {
  asm volatile("tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;");
}
template <int columns>
__device__ inline void deallocate(std::uint32_t address) {
  asm volatile("tcgen05.dealloc.cta_group::2.sync.aligned.b32 %0, %1;" ::"r"(address),
               "n"(columns));
}

// D in f32 += A * B, both of `Element`, both with K contiguous: rows and columns of both blocks.
template <class Element, int m, int n>
constexpr std::uint32_t instruction_descriptor() {
  static_assert(m == 128 || m == 256, "two CTAs multiply 128 or 256 rows (PTX ISA, table 39)");
  static_assert(n % 16 == 0 && n >= 16 && n <= 256, "and 16 to 256 columns");
  constexpr std::uint32_t type = std::is_same_v<Element, __half> ? 0 : 1;
  static_assert(type == 0 || std::is_same_v<Element, __nv_bfloat16>);
  return 1u << 4 | type << 7 | type << 10 | (n >> 3) << 17 | (m >> 4) << 24;
}

// D = A * B, or D += A * B, in the TMEM of both blocks. One thread of one of them, for all.
__device__ inline void multiply(std::uint32_t d, std::uint64_t a, std::uint64_t b,
                                std::uint32_t instruction, bool accumulate) {
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "setp.ne.u32 p, %4, 0;\n"
      "tcgen05.mma.cta_group::2.kind::f16 [%0], %1, %2, %3, p;\n"
      "}" ::"r"(d),
      "l"(a), "l"(b), "r"(instruction), "r"(static_cast<int>(accumulate))
      : "memory");
}

// The barriers at this place in both blocks get an arrival once all that this thread has multiplied
// so far is done.
__device__ inline void commit(Barrier& barrier) {
  constexpr std::uint16_t both = 3;  // a bit for each rank
  asm volatile(
      "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 "
      "[%0], %1;" ::"r"(shared_address(&barrier)),
      "h"(both)
      : "memory");
}

}  // namespace tilescope::device::tcgen05::pair
