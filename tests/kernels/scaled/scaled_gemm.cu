// C = (A * factors of A) * (B * factors of B)^T with tcgen05.mma.block_scale, as CUTLASS and
// DeepGEMM do it: TMA brings 128 bytes of K of 128 rows of A and of B, and a bulk copy their scale
// factors in CUTLASS's chunks of 512 bytes, which tcgen05.cp lays into TMEM in front of the
// products.
//
// A and B are rows of bytes: e4m3 (scaled_mxf8), or e2m1, two in a byte (scaled_mxf4 with a ue8m0
// factor for 32, scaled_nvf4 with an e4m3 factor for 16). A block makes 128 x 128 of C, in f32.
// Each stage has columns of TMEM of its own for its factors: PTX orders no copy behind a product.
//
// Made by hand, where nvcc is: nvcc -ptx -std=c++20 --expt-relaxed-constexpr -I .
// -arch=compute_100a
//   tests/kernels/scaled/scaled_gemm.cu -o tests/kernels/scaled/scaled_gemm.ptx
#include <cuda.h>

#include "kernels/device/mbarrier.h"
#include "kernels/device/memory.h"
#include "kernels/device/tcgen05.h"
#include "kernels/device/tma.h"

namespace tilescope::device {

constexpr int stages = 2, tile = 128, row_bytes = 128, products = 4;  // a stage: 4 of 32 bytes
constexpr int operand_bytes = tile * row_bytes, chunk = 512, most_chunks = 4;
constexpr int stage_bytes = 2 * operand_bytes + 2 * most_chunks * chunk;
constexpr int columns = 256, factor_columns = 128;  // of TMEM; where the factors begin

// Factors of a row in one product, and the type of elements and factors (PTX ISA, tables 43, 44).
template <int factors>
constexpr std::uint32_t scaled_instruction(int id) {
  const std::uint32_t type = factors == 1 ? 0 : 1, ue8m0 = factors == 4 ? 0 : 1;
  return static_cast<std::uint32_t>(id) << 4 | type << 7 | type << 10 | (tile >> 3) << 17 |
         ue8m0 << 23 | (tile >> 7) << 27 | static_cast<std::uint32_t>(id) << 29;
}

// 128-byte swizzle, 8 rows of 128 bytes; without a swizzle, 8 lines of 16.
__device__ inline std::uint64_t operand_at(const void* p) {
  return descriptor_address(p) | std::uint64_t{1024 >> 4} << 32 | std::uint64_t{1} << 46 |
         std::uint64_t{2} << 61;
}
__device__ inline std::uint64_t factors_at(const void* p) {
  return descriptor_address(p) | std::uint64_t{128 >> 4} << 32 | std::uint64_t{1} << 46;
}

__device__ inline void copy_factors(std::uint32_t to, std::uint64_t from) {
  asm volatile("tcgen05.cp.cta_group::1.32x128b.warpx4 [%0], %1;" ::"r"(to), "l"(from) : "memory");
}

template <int factors>
__device__ inline void multiply_scaled(std::uint32_t d, std::uint64_t a, std::uint64_t b,
                                       std::uint32_t instruction, std::uint32_t a_factors,
                                       std::uint32_t b_factors, bool accumulate) {
#define PRODUCT(form)                                                                   \
  asm volatile(                                                                         \
      "{\n.reg .pred p;\nsetp.ne.u32 p, %6, 0;\n"                                       \
      "tcgen05.mma.cta_group::1." form " [%0], %1, %2, %3, [%4], [%5], p;\n}" ::"r"(d), \
      "l"(a), "l"(b), "r"(instruction), "r"(a_factors), "r"(b_factors),                 \
      "r"(static_cast<int>(accumulate))                                                 \
      : "memory")
  if constexpr (factors == 1) PRODUCT("kind::mxf8f6f4.block_scale");
  if constexpr (factors == 2) PRODUCT("kind::mxf4.block_scale.scale_vec::2X");
  if constexpr (factors == 4) PRODUCT("kind::mxf4nvf4.block_scale.scale_vec::4X");
#undef PRODUCT
}

__device__ inline void load_bytes(void* to, const void* from, int bytes, Barrier& barrier) {
  asm volatile(
      "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
          shared_address(to)),
      "l"(from), "r"(bytes), "r"(shared_address(&barrier))
      : "memory");
}

struct Shared {
  Barrier full[stages], empty[stages], done;
  std::uint32_t address;
};

template <int factors>
__device__ inline void gemm(float* c, const CUtensorMap& a, const CUtensorMap& b,
                            const std::uint8_t* a_factors, const std::uint8_t* b_factors, int n,
                            int steps) {
  constexpr int chunks = factors;  // 4 products * factors / 4 in a chunk
  extern __shared__ __align__(1024) std::uint8_t memory[];
  __shared__ Shared s;
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int row = static_cast<int>(blockIdx.y), column = static_cast<int>(blockIdx.x);
  if (warp == 0) tcgen05::allocate<columns>(s.address);
  if (threadIdx.x == 0) {
    for (int i = 0; i < stages; ++i) {
      init(s.full[i], 1);
      init(s.empty[i], 1);
    }
    init(s.done, 1);
    fence_init();
  }
  tcgen05::fence_before();
  __syncthreads();
  tcgen05::fence_after();
  const std::uint32_t d = s.address;

  if (warp == 0 && lane == 0) {
    for (int k = 0; k < steps; ++k) {
      const int stage = k % stages;
      std::uint8_t* at = memory + stage * stage_bytes;
      wait(s.empty[stage], k / stages % 2 ^ 1);
      arrive_and_expect(s.full[stage], 2 * operand_bytes + 2 * chunks * chunk);
      tma::load(at, a, k * row_bytes, row * tile, s.full[stage]);
      tma::load(at + operand_bytes, b, k * row_bytes, column * tile, s.full[stage]);
      std::uint8_t* scales = at + 2 * operand_bytes;
      const int bytes = chunks * chunk;
      load_bytes(scales, a_factors + (row * steps + k) * bytes, bytes, s.full[stage]);
      load_bytes(scales + bytes, b_factors + (column * steps + k) * bytes, bytes, s.full[stage]);
    }
  } else if (warp == 1 && lane == 0) {
    for (int k = 0; k < steps; ++k) {
      const int stage = k % stages;
      const std::uint8_t* at = memory + stage * stage_bytes;
      const std::uint8_t* scales = at + 2 * operand_bytes;
      const std::uint32_t there = d + factor_columns + stage * 8 * chunks;
      wait(s.full[stage], k / stages % 2);
      tcgen05::fence_after();
#pragma unroll
      for (int i = 0; i < 2 * chunks; ++i)
        copy_factors(there + 4 * i, factors_at(scales + i * chunk));
#pragma unroll
      for (int i = 0; i < products; ++i) {
        const int first = i * factors;  // of a row's factors in this stage
        multiply_scaled<factors>(d, operand_at(at + 32 * i),
                                 operand_at(at + operand_bytes + 32 * i),
                                 scaled_instruction<factors>(first % 4), there + first / 4 * 4,
                                 there + 4 * chunks + first / 4 * 4, k > 0 || i > 0);
      }
      tcgen05::commit(s.empty[stage]);
    }
    tcgen05::commit(s.done);
  }
  __syncwarp();
  wait(s.done, 0);
  tcgen05::fence_after();
  float* out = c + (row * tile + static_cast<int>(threadIdx.x)) * n + column * tile;
#pragma unroll
  for (int j = 0; j < tile; j += 32) {
    std::uint32_t values[32];
    tcgen05::load(d + (static_cast<std::uint32_t>(warp) << 21) + j, values);
    tcgen05::wait_load();
#pragma unroll
    for (int i = 0; i < 32; ++i) out[j + i] = __uint_as_float(values[i]);
  }
  tcgen05::fence_before();
  __syncthreads();
  if (warp == 0) {
    tcgen05::relinquish();
    tcgen05::deallocate<columns>(d);
  }
}

}  // namespace tilescope::device

#define ENTRY(name, factors)                                                                       \
  extern "C" __global__ void __launch_bounds__(128)                                                \
      name(float* c, const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, \
           const std::uint8_t* a_factors, const std::uint8_t* b_factors, int n, int steps) {       \
    tilescope::device::gemm<factors>(c, a, b, a_factors, b_factors, n, steps);                     \
  }
ENTRY(scaled_mxf8, 1)
ENTRY(scaled_mxf4, 2)
ENTRY(scaled_nvf4, 4)
