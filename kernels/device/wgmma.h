// wgmma: products of a warpgroup, four warps whose first is a multiple of four (PTX ISA 9.7.15).
// Its 128 threads issue a product together; it runs on, and D, in their registers, is theirs again
// once wait() says so.
//
//   fence()      what the threads wrote into registers that a product is going to read: before the
//                first product, and whenever they touched D or A in between
//   multiply()   D (64,n) += A (64,k) * B (n,k)^T, k of 32 bytes, A and B by descriptors
//   commit()     the products since the last commit are a group
//   wait<g>()    all groups but the last g are complete: their D may be read, and what they read of
//                shared memory, in any of the four warps, may be written again
//
// Thread t has of D, in the order of its registers (9.7.15.5.1):
//     rows 16 (t / 32) + t % 32 / 4 and 8 more; columns 2 (t % 4), 1 more, and so on, 8 further
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <type_traits>

namespace tilescope::device::wgmma {

__device__ inline void fence() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ inline void commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int groups>
__device__ inline void wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(groups) : "memory");
}

// The same, and D may be read then: the compiler must not read it before.
template <int groups, int count>
__device__ inline void wait(float (&d)[count]) {
  wait<groups>();
#pragma unroll
  for (int i = 0; i < count; ++i) asm volatile("" : "+f"(d[i])::"memory");
}

// Registers eight at a time, by name and as operands.
#define WGMMA_8(a, b, c, d, e, f, g, h) \
  "%" #a ", %" #b ", %" #c ", %" #d ", %" #e ", %" #f ", %" #g ", %" #h
#define WGMMA_D0 WGMMA_8(0, 1, 2, 3, 4, 5, 6, 7)
#define WGMMA_D8 WGMMA_8(8, 9, 10, 11, 12, 13, 14, 15)
#define WGMMA_D16 WGMMA_8(16, 17, 18, 19, 20, 21, 22, 23)
#define WGMMA_D24 WGMMA_8(24, 25, 26, 27, 28, 29, 30, 31)
#define WGMMA_D32 WGMMA_8(32, 33, 34, 35, 36, 37, 38, 39)
#define WGMMA_D40 WGMMA_8(40, 41, 42, 43, 44, 45, 46, 47)
#define WGMMA_D48 WGMMA_8(48, 49, 50, 51, 52, 53, 54, 55)
#define WGMMA_D56 WGMMA_8(56, 57, 58, 59, 60, 61, 62, 63)
#define WGMMA_D64 WGMMA_8(64, 65, 66, 67, 68, 69, 70, 71)
#define WGMMA_D72 WGMMA_8(72, 73, 74, 75, 76, 77, 78, 79)
#define WGMMA_D80 WGMMA_8(80, 81, 82, 83, 84, 85, 86, 87)
#define WGMMA_D88 WGMMA_8(88, 89, 90, 91, 92, 93, 94, 95)
#define WGMMA_D96 WGMMA_8(96, 97, 98, 99, 100, 101, 102, 103)
#define WGMMA_D104 WGMMA_8(104, 105, 106, 107, 108, 109, 110, 111)
#define WGMMA_D112 WGMMA_8(112, 113, 114, 115, 116, 117, 118, 119)
#define WGMMA_D120 WGMMA_8(120, 121, 122, 123, 124, 125, 126, 127)
#define WGMMA_NAMES_32 WGMMA_D0 ", " WGMMA_D8 ", " WGMMA_D16 ", " WGMMA_D24
#define WGMMA_NAMES_64 WGMMA_NAMES_32 ", " WGMMA_D32 ", " WGMMA_D40 ", " WGMMA_D48 ", " WGMMA_D56
#define WGMMA_NAMES_80 WGMMA_NAMES_64 ", " WGMMA_D64 ", " WGMMA_D72
#define WGMMA_NAMES_96 WGMMA_NAMES_80 ", " WGMMA_D80 ", " WGMMA_D88
#define WGMMA_NAMES_128 \
  WGMMA_NAMES_96 ", " WGMMA_D96 ", " WGMMA_D104 ", " WGMMA_D112 ", " WGMMA_D120
#define WGMMA_OF(i)                                                                           \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), \
      "+f"(d[i + 6]), "+f"(d[i + 7])
#define WGMMA_REGISTERS_32 WGMMA_OF(0), WGMMA_OF(8), WGMMA_OF(16), WGMMA_OF(24)
#define WGMMA_REGISTERS_64 \
  WGMMA_REGISTERS_32, WGMMA_OF(32), WGMMA_OF(40), WGMMA_OF(48), WGMMA_OF(56)
#define WGMMA_REGISTERS_80 WGMMA_REGISTERS_64, WGMMA_OF(64), WGMMA_OF(72)
#define WGMMA_REGISTERS_96 WGMMA_REGISTERS_80, WGMMA_OF(80), WGMMA_OF(88)
#define WGMMA_REGISTERS_128 \
  WGMMA_REGISTERS_96, WGMMA_OF(96), WGMMA_OF(104), WGMMA_OF(112), WGMMA_OF(120)

// `a`, `b`, `on`: the numbers of the operands behind D's registers.
#define WGMMA(n, count, type, a, b, on)                                            \
  asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, %" #on                        \
               ", 0;\n"                                                            \
               "wgmma.mma_async.sync.aligned.m64n" #n "k16.f32." type "." type     \
               " {" WGMMA_NAMES_##count "}, %" #a ", %" #b ", add, 1, 1, 0, 0;\n}" \
               : WGMMA_REGISTERS_##count                                           \
               : "l"(from_a), "l"(from_b), "r"(static_cast<int>(accumulate)))
#define WGMMA_OF_N(type)                                    \
  if constexpr (n == 64) WGMMA(64, 32, type, 32, 33, 34);   \
  if constexpr (n == 128) WGMMA(128, 64, type, 64, 65, 66); \
  if constexpr (n == 160) WGMMA(160, 80, type, 80, 81, 82); \
  if constexpr (n == 192) WGMMA(192, 96, type, 96, 97, 98); \
  if constexpr (n == 256) WGMMA(256, 128, type, 128, 129, 130)

// D += A * B, or = where it does not accumulate; A and B of `Element`, K contiguous in both.
template <class Element, int n>
__device__ inline void multiply(float (&d)[n / 2], std::uint64_t from_a, std::uint64_t from_b,
                                bool accumulate) {
  static_assert(n == 64 || n == 128 || n == 160 || n == 192 || n == 256);
  if constexpr (std::is_same_v<Element, __half>) {
    WGMMA_OF_N("f16");
  } else {
    static_assert(std::is_same_v<Element, __nv_bfloat16>);
    WGMMA_OF_N("bf16");
  }
}

}  // namespace tilescope::device::wgmma
