// wgmma: products of a warpgroup, four warps whose first is a multiple of four (PTX ISA 9.7.15).
// Its 128 threads issue a product together; it runs on, and D, in their registers, is theirs again
// once wait() says so.
//
//   fence()      what the threads wrote into registers that a product is going to read: before the
//                first product, and whenever they touched D or A in between
//   multiply()   D (64,n) += A (64,k) * B (n,k)^T, k of 32 bytes, A and B by descriptors: f16,
//   bf16,
//                tf32 (in float), e4m3, e5m2; D in f32, or of f16 in f16, two in a register
//   commit()     the products since the last commit are a group
//   wait<g>()    all groups but the last g are complete: their D may be read, and what they read of
//                shared memory, in any of the four warps, may be written again
//
// Thread t has of D, in the order of its registers (9.7.15.5.1):
//     rows 16 (t / 32) + t % 32 / 4 and 8 more; columns 2 (t % 4), 1 more, and so on, 8 further
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

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
template <int groups, class Register, int count>
__device__ inline void wait(Register (&d)[count]) {
  wait<groups>();
#pragma unroll
  for (int i = 0; i < count; ++i) {
    if constexpr (std::is_same_v<Register, float>) asm volatile("" : "+f"(d[i])::"memory");
    if constexpr (!std::is_same_v<Register, float>) asm volatile("" : "+r"(d[i])::"memory");
  }
}

// Registers eight at a time, by name and as operands.
#define WGMMA_NAMES_8(a, b, c, d, e, f, g, h) \
  "%" #a ", %" #b ", %" #c ", %" #d ", %" #e ", %" #f ", %" #g ", %" #h
#define WGMMA_NAMES_FROM_0 WGMMA_NAMES_8(0, 1, 2, 3, 4, 5, 6, 7)
#define WGMMA_NAMES_FROM_8 WGMMA_NAMES_8(8, 9, 10, 11, 12, 13, 14, 15)
#define WGMMA_NAMES_FROM_16 WGMMA_NAMES_8(16, 17, 18, 19, 20, 21, 22, 23)
#define WGMMA_NAMES_FROM_24 WGMMA_NAMES_8(24, 25, 26, 27, 28, 29, 30, 31)
#define WGMMA_NAMES_FROM_32 WGMMA_NAMES_8(32, 33, 34, 35, 36, 37, 38, 39)
#define WGMMA_NAMES_FROM_40 WGMMA_NAMES_8(40, 41, 42, 43, 44, 45, 46, 47)
#define WGMMA_NAMES_FROM_48 WGMMA_NAMES_8(48, 49, 50, 51, 52, 53, 54, 55)
#define WGMMA_NAMES_FROM_56 WGMMA_NAMES_8(56, 57, 58, 59, 60, 61, 62, 63)
#define WGMMA_NAMES_FROM_64 WGMMA_NAMES_8(64, 65, 66, 67, 68, 69, 70, 71)
#define WGMMA_NAMES_FROM_72 WGMMA_NAMES_8(72, 73, 74, 75, 76, 77, 78, 79)
#define WGMMA_NAMES_FROM_80 WGMMA_NAMES_8(80, 81, 82, 83, 84, 85, 86, 87)
#define WGMMA_NAMES_FROM_88 WGMMA_NAMES_8(88, 89, 90, 91, 92, 93, 94, 95)
#define WGMMA_NAMES_FROM_96 WGMMA_NAMES_8(96, 97, 98, 99, 100, 101, 102, 103)
#define WGMMA_NAMES_FROM_104 WGMMA_NAMES_8(104, 105, 106, 107, 108, 109, 110, 111)
#define WGMMA_NAMES_FROM_112 WGMMA_NAMES_8(112, 113, 114, 115, 116, 117, 118, 119)
#define WGMMA_NAMES_FROM_120 WGMMA_NAMES_8(120, 121, 122, 123, 124, 125, 126, 127)
#define WGMMA_FIRST_16 WGMMA_NAMES_FROM_0 ", " WGMMA_NAMES_FROM_8
#define WGMMA_FIRST_24 WGMMA_FIRST_16 ", " WGMMA_NAMES_FROM_16
#define WGMMA_FIRST_32 WGMMA_FIRST_24 ", " WGMMA_NAMES_FROM_24
#define WGMMA_FIRST_40 WGMMA_FIRST_32 ", " WGMMA_NAMES_FROM_32
#define WGMMA_FIRST_48 WGMMA_FIRST_40 ", " WGMMA_NAMES_FROM_40
#define WGMMA_FIRST_56 WGMMA_FIRST_48 ", " WGMMA_NAMES_FROM_48
#define WGMMA_FIRST_64 WGMMA_FIRST_56 ", " WGMMA_NAMES_FROM_56
#define WGMMA_FIRST_72 WGMMA_FIRST_64 ", " WGMMA_NAMES_FROM_64
#define WGMMA_FIRST_80 WGMMA_FIRST_72 ", " WGMMA_NAMES_FROM_72
#define WGMMA_FIRST_88 WGMMA_FIRST_80 ", " WGMMA_NAMES_FROM_80
#define WGMMA_FIRST_96 WGMMA_FIRST_88 ", " WGMMA_NAMES_FROM_88
#define WGMMA_FIRST_104 WGMMA_FIRST_96 ", " WGMMA_NAMES_FROM_96
#define WGMMA_FIRST_112 WGMMA_FIRST_104 ", " WGMMA_NAMES_FROM_104
#define WGMMA_FIRST_120 WGMMA_FIRST_112 ", " WGMMA_NAMES_FROM_112
#define WGMMA_FIRST_128 WGMMA_FIRST_120 ", " WGMMA_NAMES_FROM_120
#define WGMMA_8(how, i)                                                                 \
  how(d[i]), how(d[i + 1]), how(d[i + 2]), how(d[i + 3]), how(d[i + 4]), how(d[i + 5]), \
      how(d[i + 6]), how(d[i + 7])
#define WGMMA_OPERANDS_16(how) WGMMA_8(how, 0), WGMMA_8(how, 8)
#define WGMMA_OPERANDS_24(how) WGMMA_OPERANDS_16(how), WGMMA_8(how, 16)
#define WGMMA_OPERANDS_32(how) WGMMA_OPERANDS_24(how), WGMMA_8(how, 24)
#define WGMMA_OPERANDS_40(how) WGMMA_OPERANDS_32(how), WGMMA_8(how, 32)
#define WGMMA_OPERANDS_48(how) WGMMA_OPERANDS_40(how), WGMMA_8(how, 40)
#define WGMMA_OPERANDS_56(how) WGMMA_OPERANDS_48(how), WGMMA_8(how, 48)
#define WGMMA_OPERANDS_64(how) WGMMA_OPERANDS_56(how), WGMMA_8(how, 56)
#define WGMMA_OPERANDS_72(how) WGMMA_OPERANDS_64(how), WGMMA_8(how, 64)
#define WGMMA_OPERANDS_80(how) WGMMA_OPERANDS_72(how), WGMMA_8(how, 72)
#define WGMMA_OPERANDS_88(how) WGMMA_OPERANDS_80(how), WGMMA_8(how, 80)
#define WGMMA_OPERANDS_96(how) WGMMA_OPERANDS_88(how), WGMMA_8(how, 88)
#define WGMMA_OPERANDS_104(how) WGMMA_OPERANDS_96(how), WGMMA_8(how, 96)
#define WGMMA_OPERANDS_112(how) WGMMA_OPERANDS_104(how), WGMMA_8(how, 104)
#define WGMMA_OPERANDS_120(how) WGMMA_OPERANDS_112(how), WGMMA_8(how, 112)
#define WGMMA_OPERANDS_128(how) WGMMA_OPERANDS_120(how), WGMMA_8(how, 120)

// `a`, `b`, `on`, ...: the numbers of the operands behind D's registers. `majors`: with those of
// f16 and bf16.
#define WGMMA(n, count, how, k, types, majors, a, b, on, ma, mb)                       \
  asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, %" #on                            \
               ", 0;\n"                                                                \
               "wgmma.mma_async.sync.aligned.m64n" #n k types " {" WGMMA_FIRST_##count \
               "}, %" #a ", %" #b ", add, 1, 1" majors(ma, mb) ";\n}"                  \
               : WGMMA_OPERANDS_##count(how)                                           \
               : "l"(from_a), "l"(from_b), "r"(static_cast<int>(accumulate)),          \
                 "n"(static_cast<int>(major_a)), "n"(static_cast<int>(major_b)))
#define WGMMA_WITH_MAJORS(a, b) ", %" #a ", %" #b
#define WGMMA_NO_MAJORS(a, b) ""
#define WGMMA_OF_N(how, k, types, majors)                                                  \
  if constexpr (n == 48) WGMMA(48, 24, how, k, types, majors, 24, 25, 26, 27, 28);         \
  if constexpr (n == 64) WGMMA(64, 32, how, k, types, majors, 32, 33, 34, 35, 36);         \
  if constexpr (n == 80) WGMMA(80, 40, how, k, types, majors, 40, 41, 42, 43, 44);         \
  if constexpr (n == 96) WGMMA(96, 48, how, k, types, majors, 48, 49, 50, 51, 52);         \
  if constexpr (n == 112) WGMMA(112, 56, how, k, types, majors, 56, 57, 58, 59, 60);       \
  if constexpr (n == 128) WGMMA(128, 64, how, k, types, majors, 64, 65, 66, 67, 68);       \
  if constexpr (n == 144) WGMMA(144, 72, how, k, types, majors, 72, 73, 74, 75, 76);       \
  if constexpr (n == 160) WGMMA(160, 80, how, k, types, majors, 80, 81, 82, 83, 84);       \
  if constexpr (n == 176) WGMMA(176, 88, how, k, types, majors, 88, 89, 90, 91, 92);       \
  if constexpr (n == 192) WGMMA(192, 96, how, k, types, majors, 96, 97, 98, 99, 100);      \
  if constexpr (n == 208) WGMMA(208, 104, how, k, types, majors, 104, 105, 106, 107, 108); \
  if constexpr (n == 224) WGMMA(224, 112, how, k, types, majors, 112, 113, 114, 115, 116); \
  if constexpr (n == 256) WGMMA(256, 128, how, k, types, majors, 128, 129, 130, 131, 132)
#define WGMMA_OF_HALF_N(how, k, types, majors)                                       \
  if constexpr (n == 64) WGMMA(64, 16, how, k, types, majors, 16, 17, 18, 19, 20);   \
  if constexpr (n == 96) WGMMA(96, 24, how, k, types, majors, 24, 25, 26, 27, 28);   \
  if constexpr (n == 128) WGMMA(128, 32, how, k, types, majors, 32, 33, 34, 35, 36); \
  if constexpr (n == 160) WGMMA(160, 40, how, k, types, majors, 40, 41, 42, 43, 44); \
  if constexpr (n == 192) WGMMA(192, 48, how, k, types, majors, 48, 49, 50, 51, 52); \
  if constexpr (n == 224) WGMMA(224, 56, how, k, types, majors, 56, 57, 58, 59, 60); \
  if constexpr (n == 256) WGMMA(256, 64, how, k, types, majors, 64, 65, 66, 67, 68)

enum class Major { k = 0, mn = 1 };  // which index is contiguous in shared memory

// D += A * B, or = where it does not accumulate. Other than K-major are f16 and bf16 only.
template <class A, class B, int n, Major major_a = Major::k, Major major_b = Major::k,
          class Register, int count>
__device__ inline void multiply(Register (&d)[count], std::uint64_t from_a, std::uint64_t from_b,
                                bool accumulate) {
  constexpr bool f32 = std::is_same_v<Register, float>;
  static_assert(n == 64 || n == 96 || n == 128 || n == 160 || n == 192 || n == 224 || n == 256 ||
                (f32 && (n == 48 || n == 80 || n == 112 || n == 144 || n == 176 || n == 208)));
  static_assert(count == (f32 ? n / 2 : n / 4));
  static_assert(sizeof(A) == 2 || (major_a == Major::k && major_b == Major::k));
  constexpr bool e4m3_a = std::is_same_v<A, __nv_fp8_e4m3>,
                 e4m3_b = std::is_same_v<B, __nv_fp8_e4m3>;
  if constexpr (std::is_same_v<A, __half> && !f32) {
    WGMMA_OF_HALF_N("+r", "k16", ".f16.f16.f16", WGMMA_WITH_MAJORS);
  } else if constexpr (std::is_same_v<A, __half>) {
    WGMMA_OF_N("+f", "k16", ".f32.f16.f16", WGMMA_WITH_MAJORS);
  } else if constexpr (std::is_same_v<A, __nv_bfloat16>) {
    WGMMA_OF_N("+f", "k16", ".f32.bf16.bf16", WGMMA_WITH_MAJORS);
  } else if constexpr (std::is_same_v<A, float>) {
    WGMMA_OF_N("+f", "k8", ".f32.tf32.tf32", WGMMA_NO_MAJORS);
  } else if constexpr (e4m3_a && e4m3_b) {
    WGMMA_OF_N("+f", "k32", ".f32.e4m3.e4m3", WGMMA_NO_MAJORS);
  } else if constexpr (e4m3_a) {
    WGMMA_OF_N("+f", "k32", ".f32.e4m3.e5m2", WGMMA_NO_MAJORS);
  } else if constexpr (e4m3_b) {
    WGMMA_OF_N("+f", "k32", ".f32.e5m2.e4m3", WGMMA_NO_MAJORS);
  } else {
    WGMMA_OF_N("+f", "k32", ".f32.e5m2.e5m2", WGMMA_NO_MAJORS);
  }
}

}  // namespace tilescope::device::wgmma
